/* refine_ilp.h - exact re-optimisation of the boundary between two groups, as a 0/1 program: large
 * neighbourhood search (Shaw 1998) by branch and bound (Land and Doig 1960).
 *
 * The units nearest to the boundary of two linked groups (at most CLV_WINDOW) are free to be on
 * either side; all others stay. With a leading to b:
 *
 *   x[u] = 1    unit u of the window is on b, else on a
 *   y[n] >= 1   net n crosses from a to b
 *   T           the busiest of: a, b, the link from a to b
 *
 *   x[u] <= x[v]              where v reads u: nothing leads back
 *   y[n] >= x[v] - x[w]       w writes n, v reads it; units outside the window are constants
 *   weights on a, on b        within what the devices have for weights
 *   throughput: min T, cheaper cuts among equals;  latency: min compute + transfers
 *
 * Times are in parts of the incumbent's, so that all numbers are near 1. T of the incumbent, less a
 * little, is the cut-off. What comes out is a proposal: it is scored by the same sums and judged by
 * the same judge as any other plan. It wins where several units must move at once.
 */
#ifndef CLV_SOLVER_PARTITION_REFINE_ILP_H
#define CLV_SOLVER_PARTITION_REFINE_ILP_H

#include "solver/partition/iterated_search.h"

#define CLV_WINDOW 24

/* Puts proposals made from the best plan into the queue: for the linked pairs of groups that matter
 * most to the objective. Does nothing without a solver of programs, or when it gives up: the
 * refinement is lost, not the search. O(units + pins) besides the programs, which stop after a
 * fixed number of nodes.
 */
clv_status clv_refine_ilp(clv_iterated_search *ls, clv_arena *arena, clv_error *err);

#endif
