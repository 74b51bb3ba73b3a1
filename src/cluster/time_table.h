/* time_table.h - times at the knots of a grid of sizes, and between them.
 *
 * Multilinear interpolation of log(time) in log2 of the sizes (W. Weiser, S. Zarantonello, A note
 * on piecewise linear and multilinear table interpolation in many dimensions, 1988): a power law
 * between neighbouring knots. Below the first knot of an axis it is the time there; above the last,
 * the time there times (size / last knot)^power. So times that do not fall along an axis from knot
 * to knot do not fall between any two sizes.
 */
#ifndef CLV_CLUSTER_TIME_TABLE_H
#define CLV_CLUSTER_TIME_TABLE_H

#include "base/arena.h"

#define CLV_GRID_AXES_MAX    5
#define CLV_GRID_CORNERS_MAX (1 << CLV_GRID_AXES_MAX)

/* An axis: sizes above 0, ascending. */
typedef struct {
    const double *knots;
    const double *logs; /* log2 of each */
    int32_t n, stride;  /* stride: places between neighbours on it, the last axis having 1 */
    int32_t power;      /* by which time goes on above the last knot; 0 to 4 */
} clv_axis;

typedef struct {
    int32_t n_axes; /* 0: one place */
    int32_t n;      /* places, the last axis running fastest */
    clv_axis axes[CLV_GRID_AXES_MAX];
} clv_grid;

typedef struct {
    clv_grid grid;
    const double *ns;   /* above 0, at each place */
    const double *logs; /* natural logarithms of them */
} clv_time_table;

/* Fills in logs, strides and n of axes whose knots, n and power are set. O(knots). */
clv_status clv_grid_init(clv_grid *grid, clv_arena *arena, clv_error *err);
/* ns is kept, not copied. O(places). */
clv_status clv_time_table_init(const clv_grid *grid, const double *ns, clv_arena *arena,
                               clv_time_table *ret, clv_error *err);

/* The places around sizes at[n_axes], above 0, and their weights, which add up to 1; *ret_beyond is
 * by what a time there is to be multiplied, 1 within the grid. Returns how many. */
int32_t clv_grid_corners(const clv_grid *grid, const double *at,
                         int32_t places[static CLV_GRID_CORNERS_MAX],
                         double weights[static CLV_GRID_CORNERS_MAX], double *ret_beyond);
/* O(2^axes + axes log knots). */
double clv_time_table_ns(const clv_time_table *table, const double *at);

#endif
