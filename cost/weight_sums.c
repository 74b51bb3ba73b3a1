#include "cost/weight_sums.h"

#include "cost/weights.h"
#include "graph/ops.h"

clv_status clv_weight_sums_init(clv_weight_sums *w, const clv_costs *costs, clv_arena *scratch,
                                clv_error *err)
{
    w->costs = costs;
    w->seen = CLV_NEW_ARRAY(scratch, int32_t, costs->graph->n_weights);
    w->seen_own = CLV_NEW_ARRAY(scratch, int32_t, costs->graph->n_weights);
    return w->seen && w->seen_own ? CLV_OK : clv_fail_nomem(err, "sums of weights");
}

int64_t clv_weight_sums_of(clv_weight_sums *w, clv_op op, int32_t stamp)
{
    const clv_graph *g = w->costs->graph;
    const clv_op_info *info = clv_op_at(g, op);
    unsigned flags = info->kind >= 0 ? clv_op_def_at(info->kind)->flags : 0;
    if (flags & CLV_OPF_NO_BYTES_COST)
        return 0;
    int64_t sum = clv_weights_read(g, op, stamp, w->seen);
    if (info->kind != CLV_OPKIND_FUNCTION && !(flags & CLV_OPF_CONTROL))
        return sum;
    /* initialisers inside its bodies: all that it reads less those of its graph */
    int64_t direct = clv_weights_read(g, op, op.i + 1, w->seen_own);
    return clv_weight_add(sum, w->costs->of[op.i].weight_bytes - direct);
}
