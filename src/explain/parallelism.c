#include "explain/parallelism.h"

#include "explain/experts.h"
#include "explain/weighted_ops.h"
#include "graph/ops.h"

/* In the order of the list that people get. */
typedef enum {
    DATA,
    CONTEXT,
    COLUMN,
    ROW,
    HEADS,
    SEQUENCE,
    EXPERTS,
    VOCABULARY,
    OUTPUT,
    TABLES,
    ZERO,
    N_KINDS
} kind;

#define TABLES_MIN 4 /* tables of a model of recommendations; a language model has up to three */
/* A matmul of two activations has heads before its last two dimensions. */
#define MATRIX_RANK 2

/* Counts how many operators speak for each kind, along one axis at a time. */
typedef struct {
    const clv_plan_layouts *of;
    const bool *constant; /* by operator: made of weights alone */
    bool *last;           /* by operator: its results go out of the model as scores */
    bool flat_is_sequence;
    int64_t *rows; /* of the tables that are looked up */
    int32_t n_tables;
    int32_t n_matmuls; /* with a weight */
    int32_t n[N_KINDS];
    int32_t axis;
    clv_experts experts;
} counter;

/* -- what operators are -- */

typedef enum { OTHER, CONTRACTION, NORM, ATTENTION, MIXTURE } op_class;

static op_class class_of(const clv_op_info *op)
{
    static const struct {
        const char *type;
        op_class is;
    } types[] = {
        { "MatMul", CONTRACTION },
        { "Gemm", CONTRACTION },
        { "Conv", CONTRACTION },
        { "ConvTranspose", CONTRACTION },
        { "Einsum", CONTRACTION },
        { "MatMulInteger", CONTRACTION },
        { "ConvInteger", CONTRACTION },
        { "QLinearMatMul", CONTRACTION },
        { "QLinearConv", CONTRACTION },
        { "MatMulNBits", CONTRACTION },
        { "FusedMatMul", CONTRACTION },
        { "QGemm", CONTRACTION },
        { "LayerNormalization", NORM },
        { "RMSNormalization", NORM },
        { "SimplifiedLayerNormalization", NORM },
        { "SkipLayerNormalization", NORM },
        { "SkipSimplifiedLayerNormalization", NORM },
        { "ReduceMean", NORM },
        { "Attention", ATTENTION },
        { "MultiHeadAttention", ATTENTION },
        { "GroupQueryAttention", ATTENTION },
        { "FlashAttentionScore", ATTENTION },
        { "MoE", MIXTURE },
        { "QMoE", MIXTURE },
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (clv_str_is(op->type, types[i].type))
            return types[i].is;
    return OTHER;
}

/* -- tensors and layouts -- */

static bool is_weight(const counter *c, clv_tensor t)
{
    return clv_is_constant(c->of->graph, c->constant, t);
}

static int32_t rank_of(const counter *c, clv_tensor t) { return clv_tensor_rank(c->of->types, t); }

static clv_dim dim_of(const counter *c, clv_tensor t, int32_t dim)
{
    return rank_of(c, t) > dim ? c->of->types->of[t.i].dims[dim] : CLV_DIM_UNKNOWN;
}

static const clv_layout *need_of(const counter *c, const clv_op_info *op, int32_t k)
{
    return &c->of->need[op->first_in + k];
}

/* The dimension of input k that the axis splits, or one of CLV_AXIS_COPY and CLV_AXIS_PARTIAL. */
static int32_t split_of(const counter *c, const clv_op_info *op, int32_t k)
{
    return need_of(c, op, k)->dim[c->axis];
}

typedef enum { NO_PART, BATCH_PART, SEQUENCE_PART } part;

/* Which part of input k, an activation, the axis splits, if it is the batch or the sequence. Of two
 * dimensions the first is both, fused; the last one is features, as is dimension 1 of images. */
static part part_of(const counter *c, const clv_op_info *op, int32_t k)
{
    int32_t dim = split_of(c, op, k), rank = rank_of(c, clv_op_input(c->of->graph, op, k));

    if (dim < 0 || rank <= 0)
        return NO_PART;
    if (dim == 0 && need_of(c, op, k)->outer[c->axis] > 1)
        return SEQUENCE_PART;
    if (dim == 0)
        return rank == 2 && c->flat_is_sequence ? SEQUENCE_PART : BATCH_PART;
    return dim == 1 && rank == 3 ? SEQUENCE_PART : NO_PART;
}

/* The table of an operator that looks rows up; CLV_NO_TENSOR: it does not. */
static clv_tensor table_of(const counter *c, const clv_op_info *op)
{
    clv_tensor t = clv_op_input(c->of->graph, op, 0);
    const clv_attr *axis = clv_op_attr(c->of->graph, op, "axis");

    if (!clv_str_is(op->type, "Gather") || !is_weight(c, t) || rank_of(c, t) != 2 ||
        is_weight(c, clv_op_input(c->of->graph, op, 1)))
        return CLV_NO_TENSOR;
    return !axis || axis->kind != CLV_ATTR_INT || axis->i == 0 ? t : CLV_NO_TENSOR;
}

/* -- one operator -- */

/* As many as the vocabulary has words: positions and kinds of tokens have smaller tables. */
static bool is_vocabulary(const counter *c, clv_dim n)
{
    int64_t most = 0;
    for (int32_t i = 0; i < c->n_tables; i++)
        most = c->rows[i] > most ? c->rows[i] : most;
    return n > 0 && n == most;
}

/* Do scores stay scores behind the operator? They are moved, added to, scaled and normalised, but
 * not made features of: a pooler has an activation function. A Tanh of scaled scores caps them. */
static bool keeps_scores(const counter *c, const clv_op_info *op)
{
    static const char *const types[] = { "Add",
                                         "Sub",
                                         "Mul",
                                         "Div",
                                         "Neg",
                                         "Cast",
                                         "Exp",
                                         "Log",
                                         "Softmax",
                                         "LogSoftmax",
                                         "ReduceMax",
                                         "ReduceSum",
                                         "ArgMax",
                                         "TopK",
                                         "SoftmaxCrossEntropyLoss",
                                         "NegativeLogLikelihoodLoss" };
    const clv_graph *g = c->of->graph;
    if (op->kind >= 0 && clv_op_def_at(op->kind)->flops == CLV_FLOPS_NONE)
        return true;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (clv_str_is(op->type, types[i]))
            return true;
    clv_tensor in = clv_op_input(g, op, 0);
    clv_op maker = in.i >= 0 ? clv_tensor_at(g, in)->producer : (clv_op){ -1 };
    return clv_str_is(op->type, "Tanh") && maker.i >= 0 &&
           (clv_str_is(clv_op_at(g, maker)->type, "Div") ||
            clv_str_is(clv_op_at(g, maker)->type, "Mul"));
}

/* A matmul with a weight, its input k. */
static void count_matmul(counter *c, int32_t i, int32_t k)
{
    const clv_graph *g = c->of->graph;
    const clv_op_info *op = &g->ops[i];
    clv_tensor w = clv_op_input(g, op, k), y = clv_op_output(g, op, 0);
    int32_t data = clv_data_input(c->of->graph, c->constant, op), of_weight = split_of(c, op, k);
    int32_t out = c->of->made[op->first_out].dim[c->axis];

    if (data < 0)
        return;
    if (of_weight < 0) {
        part p = part_of(c, op, data);
        c->n[DATA] += p == BATCH_PART;
        c->n[CONTEXT] += p == SEQUENCE_PART;
    } else if (of_weight == 0 && c->experts.stacked[i]) {
        c->n[EXPERTS]++;
    } else if (clv_str_is(op->type, "MatMul") && of_weight < rank_of(c, w) - MATRIX_RANK) {
        return; /* a batch of constants */
    } else if (out == CLV_AXIS_PARTIAL) {
        c->n[ROW]++;
    } else if (out >= 0 && split_of(c, op, data) < 0) {
        bool is_output = c->last[i] && is_vocabulary(c, dim_of(c, y, rank_of(c, y) - 1));
        c->n[is_output ? OUTPUT : COLUMN]++;
    }
}

static bool is_convolution(const clv_op_info *op)
{
    return clv_str_is(op->type, "Conv") || clv_str_is(op->type, "ConvTranspose") ||
           clv_str_is(op->type, "ConvInteger") || clv_str_is(op->type, "QLinearConv");
}

/* A matmul of two activations: of an attention, where a dimension between the batch and the matrix
 * is split, or a batch that heads were fused into. What a convolution splits so are channels. */
static bool splits_heads(const counter *c, const clv_op_info *op)
{
    if (is_convolution(op))
        return false;
    int32_t dim = split_of(c, op, 0), rank = rank_of(c, clv_op_input(c->of->graph, op, 0));
    bool is_inner = dim > 0 && dim < rank - MATRIX_RANK;
    bool is_fused = dim == 0 && rank > MATRIX_RANK &&
                    (need_of(c, op, 0)->outer[c->axis] > 1 || (rank == 3 && c->flat_is_sequence));

    return is_inner || is_fused;
}

static bool splits_experts(const counter *c, const clv_op_info *op)
{
    bool found = false;

    for (int32_t k = 0; k < clv_op_n_explicit(op); k++) {
        clv_tensor t = clv_op_input(c->of->graph, op, k);
        found |= rank_of(c, t) == 3 && is_weight(c, t) && split_of(c, op, k) == 0;
    }
    return found;
}

static void count_operator(counter *c, int32_t i)
{
    const clv_op_info *op = &c->of->graph->ops[i];

    if (op->n_in == 0 || op->n_out == 0 || c->constant[i])
        return;
    int32_t dim = split_of(c, op, 0), rank = rank_of(c, clv_op_input(c->of->graph, op, 0));
    switch (class_of(op)) {
    case CONTRACTION: {
        int32_t weight = clv_weight_input(c->of->types, c->constant, op);
        if (weight >= 0)
            count_matmul(c, i, weight);
        else
            c->n[HEADS] += splits_heads(c, op);
        break;
    }
    case ATTENTION: /* reads [batch, heads, sequence, size] or [batch, sequence, heads * size] */
        c->n[HEADS] += (rank == 4 && dim == 1) || (rank == 3 && dim == 2);
        break;
    case MIXTURE:
        c->n[EXPERTS] += splits_experts(c, op);
        break;
    case NORM:
        c->n[SEQUENCE] += part_of(c, op, 0) == SEQUENCE_PART;
        break;
    case OTHER:
        c->n[EXPERTS] += c->experts.stacked[i] && dim == 0;
        if (table_of(c, op).i < 0)
            break;
        if (c->n_tables >= TABLES_MIN)
            c->n[TABLES] += dim >= 0;
        else
            c->n[VOCABULARY] += dim == 0;
        break;
    }
}

/* Weights that lie split along the axis, and that some operator needs whole along it. */
static int32_t count_gathered(const counter *c)
{
    const clv_graph *g = c->of->graph;
    int32_t n = 0;

    for (int32_t t = 0; t < g->n_tensors; t++) {
        bool whole = false;
        const clv_tensor_info *info = &g->tensors[t];
        if (info->role != CLV_TENSOR_WEIGHT || c->of->kept[t].dim[c->axis] < 0)
            continue;
        for (int32_t r = 0; r < info->n_readers; r++) {
            const clv_op_info *op = clv_op_at(g, g->readers_of[info->first_reader + r]);
            for (int32_t k = 0; k < clv_op_n_explicit(op); k++)
                whole |= clv_op_input(g, op, k).i == t && split_of(c, op, k) == CLV_AXIS_COPY;
        }
        n += whole;
    }
    return n;
}

/* Experts that each have weights of their own, of routers whose experts are in several stages. */
static int32_t count_dealt_experts(const counter *c)
{
    const clv_graph *g = c->of->graph;
    int32_t n = 0;
    for (int32_t r = 0; c->of->stage_of_op && r < c->experts.n_routers; r++) {
        int32_t n_experts = 0, first = -1;
        bool dealt = false;
        for (int32_t i = 0; i < g->n_ops; i++) {
            if (c->experts.router[i] != r)
                continue;
            first = n_experts++ == 0 ? c->of->stage_of_op[i] : first;
            dealt |= c->of->stage_of_op[i] != first;
        }
        n += dealt ? n_experts : 0;
    }
    return n;
}

/* -- the whole -- */

/* From the last operator on: whether a matmul with a weight comes after it, or what makes features
 * of its result. */
static clv_status find_last(counter *c, clv_arena *arena, clv_error *err)
{
    const clv_graph *g = c->of->graph;
    bool *last = CLV_NEW_ARRAY(arena, bool, g->n_ops);

    if (!last)
        return clv_fail_nomem(err, "the names of strategies");
    for (int32_t i = g->n_ops - 1; i >= 0; i--) {
        last[i] = true;
        for (int32_t k = 0; k < g->ops[i].n_out; k++) {
            clv_tensor t = clv_op_output(g, &g->ops[i], k);
            const clv_tensor_info *info = t.i >= 0 ? clv_tensor_at(g, t) : NULL;
            for (int32_t r = 0; info && r < info->n_readers; r++) {
                int32_t reader = g->readers_of[info->first_reader + r].i;
                const clv_op_info *op = &g->ops[reader];
                last[i] &= last[reader] && keeps_scores(c, op);
            }
        }
    }
    c->last = last;
    return CLV_OK;
}

/* A table is counted once, however often it is looked up. */
static clv_status find_tables(counter *c, clv_arena *arena, clv_error *err)
{
    const clv_graph *g = c->of->graph;
    bool *seen = CLV_NEW_ARRAY(arena, bool, g->n_tensors);

    c->rows = CLV_NEW_ARRAY(arena, int64_t, g->n_ops);
    if (!seen || !c->rows)
        return clv_fail_nomem(err, "the names of strategies");
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_op_info *op = &g->ops[i];
        clv_tensor t = op->n_in > 1 ? table_of(c, op) : CLV_NO_TENSOR;
        c->n_matmuls += !c->constant[i] && class_of(op) == CONTRACTION &&
                        clv_weight_input(c->of->types, c->constant, op) >= 0;
        if (t.i < 0 || seen[t.i])
            continue;
        seen[t.i] = true;
        c->rows[c->n_tables++] = dim_of(c, t, 0);
    }
    return CLV_OK;
}

/* Into n[]: some kinds take more than one operator to be true. */
static void count_along(counter *c, int32_t axis)
{
    c->axis = axis;
    memset(c->n, 0, sizeof c->n);
    for (int32_t i = 0; i < c->of->graph->n_ops; i++)
        count_operator(c, i);
    c->n[ZERO] = count_gathered(c);
    if (2 * c->n[DATA] < c->n_matmuls)
        c->n[DATA] = 0;
    if (2 * c->n[CONTEXT] < c->n_matmuls)
        c->n[CONTEXT] = 0;
    if (c->n[COLUMN] + c->n[ROW] == 0)
        c->n[SEQUENCE] = 0;
}

clv_status clv_find_parallelism(const clv_plan_layouts *layouts, clv_arena *arena,
                                const clv_plan_finding **ret, int32_t *ret_n, clv_error *err)
{
    static const char *const words[N_KINDS][2] = {
        /* the name, what is counted */
        { "data parallel", "matmuls" },
        { "context parallel", "matmuls" },
        { "Megatron column", "matmuls" },
        { "Megatron row", "matmuls" },
        { "head parallel attention", "operators" },
        { "sequence parallel", "norms" },
        { "expert parallel", "operators" },
        { "vocabulary parallel embedding", "tables" },
        { "vocabulary parallel output", "matmuls" },
        { "table sharding", "tables" },
        { "ZeRO-like", "weights" },
    };
    counter c = { .of = layouts };
    bool *constant;
    int32_t n = 0;
    clv_plan_finding *found =
        CLV_NEW_ARRAY(arena, clv_plan_finding, layouts->mesh.n_axes * N_KINDS + 2);

    if (!found)
        return clv_fail_nomem(err, "the names of strategies");
    CLV_TRY(clv_constant_ops(layouts->graph, arena, &constant, err));
    c.constant = constant;
    CLV_TRY(clv_experts_find(layouts->graph, layouts->types, constant, arena, &c.experts, err));
    CLV_TRY(find_tables(&c, arena, err));
    CLV_TRY(find_last(&c, arena, err));
    c.flat_is_sequence = clv_has_batch_of_one(layouts->types);
    for (int32_t a = 0; a < layouts->mesh.n_axes; a++) {
        if (layouts->mesh.size[a] < 2)
            continue;
        count_along(&c, a);
        for (int32_t k = 0; k < N_KINDS; k++)
            if (c.n[k] > 0)
                found[n++] =
                    (clv_plan_finding){ words[k][0], layouts->mesh.name[a], words[k][1], c.n[k] };
    }
    int32_t dealt = count_dealt_experts(&c);
    if (dealt > 0)
        found[n++] = (clv_plan_finding){ words[EXPERTS][0], "", words[EXPERTS][1], dealt };
    if (layouts->n_stages > 1)
        found[n++] = (clv_plan_finding){ "pipeline", "", "stages", layouts->n_stages };
    *ret = found;
    *ret_n = n;
    return CLV_OK;
}
