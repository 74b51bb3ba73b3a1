/* presolve_fold.h - folds that change nothing, or only leave out choices. */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_FOLD_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_FOLD_H

#include "solver/intra_op/presolve_problem.h"

/* A fold that changes nothing; rows_keep NULL. */
clv_status clv_pre_fold_new(const clv_pre_problem *w, clv_arena *arena, clv_pre_fold *ret,
                            clv_error *err);

/* The same where each node keeps the choices with alive[]; any: some choice goes. */
clv_status clv_pre_fold_alive(const clv_pre_problem *w, const bool *alive, clv_arena *arena,
                              clv_pre_fold *ret, clv_error *err);

#endif
