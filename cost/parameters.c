#include "cost/parameters.h"

#include "graph/ops.h"

#define MOVES_MAX 4 /* one behind the other: a Cast, a Transpose, an Identity */

static const clv_op_def *def_of(const clv_op_info *op)
{
    return op->kind >= 0 ? clv_op_def_at(op->kind) : NULL;
}

static bool is_contraction(const clv_op_info *op)
{
    const clv_op_def *def = def_of(op);
    return def && (def->flags & CLV_OPF_CONTRACTION);
}

static bool is_norm(const clv_op_info *op)
{
    static const char *const types[] = { "BatchNormalization",
                                         "LayerNormalization",
                                         "GroupNormalization",
                                         "RMSNormalization",
                                         "SimplifiedLayerNormalization",
                                         "SkipLayerNormalization",
                                         "SkipSimplifiedLayerNormalization" };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (clv_str_is(op->type, types[i]))
            return true;
    return false;
}

/* t added to what a contraction gives, behind it or behind a Reshape or the like. */
static bool is_bias(const clv_graph *g, const clv_op_info *add, clv_tensor t)
{
    for (int32_t k = 0; k < add->n_in; k++) {
        clv_tensor other = clv_op_input(g, add, k);
        clv_op maker =
            other.i >= 0 && other.i != t.i ? clv_tensor_at(g, other)->producer : (clv_op){ -1 };
        if (maker.i >= 0 && is_contraction(clv_op_at(g, maker)))
            return true;
    }
    return false;
}

static const clv_op_info *maker_of(const clv_graph *g, clv_tensor t)
{
    clv_op maker = t.i >= 0 ? clv_tensor_at(g, t)->producer : (clv_op){ -1 };
    return maker.i >= 0 ? clv_op_at(g, maker) : NULL;
}

/* Does op divide by a root, or multiply by what is 1 over one? */
static bool is_divided_by_root(const clv_graph *g, const clv_op_info *op)
{
    if (op->n_in != 2 || !(clv_str_is(op->type, "Div") || clv_str_is(op->type, "Mul")))
        return false;
    bool divides = clv_str_is(op->type, "Div");
    for (int32_t k = divides; k < op->n_in; k++) {
        const clv_op_info *by = maker_of(g, clv_op_input(g, op, k));
        bool inverse =
            by && !divides && (clv_str_is(by->type, "Reciprocal") || clv_str_is(by->type, "Div"));
        if (inverse) /* 1 / root: the last input of either */
            by = maker_of(g, clv_op_input(g, by, by->n_in - 1));
        if (by && (divides || inverse) && clv_str_is(by->type, "Sqrt"))
            return true;
    }
    return false;
}

/* A norm that is written in parts: t scales x / sqrt(...), or is added to what was scaled so. */
static bool is_of_written_norm(const clv_graph *g, const clv_op_info *op, clv_tensor t)
{
    bool adds = clv_str_is(op->type, "Add");
    if (op->n_in != 2 || !(adds || clv_str_is(op->type, "Mul")))
        return false;
    const clv_op_info *maker = maker_of(g, clv_op_input(g, op, clv_op_input(g, op, 0).i == t.i));
    if (maker && clv_str_is(maker->type, "Cast"))
        maker = maker_of(g, clv_op_input(g, maker, 0));
    if (!maker || !adds)
        return maker && is_divided_by_root(g, maker);
    for (int32_t k = 0; clv_str_is(maker->type, "Mul") && k < maker->n_in; k++) {
        const clv_op_info *scaled = maker_of(g, clv_op_input(g, maker, k));
        if (scaled && is_divided_by_root(g, scaled))
            return true;
    }
    return false;
}

static bool is_read_as_parameter(const clv_graph *g, clv_tensor t, int32_t rank, int moves)
{
    const clv_tensor_info *info = clv_tensor_at(g, t);
    for (int32_t r = 0; r < info->n_readers; r++) {
        const clv_op_info *op = clv_op_at(g, g->readers_of[info->first_reader + r]);
        const clv_op_def *def = def_of(op);
        bool is_first = op->n_in > 0 && clv_op_input(g, op, 0).i == t.i;
        bool moved = def && is_first && op->n_out == 1 && moves > 0 &&
                     (def->flops == CLV_FLOPS_NONE || clv_str_is(op->type, "Cast"));
        if (is_contraction(op) || (is_norm(op) && !is_first) ||
            (clv_str_is(op->type, "Gather") && is_first && rank > 1) ||
            (clv_str_is(op->type, "Add") && rank == 1 && is_bias(g, op, t)) ||
            (rank == 1 && is_of_written_norm(g, op, t)))
            return true;
        if (moved && is_read_as_parameter(g, clv_op_output(g, op, 0), rank, moves - 1))
            return true;
    }
    return false;
}

int64_t clv_constant_parameters(const clv_graph *g, const clv_op_info *op)
{
    const clv_op_def *def = def_of(op);
    const clv_attr *value = clv_op_attr(g, op, "value");
    if (!def || def->bytes != CLV_BYTES_CONST || op->n_out != 1 || !value ||
        value->kind != CLV_ATTR_TENSOR || value->ref.n > 0)
        return 0;
    const clv_const *tensor = &value->tensor[0];
    clv_tensor t = clv_op_output(g, op, 0);
    if (!clv_dtype_is_float(tensor->dtype) || tensor->rank < 1 || t.i < 0)
        return 0;
    return is_read_as_parameter(g, t, tensor->rank, MOVES_MAX) ? tensor->elems : 0;
}
