/* presolve_dominated.h - choices that another choice of the same node beats. */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_DOMINATED_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_DOMINATED_H

#include "solver/intra_op/presolve_problem.h"

/* Choices that another choice of the node beats whatever the neighbours do. Asks about nodes that
 * are fresh, and then they are not. */
clv_status clv_pre_dominated(const clv_pre_problem *w, clv_arena *arena, clv_pre_fold *fold,
                             clv_error *err);

#endif
