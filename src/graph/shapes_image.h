/* shapes_image.h - shape rules of grids, patches and pictures.
 *
 * Resize: the size of an axis is the one wanted, or the old one times a scale, rounded down in
 * 32-bit floats as the scales are. Axes that are not named stay. With an aspect ratio to keep, one
 * scale serves all axes: the smallest or largest that the wanted sizes ask for.
 */
#ifndef CLV_GRAPH_SHAPES_IMAGE_H
#define CLV_GRAPH_SHAPES_IMAGE_H

#include "graph/rule.h"

clv_shape_rule clv_shape_resize;
/* scales: two attributes in version 1, a list in 7, an input in 9 */
clv_shape_rule clv_shape_upsample;
/* x [N,C,(D,)H,W], grid [N,(D',)H',W',2 or 3]: [N,C,(D',)H',W'] */
clv_shape_rule clv_shape_grid_sample;
/* theta [N,2,3] and size (N,C,H,W) give [N,H,W,2]; theta [N,3,4] and (N,C,D,H,W) [N,D,H,W,3]. */
clv_shape_rule clv_shape_affine_grid;
clv_shape_rule clv_shape_image_decoder;
clv_shape_rule clv_shape_col2im; /* columns [N, C * block elements, L] to [N, C, image...] */
clv_shape_rule clv_shape_crop_and_resize; /* X [N,C,H,W], rois [R,4], crop size (h,w): [R,C,h,w] */

#endif
