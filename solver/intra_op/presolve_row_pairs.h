/* presolve_row_pairs.h - rows that another row, not only the next, always needs at least as much
 * as.
 *
 * To tell quickly that row s does not stand for row r, r is filled: all nodes that hold memory at r
 * take their largest choice, all others their smallest. Only rows s that then hold as much as r are
 * compared exactly. What is held when r is filled is kept as steps from row to row, of which only
 * those change from one r to the next whose nodes begin, end or change there. O(rows^2 + spans
 * between the few pairs compared exactly), capped.
 */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_ROW_PAIRS_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_ROW_PAIRS_H

#include "solver/intra_op/presolve_problem.h"

/* The rows of keep[] less those that some row of keep[] stands for; every_pair of the above. */
clv_status clv_pre_row_pairs(const clv_pre_problem *w, clv_arena *arena, bool *keep,
                             clv_error *err);

#endif
