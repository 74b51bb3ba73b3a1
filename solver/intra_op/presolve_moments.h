/* presolve_moments.h - from times to rows: the moments at which memory can matter.
 *
 * Between two changes the same nodes hold memory. A stretch counts only where something begins at
 * its start and something ends at its end: else its nodes all hold memory in the stretch before or
 * after it too. These are the maximal cliques of the interval graph of the spans (Fulkerson, Gross,
 * Pacific Journal of Mathematics 15, 1965). O(spans log spans).
 */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_MOMENTS_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_MOMENTS_H

#include "problem/intra_op_problem.h"

/* The problem as given with its times made rows: moments at which the set of nodes that hold memory
 * is not part of the next or the last moment's. row_time as in clv_pre_problem. */
clv_status clv_pre_moments(const clv_intra_op_problem *p, clv_arena *arena,
                           clv_intra_op_problem *ret, int32_t *n_rows, const int64_t **row_time,
                           clv_error *err);

#endif
