/* breakout.h - a first solution at once, however bad: coordinate descent with breakout weights.
 *
 * Nodes begin with what holds least; then each takes what costs least with the others as they are,
 * as memory allows, sweep by sweep. Costs of never that stay are held against their edges more and
 * more, which moves the search out of local minima (Morris, "The breakout method for escaping from
 * local minima", AAAI 1993). A sweep is O(choices of both ends over all edges + rows of all spans *
 * choices). It wins where a solution is wanted in milliseconds.
 */
#ifndef CLV_SOLVER_INTRA_OP_BREAKOUT_H
#define CLV_SOLVER_INTRA_OP_BREAKOUT_H

#include "problem/intra_op_problem.h"
#include "solver/common/limits.h"

/* Nodes begin with what holds least; then each takes what costs least with the others as they are,
 * as memory allows, in so many sweeps at most. Costs of never that stay are held against their
 * edges more and more (breakout local search). p's times are rows, as presolve leaves them. choice:
 * the solution with the fewest nevers, then the least cost, of all sweeps; not always within the
 * limit. halt: once it says so, no further sweep is begun; NULL: none. A sweep is O(choices of both
 * ends over all edges + rows of all spans * choices). */
clv_status clv_intra_op_breakout(const clv_intra_op_problem *p, int32_t sweeps,
                                 const clv_limits *halt, clv_arena *arena, int32_t *choice,
                                 clv_error *err);

#endif
