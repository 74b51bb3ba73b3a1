/* presolve_row_pairs.h - rows that another row always needs at least as much as. */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_ROW_PAIRS_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_ROW_PAIRS_H

#include "solver/intra_op/presolve_problem.h"

/* The rows of keep[] less those that some row of keep[] stands for; every_pair of the above. */
clv_status clv_pre_row_pairs(const clv_pre_problem *w, clv_arena *arena, bool *keep,
                             clv_error *err);

#endif
