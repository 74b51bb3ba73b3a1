/* presolve_rows.h - rows that need not be looked at. */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_ROWS_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_ROWS_H

#include "solver/intra_op/presolve_problem.h"

/* Rows that cannot be exceeded unless another one is. every_pair: not only next neighbours. */
clv_status clv_pre_rows(const clv_pre_problem *w, bool every_pair, clv_arena *arena,
                        clv_pre_fold *fold, clv_error *err);

#endif
