/* presolve_arc_consistency.h - choices that no answer worth having can use. */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_ARC_CONSISTENCY_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_ARC_CONSISTENCY_H

#include "solver/intra_op/presolve_problem.h"

/* Choices that cannot be: of cost never, without partner over an edge, or with more memory than is
 * left when all others hold the least. A node may keep none. */
clv_status clv_pre_arc_consistency(const clv_pre_problem *w, clv_arena *arena, clv_pre_fold *fold,
                                   clv_error *err);

#endif
