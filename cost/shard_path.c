#include "cost/shard_path.h"

static int64_t time_of(const clv_costs *costs, const clv_device_kind *kind, int32_t op)
{
    const clv_op_cost *c = &costs->of[op];
    return clv_op_time_ns(c, kind, clv_op_workspace(c, kind, kind->workspace_proportion));
}

/* The input whose producer ends last; CLV_PATH_START where no operator is waited for. */
static int32_t latest_input(const clv_types *types, int32_t op, const int64_t *end)
{
    const clv_graph *g = types->graph;
    int32_t best = CLV_PATH_START;
    int64_t latest = -1;
    for (int32_t k = 0; k < clv_op_n_explicit(&g->ops[op]); k++) {
        clv_tensor t = clv_op_input(g, &g->ops[op], k);
        if (t.i < 0 || clv_tensor_at(g, t)->role != CLV_TENSOR_RESULT || types->value[t.i])
            continue;
        if (end[clv_tensor_at(g, t)->producer.i] > latest) {
            latest = end[clv_tensor_at(g, t)->producer.i];
            best = k;
        }
    }
    return best;
}

clv_status clv_shard_path(const clv_types *types, const clv_costs *costs,
                          const clv_device_kind *kind, clv_arena *arena, int32_t **ret,
                          clv_error *err)
{
    const clv_graph *g = types->graph;
    int64_t *end = CLV_NEW_ARRAY(arena, int64_t, g->n_ops);
    int32_t *in = CLV_NEW_ARRAY(arena, int32_t, g->n_ops);
    int32_t last = 0;
    if (!end || !in)
        return clv_fail_nomem(err, "the longest way");
    for (int32_t i = 0; i < g->n_ops; i++) {
        in[i] = latest_input(types, i, end);
        int64_t start = 0, ns = time_of(costs, kind, i);
        if (in[i] >= 0)
            start = end[clv_tensor_at(g, clv_op_input(g, &g->ops[i], in[i]))->producer.i];
        end[i] = start > INT64_MAX - ns ? INT64_MAX : start + ns;
        last = end[i] > end[last] ? i : last;
    }
    for (int32_t i = g->n_ops - 1, next = last; i >= 0; i--) {
        if (i != next)
            in[i] = CLV_PATH_OFF;
        else if (in[i] >= 0)
            next = clv_tensor_at(g, clv_op_input(g, &g->ops[i], in[i]))->producer.i;
        else
            next = -1;
    }
    *ret = in;
    return CLV_OK;
}
