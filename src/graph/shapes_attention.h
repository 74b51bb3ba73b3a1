/* shapes_attention.h - shape rules of fused attention, of the standard and of com.microsoft.
 *
 * Letters: B batch, S length of the queries, L length of the keys, P length of the past, H heads,
 * D width of a head. The present is the past and the new keys; where past and present share one
 * buffer it is as long as that buffer.
 */
#ifndef CLV_GRAPH_SHAPES_ATTENTION_H
#define CLV_GRAPH_SHAPES_ATTENTION_H

#include "graph/rule.h"

/* Q, K, V, attn_mask, past_key, past_value -> Y, present_key, present_value, scores */
clv_shape_rule clv_shape_attention;
/* One output and present for queries that share keys and values in groups; may be packed. */
clv_shape_rule clv_shape_group_query_attention;
/* Queries [B,S,H*D], or with keys and values packed; present keys and values; scores. */
clv_shape_rule clv_shape_multi_head_attention;
clv_shape_rule clv_shape_decoder_masked_mha;
/* Weights [in, hidden + hidden + v_hidden] project the input; past and present are [2,B,H,P,D]. */
clv_shape_rule clv_shape_ms_attention;
clv_shape_rule clv_shape_qattention; /* of integers, in the dtype of the bias or a scale */

/* Without padding: the tokens of all sequences in one list. */
clv_shape_rule clv_shape_packed_attention;
clv_shape_rule clv_shape_packed_mha; /* queries [tokens, hidden], or packed [tokens,H,3,D] */
/* to tokens [?,H], offsets [B,S], ends [B+1], longest [1] */
clv_shape_rule clv_shape_remove_padding;
clv_shape_rule clv_shape_restore_padding;

/* Biases by position. */
clv_shape_rule clv_shape_relative_position_bias; /* table [buckets,H], two lengths: [1,H,S,L] */
clv_shape_rule clv_shape_gated_relative_position_bias; /* queries [B,S,H*D]: [B,H,S,S] */

#endif
