#include "cost/weights.h"

#include "graph/ops.h"

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

clv_status clv_weight_sums_init(clv_weight_sums *w, const clv_costs *costs, clv_arena *scratch,
                                clv_error *err)
{
    w->costs = costs;
    w->seen = CLV_NEW_ARRAY(scratch, int32_t, costs->graph->n_weights);
    w->seen_own = CLV_NEW_ARRAY(scratch, int32_t, costs->graph->n_weights);
    return w->seen && w->seen_own ? CLV_OK : clv_fail_nomem(err, "sums of weights");
}

/* Initialisers inside the operator's bodies: all that it reads less those of its graph. */
static int64_t owned(clv_weight_sums *w, clv_op op)
{
    int64_t direct = clv_weights_read(w->costs->graph, op, op.i + 1, w->seen_own);
    return w->costs->of[op.i].weight_bytes - direct;
}

int64_t clv_weight_sums_of(clv_weight_sums *w, clv_op op, int32_t stamp)
{
    const clv_op_info *info = clv_op_at(w->costs->graph, op);
    bool call = info->kind == CLV_OPKIND_FUNCTION;
    unsigned flags = info->kind >= 0 ? clv_op_def_at(info->kind)->flags : 0;
    if (flags & CLV_OPF_NO_BYTES_COST)
        return 0;
    int64_t sum = clv_weights_read(w->costs->graph, op, stamp, w->seen);
    return call || (flags & CLV_OPF_CONTROL) ? clv_weight_add(sum, owned(w, op)) : sum;
}
