/* shapes_index.h - shape rules of operators that pick elements by index, or give indices. */
#ifndef CLV_GRAPH_SHAPES_INDEX_H
#define CLV_GRAPH_SHAPES_INDEX_H

#include "graph/rule.h"

/* data with the axis replaced by the shape of the indices */
clv_shape_rule clv_shape_gather;
clv_shape_rule clv_shape_torch_embedding;
clv_shape_rule clv_shape_gather_block_quantized;
clv_shape_rule clv_shape_gather_elements; /* the shape of the indices */
clv_shape_rule clv_shape_gather_nd;
/* columns of the last axis; a vector is one row */
clv_shape_rule clv_shape_array_feature_extractor;
/* ids [B,S], table [V,H] in input 2: output [B,S,H], mask index [B], the sum before normalising */
clv_shape_rule clv_shape_embed_layer_norm;
clv_shape_rule clv_shape_qembed_layer_norm;

clv_shape_rule clv_shape_one_hot;
clv_shape_rule clv_shape_topk;
clv_shape_rule clv_shape_unique;
clv_shape_rule clv_shape_ms_unique; /* of a list only: values, inverse, counts */
clv_shape_rule clv_shape_nonzero;
clv_shape_rule clv_shape_compress;
clv_shape_rule clv_shape_non_max_suppression;  /* rows of batch, class, box */
clv_shape_rule clv_shape_dynamic_time_warping; /* the places of a path through a matrix */
/* the tokens taken over, and where they were found */
clv_shape_rule clv_shape_bifurcation_detector;

#endif
