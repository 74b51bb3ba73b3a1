/* dims.h - arithmetic on dimensions of which some may be open: symbols, or not known.
 *
 * A result is open unless it is certain: where an operand is open, or 64 bits cannot hold it.
 */
#ifndef CLV_GRAPH_DIMS_H
#define CLV_GRAPH_DIMS_H

#include "graph/graph.h"

/* Open if either is, unless one is 0. */
clv_dim clv_dim_add(clv_dim a, clv_dim b);
/* Open unless both are numbers, or b is 0, or both are the same symbol. */
clv_dim clv_dim_sub(clv_dim a, clv_dim b);
/* Open if either is, unless one is 0 or 1. */
clv_dim clv_dim_mul(clv_dim a, clv_dim b);
/* Rounded down; open unless both are numbers, or b is 1. */
clv_dim clv_dim_div(clv_dim a, int64_t b);
/* Product of n dims from at; 1 for none. */
clv_dim clv_dim_product(const clv_dim *at, int32_t n);
/* Makes n dims unknown. */
void clv_dims_open(clv_dim *dims, int32_t n);
/* memcpy, but from may be NULL when n is 0: a scalar has no dims. */
void clv_dims_copy(clv_dim *to, const clv_dim *from, int32_t n);

#endif
