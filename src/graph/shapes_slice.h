/* shapes_slice.h - shape rule of Slice.
 *
 * A size depends on start, end, step and the dimension. Where the dimension is open some slices are
 * still clear: all of it, all of it backwards, and its first or last element (a symbol stands for
 * at least 1).
 */
#ifndef CLV_GRAPH_SHAPES_SLICE_H
#define CLV_GRAPH_SHAPES_SLICE_H

#include "graph/rule.h"

clv_shape_rule clv_shape_slice; /* version 1 has attributes, 10 inputs */

#endif
