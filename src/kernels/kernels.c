#include "kernels/kernels.h"

#include "graph/ops.h"

bool clv_op_is_free(const clv_types *types, clv_op op)
{
    const clv_op_info *info = clv_op_at(types->graph, op);
    const clv_op_def *def = info->kind >= 0 ? clv_op_def_at(info->kind) : NULL;
    bool known = info->n_out > 0;
    if (def && (def->bytes == CLV_BYTES_VIEW || def->bytes == CLV_BYTES_CONST))
        return true;
    for (int32_t k = 0; k < info->n_out; k++) {
        clv_tensor t = clv_op_output(types->graph, info, k);
        known &= t.i < 0 || types->value[t.i];
    }
    return known;
}
