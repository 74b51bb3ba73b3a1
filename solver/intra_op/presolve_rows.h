/* presolve_rows.h - redundant rows: moments whose limit need not be looked at.
 *
 * A row goes if all choices of the most memory together are within the limit (Brearley, Mitra,
 * Williams, Mathematical Programming 8, 1975); and, which is ours, if another row always needs at
 * least as much:
 *
 *     held(r) - held(s) + sum over nodes of max over choices of (use at r - use at s) <= 0.
 *
 * Next neighbours are compared for all rows at once, in the time of reading the spans: O(spans *
 * choices).
 *
 * Then every pair is looked at. To see quickly that row s does not stand for row r, r is filled:
 * all nodes that hold memory at r take their largest choice, all others their smallest. Only rows s
 * that then hold as much as r are compared exactly. What is held when r is filled is kept as steps
 * from row to row, of which only those change from one r to the next whose nodes begin, end or
 * change there. O(rows^2 + spans between the few pairs compared exactly), capped.
 */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_ROWS_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_ROWS_H

#include "solver/intra_op/presolve_problem.h"

/* Rows that cannot be exceeded unless another one is. every_pair: not only next neighbours. */
clv_status clv_pre_rows(const clv_pre_problem *w, bool every_pair, clv_arena *arena,
                        clv_pre_fold *fold, clv_error *err);

/* The rows of keep[] less those that some row of keep[] stands for; every_pair of the above. */
clv_status clv_pre_row_pairs(const clv_pre_problem *w, clv_arena *arena, bool *keep,
                             clv_error *err);

#endif
