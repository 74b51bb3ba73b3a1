/* subgraph.c - candidates, which of them stay, and what each takes.
 *
 * Merging first, walking second, each linear. Merging asks how much would gather at a candidate if
 * those before it that were too small had been released. Walking it anew for every release would
 * be quadratic on a long run of small candidates, so what was walked together stays together in a
 * union-find: each operator is walked once, and a released set is added in one step when a later
 * candidate meets it. That decides which candidates stay; the subgraphs themselves are then made by
 * one plain walk from each that stays, as subgraph.h defines them.
 *
 * A unit that is still a large share of the whole is too coarse for a balance over many devices
 * (a model of 26 embedding tables and three candidates; a layer of a decoder over as many devices
 * as it has layers): its heavy operators become candidates too, and the walk is made once more.
 */
#include "cost/subgraph.h"

#include "base/union_find.h"
#include "cost/weight_sums.h"
#include "cost/weights.h"
#include "graph/ops.h"

/* A candidate stays, whatever it lacks of the other measure, when so many times the threshold of
 * one has gathered: a unit that big must be movable by itself. */
#define TOO_BIG 4

/* A unit is too coarse if devices would get 16 such units each, or fewer, by bytes or FLOPs: shares
 * would be up to 6 % apart. An operator of at least 1/128 of what a device gets of either then
 * becomes a candidate, so at most 256 for each device are added. Of 46 models over 8 and 48 over 16
 * H100 as pipelines, 62 take less time than with units for two devices, up to 12 %, and 4 more. */
#define COARSE_UNITS 16
#define HEAVY_UNITS  128
#define DEVICES      2 /* that units are for where there is no cluster yet */

#define NOT_SEEN     (-1)

typedef struct {
    const clv_types *types;
    const clv_graph *g;
    const clv_costs *costs;
    clv_arena *arena, *scratch; /* of the result; of what follows */
    clv_subgraphs *out;
    int32_t *mark;  /* n_ops */
    int32_t *stack; /* n_ops */
    int64_t *bytes; /* n_ops: of the initialisers it is the first to read */
} maker;

static clv_status begin(maker *m, const clv_costs *costs, clv_arena *arena, clv_error *err)
{
    int32_t n = costs->graph->n_ops;
    clv_weight_sums w;
    *m = (maker){ .types = costs->types,
                  .g = costs->graph,
                  .costs = costs,
                  .arena = arena,
                  .scratch = clv_arena_new(clv_arena_alloc(arena), 0),
                  .out = CLV_NEW(arena, clv_subgraphs) };
    if (!m->scratch || !m->out)
        return clv_fail_nomem(err, "subgraphs");
    *m->out = (clv_subgraphs){ .graph = m->g,
                               .order = CLV_NEW_ROOM(arena, clv_op, n),
                               .of = CLV_NEW_ROOM(arena, int32_t, n),
                               .candidates = CLV_NEW_ROOM(arena, clv_op, n) };
    m->mark = CLV_NEW_ROOM(m->scratch, int32_t, n);
    m->stack = CLV_NEW_ROOM(m->scratch, int32_t, n);
    m->bytes = CLV_NEW_ROOM(m->scratch, int64_t, n);
    if (!m->out->order || !m->out->of || !m->out->candidates || !m->mark || !m->stack || !m->bytes)
        return clv_fail_nomem(err, "subgraphs");
    CLV_TRY(clv_weight_sums_init(&w, costs, m->scratch, err));
    for (int32_t i = 0; i < n; i++) {
        m->mark[i] = NOT_SEEN;
        m->bytes[i] = clv_weight_sums_of(&w, (clv_op){ i }, 1);
        m->out->all_bytes = clv_weight_add(m->out->all_bytes, m->bytes[i]);
    }
    return CLV_OK;
}

static clv_status finish(maker *m, clv_status status, clv_subgraphs **ret)
{
    clv_arena_free(m->scratch);
    if (status == CLV_OK)
        *ret = m->out;
    return status;
}

/* -- candidates -- */

/* The operator whose unit an operator is in, wherever that is. */
static int32_t anchor_of(const maker *m, int32_t op)
{
    return m->costs->goes_with ? m->costs->goes_with[op].i : op;
}

/* Does it read two different intermediate tensors? x * x has one input, not two. */
static bool is_candidate(const maker *m, const clv_op_info *op)
{
    clv_tensor first = CLV_NO_TENSOR;
    for (int32_t k = 0; k < op->n_in; k++) {
        clv_tensor t = clv_op_input(m->g, op, k);
        if (t.i < 0 || t.i == first.i || m->types->value[t.i])
            continue;
        const clv_tensor_info *info = clv_tensor_at(m->g, t);
        int32_t kind = info->producer.i < 0 ? -1 : clv_op_at(m->g, info->producer)->kind;
        if (info->role == CLV_TENSOR_WEIGHT ||
            (kind >= 0 && clv_op_def_at(kind)->bytes == CLV_BYTES_CONST))
            continue;
        if (first.i >= 0)
            return true;
        first = t;
    }
    return false;
}

/* What goes with another operator is none. */
static void add_candidate(maker *m, clv_op op)
{
    if (anchor_of(m, op.i) == op.i)
        m->out->candidates[m->out->n_candidates++] = op;
}

/* The k-th input's writer, -1 if it has none in this graph. */
static int32_t writer_of(const clv_graph *g, const clv_op_info *op, int32_t k)
{
    clv_tensor t = clv_op_input(g, op, k);
    return t.i < 0 ? -1 : clv_tensor_at(g, t)->producer.i;
}

/* -- merging -- */

typedef struct {
    int32_t *parent;        /* union-find over candidates; sets that are not yet taken */
    int64_t *bytes, *flops; /* of a root's set */
    bool *taken;            /* a root whose candidate stays */
} merging;

/* Walks from candidate c to what no walk has met; a set that it meets flows to c, unless that was
 * taken. mark: the candidate whose walk came by. */
static void gather(maker *m, merging *s, int32_t c)
{
    int32_t n = 0;
    clv_op from = m->out->candidates[c];
    m->mark[from.i] = c;
    m->stack[n++] = from.i;
    while (n > 0) {
        int32_t i = m->stack[--n];
        const clv_op_info *op = &m->g->ops[i];
        s->bytes[c] = clv_weight_add(s->bytes[c], m->bytes[i]);
        s->flops[c] = clv_weight_add(s->flops[c], m->costs->of[i].flops);
        for (int32_t k = 0; k < op->n_in; k++) {
            int32_t writer = writer_of(m->g, op, k);
            if (writer < 0)
                continue;
            if (m->mark[writer] == NOT_SEEN) {
                m->mark[writer] = c;
                m->stack[n++] = writer;
                continue;
            }
            int32_t root = clv_find_root(s->parent, m->mark[writer]);
            if (root == c || s->taken[root])
                continue;
            s->parent[root] = c;
            s->bytes[c] = clv_weight_add(s->bytes[c], s->bytes[root]);
            s->flops[c] = clv_weight_add(s->flops[c], s->flops[root]);
        }
    }
}

/* kept: the candidates that stay, ascending: at least the mean of all bytes and of all FLOPs. */
static clv_status merge(maker *m, clv_op *kept, int32_t *ret_n, clv_error *err)
{
    int32_t n = m->out->n_candidates;
    merging s = { CLV_NEW_ARRAY(m->scratch, int32_t, n), CLV_NEW_ARRAY(m->scratch, int64_t, n),
                  CLV_NEW_ARRAY(m->scratch, int64_t, n), CLV_NEW_ARRAY(m->scratch, bool, n) };
    if (!s.parent || !s.bytes || !s.flops || !s.taken)
        return clv_fail_nomem(err, "subgraphs");
    for (int32_t c = 0; c < n; c++) {
        s.parent[c] = c;
        gather(m, &s, c);
        int64_t bytes_min = m->out->all_bytes / n, flops_min = m->costs->total.flops / n;
        bool small = s.bytes[c] < bytes_min || s.flops[c] < flops_min;
        bool big = s.bytes[c] / TOO_BIG > bytes_min || s.flops[c] / TOO_BIG > flops_min;
        s.taken[c] = !small || big;
        if (s.taken[c])
            kept[(*ret_n)++] = m->out->candidates[c];
    }
    return CLV_OK;
}

/* -- subgraphs -- */

/* Everything before op that is not taken is `unit` now. */
static void assign_before(maker *m, clv_op op, int32_t unit)
{
    int32_t n = 0;
    if (m->out->of[op.i] != NOT_SEEN)
        return;
    m->out->of[op.i] = unit;
    m->stack[n++] = op.i;
    while (n > 0) {
        const clv_op_info *info = &m->g->ops[m->stack[--n]];
        for (int32_t k = 0; k < info->n_in; k++) {
            int32_t writer = writer_of(m->g, info, k);
            if (writer < 0 || m->out->of[writer] != NOT_SEEN)
                continue;
            m->out->of[writer] = unit;
            m->stack[n++] = writer;
        }
    }
}

static void assign_all(maker *m, const clv_op *kept, int32_t n_kept)
{
    clv_subgraphs *out = m->out;
    for (int32_t i = 0; i < m->g->n_ops; i++)
        out->of[i] = NOT_SEEN;
    for (int32_t c = 0; c < n_kept; c++) {
        assign_before(m, kept[c], c);
        out->at[c].candidate = kept[c];
    }
    out->n = n_kept;
    for (int32_t i = 0; i < m->g->n_ops; i++) {
        if (out->of[i] != NOT_SEEN || anchor_of(m, i) != i)
            continue;
        out->of[i] = n_kept; /* left over */
        out->at[n_kept].candidate = CLV_NO_OP;
        out->n = n_kept + 1;
    }
    for (int32_t i = 0; i < m->g->n_ops; i++)
        out->of[i] = out->of[anchor_of(m, i)];
}

/* Counting sort: unit by unit, operators ascending inside each. */
static void set_order(maker *m, int32_t *next)
{
    clv_subgraphs *out = m->out;
    int32_t first = 0;
    for (int32_t i = 0; i < m->g->n_ops; i++)
        out->at[out->of[i]].n++;
    for (int32_t u = 0; u < out->n; u++) {
        next[u] = out->at[u].first = first;
        first += out->at[u].n;
    }
    for (int32_t i = 0; i < m->g->n_ops; i++)
        out->order[next[out->of[i]]++] = (clv_op){ i };
}

static clv_status make_room(maker *m, int32_t n_units, clv_error *err)
{
    m->out->at = CLV_NEW_ARRAY(m->arena, clv_subgraph, n_units);
    return m->out->at ? CLV_OK : clv_fail_nomem(err, "subgraphs");
}

/* What follows from the unit of each operator. */
static clv_status fill_units(maker *m, clv_error *err)
{
    clv_weight_sums w;
    int32_t *next = CLV_NEW_ARRAY(m->scratch, int32_t, m->out->n);
    if (!next)
        return clv_fail_nomem(err, "subgraphs");
    set_order(m, next);
    CLV_TRY(clv_weight_sums_init(&w, m->costs, m->scratch, err));
    for (int32_t u = 0; u < m->out->n; u++) {
        clv_subgraph *at = &m->out->at[u];
        for (int32_t k = 0; k < at->n; k++) {
            clv_op op = m->out->order[at->first + k];
            at->bytes_cost = clv_weight_add(at->bytes_cost, clv_weight_sums_of(&w, op, u + 1));
            at->flops_cost = clv_weight_add(at->flops_cost, m->costs->of[op.i].flops);
        }
    }
    return CLV_OK;
}

/* The units of these candidates. */
static clv_status set_units(maker *m, const clv_op *kept, int32_t n_kept, clv_error *err)
{
    CLV_TRY(make_room(m, n_kept + 1, err));
    assign_all(m, kept, n_kept);
    return fill_units(m, err);
}

static bool at_least(int64_t part, int64_t whole, int64_t share)
{
    return part > 0 && part >= whole / share;
}

static bool is_coarse(const clv_subgraphs *units, const clv_subgraph *at, int64_t all_flops,
                      int32_t devices)
{
    int64_t share = (int64_t)COARSE_UNITS * devices;
    return at->n > 1 && (at_least(at->bytes_cost, units->all_bytes, share) ||
                         at_least(at->flops_cost, all_flops, share));
}

/* Ascending; how many. */
static int32_t list_marked(const maker *m, const bool *is, clv_op *ret)
{
    int32_t n = 0;
    for (int32_t i = 0; i < m->g->n_ops; i++)
        if (is[i])
            ret[n++] = (clv_op){ i };
    return n;
}

/* The list of candidates stays as it was. */
static void keep_candidates(maker *m, const clv_subgraphs *units)
{
    memcpy(m->out->candidates, units->candidates,
           (size_t)units->n_candidates * sizeof *units->candidates);
    m->out->n_candidates = units->n_candidates;
}

/* The candidates of units, and heavy operators of those that are coarse, ascending. */
static clv_status list_finer(const maker *m, const clv_subgraphs *units, int32_t devices,
                             clv_op *kept, int32_t *ret_n, clv_error *err)
{
    int64_t all_flops = m->costs->total.flops, share = (int64_t)HEAVY_UNITS * devices;
    bool *stays = CLV_NEW_ARRAY(m->scratch, bool, m->g->n_ops);
    if (!stays)
        return clv_fail_nomem(err, "subgraphs");
    for (int32_t i = 0; i < m->g->n_ops; i++) {
        const clv_subgraph *at = &units->at[units->of[i]];
        bool heavy = at_least(m->bytes[i], units->all_bytes, share) ||
                     at_least(m->costs->of[i].flops, all_flops, share);
        if (at->candidate.i == i || (heavy && is_coarse(units, at, all_flops, devices)))
            stays[anchor_of(m, i)] = true;
    }
    *ret_n = list_marked(m, stays, kept);
    return CLV_OK;
}

/* The units of candidates that stay, and then of heavy operators of coarse units too. */
static clv_status set_merged_units(maker *m, clv_error *err)
{
    int32_t n_kept = 0, n_finer;
    clv_op *kept = CLV_NEW_ARRAY(m->scratch, clv_op, m->g->n_ops);
    if (!kept)
        return clv_fail_nomem(err, "subgraphs");
    if (m->out->n_candidates > 0)
        CLV_TRY(merge(m, kept, &n_kept, err));
    CLV_TRY(set_units(m, kept, n_kept, err));
    CLV_TRY(list_finer(m, m->out, DEVICES, kept, &n_finer, err));
    return n_finer > n_kept ? set_units(m, kept, n_finer, err) : CLV_OK;
}

static clv_status refine(maker *m, const clv_subgraphs *units, int32_t devices, clv_error *err)
{
    int32_t n;
    clv_op *kept = CLV_NEW_ARRAY(m->scratch, clv_op, m->g->n_ops);
    if (!kept)
        return clv_fail_nomem(err, "subgraphs");
    keep_candidates(m, units);
    CLV_TRY(list_finer(m, units, devices, kept, &n, err));
    return set_units(m, kept, n, err);
}

clv_status clv_subgraphs_refine(const clv_costs *costs, clv_subgraphs *units, int32_t devices,
                                clv_arena *arena, clv_subgraphs **ret, clv_error *err)
{
    maker m;
    bool any = false;
    for (int32_t u = 0; u < units->n; u++)
        any |= is_coarse(units, &units->at[u], costs->total.flops, devices);
    *ret = units;
    if (!any)
        return CLV_OK;
    clv_status status = begin(&m, costs, arena, err);
    if (status == CLV_OK)
        status = refine(&m, units, devices, err);
    return finish(&m, status, ret);
}

clv_status clv_subgraphs_build(const clv_costs *costs, bool merge_small, clv_arena *arena,
                               clv_subgraphs **ret, clv_error *err)
{
    maker m;
    clv_status status = begin(&m, costs, arena, err);
    if (status != CLV_OK)
        return finish(&m, status, ret);
    for (int32_t i = 0; i < m.g->n_ops; i++)
        if (is_candidate(&m, &m.g->ops[i]))
            add_candidate(&m, (clv_op){ i });
    for (int32_t i = 0, any = m.out->n_candidates; any == 0 && i < m.g->n_ops; i++)
        add_candidate(&m, (clv_op){ i });
    status = merge_small ? set_merged_units(&m, err)
                         : set_units(&m, m.out->candidates, m.out->n_candidates, err);
    return finish(&m, status, ret);
}

clv_status clv_subgraphs_of_nodes(const clv_costs *costs, const clv_op *nodes, int32_t n_nodes,
                                  clv_arena *arena, clv_subgraphs **ret, clv_error *err)
{
    maker m;
    clv_status status = begin(&m, costs, arena, err);
    for (int32_t i = 0; status == CLV_OK && i < n_nodes; i++)
        add_candidate(&m, nodes[i]);
    if (status == CLV_OK)
        status = set_units(&m, m.out->candidates, m.out->n_candidates, err);
    return finish(&m, status, ret);
}

/* -- operators as units -- */

/* A Constant node, or an operator whose results are all known. */
static bool is_constant(const maker *m, const clv_op_info *op)
{
    bool known = op->n_out > 0;
    if (op->kind >= 0 && clv_op_def_at(op->kind)->bytes == CLV_BYTES_CONST)
        return true;
    for (int32_t k = 0; k < op->n_out; k++) {
        clv_tensor t = clv_op_output(m->g, op, k);
        known &= t.i < 0 || m->types->value[t.i];
    }
    return known;
}

clv_status clv_subgraphs_of_ops(const clv_costs *costs, int32_t most, clv_arena *arena,
                                clv_subgraphs **ret, clv_error *err)
{
    maker m;
    clv_status status = begin(&m, costs, arena, err);
    *ret = NULL;
    for (int32_t i = 0; status == CLV_OK && i < m.g->n_ops; i++)
        if (!is_constant(&m, &m.g->ops[i]))
            add_candidate(&m, (clv_op){ i });
    if (status == CLV_OK && m.out->n_candidates <= most)
        status = set_units(&m, m.out->candidates, m.out->n_candidates, err);
    else
        m.out = NULL;
    return finish(&m, status, ret);
}

/* -- units cut by marks -- */

/* Rounds that only look into units that are mixed; then wherever marks change. Mostly one is
 * enough. */
#define SPLIT_ROUNDS 4

/* True if it is new. */
static bool make_candidate(const maker *m, int32_t op, bool *candidate)
{
    bool *is = &candidate[anchor_of(m, op)], any = !*is;
    *is = true;
    return any;
}

/* Writers of what is read with another mark become candidates; true if any is new. */
static bool add_changes(const maker *m, const int32_t *mark, bool everywhere, bool *candidate)
{
    const int32_t *of = m->out->of;
    bool any = false;
    for (int32_t i = 0; i < m->g->n_ops; i++) {
        const clv_op_info *op = &m->g->ops[i];
        for (int32_t k = 0; k < op->n_in; k++) {
            int32_t writer = writer_of(m->g, op, k);
            if (writer < 0 || mark[writer] == mark[i] || (of[writer] != of[i] && !everywhere))
                continue;
            int32_t kind = m->g->ops[writer].kind; /* a Constant node without a mark: any will do */
            if (mark[writer] == 0 && kind >= 0 && clv_op_def_at(kind)->bytes == CLV_BYTES_CONST)
                continue;
            any |= make_candidate(m, writer, candidate);
        }
    }
    return any;
}

/* The left-over operators need not hang together: where their marks differ, those that none of the
 * rest reads become candidates. */
static bool add_ends(const maker *m, const int32_t *mark, bool *candidate)
{
    const clv_subgraphs *out = m->out;
    const clv_subgraph *rest = out->n > 0 ? &out->at[out->n - 1] : NULL;
    bool mixed = false, any = false;
    if (!rest || rest->candidate.i >= 0)
        return false;
    for (int32_t k = 1; k < rest->n; k++)
        mixed |= mark[out->order[rest->first + k].i] != mark[out->order[rest->first].i];
    for (int32_t k = 0; mixed && k < rest->n; k++) {
        int32_t i = out->order[rest->first + k].i;
        bool read = false;
        for (int32_t o = 0; o < m->g->ops[i].n_out; o++) {
            clv_tensor t = clv_op_output(m->g, &m->g->ops[i], o);
            read |= t.i >= 0 && clv_tensor_at(m->g, t)->n_readers > 0;
        }
        any |= !read && make_candidate(m, i, candidate);
    }
    return any;
}

static clv_status split(maker *m, const clv_subgraphs *units, const int32_t *mark, clv_error *err)
{
    bool *candidate = CLV_NEW_ARRAY(m->scratch, bool, m->g->n_ops), again = true;
    int32_t *marks = CLV_NEW_ARRAY(m->scratch, int32_t, m->g->n_ops); /* of the anchors */
    clv_op *kept = CLV_NEW_ARRAY(m->scratch, clv_op, m->g->n_ops);
    if (!candidate || !marks || !kept)
        return clv_fail_nomem(err, "subgraphs");
    for (int32_t i = 0; i < m->g->n_ops; i++)
        marks[i] = mark[anchor_of(m, i)];
    keep_candidates(m, units);
    for (int32_t u = 0; u < units->n; u++)
        if (units->at[u].candidate.i >= 0)
            candidate[units->at[u].candidate.i] = true;
    for (int32_t round = 0; again; round++) {
        CLV_TRY(set_units(m, kept, list_marked(m, candidate, kept), err));
        again = add_changes(m, marks, round >= SPLIT_ROUNDS, candidate);
        again = add_ends(m, marks, candidate) || again;
    }
    return CLV_OK;
}

clv_status clv_subgraphs_split(const clv_costs *costs, const clv_subgraphs *units,
                               const int32_t *mark, clv_arena *arena, clv_subgraphs **ret,
                               clv_error *err)
{
    maker m;
    clv_status status = begin(&m, costs, arena, err);
    if (status == CLV_OK)
        status = split(&m, units, mark, err);
    return finish(&m, status, ret);
}

/* -- groups that are given -- */

static clv_status set_groups(maker *m, const int32_t *group, int32_t n, clv_error *err)
{
    CLV_TRY(make_room(m, n, err));
    m->out->n = n;
    for (int32_t u = 0; u < n; u++)
        m->out->at[u].candidate = CLV_NO_OP;
    for (int32_t i = 0; i < m->g->n_ops; i++) {
        m->out->of[i] = group[i];
        if (group[i] < n - 1)
            m->out->at[group[i]].candidate = (clv_op){ i };
    }
    return fill_units(m, err);
}

clv_status clv_subgraphs_of_groups(const clv_costs *costs, const int32_t *group, int32_t n,
                                   clv_arena *arena, clv_subgraphs **ret, clv_error *err)
{
    maker m;
    clv_status status = begin(&m, costs, arena, err);
    if (status == CLV_OK)
        status = set_groups(&m, group, n, err);
    return finish(&m, status, ret);
}
