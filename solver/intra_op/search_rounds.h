/* search_rounds.h - bound and reduction alone, then beside the searchers, in rounds of so much
 * work.
 *
 * All share the best answer and the choices fixed by the bound between rounds, in a fixed order, so
 * that results do not depend on the number of threads.
 */
#ifndef CLV_SOLVER_INTRA_OP_SEARCH_ROUNDS_H
#define CLV_SOLVER_INTRA_OP_SEARCH_ROUNDS_H

#include "solver/intra_op/solve_state.h"

/* Bound and reduction alone for so much work, at first in the smallest steps: an answer soon. */
clv_status clv_solve_run_bound(clv_solve_state *s, int64_t work, clv_error *err);
/* Rounds of both, until there is nothing more to be had. */
clv_status clv_search_rounds(clv_solve_state *s, clv_error *err);

#endif
