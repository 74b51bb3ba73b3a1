/* shapes_reshape.h - shape rules of operators that give the same elements another shape, or another
 * order.
 *
 * Reshape is the one with a difficulty: its -1 can often be worked out although some dimensions are
 * open, because they stand on both sides.
 */
#ifndef CLV_GRAPH_SHAPES_RESHAPE_H
#define CLV_GRAPH_SHAPES_RESHAPE_H

#include "graph/rule.h"

clv_shape_rule clv_shape_reshape;
clv_shape_rule clv_shape_flatten;
clv_shape_rule clv_shape_squeeze;
clv_shape_rule clv_shape_unsqueeze;
clv_shape_rule clv_shape_expand_dims;
clv_shape_rule clv_shape_transpose;
clv_shape_rule clv_shape_depth_to_space; /* blocksize squared channels into each pixel */
clv_shape_rule clv_shape_space_to_depth; /* the other way */

#endif
