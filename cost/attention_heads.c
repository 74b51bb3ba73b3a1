#include "cost/attention_heads.h"

static clv_head_counts of_kernel(const clv_costs *costs, int32_t op)
{
    const clv_kernel_shape *s = &costs->of[op].shape;
    return s->kind == CLV_SHAPE_ATTENTION ? (clv_head_counts){ s->heads, s->kv_heads }
                                          : (clv_head_counts){ 0 };
}

static clv_head_counts of_softmax(const clv_costs *costs, int32_t op)
{
    const clv_op_info *info = &costs->graph->ops[op];
    clv_tensor t = info->n_out > 0 ? clv_op_output(costs->graph, info, 0) : CLV_NO_TENSOR;
    if (t.i < 0 || !clv_str_is(info->type, "Softmax") || costs->types->of[t.i].rank != 4)
        return (clv_head_counts){ 0 };
    int64_t heads = costs->types->of[t.i].dims[1];
    return (clv_head_counts){ heads, heads };
}

static bool has(const clv_head_counts *at, int32_t n, const clv_head_counts *one)
{
    for (int32_t i = 0; i < n; i++)
        if (at[i].heads == one->heads && at[i].kv_heads == one->kv_heads)
            return true;
    return false;
}

static clv_status list(const clv_costs *costs, clv_head_counts (*of)(const clv_costs *, int32_t),
                       clv_arena *arena, clv_attention_heads *ret, clv_error *err)
{
    clv_head_counts *at = NULL;
    int32_t n = 0, cap = 0;
    for (int32_t i = 0; i < costs->graph->n_ops; i++) {
        clv_head_counts one = of(costs, i);
        if (one.heads <= 0 || one.kv_heads <= 0 || has(at, n, &one))
            continue;
        if (!CLV_PUSH_ROOM(arena, at, n, cap))
            return clv_fail_nomem(err, "heads of attention");
        at[n++] = one;
    }
    *ret = (clv_attention_heads){ at, n };
    return CLV_OK;
}

clv_status clv_attention_heads_find(const clv_costs *costs, clv_arena *arena,
                                    clv_attention_heads *ret, clv_error *err)
{
    CLV_TRY(list(costs, of_kernel, arena, ret, err));
    return ret->n > 0 ? CLV_OK : list(costs, of_softmax, arena, ret, err);
}
