/* subgraph.c - candidates, which of them stay, and what each takes.
 *
 * Merging first, walking second, each linear. Merging asks how much would gather at a candidate if
 * those before it that were too small had been released. Walking it anew for every release would
 * be quadratic on a long run of small candidates, so what was walked together stays together in a
 * union-find: each operator is walked once, and a released set is added in one step when a later
 * candidate meets it. That decides which candidates stay; the subgraphs themselves are then made by
 * one plain walk from each that stays, so each is exactly what B.010 says.
 *
 * A unit that is still a large share of the whole is too coarse for a balance over many devices
 * (a model of 26 embedding tables and three candidates): its heavy operators become candidates
 * too, and the walk is made once more.
 */
#include "cost/subgraph.h"

#include "cost/weights.h"
#include "graph/ops.h"

/* A candidate stays, whatever it lacks of the other measure, when so many times the threshold of
 * one has gathered: a unit that big must be movable by itself. */
#define TOO_BIG 4

/* A unit above 1/32 of all bytes or FLOPs is too coarse: 16 devices would get two such units each.
 * An operator of at least 1/256 of either then becomes a candidate, so at most 512 are added. */
#define COARSE_SHARE 32
#define HEAVY_SHARE  256

#define NOT_SEEN     (-1)

typedef struct {
    const clv_types *types;
    const clv_graph *g;
    const clv_costs *costs;
    clv_subgraphs *out;
    clv_error *err;
    /* scratch */
    int32_t *mark;  /* n_ops */
    int32_t *stack; /* n_ops */
    int64_t *bytes; /* n_ops: of the initialisers it is the first to read */
    int64_t all_bytes;
} maker;

/* -- candidates -- */

/* The operator whose unit an operator is in, wherever that is. */
static int32_t anchor_of(const maker *m, int32_t op)
{
    return m->costs->goes_with ? m->costs->goes_with[op].i : op;
}

static bool is_intermediate(const maker *m, clv_tensor t)
{
    const clv_tensor_info *info = clv_tensor_at(m->g, t);
    if (info->role == CLV_TENSOR_WEIGHT || m->types->value[t.i])
        return false;
    int32_t kind = info->producer.i < 0 ? -1 : clv_op_at(m->g, info->producer)->kind;
    return kind < 0 || clv_op_def_at(kind)->bytes != CLV_BYTES_CONST;
}

/* x * x has one input, not two. */
static bool is_candidate(const maker *m, const clv_op_info *op)
{
    clv_tensor first = CLV_NO_TENSOR;
    for (int32_t k = 0; k < op->n_in; k++) {
        clv_tensor t = clv_op_input(m->g, op, k);
        if (t.i < 0 || t.i == first.i || !is_intermediate(m, t))
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

static void find_candidates(maker *m)
{
    clv_subgraphs *out = m->out;
    for (int32_t i = 0; i < m->g->n_ops; i++)
        if (is_candidate(m, &m->g->ops[i]))
            add_candidate(m, (clv_op){ i });
    if (out->n_candidates > 0)
        return;
    for (int32_t i = 0; i < m->g->n_ops; i++) /* B.039 */
        add_candidate(m, (clv_op){ i });
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
    int64_t bytes_min, flops_min;
} merging;

static int32_t root_of(merging *s, int32_t i)
{
    while (s->parent[i] != i) {
        s->parent[i] = s->parent[s->parent[i]];
        i = s->parent[i];
    }
    return i;
}

/* A set met by the walk from candidate c flows to c. */
static void absorb(merging *s, int32_t set, int32_t c)
{
    int32_t root = root_of(s, set);
    if (root == c || s->taken[root])
        return;
    s->parent[root] = c;
    s->bytes[c] = clv_weight_add(s->bytes[c], s->bytes[root]);
    s->flops[c] = clv_weight_add(s->flops[c], s->flops[root]);
}

/* mark: the candidate whose walk came by. */
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
            if (writer >= 0 && m->mark[writer] == NOT_SEEN) {
                m->mark[writer] = c;
                m->stack[n++] = writer;
            } else if (writer >= 0) {
                absorb(s, m->mark[writer], c);
            }
        }
    }
}

static bool stays(const merging *s, int32_t c)
{
    bool small = s->bytes[c] < s->bytes_min || s->flops[c] < s->flops_min;
    bool big = s->bytes[c] / TOO_BIG > s->bytes_min || s->flops[c] / TOO_BIG > s->flops_min;
    return !small || big;
}

static void set_thresholds(const maker *m, merging *s)
{
    s->bytes_min = m->all_bytes / m->out->n_candidates;
    s->flops_min = m->costs->total.flops / m->out->n_candidates;
}

/* kept: the candidates that stay, ascending. */
static clv_status merge(maker *m, clv_arena *scratch, clv_op *kept, int32_t *ret_n)
{
    int32_t n = m->out->n_candidates;
    merging s = { CLV_NEW_ARRAY(scratch, int32_t, n),
                  CLV_NEW_ARRAY(scratch, int64_t, n),
                  CLV_NEW_ARRAY(scratch, int64_t, n),
                  CLV_NEW_ARRAY(scratch, bool, n),
                  0,
                  0 };
    if (!s.parent || !s.bytes || !s.flops || !s.taken)
        return clv_fail_nomem(m->err, "subgraphs");
    set_thresholds(m, &s);
    for (int32_t c = 0; c < n; c++) {
        s.parent[c] = c;
        gather(m, &s, c);
        s.taken[c] = stays(&s, c);
        if (s.taken[c])
            kept[(*ret_n)++] = m->out->candidates[c];
    }
    return CLV_OK;
}

/* -- subgraphs -- */

/* Everything before op that is not taken is `unit` now. */
static void take(maker *m, clv_op op, int32_t unit)
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

static void take_all(maker *m, const clv_op *kept, int32_t n_kept)
{
    clv_subgraphs *out = m->out;
    for (int32_t i = 0; i < m->g->n_ops; i++)
        out->of[i] = NOT_SEEN;
    for (int32_t c = 0; c < n_kept; c++) {
        take(m, kept[c], c);
        out->at[c].candidate = kept[c];
    }
    out->n = n_kept;
    for (int32_t i = 0; i < m->g->n_ops; i++) {
        if (out->of[i] != NOT_SEEN || anchor_of(m, i) != i)
            continue;
        out->of[i] = n_kept; /* B.041 */
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

static clv_status set_costs(maker *m, clv_arena *scratch)
{
    clv_weight_sums w;
    CLV_TRY(clv_weight_sums_init(&w, m->costs, scratch, m->err));
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

/* -- units that are too coarse -- */

static bool at_least(int64_t part, int64_t whole, int64_t share)
{
    return part > 0 && part >= whole / share;
}

static bool is_coarse(const maker *m, int32_t u)
{
    const clv_subgraph *at = &m->out->at[u];
    return at->n > 1 && (at_least(at->bytes_cost, m->all_bytes, COARSE_SHARE) ||
                         at_least(at->flops_cost, m->costs->total.flops, COARSE_SHARE));
}

/* The candidates that stayed and the heavy operators of coarse units, ascending, into a new list.
 */
static void add_heavy(const maker *m, clv_op *ret, int32_t *ret_n)
{
    const clv_subgraphs *out = m->out;
    *ret_n = 0;
    for (int32_t i = 0; i < m->g->n_ops; i++) {
        int32_t u = out->of[i];
        bool heavy = at_least(m->bytes[i], m->all_bytes, HEAVY_SHARE) ||
                     at_least(m->costs->of[i].flops, m->costs->total.flops, HEAVY_SHARE);
        if (out->at[u].candidate.i == i || (heavy && is_coarse(m, u)))
            ret[(*ret_n)++] = (clv_op){ i };
    }
}

/* -- all -- */

static clv_status set_units(maker *m, const clv_op *kept, int32_t n_kept, clv_arena *arena,
                            clv_arena *scratch)
{
    m->out->at = CLV_NEW_ARRAY(arena, clv_subgraph, (size_t)n_kept + 1);
    int32_t *next = CLV_NEW_ARRAY(scratch, int32_t, (size_t)n_kept + 1);
    if (!m->out->at || !next)
        return clv_fail_nomem(m->err, "subgraphs");
    take_all(m, kept, n_kept);
    set_order(m, next);
    return set_costs(m, scratch);
}

static clv_status set_merged_units(maker *m, clv_arena *arena, clv_arena *scratch)
{
    int32_t n_kept = 0, n_finer;
    clv_op *kept = CLV_NEW_ARRAY(scratch, clv_op, m->g->n_ops);
    if (!kept)
        return clv_fail_nomem(m->err, "subgraphs");
    if (m->out->n_candidates > 0)
        CLV_TRY(merge(m, scratch, kept, &n_kept));
    CLV_TRY(set_units(m, kept, n_kept, scratch, scratch));
    add_heavy(m, kept, &n_finer);
    return set_units(m, kept, n_finer, arena, scratch);
}

static clv_status set_first_reads(maker *m, clv_arena *scratch)
{
    clv_weight_sums w;
    CLV_TRY(clv_weight_sums_init(&w, m->costs, scratch, m->err));
    for (int32_t i = 0; i < m->g->n_ops; i++) {
        m->mark[i] = NOT_SEEN;
        m->bytes[i] = clv_weight_sums_of(&w, (clv_op){ i }, 1);
        m->all_bytes = clv_weight_add(m->all_bytes, m->bytes[i]);
    }
    return CLV_OK;
}

static clv_status prepare(maker *m, clv_arena *arena, clv_arena *scratch)
{
    int32_t n = m->g->n_ops;
    clv_subgraphs *out = m->out;
    out->order = CLV_NEW_ARRAY(arena, clv_op, n);
    out->of = CLV_NEW_ARRAY(arena, int32_t, n);
    out->candidates = CLV_NEW_ARRAY(arena, clv_op, n);
    m->mark = CLV_NEW_ARRAY(scratch, int32_t, n);
    m->stack = CLV_NEW_ARRAY(scratch, int32_t, n);
    m->bytes = CLV_NEW_ARRAY(scratch, int64_t, n);
    if (!out->order || !out->of || !out->candidates || !m->mark || !m->stack || !m->bytes)
        return clv_fail_nomem(m->err, "subgraphs");
    return set_first_reads(m, scratch);
}

/* given NULL: candidates are looked for. */
static clv_status build(const clv_types *types, const clv_costs *costs, bool merged,
                        const clv_op *given, int32_t n_given, clv_arena *arena, clv_arena *scratch,
                        clv_subgraphs **ret, clv_error *err)
{
    clv_subgraphs *out = CLV_NEW(arena, clv_subgraphs);
    if (!out)
        return clv_fail_nomem(err, "subgraphs");
    out->graph = types->graph;
    maker m = { .types = types, .g = types->graph, .costs = costs, .out = out, .err = err };
    CLV_TRY(prepare(&m, arena, scratch));
    if (!given)
        find_candidates(&m);
    for (int32_t i = 0; i < n_given; i++)
        add_candidate(&m, given[i]);
    CLV_TRY(merged ? set_merged_units(&m, arena, scratch)
                   : set_units(&m, out->candidates, out->n_candidates, arena, scratch));
    *ret = out;
    return CLV_OK;
}

/* -- units cut by marks -- */

/* Rounds that only look into units that are mixed; then wherever marks change. Mostly one is
 * enough. */
#define SPLIT_ROUNDS 4

/* Does op's mark not matter: a Constant node without one? */
static bool is_transparent(const maker *m, const int32_t *mark, int32_t op)
{
    int32_t kind = m->g->ops[op].kind;
    return mark[op] == 0 && kind >= 0 && clv_op_def_at(kind)->bytes == CLV_BYTES_CONST;
}

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
            if (writer < 0 || mark[writer] == mark[i] || (of[writer] != of[i] && !everywhere) ||
                is_transparent(m, mark, writer))
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

static clv_status split(maker *m, const int32_t *mark, bool *candidate, clv_arena *arena,
                        clv_arena *scratch)
{
    bool again = true;
    clv_op *kept = CLV_NEW_ARRAY(scratch, clv_op, m->g->n_ops);
    if (!kept)
        return clv_fail_nomem(m->err, "subgraphs");
    for (int32_t round = 0; again; round++) {
        int32_t n_kept = 0;
        for (int32_t i = 0; i < m->g->n_ops; i++)
            if (candidate[i])
                kept[n_kept++] = (clv_op){ i };
        CLV_TRY(set_units(m, kept, n_kept, arena, scratch));
        again = add_changes(m, mark, round >= SPLIT_ROUNDS, candidate);
        again = add_ends(m, mark, candidate) || again;
    }
    return CLV_OK;
}

static clv_status split_with_scratch(maker *m, const clv_subgraphs *units, const int32_t *mark,
                                     clv_arena *arena, clv_arena *scratch)
{
    bool *candidate = CLV_NEW_ARRAY(scratch, bool, m->g->n_ops);
    int32_t *marks = CLV_NEW_ARRAY(scratch, int32_t, m->g->n_ops); /* of the anchors */
    if (!candidate || !marks)
        return clv_fail_nomem(m->err, "subgraphs");
    for (int32_t i = 0; i < m->g->n_ops; i++)
        marks[i] = mark[anchor_of(m, i)];
    CLV_TRY(prepare(m, arena, scratch));
    for (int32_t i = 0; i < units->n_candidates; i++)
        m->out->candidates[m->out->n_candidates++] = units->candidates[i];
    for (int32_t u = 0; u < units->n; u++)
        if (units->at[u].candidate.i >= 0)
            candidate[units->at[u].candidate.i] = true;
    return split(m, marks, candidate, arena, scratch);
}

clv_status clv_subgraphs_split(const clv_types *types, const clv_costs *costs,
                               const clv_subgraphs *units, const int32_t *mark, clv_arena *arena,
                               clv_subgraphs **ret, clv_error *err)
{
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    clv_subgraphs *out = CLV_NEW(arena, clv_subgraphs);
    if (!scratch || !out) {
        clv_arena_free(scratch);
        return clv_fail_nomem(err, "subgraphs");
    }
    out->graph = types->graph;
    maker m = { .types = types, .g = types->graph, .costs = costs, .out = out, .err = err };
    clv_status status = split_with_scratch(&m, units, mark, arena, scratch);
    clv_arena_free(scratch);
    if (status == CLV_OK)
        *ret = out;
    return status;
}

static clv_status build_with_scratch(const clv_types *types, const clv_costs *costs, bool merged,
                                     const clv_op *given, int32_t n_given, clv_arena *arena,
                                     clv_subgraphs **ret, clv_error *err)
{
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    if (!scratch)
        return clv_fail_nomem(err, "subgraphs");
    clv_status status = build(types, costs, merged, given, n_given, arena, scratch, ret, err);
    clv_arena_free(scratch);
    return status;
}

clv_status clv_subgraphs_build(const clv_types *types, const clv_costs *costs, bool merge_small,
                               clv_arena *arena, clv_subgraphs **ret, clv_error *err)
{
    return build_with_scratch(types, costs, merge_small, NULL, 0, arena, ret, err);
}

clv_status clv_subgraphs_of_nodes(const clv_types *types, const clv_costs *costs,
                                  const clv_op *nodes, int32_t n_nodes, clv_arena *arena,
                                  clv_subgraphs **ret, clv_error *err)
{
    return build_with_scratch(types, costs, false, nodes, n_nodes, arena, ret, err);
}
