/* presolve_pack.h - the next problem of presolve.h, from what a pass decided about this one. */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_PACK_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_PACK_H

#include "solver/intra_op/presolve_problem.h"

/* Builds the next problem in `out`, ret->layer in `keep`. Nodes with one choice go, edges between
 * the same nodes become one, what a matrix says of one node alone moves into the node's costs.
 * ret->layer->before is not set. O(edges + entries of edges that are not as before, those alike
 * once + spans * choices). */
clv_status clv_pre_pack(const clv_pre_problem *w, const clv_pre_fold *fold, clv_arena *out,
                        clv_arena *keep, clv_pre_problem *ret, clv_error *err);

#endif
