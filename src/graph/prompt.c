#include "graph/prompt.h"

#include "graph/constant.h"
#include "graph/first_caches.h"
#include "graph/ops.h"

#define STEPS       8 /* at most so many operators move ids before they are looked up */
#define STATE_RANK  3 /* dimensions of caches and hidden states at least; masks and ids have two */
#define FIRST_LEAST 2 /* keys and values; one alone is what an encoder pools */

/* Where operators that look up rows have the table and the ids. */
typedef struct {
    const char *domain, *type, *axis; /* the attribute that says along which dimension: the first */
    int32_t table, ids;
} lookup;

/* By the operators' own documents: onnx/docs/Operators.md, onnxruntime/docs/ContribOperators.md. */
static const lookup lookups[] = {
    { "", "Gather", "axis", 0, 1 },
    { "com.microsoft", "GatherBlockQuantized", "gather_axis", 0, 1 },
    { "com.microsoft", "EmbedLayerNormalization", NULL, 2, 0 },
};

static const lookup *lookup_of(const clv_graph *g, const clv_op_info *op)
{
    for (size_t i = 0; i < sizeof lookups / sizeof *lookups; i++) {
        const lookup *l = &lookups[i];
        const clv_attr *axis = l->axis ? clv_op_attr(g, op, l->axis) : NULL;
        if (clv_str_is(op->domain, l->domain) && clv_str_is(op->type, l->type))
            return !axis || (axis->kind == CLV_ATTR_INT && axis->i == 0) ? l : NULL;
    }
    return NULL;
}

/* Rows of a table of weights; 0: it is none. */
static int64_t table_rows(const clv_types *types, const bool *constant, clv_tensor t)
{
    bool weight = clv_is_constant(types->graph, constant, t);
    const clv_type *type = weight ? &types->of[t.i] : NULL;
    return weight && type->kind == CLV_TYPE_TENSOR && type->rank == 2 && type->dims[0] > 0
               ? type->dims[0]
               : 0;
}

/* Are they an input of the model, moved or of another integer type at most? */
static bool read_ids(const clv_types *types, clv_tensor t, clv_token_ids *ret)
{
    const clv_graph *g = types->graph;
    for (int32_t step = 0; step < STEPS && t.i >= 0; step++) {
        const clv_tensor_info *at = clv_tensor_at(g, t);
        const clv_type *type = &types->of[t.i];
        if (at->role == CLV_TENSOR_INPUT) {
            *ret = type->rank == 2 ? (clv_token_ids){ type->dims[0], type->dims[1] }
                                   : (clv_token_ids){ 0, 0 };
            return type->kind == CLV_TYPE_TENSOR && ret->sequences > 0 && ret->tokens > 0;
        }
        const clv_op_info *writer = at->producer.i < 0 ? NULL : clv_op_at(g, at->producer);
        if (!writer || !(clv_op_viewed(g, writer).i >= 0 || clv_str_is(writer->type, "Cast")))
            return false;
        t = clv_op_input(g, writer, 0);
    }
    return false;
}

/* Encoders return masks and ids as they came, and what they pool: none is kept for another run. */
static clv_status keeps_state(const clv_types *types, clv_arena *arena, bool *ret, clv_error *err)
{
    clv_states states;
    *ret = false;
    CLV_TRY(clv_states_find(types, arena, &states, err));
    int32_t n = states.n;
    for (int32_t i = 0; i < n; i++)
        *ret |= types->of[states.at[i].in.i].rank >= STATE_RANK;
    CLV_TRY(clv_states_add_first(types, arena, &states, err));
    *ret |= states.n - n >= FIRST_LEAST;
    return CLV_OK;
}

clv_status clv_prompt_find(const clv_types *types, clv_arena *arena, clv_prompt *ret,
                           clv_error *err)
{
    const clv_graph *g = types->graph;
    clv_token_ids *at = CLV_NEW_ARRAY(arena, clv_token_ids, g->n_ops);
    bool *constant, keeps;
    *ret = (clv_prompt){ .at = at };
    if (!at)
        return clv_fail_nomem(err, "token ids");
    CLV_TRY(keeps_state(types, arena, &keeps, err));
    CLV_TRY(clv_constant_ops(g, arena, &constant, err));
    for (int32_t i = 0; keeps && i < g->n_ops; i++) {
        const lookup *l = lookup_of(g, &g->ops[i]);
        int64_t rows = l ? table_rows(types, constant, clv_op_input(g, &g->ops[i], l->table)) : 0;
        if (rows == 0 || !read_ids(types, clv_op_input(g, &g->ops[i], l->ids), &at[ret->n]))
            continue;
        ret->vocabulary = rows > ret->vocabulary ? rows : ret->vocabulary;
        ret->n++;
    }
    return CLV_OK;
}

int64_t clv_prompt_tokens(const clv_prompt *prompt)
{
    int64_t most = 0;
    for (int32_t i = 0; i < prompt->n; i++)
        most = prompt->at[i].tokens > most ? prompt->at[i].tokens : most;
    return most;
}
