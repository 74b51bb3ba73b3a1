#include "sharding/refine_fused.h"

/* Dimensions followed through one tensor, and through one operator; what is beyond is let go. */
#define TRACES_MAX 16

/* Dimensions that begin somewhere, joined where they prove to be the same. */
typedef struct {
    int32_t n;
    int32_t *parent; /* by dimension; the first of those joined is its own */
    bool *coupled;   /* by first: its elements have to do with each other */
} sources;

/* Where a source lies in a tensor. */
typedef struct {
    int32_t dim, source;
    int64_t outer; /* it begins within each of as many outer parts of the dimension */
} trace;

typedef struct {
    int32_t n;
    const trace *at;
} traces;

/* Where a source begins in a factor of an operator: 1 for at its start. */
typedef struct {
    int32_t factor, source;
    int64_t outer;
} cut;

/* An operator in which some begin in the midst of a factor. They are a list, in their order. */
typedef struct inner_op {
    int32_t op, n;
    cut *at; /* all of the operator, by outer */
    struct inner_op *next;
} inner_op;

typedef struct {
    const clv_types *types;
    clv_factors *all;
    clv_arena *scratch;
    sources of;
    traces *in; /* by tensor */
    inner_op *first, **end;
} walk;

/* -- sources: a union-find forest (Galler and Fischer, 1964) -- */

static int32_t find_root(const sources *s, int32_t i)
{
    while (s->parent[i] != i) {
        s->parent[i] = s->parent[s->parent[i]];
        i = s->parent[i];
    }
    return i;
}

static void unite(sources *s, int32_t a, int32_t b)
{
    a = find_root(s, a);
    b = find_root(s, b);
    int32_t low = a < b ? a : b;
    s->coupled[low] = s->coupled[a] || s->coupled[b];
    s->parent[a] = s->parent[b] = low;
}

static void mark_coupled(sources *s, int32_t i) { s->coupled[find_root(s, i)] = true; }

static bool is_coupled(const sources *s, int32_t i) { return s->coupled[find_root(s, i)]; }

static int32_t new_source(sources *s)
{
    s->parent[s->n] = s->n;
    return s->n++;
}

static clv_status start_input(walk *w, clv_tensor t, clv_error *err)
{
    const clv_type *type = &w->types->of[t.i];
    trace *at = CLV_NEW_ARRAY(w->scratch, trace, type->rank);
    int32_t n = 0;
    if (!at)
        return clv_fail_nomem(err, "the dimensions of a graph");
    for (int32_t i = 0; i < type->rank && n < TRACES_MAX; i++)
        if (clv_dim_is_number(type->dims[i]) && type->dims[i] > 1)
            at[n++] = (trace){ .dim = i, .source = new_source(&w->of), .outer = 1 };
    w->in[t.i] = (traces){ n, at };
    return CLV_OK;
}

static bool is_ranked(const clv_type *t) { return t->kind == CLV_TYPE_TENSOR && t->rank > 0; }

static clv_status start_walk(walk *w, clv_error *err)
{
    const clv_graph *g = w->types->graph;
    size_t most = 0; /* one for each dimension of any tensor */
    for (int32_t i = 0; i < g->n_tensors; i++)
        most += is_ranked(&w->types->of[i]) ? (size_t)w->types->of[i].rank : 0;
    w->in = CLV_NEW_ARRAY(w->scratch, traces, g->n_tensors);
    w->of.parent = CLV_NEW_ARRAY(w->scratch, int32_t, most);
    w->of.coupled = CLV_NEW_ARRAY(w->scratch, bool, most);
    if (!w->in || !w->of.parent || !w->of.coupled)
        return clv_fail_nomem(err, "the dimensions of a graph");
    for (int32_t i = 0; i < g->n_inputs; i++)
        if (is_ranked(&w->types->of[g->inputs[i].i]))
            CLV_TRY(start_input(w, g->inputs[i], err));
    return CLV_OK;
}

/* -- through one operator -- */

static int32_t find_cut(const cut *cuts, int32_t n, int32_t factor, int64_t outer)
{
    for (int32_t i = 0; i < n; i++)
        if (cuts[i].factor == factor && cuts[i].outer == outer)
            return i;
    return -1;
}

/* Where what the inputs bring along begins in the factors. */
static int32_t find_cuts(walk *w, int32_t op, cut *cuts)
{
    const clv_factors *f = &w->all[op];
    int32_t n = 0;
    for (int32_t k = 0; k < f->n_in; k++) {
        clv_tensor t = clv_op_input(w->types->graph, &w->types->graph->ops[op], k);
        traces in = t.i < 0 ? (traces){ 0, NULL } : w->in[t.i];
        for (int32_t i = 0; i < in.n && in.at[i].dim < f->in[k].rank; i++) {
            cut c = { .source = in.at[i].source, .outer = in.at[i].outer };
            c.factor = clv_factor_begins(f, &f->in[k].dims[in.at[i].dim], &c.outer);
            int32_t known = find_cut(cuts, n, c.factor, c.outer);
            if (c.factor < 0)
                mark_coupled(&w->of, c.source);
            else if (known >= 0)
                unite(&w->of, cuts[known].source, c.source);
            else if (n < TRACES_MAX)
                cuts[n++] = c;
        }
    }
    return n;
}

/* The columns of a product, the heads of an attention: what dimensions of the outputs begin with
 * and no input brought along is followed from here. */
static int32_t begin_others(walk *w, int32_t op, cut *cuts, int32_t n)
{
    const clv_factors *f = &w->all[op];
    for (int32_t k = 0; k < f->n_out; k++) {
        clv_tensor t = clv_op_output(w->types->graph, &w->types->graph->ops[op], k);
        int32_t rank = t.i < 0 || !is_ranked(&w->types->of[t.i]) ? 0 : w->types->of[t.i].rank;
        for (int32_t i = 0; i < rank && i < f->out[k].rank && n < TRACES_MAX; i++) {
            cut c = { .outer = 1 };
            c.factor = clv_factor_begins(f, &f->out[k].dims[i], &c.outer);
            if (c.factor < 0 || f->factors[c.factor].kind != CLV_FACTOR_PARALLEL ||
                find_cut(cuts, n, c.factor, 1) >= 0)
                continue;
            c.source = new_source(&w->of);
            cuts[n++] = c;
        }
    }
    return n;
}

/* What is not parallel, and what meets itself: rows by columns of the same. */
static void couple_cuts(walk *w, const clv_factors *f, const cut *cuts, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const clv_factor *one = &f->factors[cuts[i].factor];
        if (one->kind != CLV_FACTOR_PARALLEL || one->by_index)
            mark_coupled(&w->of, cuts[i].source);
        for (int32_t k = 0; k < i; k++)
            if (find_root(&w->of, cuts[i].source) == find_root(&w->of, cuts[k].source))
                mark_coupled(&w->of, cuts[i].source);
    }
}

/* Where the sources lie in the dimensions of an output; how many do. ret: TRACES_MAX. */
static int32_t trace_output(const clv_factors *f, const clv_operand_factors *o, const cut *cuts,
                            int32_t n_cuts, trace *ret)
{
    int32_t n = 0;
    for (int32_t dim = 0; dim < o->rank; dim++) {
        const clv_dim_factors *d = &o->dims[dim];
        int64_t outer = 1, begins;
        for (int32_t i = 0; i < d->n; i++) {
            for (int32_t k = 0; k < n_cuts && n < TRACES_MAX; k++)
                if (cuts[k].factor == d->at[i] &&
                    !__builtin_mul_overflow(outer, cuts[k].outer, &begins))
                    ret[n++] = (trace){ .dim = dim, .source = cuts[k].source, .outer = begins };
            if (__builtin_mul_overflow(outer, f->factors[d->at[i]].size, &outer))
                break;
        }
    }
    return n;
}

static clv_status trace_outputs(walk *w, int32_t op, const cut *cuts, int32_t n_cuts,
                                clv_error *err)
{
    const clv_factors *f = &w->all[op];
    for (int32_t k = 0; k < f->n_out; k++) {
        clv_tensor t = clv_op_output(w->types->graph, &w->types->graph->ops[op], k);
        trace found[TRACES_MAX];
        int32_t n = t.i < 0 ? 0 : trace_output(f, &f->out[k], cuts, n_cuts, found);
        if (n == 0)
            continue;
        trace *at = CLV_NEW_ARRAY(w->scratch, trace, n);
        if (!at)
            return clv_fail_nomem(err, "the dimensions of a graph");
        for (int32_t i = 0; i < n; i++)
            at[i] = found[i];
        w->in[t.i] = (traces){ n, at };
    }
    return CLV_OK;
}

/* Sorts the cuts by outer; where the last is in the midst of a factor, the operator is listed. */
static clv_status list_inner(walk *w, int32_t op, cut *cuts, int32_t n, clv_error *err)
{
    for (int32_t i = 1; i < n; i++) {
        cut one = cuts[i];
        int32_t k = i;
        for (; k > 0 && cuts[k - 1].outer > one.outer; k--)
            cuts[k] = cuts[k - 1];
        cuts[k] = one;
    }
    if (n == 0 || cuts[n - 1].outer == 1)
        return CLV_OK;
    inner_op *one = CLV_NEW(w->scratch, inner_op);
    cut *at = CLV_NEW_ARRAY(w->scratch, cut, n);
    if (!one || !at)
        return clv_fail_nomem(err, "the dimensions of a graph");
    for (int32_t i = 0; i < n; i++)
        at[i] = cuts[i];
    *one = (inner_op){ .op = op, .n = n, .at = at };
    *w->end = one;
    w->end = &one->next;
    return CLV_OK;
}

/* -- the whole graph -- */

/* All that begin before it in the factor are of the other kind; so it is at most one of a factor.
 */
static bool is_first_of_kind(const sources *s, const inner_op *op, int32_t i)
{
    bool any = false;
    for (int32_t k = 0; k < i; k++) {
        if (op->at[k].factor != op->at[i].factor)
            continue;
        if (is_coupled(s, op->at[k].source) == is_coupled(s, op->at[i].source))
            return false;
        any = true;
    }
    return any;
}

static clv_status follow(walk *w, clv_arena *arena, clv_error *err)
{
    const clv_graph *g = w->types->graph;
    CLV_TRY(start_walk(w, err));
    for (int32_t op = 0; op < g->n_ops; op++) {
        cut cuts[TRACES_MAX];
        const clv_factors *f = &w->all[op];
        if (f->why_whole || f->by_shape)
            continue;
        int32_t n = begin_others(w, op, cuts, find_cuts(w, op, cuts));
        couple_cuts(w, f, cuts, n);
        CLV_TRY(list_inner(w, op, cuts, n, err));
        CLV_TRY(trace_outputs(w, op, cuts, n, err));
    }
    for (const inner_op *one = w->first; one; one = one->next) {
        clv_factors *f = &w->all[one->op];
        for (int32_t i = 0; i < one->n; i++) {
            int32_t factor = one->at[i].factor;
            int64_t outer = one->at[i].outer;
            if (outer > 1 && is_first_of_kind(&w->of, one, i) &&
                clv_factor_divisible(&f->factors[factor], outer))
                CLV_TRY(clv_factors_refine(f, factor, outer, arena, f, err));
        }
    }
    return CLV_OK;
}

clv_status clv_refine_fused(const clv_types *types, clv_factors *all, clv_arena *arena,
                            clv_error *err)
{
    walk w = { .types = types, .all = all };
    w.end = &w.first;
    w.scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    if (!w.scratch)
        return clv_fail_nomem(err, "the dimensions of a graph");
    clv_status status = follow(&w, arena, err);
    clv_arena_free(w.scratch);
    return status;
}
