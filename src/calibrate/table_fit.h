/* table_fit.h - times at the knots of a grid, from times measured anywhere. Numbers only.
 *
 * Unknown is u = log(time / reference) at each knot, the reference being the time of a simple law
 * (a roofline): what is left to interpolate is smooth. Minimised is
 *
 *   sum over rows of w (log time - interpolated)^2 + penalty * second differences of u squared
 *
 * where second differences above a limit count by their size and not its square, if one is given: a
 * cliff stays one (l1 trend filtering; S. Kim, K. Koh, S. Boyd, D. Gorinevsky, 2009). It is found
 * by conjugate gradients (M. Hestenes, E. Stiefel, 1952) with a diagonal preconditioner; rows are
 * weighted anew after each round by their error e, w = max(1, e / width)^-power, which for power 1
 * is least absolute deviations (iteratively reweighted least squares), and for more leaves outliers
 * aside; likewise second differences. Then knots are raised to the floor, and pooled till no time
 * falls along any axis, if that is asked for: adjacent
 * violators (M. Ayer et al., 1955) with equal weights on each line, axis by axis, which keeps the
 * order on the axes before. Rows measured, the fit and the same bytes: no chance, no clock.
 *
 * Pools have the mean of their knots, or the middle one (T. Robertson, P. Waltman, 1968): where
 * rows contradict each other, most keep their time, and the few do not draw them along.
 */
#ifndef CLV_CALIBRATE_TABLE_FIT_H
#define CLV_CALIBRATE_TABLE_FIT_H

#include "cluster/time_table.h"

typedef struct {
    int32_t n;
    const double *at; /* n * axes sizes, above 0 */
    const double *ns; /* above 0 */
} clv_fit_rows;

typedef enum { CLV_POOL_MEANS, CLV_POOL_MEDIANS, CLV_POOL_NONE } clv_pooling;

typedef struct {
    const double *reference_ns; /* at each place of the grid, above 0 */
    const double *floor_ns;     /* at each place: never below it; NULL: none */
    double penalty, width, power;
    double first_part; /* of the penalty on the first axis; 0: all of it */
    double bend_limit; /* 0: none */
    clv_pooling pooling;
} clv_table_fit;

/* ns at each place of the grid, of 3 digits, where times are pooled none below another that is no
 * larger on all axes.
 * Takes rows of n = 0 too: then times are the reference. O(rounds * steps * (places + rows *
 * 2^axes)). */
clv_status clv_table_fit_rows(const clv_grid *grid, const clv_fit_rows *rows,
                              const clv_table_fit *how, clv_arena *arena, const double **ret,
                              clv_error *err);

/* Pools times along all axes till none falls. In place. O(axes * places), by medians times the
 * knots of an axis and their logarithm. */
clv_status clv_make_monotone(const clv_grid *grid, clv_pooling pooling, clv_arena *scratch,
                             double *values, clv_error *err);
/* To so many digits, half away from 0; keeps the order. */
double clv_round_digits(double v, int digits);

#endif
