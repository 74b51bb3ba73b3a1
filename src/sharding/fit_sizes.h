/* fit_sizes.h - sizes of factors: each dimension says what the product of its factors is. */
#ifndef CLV_SHARDING_FIT_SIZES_H
#define CLV_SHARDING_FIT_SIZES_H

#include "sharding/fit_match.h"

/* Sizes of all factors from the sizes of dimensions; -1 for those that stay open. Sets w->why where
 * they contradict. O(dims * factors). */
clv_status clv_fit_solve(clv_fit *f, clv_error *err);

#endif
