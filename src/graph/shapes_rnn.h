/* shapes_rnn.h - shape rules of operators that carry a state: RNN, GRU, LSTM, and those that take
 * it from one call to the next.
 *
 * Layout 0 has the steps first, layout 1 the batch. The number of gates is not needed: the hidden
 * size stands in an attribute, and in the last dimension of the recurrence weights.
 */
#ifndef CLV_GRAPH_SHAPES_RNN_H
#define CLV_GRAPH_SHAPES_RNN_H

#include "graph/rule.h"

clv_shape_rule clv_shape_rnn;
/* recurrence weights [directions, hidden, 4 * hidden] */
clv_shape_rule clv_shape_dynamic_quantize_lstm;

/* The state handed on is the newest, or a window of them, newest last. */
/* Queries [B,T,Hq*D] and values [B,T,H*E] with a state [B,H,D,E]. Queries may share a state, and
 * states a query. */
clv_shape_rule clv_shape_linear_attention;
/* X [B,C,T], or [B,T,C...] with the channels last, and weights [C,1,K]. The next call still sees
 * the last steps of each channel. Over more spatial axes the state is open. */
clv_shape_rule clv_shape_causal_conv;
/* the decay, and the update rate: as their inputs */
clv_shape_rule clv_shape_linear_attention_gate;

#endif
