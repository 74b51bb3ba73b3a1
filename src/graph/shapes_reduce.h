/* shapes_reduce.h - shape rules of reductions, of normalisations with statistics, and of losses. */
#ifndef CLV_GRAPH_SHAPES_REDUCE_H
#define CLV_GRAPH_SHAPES_REDUCE_H

#include "graph/rule.h"

/* Axes become 1 with keepdims, else they go. */
clv_shape_rule clv_shape_reduce;
clv_shape_rule clv_shape_arg; /* ArgMax and ArgMin: INT64 */
clv_shape_rule clv_shape_qlinear_reduce_mean;

clv_shape_rule clv_shape_batch_norm; /* outputs after the first: a number for each channel */
/* Statistics have the input's shape with 1 from the axis on. */
clv_shape_rule clv_shape_layer_norm;
clv_shape_rule clv_shape_simplified_layer_norm; /* in the dtype of the scale */
clv_shape_rule clv_shape_skip_layer_norm; /* output 3: the sum that the next layer skips from */
clv_shape_rule clv_shape_skip_group_norm;

/* Input [N, C, d...] and target [N, d...]: a loss for each target, or one. */
clv_shape_rule clv_shape_nll_loss;
clv_shape_rule clv_shape_softmax_loss; /* and the input's logarithms of probabilities */

#endif
