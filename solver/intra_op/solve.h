/* solve.h - the door of the solver of intra-operator problems: a choice for each operator, pairs of
 * choices with costs, memory within a limit at any time.
 *
 * Reduces the problem exactly (presolve.h), then searches what is left with several threads: an
 * answer soon, then better ones and better bounds, until one meets the other or time is up. Every
 * answer is judged by clv_intra_op_judge() on the problem as it was given.
 */
#ifndef CLV_SOLVER_INTRA_OP_SOLVE_H
#define CLV_SOLVER_INTRA_OP_SOLVE_H

#include "problem/intra_op_problem.h"
#include "solver/common/solve.h"

typedef struct {
    clv_solve_options solve;
    bool brief; /* ends soon, by work done: some tenths of a second for 10^4 nodes of 20 choices */
    clv_int128 known;  /* no legal answer costs less, as the caller can prove; 0: not known */
    clv_int128 enough; /* the bound at which to end, answer or none; 0: not asked */
} clv_intra_op_options;

typedef struct {
    clv_solve_result solve; /* by node: its choice; value and bound are costs, in the whole part */
    clv_intra_op_value value;
} clv_intra_op_result;

/* CLV_OK with or without an answer. Infeasible: solve.why says at which moment the smallest usages
 * exceed the limit, and by how much. Results live in the arena. */
clv_status clv_intra_op_solve(const clv_intra_op_problem *p, const clv_intra_op_options *options,
                              clv_arena *arena, clv_intra_op_result *ret, clv_error *err);

#endif
