#include "lower/stage_cluster.h"

#include <assert.h>
#include <string.h>

typedef struct {
    const clv_cluster *c;
    const int32_t *order;
    int32_t per_mesh;
    int32_t *users; /* by port: of the transfers at hand; 0 between pairs of meshes */
    clv_arena *arena;
} builder;

static const clv_device_kind *kind_at(const builder *b, int32_t mesh, int32_t i)
{
    return clv_device_kind_of(b->c, b->order[mesh * b->per_mesh + i]);
}

static bool has_kind(const builder *b, int32_t mesh, const clv_device_kind *kind)
{
    int32_t i = 0;
    while (i < b->per_mesh && kind_at(b, mesh, i) != kind)
        i++;
    return i < b->per_mesh;
}

/* The other kinds of the mesh, in the order of the cluster. */
static clv_status put_beside(const builder *b, int32_t mesh, const clv_device_kind *first,
                             const clv_device_kind **ret, clv_error *err)
{
    *ret = NULL;
    for (int32_t k = b->c->n_kinds - 1; k >= 0; k--) {
        const clv_device_kind *kind = &b->c->kinds[k];
        if (kind == first || !has_kind(b, mesh, kind))
            continue;
        clv_device_kind *copy = CLV_NEW(b->arena, clv_device_kind);
        if (!copy)
            return clv_fail_nomem(err, "a cluster of meshes");
        *copy = *kind;
        copy->beside = *ret;
        *ret = copy;
    }
    return CLV_OK;
}

/* All kinds of a mesh as one: the slowest by matrix units gives the name, an operator takes as long
 * as on the slowest for it, and memory and workspace are the least of all. */
static clv_status weakest(const builder *b, int32_t mesh, clv_device_kind *ret, clv_error *err)
{
    const clv_device_kind *slowest = kind_at(b, mesh, 0), *least = slowest;
    double proportion = slowest->workspace_proportion;
    for (int32_t i = 1; i < b->per_mesh; i++) {
        const clv_device_kind *k = kind_at(b, mesh, i);
        if (clv_device_matrix_rate(k, CLV_DT_FLOAT16) <
            clv_device_matrix_rate(slowest, CLV_DT_FLOAT16))
            slowest = k;
        if (clv_device_capacity(k) < clv_device_capacity(least))
            least = k;
        if (k->workspace_proportion < proportion)
            proportion = k->workspace_proportion;
    }
    *ret = *slowest;
    ret->memory_bytes = least->memory_bytes;
    ret->reserved_bytes =
        least->memory_bytes - clv_device_capacity(least); /* of many, as they are */
    ret->buffer_bytes = 0;
    ret->headroom = (clv_headroom){ .part = 0 };
    ret->workspace_proportion = proportion;
    return put_beside(b, mesh, slowest, &ret->beside, err);
}

static bool are_alike(const clv_device_kind *a, const clv_device_kind *b)
{
    if (clv_device_capacity(a) != clv_device_capacity(b))
        return false;
    for (; a && b && a->name == b->name; a = a->beside, b = b->beside)
        ;
    return !a && !b;
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
static clv_status list_devices(const builder *b, clv_cluster *made, clv_device_kind *kinds,
                               clv_device *devices, clv_error *err)
{
    for (int32_t d = 0; d < made->n_devices; d++) {
        clv_device_kind k;
        int32_t same = 0;
        CLV_TRY(weakest(b, d, &k, err));
        while (same < made->n_kinds && !are_alike(&kinds[same], &k))
            same++;
        if (same == made->n_kinds)
            kinds[made->n_kinds++] = k;
        devices[d] = (clv_device){ same, b->c->devices[b->order[d * b->per_mesh]].name };
    }
    return CLV_OK;
}

clv_status clv_stage_cluster_make(const clv_cluster *c, clv_mesh_devices all, int32_t per_mesh,
                                  clv_arena *arena, clv_cluster **ret, clv_error *err)
{
    assert(per_mesh >= 1 && all.n % per_mesh == 0);
    size_t n = (size_t)(all.n / per_mesh);
    builder b = { c, all.at, per_mesh, CLV_NEW_ARRAY(arena, int32_t, c->n_ports), arena };
    clv_cluster *made = CLV_NEW(arena, clv_cluster);
    clv_device_kind *kinds = CLV_NEW_ARRAY(arena, clv_device_kind, n);
    clv_device *devices = CLV_NEW_ARRAY(arena, clv_device, n);
    clv_route *routes = CLV_NEW_ARRAY(arena, clv_route, n * n);
    if (!b.users || !made || !kinds || !devices || !routes)
        return clv_fail_nomem(err, "a cluster of meshes");
    *made = *c;
    made->n_devices = (int32_t)n;
    made->n_kinds = 0;
    CLV_TRY(list_devices(&b, made, kinds, devices, err));
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
