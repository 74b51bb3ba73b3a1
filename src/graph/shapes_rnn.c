#include "graph/shapes_rnn.h"

#include "graph/shape_tools.h"

/* hidden_axis: which dimension of input 2 is the hidden size. */
static clv_status set_recurrence(clv_rule *r, int32_t hidden_axis, clv_error *err)
{
    const clv_type *x = clv_rule_in(r, 0);
    clv_dim hidden = clv_rule_attr_int(r, "hidden_size", CLV_DIM_UNKNOWN);
    bool batch_first = clv_rule_attr_int(r, "layout", 0) != 0;
    CLV_TRY(clv_rule_want_rank(r, 0, 3, err));
    CLV_TRY(clv_rule_want_rank(r, 2, 3, err));
    clv_dim steps = clv_type_dim(x, batch_first ? 1 : 0), batch = clv_type_dim(x, !batch_first);
    bool both = clv_str_is(clv_rule_attr_str(r, "direction", "forward"), "bidirectional");
    clv_dim directions = both ? 2 : 1;
    CLV_TRY(clv_rule_same_dim(r, hidden, clv_type_dim(clv_rule_in(r, 2), hidden_axis),
                              "the hidden size", &hidden, err));
    clv_dim all[4] = { steps, directions, batch, hidden };
    clv_dim all_batch_first[4] = { batch, steps, directions, hidden };
    clv_dim last[3] = { directions, batch, hidden };
    clv_dim last_batch_first[3] = { batch, directions, hidden };
    CLV_TRY(clv_rule_set(r, 0, x->dtype, 4, batch_first ? all_batch_first : all, err));
    CLV_TRY(clv_rule_set(r, 1, x->dtype, 3, batch_first ? last_batch_first : last, err));
    return clv_rule_set(r, 2, x->dtype, 3, batch_first ? last_batch_first : last, err);
}

clv_status clv_shape_rnn(clv_rule *r, clv_error *err) { return set_recurrence(r, 2, err); }

clv_status clv_shape_dynamic_quantize_lstm(clv_rule *r, clv_error *err)
{
    return set_recurrence(r, 1, err);
}

/* -- a state from one call to the next -- */

static clv_status set_carried(clv_rule *r, int32_t past, int32_t rank, const clv_dim *state,
                              clv_error *err)
{
    clv_dtype dtype = clv_rule_in(r, clv_rule_has_in(r, past) ? past : 0)->dtype;
    int64_t window = clv_rule_attr_int(r, "state_window", 0);
    clv_dim dims[CLV_RANK_MAX] = { window };
    if (window <= 0)
        return clv_rule_set(r, 1, dtype, rank, state, err);
    clv_dims_copy(dims + 1, state, rank);
    return clv_rule_set(r, 1, dtype, rank + 1, dims, err);
}

static clv_status read_head_count(clv_rule *r, const char *name, clv_dim *ret, clv_error *err)
{
    *ret = clv_rule_attr_int(r, name, CLV_DIM_UNKNOWN);
    return *ret == CLV_DIM_UNKNOWN || *ret > 0
               ? CLV_OK
               : clv_rule_fail(r, err, "attribute %s is %lld, expected at least 1", name,
                               (long long)*ret);
}

clv_status clv_shape_linear_attention(clv_rule *r, clv_error *err)
{
    const clv_type *query = clv_rule_in(r, 0), *value = clv_rule_in(r, 2);
    clv_dim q_heads, heads;
    CLV_TRY(clv_rule_want_rank(r, 0, 3, err));
    CLV_TRY(clv_rule_want_rank(r, 2, 3, err));
    CLV_TRY(read_head_count(r, "q_num_heads", &q_heads, err));
    CLV_TRY(read_head_count(r, "kv_num_heads", &heads, err));
    bool known = clv_dim_is_number(q_heads) && clv_dim_is_number(heads);
    clv_dim width = known ? clv_dim_div(clv_type_dim(query, 2), q_heads) : CLV_DIM_UNKNOWN;
    clv_dim value_width = known ? clv_dim_div(clv_type_dim(value, 2), heads) : CLV_DIM_UNKNOWN;
    clv_dim out[3] = { clv_type_dim(query, 0), clv_type_dim(query, 1),
                       clv_dim_mul(q_heads > heads ? q_heads : heads, value_width) };
    clv_dim state[4] = { out[0], heads, width, value_width };
    CLV_TRY(clv_rule_set(r, 0, query->dtype, 3, out, err));
    return set_carried(r, 3, 4, state, err);
}

clv_status clv_shape_causal_conv(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0), *weights = clv_rule_in(r, 1);
    bool channels_last = clv_rule_attr_int(r, "channels_last", 0) != 0;
    int64_t dilation = clv_rule_attr_int(r, "dilation", 1);
    clv_dim state[CLV_RANK_MAX], steps = clv_type_dim(weights, 2);
    CLV_TRY(clv_rule_set_same(r, 0, 0, err));
    if (dilation < 1)
        return clv_rule_fail(r, err, "attribute dilation is %lld, expected at least 1",
                             (long long)dilation);
    if (clv_dim_is_number(steps) && steps < 1)
        return clv_rule_fail(r, err, "the kernel has %lld steps, expected at least 1",
                             (long long)steps);
    int32_t rank = clv_type_rank(in);
    if (channels_last ? rank < 3 || rank >= CLV_RANK_MAX : rank != 3)
        return clv_rule_set_unranked(r, 1, in->dtype, err);
    clv_dims_copy(state, in->dims, rank);
    state[channels_last ? 1 : 2] = clv_dim_mul(clv_dim_add(steps, -1), dilation);
    return set_carried(r, 3, rank, state, err);
}

clv_status clv_shape_linear_attention_gate(clv_rule *r, clv_error *err)
{
    CLV_TRY(clv_rule_set_same(r, 0, 0, err));
    return clv_rule_has_in(r, 3) ? clv_rule_set_same(r, 1, 3, err) : CLV_OK;
}
