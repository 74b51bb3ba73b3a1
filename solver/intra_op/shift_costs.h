/* shift_costs.h - a strategy problem with the least cost of each node and of each edge taken off:
 * every solution costs the same amount less, so the best one stays the best (the reduction of the
 * cost matrix of the Hungarian method; Kuhn 1955). What is large only because all of it is large is
 * then far from never again.
 */
#ifndef CLV_SOLVER_INTRA_OP_SHIFT_COSTS_H
#define CLV_SOLVER_INTRA_OP_SHIFT_COSTS_H

#include "problem/intra_op_problem.h"

/* Lives in the arena, and shares with p all that stays. *ret_shift: what each solution of p costs
 * more; 0: *ret is as p. O(nodes * choices + edges + entries). */
clv_status clv_shift_costs(const clv_intra_op_problem *p, clv_arena *arena,
                           clv_intra_op_problem *ret, clv_int128 *ret_shift, clv_error *err);

#endif
