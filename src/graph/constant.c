#include "graph/constant.h"

#include "graph/ops.h"

clv_status clv_constant_ops(const clv_graph *g, clv_arena *arena, bool **ret, clv_error *err)
{
    bool *constant = CLV_NEW_ARRAY(arena, bool, g->n_ops);
    if (!constant)
        return clv_fail_nomem(err, "a list of constants");
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_op_info *op = &g->ops[i];
        constant[i] =
            op->kind >= 0 && !(clv_op_def_at(op->kind)->flags & (CLV_OPF_RANDOM | CLV_OPF_CONTROL));
        for (int32_t k = 0; k < op->n_in && constant[i]; k++) {
            clv_tensor t = clv_op_input(g, op, k);
            constant[i] = t.i < 0 || clv_is_constant(g, constant, t);
        }
    }
    *ret = constant;
    return CLV_OK;
}

bool clv_is_constant(const clv_graph *g, const bool *constant, clv_tensor t)
{
    const clv_tensor_info *at = t.i < 0 ? NULL : clv_tensor_at(g, t);
    return at &&
           (at->role == CLV_TENSOR_WEIGHT || (at->producer.i >= 0 && constant[at->producer.i]));
}
