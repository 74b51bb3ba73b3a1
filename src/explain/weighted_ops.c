#include "explain/weighted_ops.h"

#define MATRIX_RANK 2

int32_t clv_tensor_rank(const clv_types *types, clv_tensor t)
{
    const clv_type *type = t.i >= 0 ? &types->of[t.i] : NULL;
    return type && type->kind == CLV_TYPE_TENSOR ? type->rank : CLV_RANK_UNKNOWN;
}

int32_t clv_weight_input(const clv_types *types, const bool *constant, const clv_op_info *op)
{
    for (int32_t k = 0; k < clv_op_n_explicit(op); k++) {
        clv_tensor t = clv_op_input(types->graph, op, k);
        if (clv_is_constant(types->graph, constant, t) && clv_tensor_rank(types, t) >= MATRIX_RANK)
            return k;
    }
    return -1;
}

int32_t clv_data_input(const clv_graph *g, const bool *constant, const clv_op_info *op)
{
    for (int32_t k = 0; k < clv_op_n_explicit(op); k++) {
        clv_tensor t = clv_op_input(g, op, k);
        if (t.i >= 0 && !clv_is_constant(g, constant, t))
            return k;
    }
    return -1;
}

bool clv_has_batch_of_one(const clv_types *types)
{
    const clv_graph *g = types->graph;
    bool any = false;
    for (int32_t i = 0; i < g->n_inputs; i++) {
        if (clv_tensor_rank(types, g->inputs[i]) < 2)
            continue;
        if (types->of[g->inputs[i].i].dims[0] != 1)
            return false;
        any = true;
    }
    return any;
}
