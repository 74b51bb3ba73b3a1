/* exact.h - small strategy problems solved by branch and bound. */
#ifndef CLV_SOLVER_INTRA_OP_EXACT_H
#define CLV_SOLVER_INTRA_OP_EXACT_H

#include "solver/intra_op/bound.h"

typedef struct {
    int64_t rounds;                  /* of message passing, in all; then it ends */
    const clv_strategy_bound *start; /* of the same problem: where messages and prices start; its
                                      * bound holds. May be NULL */
    bool (*stop)(void *ctx);         /* asked at each subproblem; may be NULL */
    void *stop_ctx;
} clv_strategy_exact_options;

/* Divides by "this node takes this choice, or any other", bounds each part as bound.h does, and
 * drops parts and choices that no better answer has. choice, *cost: the best answer known before
 * and after, *cost -1: none. *bound: no legal answer without a cost of never that is better than
 * *cost costs less; when it is *cost, that answer is proven best (or, of CLV_STRATEGY_NEVER with
 * *cost -1, that there is none). For problems as presolve leaves them, of some hundred nodes; edges
 * of three and more make it give up at once. Memory: a copy of the messages for each level of
 * depth. */
clv_status clv_strategy_exact(const clv_strategies *p, const clv_strategy_exact_options *options,
                              clv_arena *arena, int32_t *choice, clv_int128 *cost,
                              clv_int128 *bound, clv_error *err);

/* The same, in steps. */
typedef struct clv_strategy_tree clv_strategy_tree;

/* *ret NULL: there are edges of three and more. start as above. */
clv_status clv_strategy_tree_new(const clv_strategies *p, const clv_strategy_bound *start,
                                 clv_arena *arena, clv_strategy_tree **ret, clv_error *err);
/* About so many more rounds. */
clv_status clv_strategy_tree_run(clv_strategy_tree *t, int64_t rounds, bool (*stop)(void *ctx),
                                 void *ctx, clv_error *err);
/* There is an answer of this cost: only better ones are looked for from now on. */
void clv_strategy_tree_know(clv_strategy_tree *t, clv_int128 cost);
/* A better answer found since the last call, or NULL; *cost: of the best answer known, -1: none. */
const int32_t *clv_strategy_tree_news(clv_strategy_tree *t, clv_int128 *cost);
/* As *bound above. */
clv_int128 clv_strategy_tree_bound(const clv_strategy_tree *t);
/* Nothing more will come. */
bool clv_strategy_tree_over(const clv_strategy_tree *t);

#endif
