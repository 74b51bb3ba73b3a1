/* presolve_moments.h - from times to rows: the moments at which memory can matter. */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_MOMENTS_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_MOMENTS_H

#include "problem/intra_op_problem.h"

/* The problem as given with its times made rows: moments at which the set of nodes that hold memory
 * is not part of the next or the last moment's. row_time as in clv_pre_problem. */
clv_status clv_pre_moments(const clv_intra_op_problem *p, clv_arena *arena,
                           clv_intra_op_problem *ret, int32_t *n_rows, const int64_t **row_time,
                           clv_error *err);

#endif
