/* bound_and_reduce.h - Lagrangian bounds, solutions read off them, and reduction in turn, until
 * little is left.
 *
 * A stage runs the bound (bound.h) and reads solutions off it. Choices whose min-marginal is no
 * less than the best solution are dropped (reduced-cost fixing: Dantzig, Fulkerson, Johnson,
 * Operations Research 2, 1954), the rest is presolved again (presolve.h), and the next stage works
 * on what is left; the end is branch and bound. Solutions are lifted through all stages. Ours: when
 * to stop a stage, and resetting the steps where too little goes. Work is O(entries of edges) a
 * round. It wins where the relaxation is tight: most choices then go in the first stages.
 */
#ifndef CLV_SOLVER_INTRA_OP_BOUND_AND_REDUCE_H
#define CLV_SOLVER_INTRA_OP_BOUND_AND_REDUCE_H

#include "problem/intra_op_problem.h"

enum { CLV_BOUND_AND_REDUCE_STAGES = 16 };

typedef struct {
    int32_t rounds;       /* of message passing a stage, at most */
    int32_t idle_rounds;  /* that close little before a stage ends; 0: many */
    int32_t reductions;   /* at most, of CLV_BOUND_AND_REDUCE_STAGES */
    int64_t exact_rounds; /* of branch and bound in the end, where little enough is left */
    bool once;            /* ends where a stage leaves too much for that; else it begins again */
} clv_bound_and_reduce_options;

/* In steps, for a search that shares its solutions with others. With its own arenas, it may be
 * stepped on any thread, one at a time. */
typedef struct clv_bound_and_reduce clv_bound_and_reduce;

/* p: as presolve leaves it. */
clv_status clv_bound_and_reduce_new(const clv_intra_op_problem *p,
                                    const clv_bound_and_reduce_options *options, clv_arena *arena,
                                    clv_bound_and_reduce **ret, clv_error *err);
void clv_bound_and_reduce_free(clv_bound_and_reduce *q); /* NULL is fine */
/* Works until about so many entries of edges have been looked at. */
clv_status clv_bound_and_reduce_step(clv_bound_and_reduce *q, int64_t work, bool (*stop)(void *ctx),
                                     void *ctx, clv_error *err);
int64_t clv_bound_and_reduce_work(const clv_bound_and_reduce *q); /* all so far, in entries */
/* There is a solution of this cost. */
void clv_bound_and_reduce_set_known_cost(clv_bound_and_reduce *q, clv_int128 cost);
/* A better solution of p found since the last call, or NULL; *cost: of the best known, -1: none. */
const int32_t *clv_bound_and_reduce_poll_solution(clv_bound_and_reduce *q, clv_int128 *cost);
/* No legal solution without a cost of never costs less. It is the cost of the best solution when
 * that is proven best, CLV_INTRA_OP_NEVER when there is no solution. */
clv_int128 clv_bound_and_reduce_value(const clv_bound_and_reduce *q);
/* Nothing more will come. */
bool clv_bound_and_reduce_is_over(const clv_bound_and_reduce *q);
/* What is left: solutions of it cost base less and lift to solutions of p, and all better solutions
 * are among those, or as good ones are. Stays as it is after later stages. */
const clv_intra_op_problem *clv_bound_and_reduce_problem(const clv_bound_and_reduce *q);
clv_int128 clv_bound_and_reduce_base(const clv_bound_and_reduce *q);  /* of all stages */
int32_t clv_bound_and_reduce_n_stages(const clv_bound_and_reduce *q); /* 0: what is left is p */
/* A solution of what was left after so many stages, lifted to one of p. Not while a step runs. */
void clv_bound_and_reduce_lift(const clv_bound_and_reduce *q, int32_t n_stages, const int32_t *from,
                               int32_t *to);
/* The other way: the solution of the problem after so many stages that lifts to `from`, or to what
 * is like it where none does. Not while a step runs. O((log nodes left + choices of a node) * nodes
 * of p). */
clv_status clv_bound_and_reduce_project(const clv_bound_and_reduce *q, int32_t n_stages,
                                        const int32_t *from, int32_t *to, bool *whole,
                                        clv_error *err);
/* What a better solution with a choice of what is left costs at least, by choice, without base;
 * NULL when nothing is known. */
const int64_t *clv_bound_and_reduce_min_marginals(const clv_bound_and_reduce *q);
/* Cost for a unit of usage in each row of what is left, of the best bound. */
const double *clv_bound_and_reduce_prices(const clv_bound_and_reduce *q, int32_t *n_rows);

#endif
