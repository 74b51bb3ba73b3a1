#include "cost/collective.h"

#include <math.h>

#include "cost/rounds.h"

const char *clv_algorithm_name(clv_algorithm by)
{
    static const char *const names[] = { "ring", "halving", "tree", "direct", "hierarchy" };
    return names[by];
}

/* -- curves -- */

static int64_t line_ns(const clv_line *line, int64_t bytes)
{
    double ns = ceil((double)bytes * line->ns_per_byte);
    if (ns >= (double)(CLV_COMM_NS_MAX - line->latency_ns))
        return CLV_COMM_NS_MAX;
    return line->latency_ns + (int64_t)ns;
}

const clv_line *clv_curve_line(const clv_curve *curve, int64_t bytes)
{
    const clv_line *best = NULL;
    for (int32_t i = 0; i < curve->n; i++)
        if (!best || line_ns(&curve->at[i], bytes) < line_ns(best, bytes))
            best = &curve->at[i];
    return best;
}

int64_t clv_curve_ns(const clv_curve *curve, int64_t bytes)
{
    int64_t best = curve->n > 0 ? CLV_COMM_NS_MAX : 0;
    if (bytes == 0)
        return 0;
    for (int32_t i = 0; i < curve->n; i++) {
        int64_t ns = line_ns(&curve->at[i], bytes);
        best = ns < best ? ns : best;
    }
    return best;
}

/* -- hierarchies -- */

typedef struct {
    const clv_cluster *cluster;
    clv_arena *arena;
    int32_t *to, *load, *touched;
    bool no_memory;
} desk;

/* Divided so many times: groups of neighbours may have groups within or across them. */
#define DEPTH_MAX 2

static clv_rounds rounds_of(const desk *d, const int32_t *member, int32_t n_groups, int32_t p)
{
    return (clv_rounds){ d->cluster, member, n_groups, p, d->to, d->load, d->touched };
}

static clv_line joined(const clv_line *a, double a_share, const clv_line *b, double b_share,
                       int32_t inner)
{
    int64_t latency = a->latency_ns > CLV_COMM_NS_MAX - b->latency_ns
                          ? CLV_COMM_NS_MAX
                          : a->latency_ns + b->latency_ns;
    return (clv_line){ latency, a->ns_per_byte * a_share + b->ns_per_byte * b_share,
                       CLV_BY_HIERARCHY, inner };
}

/* Every pair of lines, the one over so much of the whole, the other over so much. */
static void join(const clv_lines *a, double a_share, const clv_lines *b, double b_share,
                 int32_t inner, clv_lines *ret)
{
    for (int32_t i = 0; i < a->n; i++)
        for (int32_t j = 0; j < b->n; j++)
            clv_lines_add(ret, joined(&a->at[i], a_share, &b->at[j], b_share, inner));
    clv_lines_prune(ret);
}

/* The groups taken apart: inside, q neighbours each; across, those at the same place. */
static bool take_apart(desk *d, const int32_t *member, int32_t n, int32_t p, int32_t q,
                       int32_t **ret_across)
{
    int32_t *across = CLV_NEW_ARRAY(d->arena, int32_t, n);
    if (!across) {
        d->no_memory = true;
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

static void find_lines(desk *d, const int32_t *member, int32_t n_groups, int32_t p, int32_t depth,
                       clv_line_set *ret)
{
    clv_rounds r = rounds_of(d, member, n_groups, p);
    int32_t n = n_groups * p, *across;

    memset(ret, 0, sizeof *ret);
    clv_rounds_lines(&r, depth > 0, ret);
    for (int32_t q = 2; depth > 0 && q <= p / 2; q++) {
        clv_line_set in, out;
        clv_mark mark = clv_arena_mark(d->arena);
        if (p % q != 0 || !take_apart(d, member, n, p, q, &across))
            continue;
        find_lines(d, member, n / q, q, depth - 1, &in); /* at most DEPTH_MAX deep */
        find_lines(d, across, n / (p / q), p / q, depth - 1, &out);
        join_all(&in, &out, q, p / q, ret);
        clv_arena_rewind(d->arena, mark);
    }
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

static void keep(const clv_lines *lines, double overlap, clv_curve *ret)
{
    ret->n = lines->n;
    for (int32_t i = 0; i < lines->n; i++) {
        ret->at[i] = lines->at[i];
        ret->at[i].ns_per_byte *= 1 - overlap;
    }
}

static void make_curves(desk *d, const clv_mesh *mesh, double overlap, int32_t *member,
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
        find_lines(d, member, mesh->n_devices / p, p, DEPTH_MAX, &lines);
        for (int32_t k = 0; k < CLV_N_COLLECTIVES; k++)
            keep(&lines.of[k], overlap, &ret->curve[axes][k]);
    }
}

static void make_permutes(desk *d, const clv_mesh *mesh, double overlap, int32_t *place,
                          clv_comms *ret)
{
    for (int32_t from = 0; from < CLV_ORDERS; from++)
        for (int32_t to = 0; to < CLV_ORDERS; to++) {
            clv_rounds r = rounds_of(d, mesh->device, 1, mesh->n_devices);
            clv_lines lines = { 0 };
            for (int32_t i = 0; i < mesh->n_devices; i++)
                place[clv_mesh_count_of(mesh, ORDERS[to], i)] = i;
            for (int32_t i = 0; i < mesh->n_devices; i++)
                r.to[i] = place[clv_mesh_count_of(mesh, ORDERS[from], i)];
            clv_line line = clv_round(&r);
            line.by = CLV_BY_DIRECT;
            if (line.ns_per_byte > 0)
                clv_lines_add(&lines, line);
            keep(&lines, overlap, &ret->permute[from][to]);
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
    desk d = { .cluster = cluster,
               .arena = arena,
               .to = CLV_NEW_ARRAY(arena, int32_t, n),
               .load = CLV_NEW_ARRAY(arena, int32_t, n_ports),
               .touched = CLV_NEW_ARRAY(arena, int32_t, n_ports) };
    int32_t *member = CLV_NEW_ARRAY(arena, int32_t, n);
    if (d.to && d.load && d.touched && member) {
        make_curves(&d, mesh, overlap, member, comms);
        make_permutes(&d, mesh, overlap, member, comms);
    } else
        d.no_memory = true;
    clv_arena_rewind(arena, mark);
    if (d.no_memory)
        return clv_fail_nomem(err, "the costs of a mesh");
    *ret = comms;
    return CLV_OK;
}
