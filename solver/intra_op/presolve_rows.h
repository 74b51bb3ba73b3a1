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
 */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_ROWS_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_ROWS_H

#include "solver/intra_op/presolve_problem.h"

/* Rows that cannot be exceeded unless another one is. every_pair: not only next neighbours. */
clv_status clv_pre_rows(const clv_pre_problem *w, bool every_pair, clv_arena *arena,
                        clv_pre_fold *fold, clv_error *err);

#endif
