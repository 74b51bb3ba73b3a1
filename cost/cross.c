#include "cost/cross.h"

#include <math.h>

/* A device's part along a dimension is some runs of it: one, or with inner factors one for each
 * outer part. What two devices have both is the product over the dimensions of what their runs have
 * both. */

typedef struct {
    int64_t from, to;
} run;

typedef struct {
    const run *at;
    int64_t n;
} runs;

typedef struct {
    const clv_cluster *cluster;
    const clv_place *from, *to;
    clv_arena *arena;
    clv_error *err;
    int32_t rank;
    runs *source, *target; /* [part * rank + dimension], [position * rank + dimension] */
    int32_t n_parts, n_copies;
    int32_t *holder; /* devices by part, its copies side by side */
    double *sent_ns; /* by device of the cluster */
    double *port_ns;
    clv_cross sum;
    int64_t latency_ns;
} desk;

static clv_status fail_nomem(const desk *d)
{
    return clv_fail_nomem(d->err, "a way between meshes");
}

/* -- runs -- */

/* The factors of a dimension are first to last - 1 of the split dims. */
static clv_status find_runs(const desk *d, const clv_split_dims *split, const clv_part *part,
                            int32_t first, int32_t last, runs *ret)
{
    int64_t blocks = 1, n = 0;
    for (int32_t i = first; i < last - 1; i++)
        blocks *= part->size[i];
    run *at = CLV_NEW_ARRAY(d->arena, run, blocks);
    if (!at)
        return fail_nomem(d);
    for (int64_t b = 0; b < blocks; b++) {
        int64_t rest = b, start = 0, stride = split->dims[last - 1];
        for (int32_t i = last - 2; i >= first; i--) {
            start += (part->offset[i] + rest % part->size[i]) * stride;
            rest /= part->size[i];
            stride *= split->dims[i];
        }
        start += part->offset[last - 1];
        if (n > 0 && at[n - 1].to == start)
            at[n - 1].to += part->size[last - 1];
        else
            at[n++] = (run){ start, start + part->size[last - 1] };
    }
    *ret = (runs){ at, n };
    return CLV_OK;
}

static clv_status runs_of(const desk *d, const clv_place *place, int32_t position, runs *ret)
{
    clv_split_dims split;
    clv_part part;

    clv_split_dims_of(place->layout, place->tensor, &split);
    clv_layout_part(place->layout, place->mesh, place->tensor, &split, position, &part);
    for (int32_t first = 0, last; first < split.rank; first = last) {
        for (last = first; last < split.rank; last++)
            if (split.axis_of[last] != split.axis_of[first])
                break;
        CLV_TRY(find_runs(d, &split, &part, first, last, &ret[split.axis_of[first]]));
    }
    return CLV_OK;
}

static int64_t shared(const runs *a, const runs *b)
{
    int64_t n = 0;
    for (int64_t i = 0, j = 0; i < a->n && j < b->n;) {
        int64_t low = a->at[i].from > b->at[j].from ? a->at[i].from : b->at[j].from;
        int64_t high = a->at[i].to < b->at[j].to ? a->at[i].to : b->at[j].to;
        n += high > low ? high - low : 0;
        if (a->at[i].to < b->at[j].to)
            i++;
        else
            j++;
    }
    return n;
}

static int64_t shared_bytes(const desk *d, const runs *source, const runs *target)
{
    int64_t elems = 1;
    for (int32_t k = 0; k < d->rank; k++) {
        int64_t n = shared(&source[k], &target[k]);
        if (n == 0)
            return 0;
        if (__builtin_mul_overflow(elems, n, &elems))
            return INT64_MAX;
    }
    return clv_bytes_of_elems(d->from->tensor->dtype, elems);
}

/* -- sending -- */

/* Of the devices with a part the one that has it there first; -1: the receiver has it itself. */
static int32_t choose(const desk *d, int32_t part, int32_t receiver, int64_t bytes)
{
    const int32_t *holder = &d->holder[part * d->n_copies];
    int32_t best = -1;
    double best_ns = INFINITY;

    for (int32_t i = 0; i < d->n_copies; i++) {
        if (holder[i] == receiver)
            return -1;
        double ns =
            d->sent_ns[holder[i]] + (double)clv_transfer_ns(d->cluster, holder[i], receiver, bytes);
        if (ns < best_ns) {
            best = holder[i];
            best_ns = ns;
        }
    }
    return best;
}

static void send(desk *d, int32_t from, int32_t to, int64_t bytes)
{
    const clv_route *route = clv_route_between(d->cluster, from, to);

    d->sent_ns[from] += (double)bytes / route->bytes_per_s * 1e9;
    for (int32_t i = 0; i < route->n_ports; i++)
        d->port_ns[route->ports[i]] +=
            (double)bytes / d->cluster->ports[route->ports[i]].bytes_per_s * 1e9;
    if (route->latency_ns > d->latency_ns)
        d->latency_ns = route->latency_ns;
    d->sum.bytes = d->sum.bytes > INT64_MAX - bytes ? INT64_MAX : d->sum.bytes + bytes;
    d->sum.n_transfers++;
}

static void send_all(desk *d)
{
    for (int32_t p = 0; p < d->to->mesh->n_devices; p++)
        for (int32_t k = 0; k < d->n_parts; k++) {
            int32_t receiver = d->to->mesh->device[p];
            int64_t bytes = shared_bytes(d, &d->source[k * d->rank], &d->target[p * d->rank]);
            int32_t sender = bytes > 0 ? choose(d, k, receiver, bytes) : -1;
            if (sender >= 0)
                send(d, sender, receiver, bytes);
        }
}

static int64_t time_of(const desk *d)
{
    double busiest = 0;
    for (int32_t i = 0; i < d->cluster->n_ports; i++)
        busiest = d->port_ns[i] > busiest ? d->port_ns[i] : busiest;
    busiest = ceil(busiest);
    if (d->latency_ns >= CLV_COMM_NS_MAX || busiest >= (double)(CLV_COMM_NS_MAX - d->latency_ns))
        return CLV_COMM_NS_MAX;
    return d->latency_ns + (int64_t)busiest;
}

/* -- both ends -- */

static clv_status find_source(desk *d)
{
    const clv_mesh *mesh = d->from->mesh;
    clv_layout plain = clv_layout_plain(d->from->layout, mesh);
    int32_t order[CLV_MESH_AXES_MAX];

    d->n_copies = clv_mesh_count(mesh, clv_layout_copy_axes(&plain, mesh));
    d->n_parts = mesh->n_devices / d->n_copies;
    d->holder = CLV_NEW_ARRAY(d->arena, int32_t, mesh->n_devices);
    d->source = CLV_NEW_ARRAY(d->arena, runs, (size_t)d->n_parts * (size_t)d->rank);
    if (!d->holder || !d->source)
        return fail_nomem(d);
    clv_layout_order(&plain, order);
    for (int32_t p = 0; p < mesh->n_devices; p++) {
        int32_t count = clv_mesh_count_of(mesh, order, p), part = count / d->n_copies;
        d->holder[count] = mesh->device[p];
        if (count % d->n_copies == 0)
            CLV_TRY(runs_of(d, d->from, p, &d->source[part * d->rank]));
    }
    return CLV_OK;
}

static clv_status find_target(desk *d)
{
    int32_t n = d->to->mesh->n_devices;

    d->target = CLV_NEW_ARRAY(d->arena, runs, (size_t)n * (size_t)d->rank);
    d->sent_ns = CLV_NEW_ARRAY(d->arena, double, d->cluster->n_devices);
    d->port_ns = CLV_NEW_ARRAY(d->arena, double, d->cluster->n_ports);
    if (!d->target || !d->sent_ns || !d->port_ns)
        return fail_nomem(d);
    for (int32_t p = 0; p < n; p++)
        CLV_TRY(runs_of(d, d->to, p, &d->target[p * d->rank]));
    return CLV_OK;
}

static clv_status check_place(const clv_place *p, clv_error *err)
{
    CLV_TRY(clv_layout_check(p->layout, p->mesh, p->tensor->rank, p->tensor, err));
    for (int32_t a = 0; a < p->mesh->n_axes; a++)
        if (p->layout->dim[a] == CLV_AXIS_PARTIAL && p->mesh->size[a] > 1)
            return clv_fail(err, CLV_EUSAGE,
                            "partial results over axis %.60s cannot go to another mesh",
                            p->mesh->name[a]);
    return CLV_OK;
}

clv_status clv_cross_find(const clv_cluster *cluster, const clv_place *from, const clv_place *to,
                          clv_arena *arena, clv_cross *ret, clv_error *err)
{
    desk d = { .cluster = cluster,
               .from = from,
               .to = to,
               .arena = arena,
               .err = err,
               .rank = from->tensor->rank };

    CLV_TRY(check_place(from, err));
    CLV_TRY(check_place(to, err));
    clv_mark mark = clv_arena_mark(arena);
    CLV_TRY(find_source(&d));
    CLV_TRY(find_target(&d));
    send_all(&d);
    d.sum.ns = time_of(&d);
    clv_arena_rewind(arena, mark);
    *ret = d.sum;
    return CLV_OK;
}

clv_status clv_cross_best(const clv_cluster *cluster, const clv_place *from, clv_reshard *r,
                          const clv_layout *to, clv_arena *arena, clv_layout *ret_via,
                          int64_t *ret_ns, clv_error *err)
{
    const clv_layouts *all = clv_reshard_layouts(r);
    int32_t best = -1;
    int64_t best_ns = INT64_MAX;

    for (int32_t i = 0; i < all->n; i++) {
        clv_place via = { all->mesh, &all->tensor, &all->at[i] };
        clv_cross cross;
        int64_t rest;
        if (clv_layout_partial_axes(&all->at[i]))
            continue;
        CLV_TRY(clv_reshard_ns(r, &all->at[i], to, &rest, err));
        if (rest >= best_ns)
            continue;
        CLV_TRY(clv_cross_find(cluster, from, &via, arena, &cross, err));
        int64_t ns = cross.ns > CLV_COMM_NS_MAX - rest ? CLV_COMM_NS_MAX : cross.ns + rest;
        if (ns < best_ns) {
            best = i;
            best_ns = ns;
        }
    }
    *ret_via = all->at[best]; /* copies everywhere is always there */
    *ret_ns = best_ns;
    return CLV_OK;
}
