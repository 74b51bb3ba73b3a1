/* shapes_conv.h - shape rules of what slides a window: convolutions and poolings.
 *
 * Layouts: input [N, C, d...], weight [M, C/group, k...]; with the channels last [N, d..., C].
 */
#ifndef CLV_GRAPH_SHAPES_CONV_H
#define CLV_GRAPH_SHAPES_CONV_H

#include "graph/rule.h"

/* Batch from the input, channels from the weight, and the window slid over the rest. They differ in
 * which inputs, in what layout and dtype. */
clv_shape_rule clv_shape_conv;
clv_shape_rule clv_shape_conv_integer;    /* INT32 */
clv_shape_rule clv_shape_qlinear_conv;    /* of inputs 0 and 3, in the dtype of input 7 */
clv_shape_rule clv_shape_ms_qlinear_conv; /* the same, where asked with the channels last */
clv_shape_rule clv_shape_nhwc_conv;       /* channels last, of the weight too: [M, k..., C/group] */
clv_shape_rule clv_shape_deform_conv;     /* input 2 has an offset for each place of the output */
clv_shape_rule clv_shape_conv_transpose;  /* the weight is [C, M/group, k...] */

/* Batch and channels stay, the window is slid over the rest. */
clv_shape_rule clv_shape_pool;
clv_shape_rule clv_shape_max_pool; /* and where each maximum was */
clv_shape_rule clv_shape_qlinear_average_pool;
clv_shape_rule clv_shape_nhwc_max_pool;
clv_shape_rule clv_shape_global_pool; /* what is slid over becomes 1 */
clv_shape_rule clv_shape_qlinear_global_average_pool;
/* the other way; input 2, where given, is the output's shape */
clv_shape_rule clv_shape_max_unpool;

/* One result for each row of input 1, a region, with the channels of input 0. */
clv_shape_rule clv_shape_max_roi_pool;
clv_shape_rule clv_shape_roi_align;

#endif
