/* states.c - one pass over the operators: of each tensor, the input whose content it holds. */
#include "graph/states.h"

#include "graph/dims.h"
#include "graph/ops.h"

#define WHAT      "states"
#define STD       ""
#define MS        "com.microsoft"
#define EACH      (-1) /* any input */
#define NO_AXIS   (-1)
#define ATTRIBUTE 1000 /* the axis is the operator's attribute `axis`; above any rank */

/* An operator whose output holds the content of an input: its words for past and present. */
typedef struct {
    const char *domain, *type;
    int32_t in, out;
    int32_t positions; /* axis, NO_AXIS or ATTRIBUTE */
    int64_t axis;      /* of ATTRIBUTE: where it is not given */
    bool part;         /* the output may hold less: it does if it is as large in the end */
} held;

/* By the operators' own documents: onnx/docs/Operators.md, onnxruntime/docs/ContribOperators.md. */
static const held table[] = {
    { STD, "Concat", EACH, 0, ATTRIBUTE, 0, false },
    { STD, "TensorScatter", 0, 0, ATTRIBUTE, -2, false },
    { STD, "Scatter", 0, 0, NO_AXIS, 0, false },
    { STD, "ScatterElements", 0, 0, NO_AXIS, 0, false },
    { STD, "ScatterND", 0, 0, NO_AXIS, 0, false },
    { STD, "Transpose", 0, 0, NO_AXIS, 0, false },
    { STD, "Cast", 0, 0, NO_AXIS, 0, false },
    { STD, "Slice", 0, 0, NO_AXIS, 0, true },
    { STD, "Attention", 4, 1, 2, 0, false },
    { STD, "Attention", 5, 2, 2, 0, false },
    { STD, "CausalConvWithState", 3, 1, NO_AXIS, 0, false },
    { STD, "LinearAttention", 3, 1, NO_AXIS, 0, false },
    { STD, "RNN", 5, 1, NO_AXIS, 0, false },
    { STD, "GRU", 5, 1, NO_AXIS, 0, false },
    { STD, "LSTM", 5, 1, NO_AXIS, 0, false },
    { STD, "LSTM", 6, 2, NO_AXIS, 0, false },
    { MS, "Attention", 4, 1, 3, 0, false },
    { MS, "DecoderMaskedSelfAttention", 4, 1, 3, 0, false },
    { MS, "QAttention", 8, 1, 3, 0, false },
    { MS, "GroupQueryAttention", 3, 1, 2, 0, false },
    { MS, "GroupQueryAttention", 4, 2, 2, 0, false },
    { MS, "SparseAttention", 3, 1, 2, 0, false },
    { MS, "SparseAttention", 4, 2, 2, 0, false },
    { MS, "MultiHeadAttention", 6, 1, 2, 0, false },
    { MS, "MultiHeadAttention", 7, 2, 2, 0, false },
    { MS, "DecoderMaskedMultiHeadAttention", 5, 1, 2, 0, false },
    { MS, "DecoderMaskedMultiHeadAttention", 6, 2, 2, 0, false },
    { MS, "CausalConvWithState", 3, 1, NO_AXIS, 0, false },
    { MS, "LinearAttention", 3, 1, NO_AXIS, 0, false },
};
#define N_HELD ((int32_t)(sizeof table / sizeof *table))

/* What is known of the content of a tensor. */
typedef struct {
    int32_t from;      /* which input of the graph; -1: none */
    int32_t positions; /* of the tensor */
    bool part;
} content;

typedef struct {
    const clv_types *types;
    const clv_graph *g;
    content *of; /* n_tensors */
} finder;

static int32_t axis_of(const finder *f, const clv_op_info *op, const held *row, clv_tensor out)
{
    if (row->positions != ATTRIBUTE)
        return row->positions;
    const clv_attr *attr = clv_op_attr(f->g, op, "axis");
    int64_t axis = attr && attr->kind == CLV_ATTR_INT ? attr->i : row->axis;
    int32_t rank = f->types->of[out.i].kind == CLV_TYPE_TENSOR ? f->types->of[out.i].rank : 0;
    axis += axis < 0 ? rank : 0;
    return axis >= 0 && axis < rank ? (int32_t)axis : NO_AXIS;
}

static void pass(finder *f, clv_tensor in, clv_tensor out, int32_t positions, bool part)
{
    if (in.i < 0 || out.i < 0 || f->of[in.i].from < 0 || f->of[out.i].from >= 0)
        return;
    f->of[out.i] = (content){ f->of[in.i].from, positions, part || f->of[in.i].part };
}

static bool reads_content(const finder *f, const clv_op_info *op)
{
    for (int32_t k = 0; k < op->n_in; k++) {
        clv_tensor t = clv_op_input(f->g, op, k);
        if (t.i >= 0 && f->of[t.i].from >= 0)
            return true;
    }
    return false;
}

static void visit(finder *f, const clv_op_info *op, const int32_t *lines)
{
    if (!reads_content(f, op))
        return;
    clv_tensor viewed = clv_op_viewed(f->g, op);
    if (viewed.i >= 0)
        pass(f, viewed, clv_op_output(f->g, op, 0), NO_AXIS, false);
    for (int32_t i = 0; i < N_HELD; i++) {
        if (op->kind < 0 || op->kind != lines[i])
            continue;
        clv_tensor out = clv_op_output(f->g, op, table[i].out);
        int32_t first = table[i].in == EACH ? 0 : table[i].in;
        int32_t end = table[i].in == EACH ? op->n_in : first + 1;
        for (int32_t k = first; out.i >= 0 && k < end; k++)
            pass(f, clv_op_input(f->g, op, k), out, axis_of(f, op, &table[i], out), table[i].part);
    }
}

/* Is an output what its input was, but for one dimension that may have grown? That one, or
 * NO_AXIS, goes to *differs. */
static bool may_hold(const clv_type *in, const clv_type *out, int32_t *differs)
{
    *differs = NO_AXIS;
    if (in->kind != CLV_TYPE_TENSOR || out->kind != CLV_TYPE_TENSOR || in->rank != out->rank ||
        in->dtype != out->dtype || in->rank < 2)
        return false;
    for (int32_t i = 0; i < in->rank; i++) {
        bool numbers = clv_dim_is_number(in->dims[i]) && clv_dim_is_number(out->dims[i]);
        if (in->dims[i] == out->dims[i])
            continue;
        if (*differs != NO_AXIS || (numbers && in->dims[i] > out->dims[i]))
            return false;
        *differs = i;
    }
    return true;
}

static void pair(const finder *f, clv_tensor out, clv_state *by_input)
{
    const content *c = &f->of[out.i];
    clv_tensor in = c->from < 0 ? CLV_NO_TENSOR : f->g->inputs[c->from];
    int32_t differs;
    if (in.i < 0 || by_input[c->from].out.i >= 0 ||
        !may_hold(&f->types->of[in.i], &f->types->of[out.i], &differs) ||
        (c->part && differs != NO_AXIS))
        return;
    int32_t axis = differs != NO_AXIS ? differs : c->positions;
    if (axis >= f->types->of[out.i].rank) /* the file declares less than the operator has */
        axis = NO_AXIS;
    by_input[c->from] = (clv_state){ in, out, axis };
}

static clv_status collect(const finder *f, clv_arena *arena, clv_states *ret, clv_error *err)
{
    const clv_graph *g = f->g;
    clv_state *at = CLV_NEW_ARRAY(arena, clv_state, g->n_inputs);
    int32_t *of_out = CLV_NEW_ARRAY(arena, int32_t, g->n_tensors), n = 0;
    if (!at || !of_out)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < g->n_inputs; i++)
        at[i].out = CLV_NO_TENSOR;
    for (int32_t t = 0; t < g->n_tensors; t++)
        of_out[t] = -1;
    for (int32_t i = 0; i < g->n_outputs; i++)
        if (clv_tensor_at(g, g->outputs[i])->role == CLV_TENSOR_RESULT)
            pair(f, g->outputs[i], at);
    for (int32_t i = 0; i < g->n_inputs; i++) {
        if (at[i].out.i < 0)
            continue;
        of_out[at[i].out.i] = n;
        at[n++] = at[i];
    }
    *ret = (clv_states){ n, at, of_out };
    return CLV_OK;
}

clv_status clv_states_find(const clv_types *types, clv_arena *arena, clv_states *ret,
                           clv_error *err)
{
    const clv_graph *g = types->graph;
    int32_t lines[N_HELD];
    if (types->states) {
        *ret = *types->states;
        return CLV_OK;
    }
    finder f = { types, g, clv_arena_take_large(arena, (size_t)g->n_tensors * sizeof *f.of) };
    if (!f.of)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < N_HELD; i++)
        lines[i] = clv_op_def_find(clv_str_of(table[i].domain), clv_str_of(table[i].type));
    for (int32_t t = 0; t < g->n_tensors; t++)
        f.of[t].from = -1;
    for (int32_t i = 0; i < g->n_inputs; i++)
        if (clv_tensor_at(g, g->inputs[i])->role == CLV_TENSOR_INPUT)
            f.of[g->inputs[i].i] = (content){ i, NO_AXIS, false };
    for (int32_t i = 0; i < g->n_ops; i++)
        visit(&f, &g->ops[i], lines);
    clv_status status = collect(&f, arena, ret, err);
    clv_arena_drop_large(arena, f.of);
    return status;
}

/* -- sizes -- */

clv_dim clv_sequences(const clv_types *types)
{
    const clv_graph *g = types->graph;
    for (int32_t i = 0; i < g->n_inputs; i++) {
        const clv_type *type = &types->of[g->inputs[i].i];
        if (type->kind == CLV_TYPE_TENSOR && type->rank >= 2)
            return type->dims[0];
    }
    return CLV_DIM_UNKNOWN;
}

int64_t clv_state_bytes(const clv_types *types, const clv_state *state)
{
    return types->bytes[state->out.i];
}

int64_t clv_state_token_bytes(const clv_types *types, const clv_state *state, clv_dim sequences)
{
    const clv_type *type = &types->of[state->out.i];
    clv_dim dims[CLV_RANK_MAX];
    bool shared = false; /* was the axis of sequences met? */
    int64_t bytes;
    if (state->positions < 0)
        return 0;
    for (int32_t i = 0; i < type->rank; i++) {
        bool is_sequences = !shared && i != state->positions && sequences != CLV_DIM_UNKNOWN &&
                            type->dims[i] == sequences;
        shared |= is_sequences;
        dims[i] = is_sequences || i == state->positions ? 1 : type->dims[i];
    }
    clv_dim elems = clv_dim_product(dims, type->rank);
    if (!clv_dim_is_number(elems) || !clv_dtype_bytes(type->dtype, elems, &bytes))
        return -1;
    return bytes;
}

int64_t clv_states_tokens(const clv_types *types, const clv_states *states)
{
    clv_dim positions = 0;
    for (int32_t i = 0; i < states->n; i++) {
        const clv_state *state = &states->at[i];
        clv_dim own = state->positions < 0 ? 0 : types->of[state->out.i].dims[state->positions];
        if (!clv_dim_is_number(own) || (own > 0 && positions > 0 && own != positions))
            return 0;
        positions = own > 0 ? own : positions;
    }
    clv_dim all = clv_dim_mul(positions, clv_sequences(types));
    return clv_dim_is_number(all) ? all : 0;
}
