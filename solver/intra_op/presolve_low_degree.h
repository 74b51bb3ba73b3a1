/* presolve_low_degree.h - nodes without memory and with at most two neighbours, eliminated. */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_LOW_DEGREE_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_LOW_DEGREE_H

#include "solver/intra_op/presolve_problem.h"

/* Nodes without memory and with at most two neighbours. ret: the same nodes with the costs and
 * edges that packing is to see; the tables of the leaves are in `keep`. */
clv_status clv_pre_low_degree(const clv_pre_problem *w, clv_arena *arena, clv_arena *keep,
                              clv_pre_problem *ret, clv_pre_fold *fold, clv_error *err);

#endif
