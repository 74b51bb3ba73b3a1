/* fit.h - from measured times to the numbers of a device description. Numbers only. */
#ifndef CLV_CALIBRATE_FIT_H
#define CLV_CALIBRATE_FIT_H

#include <stdbool.h>

#include "base/arena.h"

/* An operator of that work took so long. */
typedef struct {
    int32_t speed;                /* graph/ops.h: points of a speed belong together */
    double matrix, vector, bytes; /* FLOPs, FLOPs, bytes; at least one above 0 */
    double seconds;               /* above 0 */
} clv_fit_point;

/* How fast one operator is. A rate of 0: it is not what bounds this operator. */
typedef struct {
    int32_t speed;
    double launch_s;
    double matrix_per_s, vector_per_s, bytes_per_s;
    double error; /* median of |fitted - measured| / measured */
} clv_fit_op;

/* Peaks are the most that any operator reached, so that all else is a share of them. The shares are
 * of operators that are not listed: the middle of those that are. */
typedef struct {
    clv_fit_op *ops; /* ascending speeds */
    int32_t n_ops;
    double launch_s;
    double matrix_per_s, vector_per_s, bytes_per_s;
    double matrix_share, vector_share, bytes_share; /* (0, 1] */
    double error;                                   /* median over all points */
} clv_fit;

/* Operators without products are bounded by one thing, arithmetic or memory, whichever explains
 * their times better; products by the longer of arithmetic and memory. Times spread around those of
 * the model by factors, so logarithms are what is made small. Points come in any order. CLV_EFORMAT
 * with a sentence: a time is not above 0, or there are too few points: none with products, none
 * without. O(points * operators). */
clv_status clv_fit_points(const clv_fit_point *points, int32_t n, clv_arena *arena, clv_fit *ret,
                          clv_error *err);

/* The straight line through times of transfers: latency and bytes a second, both by least squares
 * of relative errors, the latency never below 0. CLV_EFORMAT: fewer than two sizes, or time does
 * not grow with size. */
typedef struct {
    double bytes, seconds;
} clv_fit_transfer;
clv_status clv_fit_line(const clv_fit_transfer *at, int32_t n, double *ret_latency_s,
                        double *ret_bytes_per_s, clv_error *err);

#endif
