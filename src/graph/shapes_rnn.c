/* shapes_rnn.c - RNN, GRU, LSTM and the quantised LSTM.
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
