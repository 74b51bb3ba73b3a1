/* compare.h - orders for qsort and bsearch. */
#ifndef CLV_BASE_COMPARE_H
#define CLV_BASE_COMPARE_H

#include <stdint.h>

#include "base/int128.h"

/* Of two int32_t, ascending. */
static inline int clv_compare_int32(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Of two doubles, neither of them NaN, ascending. */
static inline int clv_compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of two int64_t, descending. */
static inline int clv_compare_int64_down(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

/* Of two clv_int128, descending. */
static inline int clv_compare_int128_down(const void *a, const void *b)
{
    clv_int128 x = *(const clv_int128 *)a, y = *(const clv_int128 *)b;
    return (x < y) - (x > y);
}

#endif
