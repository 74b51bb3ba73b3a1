/* measured_knots.h - where a table of measured times has its knots. */
#ifndef CLV_CALIBRATE_MEASURED_KNOTS_H
#define CLV_CALIBRATE_MEASURED_KNOTS_H

#include "cluster/timed_kernel.h"

/* The grid for points of one kind and types, whose sizes are at[n * axes]: on each axis the least
 * and the greatest size there is, and between them the knots that are known to be good for the
 * kind; every size itself where there are no more of them. O(n log n). */
clv_status clv_measured_knots(const clv_timed_point *of, const double *at, int32_t n,
                              clv_arena *arena, clv_grid *ret, clv_error *err);

#endif
