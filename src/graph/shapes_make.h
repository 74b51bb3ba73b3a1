/* shapes_make.h - shape rules of operators that make tensors from nothing, or give the shape of
 * one. */
#ifndef CLV_GRAPH_SHAPES_MAKE_H
#define CLV_GRAPH_SHAPES_MAKE_H

#include "graph/rule.h"

clv_shape_rule clv_shape_shape;
clv_shape_rule clv_shape_size;
clv_shape_rule clv_shape_range;
clv_shape_rule clv_shape_constant;
clv_shape_rule clv_shape_constant_of_shape;
clv_shape_rule clv_shape_constant_fill; /* shape by attribute, by input, or the input's own */
clv_shape_rule clv_shape_eye_like;

clv_shape_rule clv_shape_random; /* shape by attribute */
clv_shape_rule clv_shape_random_like;
clv_shape_rule clv_shape_bernoulli;
clv_shape_rule clv_shape_multinomial;

#endif
