/* shapes_move.h - shape rules of operators that join, cut, pad and repeat tensors along their axes.
 */
#ifndef CLV_GRAPH_SHAPES_MOVE_H
#define CLV_GRAPH_SHAPES_MOVE_H

#include "graph/rule.h"

clv_shape_rule clv_shape_concat;
/* the output's scale and zero point, then three an input */
clv_shape_rule clv_shape_qlinear_concat;
clv_shape_rule clv_shape_split;
clv_shape_rule clv_shape_tile; /* in version 1 one axis is tiled */
clv_shape_rule clv_shape_expand;
clv_shape_rule clv_shape_pad;
clv_shape_rule clv_shape_center_crop_pad;
clv_shape_rule clv_shape_crop; /* border: left, top, right, bottom; or scale: height, width */
clv_shape_rule clv_shape_unfold_tensor; /* windows along dim, each a row of the last dimension */

#endif
