/* branch_and_bound.h - small strategy problems solved by branch and bound. */
#ifndef CLV_SOLVER_INTRA_OP_BRANCH_AND_BOUND_H
#define CLV_SOLVER_INTRA_OP_BRANCH_AND_BOUND_H

#include "solver/intra_op/bound.h"

typedef struct {
    int64_t rounds;                  /* of message passing, in all; then it ends */
    const clv_intra_op_bound *start; /* of the same problem: where messages and prices start; its
                                      * bound holds. May be NULL */
    bool (*stop)(void *ctx);         /* asked at each subproblem; may be NULL */
    void *stop_ctx;
} clv_branch_and_bound_options;

/* Divides by "this node takes this choice, or any other", bounds each part as bound.h does, and
 * drops parts and choices that no better answer has. choice, *cost: the best answer known before
 * and after, *cost -1: none. *bound: no legal answer without a cost of never that is better than
 * *cost costs less; when it is *cost, that answer is proven best (or, of CLV_INTRA_OP_NEVER with
 * *cost -1, that there is none). For problems as presolve leaves them, of some hundred nodes; edges
 * of three and more make it give up at once. Memory: a copy of the messages for each level of
 * depth. */
clv_status clv_branch_and_bound_solve(const clv_intra_op_problem *p,
                                      const clv_branch_and_bound_options *options, clv_arena *arena,
                                      int32_t *choice, clv_int128 *cost, clv_int128 *bound,
                                      clv_error *err);

/* The same, in steps. */
typedef struct clv_branch_and_bound clv_branch_and_bound;

/* *ret NULL: there are edges of three and more. start as above. */
clv_status clv_branch_and_bound_new(const clv_intra_op_problem *p, const clv_intra_op_bound *start,
                                    clv_arena *arena, clv_branch_and_bound **ret, clv_error *err);
/* About so many more rounds. */
clv_status clv_branch_and_bound_run(clv_branch_and_bound *t, int64_t rounds,
                                    bool (*stop)(void *ctx), void *ctx, clv_error *err);
/* There is an answer of this cost: only better ones are looked for from now on. */
void clv_branch_and_bound_set_known_cost(clv_branch_and_bound *t, clv_int128 cost);
/* A better answer found since the last call, or NULL; *cost: of the best answer known, -1: none. */
const int32_t *clv_branch_and_bound_poll_answer(clv_branch_and_bound *t, clv_int128 *cost);
/* As *bound above. */
clv_int128 clv_branch_and_bound_value(const clv_branch_and_bound *t);
/* Nothing more will come. */
bool clv_branch_and_bound_is_over(const clv_branch_and_bound *t);

#endif
