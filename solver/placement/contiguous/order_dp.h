/* order_dp.h - contiguous placements as cuts of lines of blocks by dynamic programming: optimal
 * sequential partitions (Kernighan 1971, "Optimal sequential partitions of graphs", JACM), and a
 * greedy probe under bisection (Pinar, Aykanat 2004).
 *
 * Ours: the lines are random topological orders within the stages of the best solution, so that
 * none loses it. It wins on problems too large to be searched over all ideals.
 */
#ifndef CLV_SOLVER_PLACEMENT_CONTIGUOUS_ORDER_DP_H
#define CLV_SOLVER_PLACEMENT_CONTIGUOUS_ORDER_DP_H

#include "solver/placement/common/contraction.h"
#include "solver/placement/common/place_search.h"

/* Lines through the stages of the best solution, in the order of the devices, the blocks of a stage
 * in random order; each is cut in the best way. As that solution is one of the cuts, none is worse,
 * and its boundaries move. low: no solution has all loads below it. Ends with the budget of steps
 * (ideal_search.h), or when many lines in a row gave nothing. O(n^2 / 64 + steps) a line. */
clv_status clv_order_dp_improve(clv_place_search *search, const clv_contraction *b, int64_t low,
                                int64_t steps, clv_arena *arena, clv_error *err);

/* Any size: the blocks in their order, each device filled up to a limit on its load and its memory,
 * with the smallest limit that leaves nothing over; devices as they come, and the fastest first.
 * Raises the bound to the share of work. O(60 * (n * kinds + pins)). */
clv_status clv_greedy_fill(clv_place_search *search, const clv_contraction *b, clv_arena *arena,
                           clv_error *err);

#endif
