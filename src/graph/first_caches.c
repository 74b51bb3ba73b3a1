/* first_caches.c - what leads to a softmax, what comes from one, and what is multiplied with it. */
#include "graph/first_caches.h"

#include "graph/ops.h"

#define WHAT  "caches"
#define STEPS 8 /* at most so many operators move keys before they are returned */

typedef struct {
    const clv_types *types;
    const clv_graph *g;
    bool *to_softmax, *from_softmax; /* n_tensors: over operators that work element by element */
    bool *cache; /* n_tensors: attention reads it as keys or values, moved at most */
} finder;

static bool is(const clv_op_info *op, const char *type)
{
    return op->domain.n == 0 && clv_str_is(op->type, type);
}

static clv_flops_kind flops_of(const clv_op_info *op)
{
    return op->kind >= 0 ? clv_op_def_at(op->kind)->flops : CLV_FLOPS_BODY;
}

/* Does it move elements, or scale them? */
static bool moves(const clv_op_info *op)
{
    return flops_of(op) == CLV_FLOPS_NONE || is(op, "Mul") || is(op, "Div") || is(op, "Cast");
}

static bool is_elementwise(const clv_op_info *op)
{
    return !is(op, "Softmax") && (flops_of(op) == CLV_FLOPS_NONE || flops_of(op) == CLV_FLOPS_OUT);
}

static bool marked(const bool *mark, clv_tensor t) { return t.i >= 0 && mark[t.i]; }

static void mark(bool *marks, clv_tensor t)
{
    if (t.i >= 0)
        marks[t.i] = true;
}

static void find_from_softmax(finder *f)
{
    for (int32_t i = 0; i < f->g->n_ops; i++) {
        const clv_op_info *op = &f->g->ops[i];
        if (is(op, "Softmax") ||
            (is_elementwise(op) && marked(f->from_softmax, clv_op_input(f->g, op, 0))))
            mark(f->from_softmax, clv_op_output(f->g, op, 0));
    }
}

/* Keys and values of one operator: its inputs 1 and 2, and what it returns of them. */
static void visit_attention(finder *f, const clv_op_info *op)
{
    for (int32_t k = 1; k < 3; k++) {
        mark(f->cache, clv_op_input(f->g, op, k));
        mark(f->cache, clv_op_output(f->g, op, k));
    }
}

static void find_caches(finder *f)
{
    for (int32_t i = f->g->n_ops; i-- > 0;) {
        const clv_op_info *op = &f->g->ops[i];
        clv_tensor out = clv_op_output(f->g, op, 0);
        bool scores = marked(f->to_softmax, out);
        if (is(op, "Softmax"))
            mark(f->to_softmax, clv_op_input(f->g, op, 0));
        if (scores && is_elementwise(op))
            for (int32_t k = 0; k < op->n_in; k++)
                mark(f->to_softmax, clv_op_input(f->g, op, k));
        if (is(op, "MatMul") && (scores || marked(f->from_softmax, clv_op_input(f->g, op, 0))))
            mark(f->cache, clv_op_input(f->g, op, 1));
        if (flops_of(op) == CLV_FLOPS_ATTENTION)
            visit_attention(f, op);
        if (marked(f->cache, out) && moves(op))
            for (int32_t k = 0; k < op->n_in; k++)
                mark(f->cache, clv_op_input(f->g, op, k));
    }
}

/* Is a tensor, or what it was moved from, what attention reads? Exporters that transpose keys once
 * for the product and once for the cache return what the product does not read. */
static bool holds_cache(const finder *f, clv_tensor t)
{
    for (int32_t step = 0; step < STEPS && t.i >= 0; step++) {
        clv_op writer = clv_tensor_at(f->g, t)->producer;
        if (f->cache[t.i])
            return true;
        if (writer.i < 0 || !moves(clv_op_at(f->g, writer)))
            return false;
        t = clv_op_input(f->g, clv_op_at(f->g, writer), 0);
    }
    return false;
}

/* How many positions a sequence has in a run, by its first input: [sequences, positions, ...], or
 * of four [sequences, heads, positions, width]. */
static clv_dim positions_of(const clv_types *types)
{
    const clv_graph *g = types->graph;
    for (int32_t i = 0; i < g->n_inputs; i++) {
        const clv_type *type = &types->of[g->inputs[i].i];
        if (type->kind == CLV_TYPE_TENSOR && type->rank >= 2)
            return type->dims[type->rank == 4 ? 2 : 1];
    }
    return CLV_DIM_UNKNOWN;
}

/* The last but one where it is as long, or open, as positions mostly lie there; else the first
 * behind the batch that is as long; -1. */
static int32_t positions_axis(const clv_type *type, clv_dim positions)
{
    int32_t mostly = type->rank - 2;
    if (type->dims[mostly] == positions || !clv_dim_is_number(type->dims[mostly]))
        return mostly;
    for (int32_t i = 1; i < type->rank && positions != CLV_DIM_UNKNOWN; i++)
        if (type->dims[i] == positions)
            return i;
    return -1;
}

/* By its type alone: is it an output that could be a cache, and no state yet? */
static bool may_be_added(const clv_types *types, const clv_states *states, clv_tensor t)
{
    const clv_type *type = &types->of[t.i];
    return type->kind == CLV_TYPE_TENSOR && type->rank >= 3 && states->of_out[t.i] < 0 &&
           clv_tensor_at(types->graph, t)->role == CLV_TENSOR_RESULT;
}

static clv_status add(const finder *f, clv_arena *arena, clv_states *states, clv_error *err)
{
    const clv_graph *g = f->g;
    clv_state *at = CLV_NEW_ARRAY(arena, clv_state, states->n + g->n_outputs);
    int32_t n = 0;
    if (!at)
        return clv_fail_nomem(err, WHAT);
    for (; n < states->n; n++)
        at[n] = states->at[n];
    for (int32_t i = 0; i < g->n_outputs; i++) {
        clv_tensor t = g->outputs[i];
        if (may_be_added(f->types, states, t) && holds_cache(f, t))
            at[n++] = (clv_state){ CLV_NO_TENSOR, t,
                                   positions_axis(&f->types->of[t.i], positions_of(f->types)) };
    }
    states->at = at;
    states->n = n;
    return CLV_OK;
}

clv_status clv_states_add_first(const clv_types *types, clv_arena *arena, clv_states *states,
                                clv_error *err)
{
    const clv_graph *g = types->graph;
    int32_t n = g->n_tensors;
    bool any = false;
    for (int32_t i = 0; i < g->n_outputs; i++)
        any |= may_be_added(types, states, g->outputs[i]);
    if (!any)
        return CLV_OK;
    finder f = { .types = types,
                 .g = g,
                 .to_softmax = CLV_NEW_ARRAY(arena, bool, n),
                 .from_softmax = CLV_NEW_ARRAY(arena, bool, n),
                 .cache = CLV_NEW_ARRAY(arena, bool, n) };
    if (!f.to_softmax || !f.from_softmax || !f.cache)
        return clv_fail_nomem(err, WHAT);
    find_from_softmax(&f);
    find_caches(&f);
    return add(&f, arena, states, err);
}
