/* presolve_forced.h - nodes whose choice follows from a neighbour's become part of it.
 *
 * Over an edge where every choice of u that is left has one partner that is not "never", v's choice
 * is a function of u's, and v becomes part of u. Nodes that became one are kept as union-find trees
 * (Tarjan, Journal of the ACM 22, 1975) with, at each node, its choice as a function of its
 * parent's; paths are shortened as they are walked. O(edges + entries of new matrices with never).
 */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_FORCED_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_FORCED_H

#include "solver/intra_op/presolve_problem.h"

/* Nodes whose choice follows from a neighbour's. */
clv_status clv_pre_forced(const clv_pre_problem *w, clv_arena *arena, clv_pre_fold *fold,
                          clv_error *err);

#endif
