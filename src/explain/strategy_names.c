#include "explain/strategy_names.h"

#include "graph/constant.h"

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
    N_NAMES
} name;

#define TABLES_MIN 4 /* tables of a model of recommendations; a language model has up to three */
/* A matmul of two activations has heads before its last two dimensions. */
#define MATRIX_RANK 2

typedef struct {
    const clv_strategy_view *v;
    const bool *constant; /* by operator: made of weights alone */
    bool *ends;           /* by operator: no other matmul with a weight comes after it */
    bool flat_is_sequence;
    int64_t *rows; /* of the tables that are looked up */
    int32_t n_tables;
    int32_t n_matmuls; /* with a weight */
    int32_t n[N_NAMES];
    int32_t axis;
} search;

/* -- what operators are -- */

static bool is_one_of(clv_str type, const char *const *words)
{
    for (; *words; words++)
        if (clv_str_is(type, *words))
            return true;
    return false;
}

static bool is_contraction(const clv_op_info *op)
{
    static const char *const types[] = {
        "MatMul",      "Gemm",          "Conv",        "ConvTranspose",
        "Einsum",      "MatMulInteger", "ConvInteger", "QLinearMatMul",
        "QLinearConv", "MatMulNBits",   "FusedMatMul", "QGemm",
        NULL
    };
    return is_one_of(op->type, types);
}

static bool is_norm(const clv_op_info *op)
{
    static const char *const types[] = { "LayerNormalization",
                                         "RMSNormalization",
                                         "SimplifiedLayerNormalization",
                                         "SkipLayerNormalization",
                                         "SkipSimplifiedLayerNormalization",
                                         "ReduceMean",
                                         NULL };
    return is_one_of(op->type, types);
}

static bool is_attention(const clv_op_info *op)
{
    static const char *const types[] = { "Attention", "MultiHeadAttention", "GroupQueryAttention",
                                         "FlashAttentionScore", NULL };
    return is_one_of(op->type, types);
}

static bool is_experts(const clv_op_info *op)
{
    static const char *const types[] = { "MoE", "QMoE", NULL };
    return is_one_of(op->type, types);
}

/* -- tensors and layouts -- */

static bool is_weight(const search *s, clv_tensor t)
{
    if (t.i < 0)
        return false;
    const clv_tensor_info *info = clv_tensor_at(s->v->graph, t);
    return info->role == CLV_TENSOR_WEIGHT ||
           (info->producer.i >= 0 && s->constant[info->producer.i]);
}

static int32_t rank_of(const search *s, clv_tensor t)
{
    const clv_type *type = t.i >= 0 ? &s->v->types->of[t.i] : NULL;
    return type && type->kind == CLV_TYPE_TENSOR ? type->rank : CLV_RANK_UNKNOWN;
}

static clv_dim dim_of(const search *s, clv_tensor t, int32_t dim)
{
    return rank_of(s, t) > dim ? s->v->types->of[t.i].dims[dim] : CLV_DIM_UNKNOWN;
}

/* The dimension that the axis splits, or one of CLV_AXIS_COPY and CLV_AXIS_PARTIAL. */
static int32_t split_of(const search *s, const clv_layout *layout) { return layout->dim[s->axis]; }

static const clv_layout *need_of(const search *s, const clv_op_info *op, int32_t k)
{
    return &s->v->need[op->first_in + k];
}

static const clv_layout *made_of(const search *s, const clv_op_info *op)
{
    return &s->v->made[op->first_out];
}

/* The weight that an operator contracts with, by input; -1: none. Biases come after it. */
static int32_t weight_input(const search *s, const clv_op_info *op)
{
    for (int32_t k = 0; k < clv_op_n_explicit(op); k++) {
        clv_tensor t = clv_op_input(s->v->graph, op, k);
        if (is_weight(s, t) && rank_of(s, t) >= MATRIX_RANK)
            return k;
    }
    return -1;
}

static int32_t data_input(const search *s, const clv_op_info *op)
{
    for (int32_t k = 0; k < clv_op_n_explicit(op); k++) {
        clv_tensor t = clv_op_input(s->v->graph, op, k);
        if (t.i >= 0 && !is_weight(s, t))
            return k;
    }
    return -1;
}

typedef enum { NO_PART, BATCH_PART, SEQUENCE_PART } part;

/* Which part of an activation the axis splits, if it is the batch or the sequence. Of two
 * dimensions the first is both, fused; the last one is features, as is dimension 1 of images. */
static part part_of(const search *s, clv_tensor t, const clv_layout *layout)
{
    int32_t dim = split_of(s, layout), rank = rank_of(s, t);

    if (dim < 0 || rank <= 0)
        return NO_PART;
    if (dim == 0 && layout->outer[s->axis] > 1)
        return SEQUENCE_PART;
    if (dim == 0)
        return rank == 2 && s->flat_is_sequence ? SEQUENCE_PART : BATCH_PART;
    return dim == 1 && rank == 3 ? SEQUENCE_PART : NO_PART;
}

/* -- one operator -- */

static bool is_rows_of_table(const search *s, clv_dim n)
{
    for (int32_t i = 0; i < s->n_tables; i++)
        if (s->rows[i] == n && n > 0)
            return true;
    return false;
}

/* A matmul with a weight, the k-th input. */
static void look_at_matmul(search *s, int32_t i, int32_t k)
{
    const clv_op_info *op = &s->v->graph->ops[i];
    clv_tensor w = clv_op_input(s->v->graph, op, k);
    int32_t data = data_input(s, op), out = split_of(s, made_of(s, op));
    int32_t of_weight = split_of(s, need_of(s, op, k));
    clv_tensor y = clv_op_output(s->v->graph, op, 0);

    if (data < 0)
        return;
    clv_tensor x = clv_op_input(s->v->graph, op, data);
    if (of_weight < 0) {
        part p = part_of(s, x, need_of(s, op, data));
        s->n[DATA] += p == BATCH_PART;
        s->n[CONTEXT] += p == SEQUENCE_PART;
    } else if (of_weight == 0 && rank_of(s, w) == 3 && clv_str_is(op->type, "MatMul")) {
        s->n[EXPERTS]++;
    } else if (out == CLV_AXIS_PARTIAL) {
        s->n[ROW]++;
    } else if (out >= 0 && split_of(s, need_of(s, op, data)) < 0) {
        bool is_last = s->ends[i] && is_rows_of_table(s, dim_of(s, y, rank_of(s, y) - 1));
        s->n[is_last ? OUTPUT : COLUMN]++;
    }
}

/* A matmul of two activations: of an attention, where a dimension between the batch and the matrix
 * is split, or a batch that heads were fused into. */
static void look_at_heads(search *s, const clv_op_info *op)
{
    clv_tensor x = clv_op_input(s->v->graph, op, 0);
    const clv_layout *layout = need_of(s, op, 0);
    int32_t dim = split_of(s, layout), rank = rank_of(s, x);
    bool is_inner = dim > 0 && dim < rank - MATRIX_RANK;
    bool is_fused = dim == 0 && rank > MATRIX_RANK &&
                    (layout->outer[s->axis] > 1 || (rank == 3 && s->flat_is_sequence));

    s->n[HEADS] += is_inner || is_fused;
}

/* An attention operator reads [batch, heads, sequence, size] or [batch, sequence, heads * size]. */
static void look_at_attention(search *s, const clv_op_info *op)
{
    int32_t dim = split_of(s, need_of(s, op, 0));
    int32_t rank = rank_of(s, clv_op_input(s->v->graph, op, 0));

    s->n[HEADS] += (rank == 4 && dim == 1) || (rank == 3 && dim == 2);
}

static void look_at_experts(search *s, const clv_op_info *op)
{
    bool found = false;

    for (int32_t k = 0; k < clv_op_n_explicit(op); k++) {
        clv_tensor t = clv_op_input(s->v->graph, op, k);
        found |= rank_of(s, t) == 3 && is_weight(s, t) && split_of(s, need_of(s, op, k)) == 0;
    }
    s->n[EXPERTS] += found;
}

/* The table of an operator that looks rows up; CLV_NO_TENSOR: it does not. */
static clv_tensor table_of(const search *s, const clv_op_info *op)
{
    clv_tensor t = clv_op_input(s->v->graph, op, 0);
    const clv_attr *axis = clv_op_attr(s->v->graph, op, "axis");

    if (!clv_str_is(op->type, "Gather") || !is_weight(s, t) || rank_of(s, t) != 2 ||
        is_weight(s, clv_op_input(s->v->graph, op, 1)))
        return CLV_NO_TENSOR;
    return !axis || axis->kind != CLV_ATTR_INT || axis->i == 0 ? t : CLV_NO_TENSOR;
}

static void look_at_table(search *s, const clv_op_info *op)
{
    int32_t dim = split_of(s, need_of(s, op, 0));

    if (s->n_tables >= TABLES_MIN)
        s->n[TABLES] += dim >= 0;
    else
        s->n[VOCABULARY] += dim == 0;
}

static void look_at(search *s, int32_t i)
{
    const clv_op_info *op = &s->v->graph->ops[i];
    int32_t weight = is_contraction(op) ? weight_input(s, op) : -1;

    if (op->n_in == 0 || op->n_out == 0 || s->constant[i])
        return;
    if (weight >= 0)
        look_at_matmul(s, i, weight);
    else if (is_contraction(op))
        look_at_heads(s, op);
    else if (is_attention(op))
        look_at_attention(s, op);
    else if (is_experts(op))
        look_at_experts(s, op);
    else if (table_of(s, op).i >= 0)
        look_at_table(s, op);
    else if (is_norm(op))
        s->n[SEQUENCE] +=
            part_of(s, clv_op_input(s->v->graph, op, 0), need_of(s, op, 0)) == SEQUENCE_PART;
}

/* Weights that lie split along the axis, and that some operator needs whole along it. */
static int32_t count_gathered(const search *s)
{
    const clv_graph *g = s->v->graph;
    int32_t n = 0;

    for (int32_t t = 0; t < g->n_tensors; t++) {
        bool whole = false;
        const clv_tensor_info *info = &g->tensors[t];
        if (info->role != CLV_TENSOR_WEIGHT || split_of(s, &s->v->kept[t]) < 0)
            continue;
        for (int32_t r = 0; r < info->n_readers; r++) {
            const clv_op_info *op = clv_op_at(g, g->readers_of[info->first_reader + r]);
            for (int32_t k = 0; k < clv_op_n_explicit(op); k++)
                whole |= clv_op_input(g, op, k).i == t &&
                         split_of(s, need_of(s, op, k)) == CLV_AXIS_COPY;
        }
        n += whole;
    }
    return n;
}

/* -- the whole -- */

/* From the last operator on: whether a matmul with a weight comes after it. */
static clv_status find_ends(search *s, clv_arena *arena, clv_error *err)
{
    const clv_graph *g = s->v->graph;
    bool *ends = CLV_NEW_ARRAY(arena, bool, g->n_ops);

    if (!ends)
        return clv_fail_nomem(err, "the names of strategies");
    for (int32_t i = g->n_ops - 1; i >= 0; i--) {
        ends[i] = true;
        for (int32_t k = 0; k < g->ops[i].n_out; k++) {
            clv_tensor t = clv_op_output(g, &g->ops[i], k);
            const clv_tensor_info *info = t.i >= 0 ? clv_tensor_at(g, t) : NULL;
            for (int32_t r = 0; info && r < info->n_readers; r++) {
                int32_t reader = g->readers_of[info->first_reader + r].i;
                const clv_op_info *op = &g->ops[reader];
                ends[i] &= ends[reader] && !(is_contraction(op) && weight_input(s, op) >= 0);
            }
        }
    }
    s->ends = ends;
    return CLV_OK;
}

/* A table is counted once, however often it is looked up. */
static clv_status find_tables(search *s, clv_arena *arena, clv_error *err)
{
    const clv_graph *g = s->v->graph;
    bool *seen = CLV_NEW_ARRAY(arena, bool, g->n_tensors);

    s->rows = CLV_NEW_ARRAY(arena, int64_t, g->n_ops);
    if (!seen || !s->rows)
        return clv_fail_nomem(err, "the names of strategies");
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_op_info *op = &g->ops[i];
        clv_tensor t = op->n_in > 1 ? table_of(s, op) : CLV_NO_TENSOR;
        s->n_matmuls += !s->constant[i] && is_contraction(op) && weight_input(s, op) >= 0;
        if (t.i < 0 || seen[t.i])
            continue;
        seen[t.i] = true;
        s->rows[s->n_tables++] = dim_of(s, t, 0);
    }
    return CLV_OK;
}

/* Of inputs with a batch, that is with two dimensions at least. */
static bool has_batch_of_one(const search *s)
{
    const clv_graph *g = s->v->graph;
    bool any = false;

    for (int32_t i = 0; i < g->n_inputs; i++) {
        if (rank_of(s, g->inputs[i]) < 2)
            continue;
        if (dim_of(s, g->inputs[i], 0) != 1)
            return false;
        any = true;
    }
    return any;
}

/* Some words take more than one operator to be true. */
static void weigh(search *s)
{
    if (2 * s->n[DATA] < s->n_matmuls)
        s->n[DATA] = 0;
    if (2 * s->n[CONTEXT] < s->n_matmuls)
        s->n[CONTEXT] = 0;
    if (s->n[COLUMN] + s->n[ROW] == 0)
        s->n[SEQUENCE] = 0;
}

static void add_axis(search *s, int32_t axis, clv_plan_finding *found, int32_t *n)
{
    static const char *const words[N_NAMES][2] = {
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

    s->axis = axis;
    memset(s->n, 0, sizeof s->n);
    for (int32_t i = 0; i < s->v->graph->n_ops; i++)
        look_at(s, i);
    s->n[ZERO] = count_gathered(s);
    weigh(s);
    for (int32_t k = 0; k < N_NAMES; k++)
        if (s->n[k] > 0)
            found[(*n)++] =
                (clv_plan_finding){ words[k][0], s->v->axes[axis].name, words[k][1], s->n[k] };
}

clv_status clv_strategy_names(const clv_strategy_view *view, clv_arena *arena,
                              const clv_plan_finding **ret, int32_t *ret_n, clv_error *err)
{
    search s = { .v = view };
    bool *constant;
    int32_t n = 0;
    clv_plan_finding *found = CLV_NEW_ARRAY(arena, clv_plan_finding, view->n_axes * N_NAMES + 1);

    if (!found)
        return clv_fail_nomem(err, "the names of strategies");
    CLV_TRY(clv_constant_ops(view->graph, arena, &constant, err));
    s.constant = constant;
    CLV_TRY(find_tables(&s, arena, err));
    CLV_TRY(find_ends(&s, arena, err));
    s.flat_is_sequence = has_batch_of_one(&s);
    for (int32_t a = 0; a < view->n_axes; a++)
        if (view->axes[a].size > 1)
            add_axis(&s, a, found, &n);
    if (view->n_stages > 1)
        found[n++] = (clv_plan_finding){ "pipeline", "", "stages", view->n_stages };
    *ret = found;
    *ret_n = n;
    return CLV_OK;
}
