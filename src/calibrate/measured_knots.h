/* measured_knots.h - where a table of measured times has its knots. */
#ifndef CLV_CALIBRATE_MEASURED_KNOTS_H
#define CLV_CALIBRATE_MEASURED_KNOTS_H

#include "calibrate/table_fit.h"
#include "cluster/timed_kernel.h"

typedef enum {
    CLV_KNOTS_FEW,
    CLV_KNOTS_FINER, /* with twice as many places, for products; others have none that are */
    CLV_KNOTS_ALL    /* every size, unless there are more than 32; then as the ones before */
} clv_knots;

/* The grid for rows of one kind and types: on each axis the least and the greatest size there is,
 * and between them the knots that are known to be good for the kind; every size itself where there
 * are no more of them. O(n log n). */
clv_status clv_measured_knots(clv_timed kind, clv_knots which, const clv_fit_rows *rows,
                              clv_arena *arena, clv_grid *ret, clv_error *err);

#endif
