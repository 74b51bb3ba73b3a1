#include "cost/weights.h"

int64_t clv_weights_read(const clv_graph *g, clv_op op, int32_t stamp, int32_t *seen)
{
    const clv_op_info *info = clv_op_at(g, op);
    int64_t sum = 0;
    for (int32_t k = 0; k < info->n_in; k++) {
        clv_tensor t = clv_op_input(g, info, k);
        int32_t weight = t.i < 0 ? -1 : clv_tensor_at(g, t)->weight;
        if (weight < 0 || seen[weight] == stamp)
            continue;
        seen[weight] = stamp;
        sum = clv_weight_add(sum, g->weights[weight].bytes);
    }
    return sum;
}
