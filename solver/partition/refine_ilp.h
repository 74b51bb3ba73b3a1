/* refine_ilp.h - exact re-optimisation of the boundary between two groups, as a 0/1 program.
 *
 * The units nearest to the boundary of two linked groups (at most CLV_WINDOW) are free to be on
 * either side; all others stay. What comes out is a proposal: it is scored by the same sums and
 * judged by the same judge as any other plan.
 */
#ifndef CLV_SOLVER_PARTITION_REFINE_ILP_H
#define CLV_SOLVER_PARTITION_REFINE_ILP_H

#include "solver/partition/iterated_search.h"

#define CLV_WINDOW 24

/* Puts proposals made from the best plan on the queue: for the linked pairs of groups that matter
 * most to the objective. Does nothing without a solver of programs, or when it gives up: the
 * refinement is lost, not the search. O(units + pins) besides the programs, which stop after a
 * fixed number of nodes.
 */
clv_status clv_refine_ilp(clv_iterated_search *ls, clv_arena *arena, clv_error *err);

#endif
