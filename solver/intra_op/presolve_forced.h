/* presolve_forced.h - nodes whose choice follows from a neighbour's. */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_FORCED_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_FORCED_H

#include "solver/intra_op/presolve_problem.h"

/* Nodes whose choice follows from a neighbour's. */
clv_status clv_pre_forced(const clv_pre_problem *w, clv_arena *arena, clv_pre_fold *fold,
                          clv_error *err);

#endif
