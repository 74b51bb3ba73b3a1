/* refine_window.h - windows of several groups of a plan, placed anew for the least period: large
 * neighbourhood search (Shaw 1998, "Using constraint programming and local search methods to solve
 * vehicle routing problems") with a 0/1 program for each window (ilp_solve.h).
 *
 * The load that binds, of a device or a port, is freed together with two to four other groups and a
 * connected set of units around their boundaries; everything else stays. So units pass through a
 * group that is full to one that is not, and branches change places where they meet, which no
 * descent by single moves sees. The search goes on from each window that gains, until none does or
 * the work is used up: pivots, not time, so that the plan is the same on any machine. It wins on
 * graphs that branch, with some units a group; it proves nothing.
 */
#ifndef CLV_SOLVER_PARTITION_REFINE_WINDOW_H
#define CLV_SOLVER_PARTITION_REFINE_WINDOW_H

#include "solver/partition/iterated_search.h"

/* Units of the first windows. */
#define CLV_WINDOW_UNITS 30

/* Puts the plan on the queue that windows make of the best one, if its sums are better. Takes what
 * it costs from *work, pivots times rows and columns of programs, and ends when that is gone. Does
 * nothing without a solver of programs; where that gives up, only a window is lost. CLV_ENOMEM.
 * O(windows * (units + pins + devices^2)) beside the programs; a window costs 10,000 at least. */
clv_status clv_refine_window(clv_iterated_search *ls, clv_arena *arena, int64_t *work,
                             clv_error *err);

#endif
