/* strategies.h - the door of the solver of strategy problems.
 *
 * clv_intra_op_solve() reduces the problem exactly, then searches what is left with several
 * threads: an answer soon, then better ones and better bounds, until one meets the other or time is
 * up. Every answer is judged by clv_intra_op_judge() on the problem as it was given.
 */
#ifndef CLV_SOLVER_INTRA_OP_STRATEGIES_H
#define CLV_SOLVER_INTRA_OP_STRATEGIES_H

#include "problem/intra_op_problem.h"

typedef enum {
    CLV_SOLVED_OPTIMAL, /* the bound meets the cost */
    CLV_SOLVED_GAP,     /* near enough, as asked */
    CLV_SOLVED_DEADLINE,
    CLV_SOLVED_SEARCHED,   /* without a deadline: the search has done all its rounds */
    CLV_SOLVED_STOPPED,    /* the caller said stop */
    CLV_SOLVED_INFEASIBLE, /* proven: no answer is within the limit */
    CLV_SOLVED_ENOUGH      /* the bound is as high as asked */
} clv_intra_op_end;

typedef struct {
    double deadline_s; /* from the call; 0: none, and the answer depends on input and seed alone */
    double gap;        /* (cost - bound) / cost at which to stop; 0: at the optimum */
    bool brief; /* ends soon, by work done: some tenths of a second for 10^4 nodes of 20 choices */
    clv_int128 known;  /* no legal answer costs less, as the caller can prove; 0: not known */
    clv_int128 enough; /* the bound at which to stop, answer or none; 0: not asked */
    int32_t jobs;      /* threads, at least 1 */
    uint64_t seed;
    bool (*stop)(void *ctx); /* asked often, on the calling thread; may be NULL */
    void *stop_ctx;
    /* Told of each better answer or bound, on the calling thread; cost is -1 before the first
     * answer. May be NULL. */
    void (*news)(void *ctx, const char *method, clv_int128 cost, clv_int128 bound, double seconds);
    void *news_ctx;
} clv_intra_op_options;

typedef struct {
    bool found;
    int32_t *choice_of; /* by node; NULL unless found */
    clv_intra_op_value value;
    clv_int128 bound; /* no legal answer costs less */
    clv_intra_op_end end;
    double seconds;
    const char *found_by, *bound_by; /* names of methods */
    char why[200]; /* infeasible: at which moment the smallest usages exceed the limit, by how much
                    */
} clv_intra_op_result;

clv_status clv_intra_op_solve(const clv_intra_op_problem *p, const clv_intra_op_options *options,
                              clv_arena *arena, clv_intra_op_result *ret, clv_error *err);

#endif
