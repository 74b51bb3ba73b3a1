#include "cost/collective.h"

/* -- hierarchies -- */

/* Divided so many times: groups of neighbours may have groups within or across them. */
#define DEPTH_MAX 2

typedef struct {
    const clv_cluster *cluster;
    clv_arena *arena;
    int32_t *to, *load, *touched;        /* of clv_rounds */
    const clv_measured_groups *measured; /* NULL: times that were measured do not count */
    bool no_memory;
} workspace;

static clv_rounds rounds_of(const workspace *w, const int32_t *member, int32_t n_groups, int32_t p)
{
    return (clv_rounds){ w->cluster, member, n_groups, p, w->to, w->load, w->touched };
}

/* One after the other, every pair of lines: a over so much of the whole, b over so much. */
static void join(const clv_lines *a, double a_share, const clv_lines *b, double b_share,
                 int32_t inner, clv_lines *ret)
{
    for (int32_t i = 0; i < a->n; i++)
        for (int32_t j = 0; j < b->n; j++) {
            const clv_line *x = &a->at[i], *y = &b->at[j];
            clv_lines_add(ret, (clv_line){ clv_comm_add_ns(x->latency_ns, y->latency_ns),
                                           x->ns_per_byte * a_share + y->ns_per_byte * b_share,
                                           CLV_BY_HIERARCHY, inner });
        }
    clv_lines_prune(ret);
}

/* The devices of groups of p, of which q neighbours each are inside, in the order of the groups
 * across: those at the same place. */
static bool list_across(workspace *w, const int32_t *member, int32_t n, int32_t p, int32_t q,
                        int32_t **ret_across)
{
    int32_t *across = CLV_NEW_ARRAY(w->arena, int32_t, n);
    if (!across) {
        w->no_memory = true;
        return false;
    }
    for (int32_t i = 0; i < n; i++) {
        int32_t group = i / p, place = i % p, blocks = p / q;
        across[group * p + place % q * blocks + place / q] = member[i];
    }
    *ret_across = across;
    return true;
}

/* A reduce-scatter over one kind of group, of p devices, an all-reduce over the other, an
 * all-gather. */
static void join_three(const clv_line_set *first, int32_t p, const clv_line_set *second,
                       int32_t inner, clv_lines *ret)
{
    clv_lines both = { 0 };
    join(&first->of[CLV_REDUCE_SCATTER], 1, &first->of[CLV_ALL_GATHER], 1, inner, &both);
    join(&both, 1, &second->of[CLV_ALL_REDUCE], 1.0 / p, inner, ret);
}

/* q neighbours inside, as many blocks across. In a gather or scatter one of the two is over the
 * whole, the other over a part. */
static void join_all(const clv_line_set *in, const clv_line_set *out, int32_t q, int32_t blocks,
                     clv_line_set *ret)
{
    static const clv_collective halves[] = { CLV_ALL_GATHER, CLV_REDUCE_SCATTER };
    static const clv_collective wholes[] = { CLV_ALL_TO_ALL, CLV_BROADCAST };

    for (int32_t i = 0; i < 2; i++) {
        clv_collective half = halves[i], whole = wholes[i];
        join(&in->of[half], 1, &out->of[half], 1.0 / q, q, &ret->of[half]);
        join(&in->of[half], 1.0 / blocks, &out->of[half], 1, q, &ret->of[half]);
        join(&in->of[whole], 1, &out->of[whole], 1, q, &ret->of[whole]);
    }
    join_three(in, q, out, q, &ret->of[CLV_ALL_REDUCE]);
    join_three(out, blocks, in, q, &ret->of[CLV_ALL_REDUCE]);
}

static const clv_measured_group *measured_of(workspace *w, const clv_rounds *r)
{
    return w->measured ? clv_measured_group_of(r, w->measured) : NULL;
}

static void find_lines(workspace *w, const int32_t *member, int32_t n_groups, int32_t p,
                       int32_t depth, clv_line_set *ret)
{
    clv_rounds r = rounds_of(w, member, n_groups, p);
    int32_t n = n_groups * p, *across;

    memset(ret, 0, sizeof *ret);
    clv_rounds_lines(&r, depth > 0, ret);
    for (int32_t q = 2; depth > 0 && q <= p / 2; q++) {
        clv_line_set in, out;
        clv_mark mark = clv_arena_mark(w->arena);
        if (p % q != 0 || !list_across(w, member, n, p, q, &across))
            continue;
        find_lines(w, member, n / q, q, depth - 1, &in); /* at most DEPTH_MAX deep */
        find_lines(w, across, n / (p / q), p / q, depth - 1, &out);
        join_all(&in, &out, q, p / q, ret);
        clv_arena_rewind(w->arena, mark);
    }
    const clv_measured_group *measured = measured_of(w, &r);
    if (measured)
        clv_measured_lines(measured, ret);
    for (int32_t k = 0; k < CLV_N_COLLECTIVES; k++)
        clv_lines_prune(&ret->of[k]);
}

/* -- all of a mesh -- */

int32_t clv_order_index(const int32_t order[static CLV_MESH_AXES_MAX])
{
    /* 012 021 102 120 201 210 */
    return 2 * order[0] + (order[1] > order[2]);
}

static const int32_t ORDERS[CLV_ORDERS][CLV_MESH_AXES_MAX] = { { 0, 1, 2 }, { 0, 2, 1 },
                                                               { 1, 0, 2 }, { 1, 2, 0 },
                                                               { 2, 0, 1 }, { 2, 1, 0 } };

/* The lines as a curve, without what overlaps with computation. */
static void set_curve(const clv_lines *lines, double overlap, clv_curve *ret)
{
    ret->n = lines->n;
    for (int32_t i = 0; i < lines->n; i++) {
        ret->at[i] = lines->at[i];
        ret->at[i].ns_per_byte *= 1 - overlap;
    }
}

static void make_curves(workspace *w, const clv_mesh *mesh, double overlap, int32_t *member,
                        clv_comms *ret)
{
    for (uint32_t axes = 1; axes < CLV_MESH_MASKS; axes++) {
        uint32_t longs = axes & clv_mesh_long_axes(mesh);
        int32_t p = clv_mesh_count(mesh, longs);
        if (p == 1)
            continue; /* the curve has no lines */
        if (longs != axes) {
            memcpy(ret->curve[axes], ret->curve[longs], sizeof ret->curve[axes]);
            continue; /* longs is the smaller mask: it is there */
        }
        clv_mesh_groups(mesh, axes, member);
        for (int32_t i = 0; i < mesh->n_devices; i++)
            member[i] = mesh->device[member[i]];
        clv_line_set lines;
        find_lines(w, member, mesh->n_devices / p, p, DEPTH_MAX, &lines);
        const clv_rounds r = rounds_of(w, member, mesh->n_devices / p, p);
        const clv_measured_group *measured = measured_of(w, &r);
        for (int32_t k = 0; k < CLV_N_COLLECTIVES; k++)
            set_curve(&lines.of[k], overlap, &ret->curve[axes][k]);
        if (measured)
            clv_measured_points(measured, overlap, ret->curve[axes]);
    }
}

static void make_permutes(workspace *w, const clv_mesh *mesh, double overlap, int32_t *place,
                          clv_comms *ret)
{
    for (int32_t from = 0; from < CLV_ORDERS; from++)
        for (int32_t to = 0; to < CLV_ORDERS; to++) {
            clv_rounds r = rounds_of(w, mesh->device, 1, mesh->n_devices);
            clv_lines lines = { 0 };
            for (int32_t i = 0; i < mesh->n_devices; i++)
                place[clv_mesh_count_of(mesh, ORDERS[to], i)] = i;
            for (int32_t i = 0; i < mesh->n_devices; i++)
                r.to[i] = place[clv_mesh_count_of(mesh, ORDERS[from], i)];
            clv_line line = clv_round(&r);
            line.by = CLV_BY_DIRECT;
            if (line.ns_per_byte > 0)
                clv_lines_add(&lines, line);
            set_curve(&lines, overlap, &ret->permute[from][to]);
        }
}

clv_status clv_comms_make(const clv_cluster *cluster, const clv_mesh *mesh,
                          const clv_comm_options *options, clv_arena *arena, const clv_comms **ret,
                          clv_error *err)
{
    double overlap = options ? options->overlap : 0;
    if (!(overlap >= 0 && overlap <= 1))
        return clv_fail(err, CLV_EUSAGE, "an overlap of %g, expected 0 to 1", overlap);
    clv_comms *comms = CLV_NEW(arena, clv_comms);
    if (!comms)
        return clv_fail_nomem(err, "the costs of a mesh");
    comms->mesh = mesh;
    clv_mark mark = clv_arena_mark(arena);
    size_t n = (size_t)mesh->n_devices, n_ports = (size_t)cluster->n_ports;
    workspace w = { .cluster = cluster,
                    .arena = arena,
                    .measured = options ? options->measured : NULL,
                    .to = CLV_NEW_ARRAY(arena, int32_t, n),
                    .load = CLV_NEW_ARRAY(arena, int32_t, n_ports),
                    .touched = CLV_NEW_ARRAY(arena, int32_t, n_ports) };
    int32_t *member = CLV_NEW_ARRAY(arena, int32_t, n);
    if (w.to && w.load && w.touched && member) {
        make_curves(&w, mesh, overlap, member, comms);
        make_permutes(&w, mesh, overlap, member, comms);
    } else
        w.no_memory = true;
    clv_arena_rewind(arena, mark);
    if (w.no_memory)
        return clv_fail_nomem(err, "the costs of a mesh");
    *ret = comms;
    return CLV_OK;
}
