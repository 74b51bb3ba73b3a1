/* shapes_rnn.c - RNN, GRU, LSTM and the quantised LSTM; operators that carry a state from one call
 * to the next.
 *
 * Layout 0 has the steps first, layout 1 the batch. The number of gates is not needed: the hidden
 * size stands in an attribute, and in the last dimension of the recurrence weights.
 */
#include "graph/rules.h"
#include "graph/shape_tools.h"

typedef struct {
    clv_dim steps, batch, directions, hidden;
    bool batch_first;
    clv_dtype dtype;
} recurrence;

/* hidden_axis: which dimension of input 2 is the hidden size. */
static clv_status read_recurrence(clv_rule *r, int32_t hidden_axis, recurrence *c)
{
    const clv_type *x = clv_rule_in(r, 0);
    int64_t hidden = clv_rule_attr_int(r, "hidden_size", CLV_DIM_UNKNOWN);

    CLV_TRY(clv_rule_want_rank(r, 0, 3));
    CLV_TRY(clv_rule_want_rank(r, 2, 3));
    c->batch_first = clv_rule_attr_int(r, "layout", 0) != 0;
    c->steps = clv_type_dim(x, c->batch_first ? 1 : 0);
    c->batch = clv_type_dim(x, c->batch_first ? 0 : 1);
    c->directions =
        clv_str_is(clv_rule_attr_str(r, "direction", "forward"), "bidirectional") ? 2 : 1;
    c->dtype = x->dtype;
    return clv_rule_same_dim(r, hidden, clv_type_dim(clv_rule_in(r, 2), hidden_axis),
                             "the hidden size", &c->hidden);
}

static clv_status set_states(clv_rule *r, const recurrence *c)
{
    clv_dim all[4] = { c->steps, c->directions, c->batch, c->hidden };
    clv_dim all_batch_first[4] = { c->batch, c->steps, c->directions, c->hidden };
    clv_dim last[3] = { c->directions, c->batch, c->hidden };
    clv_dim last_batch_first[3] = { c->batch, c->directions, c->hidden };

    CLV_TRY(clv_rule_set(r, 0, c->dtype, 4, c->batch_first ? all_batch_first : all));
    CLV_TRY(clv_rule_set(r, 1, c->dtype, 3, c->batch_first ? last_batch_first : last));
    return clv_rule_set(r, 2, c->dtype, 3, c->batch_first ? last_batch_first : last);
}

clv_status clv_shape_rnn(clv_rule *r)
{
    recurrence c;

    CLV_TRY(read_recurrence(r, 2, &c));
    return set_states(r, &c);
}

/* Its recurrence weights are turned: [directions, hidden, 4 * hidden]. */
clv_status clv_shape_dynamic_quantize_lstm(clv_rule *r)
{
    recurrence c;

    CLV_TRY(read_recurrence(r, 1, &c));
    return set_states(r, &c);
}

/* -- states that are handed over: the newest, or a window of them, newest last -- */

static clv_status set_carried(clv_rule *r, int32_t past, int32_t rank, const clv_dim *state)
{
    clv_dtype dtype = clv_rule_in(r, clv_rule_has_in(r, past) ? past : 0)->dtype;
    int64_t window = clv_rule_attr_int(r, "state_window", 0);
    clv_dim dims[CLV_RANK_MAX] = { window };

    if (window <= 0)
        return clv_rule_set(r, 1, dtype, rank, state);
    clv_dims_copy(dims + 1, state, rank);
    return clv_rule_set(r, 1, dtype, rank + 1, dims);
}

static clv_status read_head_count(clv_rule *r, const char *name, clv_dim *ret)
{
    *ret = clv_rule_attr_int(r, name, CLV_DIM_UNKNOWN);
    return *ret == CLV_DIM_UNKNOWN || *ret > 0
               ? CLV_OK
               : clv_rule_fail(r, "attribute %s is %lld, expected at least 1", name,
                               (long long)*ret);
}

/* Queries [B,T,Hq*D] and values [B,T,H*E] with a state [B,H,D,E]. Queries may share a state, and
 * states a query. */
clv_status clv_shape_linear_attention(clv_rule *r)
{
    const clv_type *query = clv_rule_in(r, 0), *value = clv_rule_in(r, 2);
    clv_dim q_heads, heads;

    CLV_TRY(clv_rule_want_rank(r, 0, 3));
    CLV_TRY(clv_rule_want_rank(r, 2, 3));
    CLV_TRY(read_head_count(r, "q_num_heads", &q_heads));
    CLV_TRY(read_head_count(r, "kv_num_heads", &heads));
    bool known = clv_dim_is_number(q_heads) && clv_dim_is_number(heads);
    clv_dim width = known ? clv_dim_div(clv_type_dim(query, 2), q_heads) : CLV_DIM_UNKNOWN;
    clv_dim value_width = known ? clv_dim_div(clv_type_dim(value, 2), heads) : CLV_DIM_UNKNOWN;
    clv_dim out[3] = { clv_type_dim(query, 0), clv_type_dim(query, 1),
                       clv_dim_mul(q_heads > heads ? q_heads : heads, value_width) };
    clv_dim state[4] = { out[0], heads, width, value_width };
    CLV_TRY(clv_rule_set(r, 0, query->dtype, 3, out));
    return set_carried(r, 3, 4, state);
}

/* X [B,C,T], or [B,T,C...] with the channels last, and weights [C,1,K]. The next call still sees
 * the last steps of each channel. Over more spatial axes the state is open. */
clv_status clv_shape_causal_conv(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0), *weights = clv_rule_in(r, 1);
    bool channels_last = clv_rule_attr_int(r, "channels_last", 0) != 0;
    int64_t dilation = clv_rule_attr_int(r, "dilation", 1);
    clv_dim state[CLV_RANK_MAX], steps = clv_type_dim(weights, 2);

    CLV_TRY(clv_rule_set_same(r, 0, 0));
    if (dilation < 1)
        return clv_rule_fail(r, "attribute dilation is %lld, expected at least 1",
                             (long long)dilation);
    if (clv_dim_is_number(steps) && steps < 1)
        return clv_rule_fail(r, "the kernel has %lld steps, expected at least 1", (long long)steps);
    int32_t rank = clv_type_rank(in);
    if (channels_last ? rank < 3 || rank >= CLV_RANK_MAX : rank != 3)
        return clv_rule_set_rank(r, 1, in->dtype, CLV_RANK_UNKNOWN);
    clv_dims_copy(state, in->dims, rank);
    state[channels_last ? 1 : 2] = clv_dim_mul(clv_dim_add(steps, -1), dilation);
    return set_carried(r, 3, rank, state);
}

/* The decay has the shape of its projection, the update rate that of the other. */
clv_status clv_shape_linear_attention_gate(clv_rule *r)
{
    CLV_TRY(clv_rule_set_same(r, 0, 0));
    return clv_rule_has_in(r, 3) ? clv_rule_set_same(r, 1, 3) : CLV_OK;
}

/* Ids [B,S]: for each an id of every head of the runs of 2 to max_ngram_size, and the last ids. */
clv_status clv_shape_ngram_hash_mapping(clv_rule *r)
{
    const clv_type *ids = clv_rule_in(r, 0);
    int64_t longest = clv_rule_attr_int(r, "max_ngram_size", CLV_DIM_UNKNOWN);
    int64_t heads = clv_rule_attr_int(r, "n_head_per_ngram", CLV_DIM_UNKNOWN);

    CLV_TRY(clv_rule_want_rank(r, 0, 2));
    if ((clv_dim_is_number(longest) && longest < 2) || (clv_dim_is_number(heads) && heads < 1))
        return clv_rule_fail(r, "%lld heads for runs of up to %lld", (long long)heads,
                             (long long)longest);
    clv_dim before = clv_dim_add(longest, -1);
    clv_dim out[3] = { clv_type_dim(ids, 0), clv_type_dim(ids, 1), clv_dim_mul(before, heads) };
    clv_dim present[2] = { out[0], before };
    CLV_TRY(clv_rule_set(r, 0, ids->dtype, 3, out));
    return clv_rule_set(r, 1, ids->dtype, 2, present);
}
