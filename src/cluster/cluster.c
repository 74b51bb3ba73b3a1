#include "cluster/cluster.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/units.h"

#define TRANSFER_MAX_NS (INT64_MAX / 4)

/* Of a device that does not say how it is joined to its host, by assumption as most cards are. PCI
 * Express Base Specification 4.0 (2017): 16 GT/s on 16 lanes, 128 bits in 130: 31.5 GB/s in each
 * direction. Published times to copy a few bytes from pinned memory to a GPU are 5 to 15 us. */
#define HOST_BYTES_PER_S 31.5e9
#define HOST_LATENCY_NS  10000

static int64_t link_ns(int64_t latency_ns, double bytes_per_s, int64_t bytes)
{
    double ns = ceil((double)bytes / bytes_per_s * 1e9);
    if (ns >= (double)(TRANSFER_MAX_NS - latency_ns))
        return TRANSFER_MAX_NS;
    return latency_ns + (int64_t)ns;
}

int64_t clv_transfer_ns(const clv_cluster *c, int32_t from, int32_t to, int64_t bytes)
{
    assert(from >= 0 && from < c->n_devices && to >= 0 && to < c->n_devices && bytes >= 0);
    if (from == to)
        return 0;
    const clv_route *route = clv_route_between(c, from, to);
    return link_ns(route->latency_ns, route->bytes_per_s, bytes);
}

clv_link_speed clv_device_host_link(const clv_device_kind *kind)
{
    static const clv_link_speed assumed = { HOST_BYTES_PER_S, HOST_LATENCY_NS, 1, CLV_ASSUMED };
    return kind->host.peak_bytes_per_s > 0 ? kind->host : assumed;
}

int64_t clv_host_copy_ns(const clv_device_kind *kind, int64_t bytes)
{
    const clv_link_speed link = clv_device_host_link(kind);
    return link_ns(link.latency_ns, clv_link_reached(&link), bytes);
}

/* The rate to use for dtype: its own, else that of the narrowest type of its class (floating-point
 * or whole numbers) that is as wide at least, else FLOAT's. Ties go to the smaller number.
 */
static double rate_for(const double per_s[CLV_N_DTYPES], clv_dtype dtype)
{
    int width = clv_dtype_bits(dtype), best = CLV_DT_FLOAT, best_width = 0;
    if ((unsigned)dtype < CLV_N_DTYPES && per_s[dtype] > 0)
        return per_s[dtype];
    for (int t = 1; t < CLV_N_DTYPES && width > 0; t++) {
        int wide = clv_dtype_bits((clv_dtype)t);
        bool fits = per_s[t] > 0 && wide >= width &&
                    clv_dtype_is_float((clv_dtype)t) == clv_dtype_is_float(dtype);
        if (fits && (best_width == 0 || wide < best_width)) {
            best = t;
            best_width = wide;
        }
    }
    return per_s[best];
}

static double nonzero(double rate) { return rate > 0 ? rate : 1; }

double clv_device_matrix_rate(const clv_device_kind *kind, clv_dtype dtype)
{
    return nonzero(rate_for(kind->matrix_per_s, dtype) * kind->matrix_efficiency);
}

double clv_device_vector_rate(const clv_device_kind *kind, clv_dtype dtype)
{
    return nonzero(rate_for(kind->vector_per_s, dtype) * kind->vector_efficiency);
}

/* -- memory -- */

int64_t clv_device_headroom(const clv_device_kind *kind)
{
    double part = floor(kind->headroom.part * (double)kind->memory_bytes);
    int64_t left = kind->memory_bytes - (int64_t)part;
    return kind->headroom.bytes < left ? (int64_t)part + kind->headroom.bytes : kind->memory_bytes;
}

int64_t clv_device_capacity(const clv_device_kind *kind)
{
    int64_t bytes = kind->memory_bytes - kind->reserved_bytes - kind->buffer_bytes;
    bytes -= clv_device_headroom(kind);
    return bytes > 0 ? bytes : 0;
}

clv_device_kind clv_device_resized(const clv_device_kind *kind, int64_t memory_bytes)
{
    clv_device_kind made = *kind;
    if (memory_bytes == 0)
        return made;
    made.memory_bytes = memory_bytes;
    made.reserved_bytes = made.buffer_bytes = 0;
    if (!made.headroom.is_asked)
        made.headroom = (clv_headroom){ .part = 0 };
    return made;
}

/* What a headroom has to be below: the most that any device has but for what is reserved. */
static int64_t most_memory(const clv_device_kind *kinds, int32_t n, int64_t memory_bytes)
{
    int64_t most = 0;
    for (int32_t k = 0; k < n; k++) {
        const clv_device_kind kind = clv_device_resized(&kinds[k], memory_bytes);
        int64_t bytes = kind.memory_bytes - kind.reserved_bytes;
        most = bytes > most ? bytes : most;
    }
    return most;
}

static bool leaves_any(const clv_device_kind *kinds, int32_t n, int64_t memory_bytes)
{
    for (int32_t k = 0; k < n; k++) {
        clv_device_kind kind = clv_device_resized(&kinds[k], memory_bytes);
        kind.buffer_bytes = 0; /* a device alone has none */
        if (clv_device_capacity(&kind) > 0)
            return true;
    }
    return false;
}

clv_status clv_cluster_keep_free(const clv_cluster *c, const char *headroom, int64_t memory_bytes,
                                 clv_arena *arena, clv_cluster **ret, clv_error *err)
{
    clv_portion kept;
    if (clv_parse_portion(headroom, "headroom", &kept, err) != CLV_OK) {
        if (err)
            err->status = CLV_EUSAGE;
        return CLV_EUSAGE;
    }
    clv_cluster *made = CLV_NEW(arena, clv_cluster);
    clv_device_kind *kinds = CLV_NEW_ARRAY(arena, clv_device_kind, c->n_kinds);
    if (!made || !kinds)
        return clv_fail_nomem(err, "a cluster");
    *made = *c;
    made->kinds = memcpy(kinds, c->kinds, (size_t)c->n_kinds * sizeof *kinds);
    for (int32_t k = 0; k < c->n_kinds; k++)
        kinds[k].headroom = (clv_headroom){ kept.part, kept.bytes, .is_asked = true };
    if (!leaves_any(kinds, c->n_kinds, memory_bytes))
        return clv_fail(
            err, CLV_EUSAGE, "headroom is '%.60s': expected less than %s, the memory of a device",
            headroom,
            clv_show_bytes((char[32]){ 0 }, most_memory(kinds, c->n_kinds, memory_bytes)));
    *ret = made;
    return CLV_OK;
}

clv_status clv_cluster_subset(const clv_cluster *c, int32_t n, int64_t memory_bytes,
                              clv_arena *arena, clv_cluster **ret, clv_error *err)
{
    if (n < 1 || n > c->n_devices)
        return clv_fail(err, CLV_EUSAGE,
                        "%d devices were asked for, expected %s%d as cluster '%.100s' has", (int)n,
                        c->n_devices > 1 ? "1 to " : "", (int)c->n_devices, c->name);
    if (memory_bytes < 0)
        return clv_fail(err, CLV_EUSAGE, "a device memory of %lld bytes: must not be negative",
                        (long long)memory_bytes);
    clv_cluster *part = CLV_NEW(arena, clv_cluster);
    clv_device_kind *kinds = CLV_NEW_ARRAY(arena, clv_device_kind, c->n_kinds);
    clv_route *routes = CLV_NEW_ARRAY(arena, clv_route, (size_t)n * (size_t)n);
    if (!part || !kinds || !routes)
        return clv_fail_nomem(err, "a part of a cluster");
    *part = *c;
    part->n_devices = n;
    part->kinds = kinds;
    for (int32_t k = 0; k < c->n_kinds; k++) {
        kinds[k] = clv_device_resized(&c->kinds[k], memory_bytes);
        if (n == 1)
            kinds[k].buffer_bytes = 0;
    }
    for (int32_t from = 0; from < n; from++)
        memcpy(routes + (size_t)from * (size_t)n, clv_route_between(c, from, 0),
               (size_t)n * sizeof *routes);
    part->routes = routes;
    *ret = part;
    return CLV_OK;
}

clv_status clv_cluster_pick(const clv_cluster *c, const int32_t *device, int32_t n,
                            clv_arena *arena, clv_cluster **ret, clv_error *err)
{
    clv_cluster *part = CLV_NEW(arena, clv_cluster);
    clv_device *devices = CLV_NEW_ARRAY(arena, clv_device, n);
    clv_device_kind *kinds = CLV_NEW_ARRAY(arena, clv_device_kind, c->n_kinds);
    clv_route *routes = CLV_NEW_ARRAY(arena, clv_route, (size_t)n * (size_t)n);
    if (!part || !devices || !kinds || !routes)
        return clv_fail_nomem(err, "a part of a cluster");
    *part = *c;
    part->n_devices = n;
    part->devices = devices;
    part->kinds = kinds;
    part->routes = routes;
    memcpy(kinds, c->kinds, (size_t)c->n_kinds * sizeof *kinds);
    for (int32_t k = 0; k < c->n_kinds && n == 1; k++)
        kinds[k].buffer_bytes = 0;
    for (int32_t i = 0; i < n; i++) {
        devices[i] = c->devices[device[i]];
        for (int32_t k = 0; k < n; k++)
            routes[(size_t)i * (size_t)n + (size_t)k] = *clv_route_between(c, device[i], device[k]);
    }
    *ret = part;
    return CLV_OK;
}

static bool are_equally_fast(const clv_route *a, const clv_route *b)
{
    return a->latency_ns == b->latency_ns && a->bytes_per_s >= b->bytes_per_s &&
           a->bytes_per_s <= b->bytes_per_s;
}

bool clv_cluster_groups_alike(const clv_cluster *c, const int32_t *a, const int32_t *b, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        if (c->devices[a[i]].kind != c->devices[b[i]].kind)
            return false;
        for (int32_t k = 0; k < n; k++)
            if (!are_equally_fast(clv_route_between(c, a[i], a[k]),
                                  clv_route_between(c, b[i], b[k])))
                return false;
    }
    return true;
}
