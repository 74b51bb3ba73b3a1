/* portfolio.h - the door of all solvers of placements: which methods run on a problem, and in what
 * order.
 *
 * A solution in milliseconds, then better ones and better bounds, until one meets the other, or
 * time is up, or every method has done what it can. An algorithm portfolio (Huberman, Lukose, Hogg
 * 1997) in turns on one thread; the incumbent is what its members share.
 */
#ifndef CLV_SOLVER_PLACEMENT_PORTFOLIO_H
#define CLV_SOLVER_PLACEMENT_PORTFOLIO_H

#include "solver/placement/common/place_search.h"

/* CLV_OK with or without a solution: result.solve says which, and why it ended. Results live in the
 * arena. Bounds are real numbers, and proofs hold to one part in 10^9 of the objective. */
clv_status clv_place_solve(const clv_place_problem *p, const clv_place_options *options,
                           clv_arena *arena, clv_place_result *ret, clv_error *err);

#endif
