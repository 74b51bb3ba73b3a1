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
    const clv_mesh_tensor *from, *to;
    int32_t rank;
    runs *source, *target; /* [part * rank + dimension], [position * rank + dimension] */
    int32_t n_parts, n_copies;
    int32_t *holder; /* devices by part, its copies side by side */
    double *sent_ns; /* by device of the cluster */
    double *port_ns; /* by port of the cluster */
    clv_cross sum;
    int64_t latency_ns;
} crossing;

/* The runs of one part along all dimensions. */
static clv_status find_runs(const clv_mesh_tensor *of, int32_t position, clv_arena *arena,
                            runs *ret, clv_error *err)
{
    clv_split_dims split;
    clv_part part;

    clv_split_dims_of(of->layout, of->tensor, &split);
    clv_layout_part(of->layout, of->mesh, of->tensor, &split, position, &part);
    for (int32_t first = 0, last; first < split.rank; first = last) {
        /* the factors of a dimension are first to last - 1 of the split dims */
        int64_t blocks = 1, n = 0;
        for (last = first + 1; last < split.rank; last++)
            if (split.axis_of[last] != split.axis_of[first])
                break;
        for (int32_t i = first; i < last - 1; i++)
            blocks *= part.size[i];
        run *at = CLV_NEW_ARRAY(arena, run, blocks);
        if (!at)
            return clv_fail_nomem(err, "a way between meshes");
        for (int64_t b = 0; b < blocks; b++) {
            int64_t rest = b, start = 0, stride = split.dims[last - 1];
            for (int32_t i = last - 2; i >= first; i--) {
                start += (part.offset[i] + rest % part.size[i]) * stride;
                rest /= part.size[i];
                stride *= split.dims[i];
            }
            start += part.offset[last - 1];
            if (n > 0 && at[n - 1].to == start)
                at[n - 1].to += part.size[last - 1];
            else
                at[n++] = (run){ start, start + part.size[last - 1] };
        }
        ret[split.axis_of[first]] = (runs){ at, n };
    }
    return CLV_OK;
}

/* Elements that are in both. */
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

static int64_t shared_bytes(const crossing *c, const runs *source, const runs *target)
{
    int64_t elems = 1;
    for (int32_t k = 0; k < c->rank; k++) {
        int64_t n = shared(&source[k], &target[k]);
        if (n == 0)
            return 0;
        if (__builtin_mul_overflow(elems, n, &elems))
            return INT64_MAX;
    }
    return clv_bytes_of_elems(c->from->tensor->dtype, elems);
}

/* Of the devices with a part the one that has it there first; -1: the receiver has it itself. */
static int32_t choose_sender(const crossing *c, int32_t part, int32_t receiver, int64_t bytes)
{
    const int32_t *holder = &c->holder[part * c->n_copies];
    int32_t best = -1;
    double best_ns = INFINITY;

    for (int32_t i = 0; i < c->n_copies; i++) {
        if (holder[i] == receiver)
            return -1;
        double ns =
            c->sent_ns[holder[i]] + (double)clv_transfer_ns(c->cluster, holder[i], receiver, bytes);
        if (ns < best_ns) {
            best = holder[i];
            best_ns = ns;
        }
    }
    return best;
}

static void send(crossing *c, int32_t from, int32_t to, int64_t bytes)
{
    const clv_route *route = clv_route_between(c->cluster, from, to);

    c->sent_ns[from] += (double)bytes / route->bytes_per_s * 1e9;
    for (int32_t i = 0; i < route->n_ports; i++)
        c->port_ns[route->ports[i]] +=
            (double)bytes / c->cluster->ports[route->ports[i]].bytes_per_s * 1e9;
    if (route->latency_ns > c->latency_ns)
        c->latency_ns = route->latency_ns;
    c->sum.bytes = c->sum.bytes > INT64_MAX - bytes ? INT64_MAX : c->sum.bytes + bytes;
    c->sum.n_transfers++;
}

static clv_status find_source(crossing *c, clv_arena *arena, clv_error *err)
{
    const clv_mesh *mesh = c->from->mesh;
    clv_layout plain = clv_layout_plain(c->from->layout, mesh);
    int32_t order[CLV_MESH_AXES_MAX];

    c->n_copies = clv_mesh_count(mesh, clv_layout_copy_axes(&plain, mesh));
    c->n_parts = mesh->n_devices / c->n_copies;
    c->holder = CLV_NEW_ARRAY(arena, int32_t, mesh->n_devices);
    c->source = CLV_NEW_ARRAY(arena, runs, (size_t)c->n_parts * (size_t)c->rank);
    if (!c->holder || !c->source)
        return clv_fail_nomem(err, "a way between meshes");
    clv_layout_order(&plain, order);
    for (int32_t p = 0; p < mesh->n_devices; p++) {
        int32_t count = clv_mesh_count_of(mesh, order, p), part = count / c->n_copies;
        c->holder[count] = mesh->device[p];
        if (count % c->n_copies == 0)
            CLV_TRY(find_runs(c->from, p, arena, &c->source[part * c->rank], err));
    }
    return CLV_OK;
}

static clv_status find_target(crossing *c, clv_arena *arena, clv_error *err)
{
    int32_t n = c->to->mesh->n_devices;

    c->target = CLV_NEW_ARRAY(arena, runs, (size_t)n * (size_t)c->rank);
    c->sent_ns = CLV_NEW_ARRAY(arena, double, c->cluster->n_devices);
    c->port_ns = CLV_NEW_ARRAY(arena, double, c->cluster->n_ports);
    if (!c->target || !c->sent_ns || !c->port_ns)
        return clv_fail_nomem(err, "a way between meshes");
    for (int32_t p = 0; p < n; p++)
        CLV_TRY(find_runs(c->to, p, arena, &c->target[p * c->rank], err));
    return CLV_OK;
}

static clv_status check_end(const clv_mesh_tensor *p, clv_error *err)
{
    CLV_TRY(clv_layout_check(p->layout, p->mesh, p->tensor->rank, p->tensor, err));
    for (int32_t a = 0; a < p->mesh->n_axes; a++)
        if (p->layout->dim[a] == CLV_AXIS_PARTIAL && p->mesh->size[a] > 1)
            return clv_fail(err, CLV_EUSAGE,
                            "partial results over axis %.60s cannot go to another mesh",
                            p->mesh->name[a]);
    return CLV_OK;
}

clv_status clv_cross_find(const clv_mesh_tensor *from, const clv_mesh_tensor *to, clv_arena *arena,
                          clv_cross *ret, clv_error *err)
{
    crossing c = { .cluster = from->cluster, .from = from, .to = to, .rank = from->tensor->rank };

    CLV_TRY(check_end(from, err));
    CLV_TRY(check_end(to, err));
    clv_mark mark = clv_arena_mark(arena);
    CLV_TRY(find_source(&c, arena, err));
    CLV_TRY(find_target(&c, arena, err));
    for (int32_t p = 0; p < to->mesh->n_devices; p++)
        for (int32_t k = 0; k < c.n_parts; k++) {
            int32_t receiver = to->mesh->device[p];
            int64_t bytes = shared_bytes(&c, &c.source[k * c.rank], &c.target[p * c.rank]);
            int32_t sender = bytes > 0 ? choose_sender(&c, k, receiver, bytes) : -1;
            if (sender >= 0)
                send(&c, sender, receiver, bytes);
        }
    double busiest_ns = 0;
    for (int32_t i = 0; i < c.cluster->n_ports; i++)
        busiest_ns = c.port_ns[i] > busiest_ns ? c.port_ns[i] : busiest_ns;
    busiest_ns = ceil(busiest_ns);
    c.sum.ns = CLV_COMM_NS_MAX;
    if (c.latency_ns < CLV_COMM_NS_MAX && busiest_ns < (double)(CLV_COMM_NS_MAX - c.latency_ns))
        c.sum.ns = c.latency_ns + (int64_t)busiest_ns;
    clv_arena_rewind(arena, mark);
    *ret = c.sum;
    return CLV_OK;
}

clv_status clv_cross_best(const clv_mesh_tensor *from, clv_reshard *r, const clv_layout *to,
                          clv_arena *arena, clv_cross_way *ret, clv_error *err)
{
    const clv_layouts *all = clv_reshard_layouts(r);
    int32_t best = -1;
    int64_t best_ns = INT64_MAX;

    for (int32_t i = 0; i < all->n; i++) {
        clv_mesh_tensor via = { from->cluster, all->mesh, &all->tensor, &all->at[i] };
        clv_cross cross;
        int64_t rest_ns;
        if (clv_layout_partial_axes(&all->at[i]))
            continue;
        CLV_TRY(clv_reshard_ns(r, &all->at[i], to, &rest_ns, err));
        if (rest_ns >= best_ns)
            continue;
        CLV_TRY(clv_cross_find(from, &via, arena, &cross, err));
        int64_t ns = clv_comm_add_ns(cross.ns, rest_ns);
        if (ns < best_ns) {
            best = i;
            best_ns = ns;
        }
    }
    *ret = (clv_cross_way){ all->at[best], best_ns }; /* copies everywhere is always there */
    return CLV_OK;
}
