#include "lower/stage_cluster.h"

#include <assert.h>
#include <string.h>

typedef struct {
    const clv_cluster *c;
    const int32_t *order;
    int32_t per_mesh;
    int32_t *users; /* by port: of the transfers at hand; 0 between pairs of meshes */
} builder;

static int64_t usable_bytes(const clv_device_kind *k)
{
    return k->memory_bytes - k->reserved_bytes;
}

/* The slowest by matrix units, with the least memory of all. */
static clv_device_kind weakest(const builder *b, int32_t mesh)
{
    const clv_device_kind *slowest = NULL, *least = NULL;
    for (int32_t i = 0; i < b->per_mesh; i++) {
        const clv_device_kind *k = clv_device_kind_of(b->c, b->order[mesh * b->per_mesh + i]);
        if (!slowest || clv_device_matrix_rate(k, CLV_DT_FLOAT16) <
                            clv_device_matrix_rate(slowest, CLV_DT_FLOAT16))
            slowest = k;
        if (!least || usable_bytes(k) < usable_bytes(least))
            least = k;
    }
    clv_device_kind made = *slowest;
    made.memory_bytes = least->memory_bytes;
    made.reserved_bytes = least->reserved_bytes;
    return made;
}

static const clv_route *route_of(const builder *b, int32_t from, int32_t to, int32_t i)
{
    return clv_route_between(b->c, b->order[from * b->per_mesh + i],
                             b->order[to * b->per_mesh + i]);
}

static void count_users(const builder *b, int32_t from, int32_t to, int32_t change)
{
    for (int32_t i = 0; i < b->per_mesh; i++) {
        const clv_route *r = route_of(b, from, to, i);
        for (int32_t p = 0; p < r->n_ports; p++)
            b->users[r->ports[p]] += change;
    }
}

/* Of transfer i, with the others under way. */
static double shared_bytes_per_s(const builder *b, const clv_route *r)
{
    double rate = r->bytes_per_s;
    for (int32_t p = 0; p < r->n_ports; p++) {
        double share = b->c->ports[r->ports[p]].bytes_per_s / (double)b->users[r->ports[p]];
        rate = share < rate ? share : rate;
    }
    return rate;
}

static clv_route route_between(const builder *b, int32_t from, int32_t to)
{
    clv_route slowest = *route_of(b, from, to, 0);
    count_users(b, from, to, 1);
    slowest.bytes_per_s = shared_bytes_per_s(b, &slowest);
    for (int32_t i = 1; i < b->per_mesh; i++) {
        const clv_route *r = route_of(b, from, to, i);
        double rate = shared_bytes_per_s(b, r);
        int64_t latency = r->latency_ns > slowest.latency_ns ? r->latency_ns : slowest.latency_ns;
        if (rate < slowest.bytes_per_s) {
            slowest = *r;
            slowest.bytes_per_s = rate;
        }
        slowest.latency_ns = latency;
    }
    count_users(b, from, to, -1);
    return slowest;
}

/* Each mesh as a device, and the kinds that there are. */
static void list_devices(const builder *b, clv_cluster *made, clv_device_kind *kinds,
                         clv_device *devices)
{
    for (int32_t d = 0; d < made->n_devices; d++) {
        clv_device_kind k = weakest(b, d);
        int32_t same = 0;
        while (same < made->n_kinds &&
               (kinds[same].name != k.name || usable_bytes(&kinds[same]) != usable_bytes(&k)))
            same++;
        if (same == made->n_kinds)
            kinds[made->n_kinds++] = k;
        devices[d] = (clv_device){ same, b->c->devices[b->order[d * b->per_mesh]].name };
    }
}

clv_status clv_stage_cluster_make(const clv_cluster *c, const int32_t *order, int32_t per_mesh,
                                  clv_arena *arena, clv_cluster **ret, clv_error *err)
{
    assert(per_mesh >= 1 && c->n_devices % per_mesh == 0);
    size_t n = (size_t)(c->n_devices / per_mesh);
    builder b = { c, order, per_mesh, CLV_NEW_ARRAY(arena, int32_t, c->n_ports) };
    clv_cluster *made = CLV_NEW(arena, clv_cluster);
    clv_device_kind *kinds = CLV_NEW_ARRAY(arena, clv_device_kind, n);
    clv_device *devices = CLV_NEW_ARRAY(arena, clv_device, n);
    clv_route *routes = CLV_NEW_ARRAY(arena, clv_route, n * n);
    if (!b.users || !made || !kinds || !devices || !routes)
        return clv_fail_nomem(err, "a cluster of meshes");
    *made = *c;
    made->n_devices = (int32_t)n;
    made->n_kinds = 0;
    list_devices(&b, made, kinds, devices);
    made->kinds = kinds;
    made->devices = devices;
    for (int32_t from = 0; from < made->n_devices; from++)
        for (int32_t to = 0; to < made->n_devices; to++)
            if (from != to)
                routes[(size_t)from * n + (size_t)to] = route_between(&b, from, to);
    made->routes = routes;
    *ret = made;
    return CLV_OK;
}
