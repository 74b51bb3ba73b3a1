/* solve.h - the door of the solver of intra-operator problems: a choice for each operator, pairs of
 * choices with costs, memory within a limit at any time.
 *
 * Reduces the problem exactly (presolve.h), then searches what is left with several threads: an
 * solution soon, then better ones and better bounds, until one meets the other or time is up: a
 * portfolio (parallel_search.h) of large neighbourhood search (lns.h), dual bounds (bound.h) and
 * branch and bound (branch_and_bound.h). Every
 * solution is judged by clv_intra_op_judge() on the problem as it was given.
 */
#ifndef CLV_SOLVER_INTRA_OP_SOLVE_H
#define CLV_SOLVER_INTRA_OP_SOLVE_H

#include "solver/intra_op/solve_options.h"

/* CLV_OK with or without a solution. Infeasible: solve.why says at which moment the smallest usages
 * exceed the limit, and by how much. Results live in the arena. */
clv_status clv_intra_op_solve(const clv_intra_op_problem *p, const clv_intra_op_options *options,
                              clv_arena *arena, clv_intra_op_result *ret, clv_error *err);

#endif
