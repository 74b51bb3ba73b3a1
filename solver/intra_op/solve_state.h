/* solve_state.h - the best solution and bound of a solve (solve.h), and all that is worked on
 * beside them. */
#ifndef CLV_SOLVER_INTRA_OP_SOLVE_STATE_H
#define CLV_SOLVER_INTRA_OP_SOLVE_STATE_H

#include <stdatomic.h>

#include "solver/common/incumbent.h"
#include "solver/intra_op/bound_and_reduce.h"
#include "solver/intra_op/presolve.h"
#include "solver/intra_op/solve_options.h"

/* Searchers at most. Without a deadline all of them, whatever the threads, so that the solution
 * does not depend on them. */
#define CLV_SOLVE_SEARCHERS 4

typedef struct {
    const clv_intra_op_problem *p;
    const clv_intra_op_options *o;
    clv_arena *arena;
    clv_intra_op_result *r;
    clv_incumbent incumbent; /* of the problem as given */
    int32_t jobs;
    clv_presolved *presolved;
    clv_int128 base;
    clv_bound_and_reduce *bound_and_reduce;
    clv_limits elsewhere;               /* for all other threads than the calling one */
    struct clv_parallel_search *search; /* NULL: none runs (parallel_search.h) */
    int32_t *choice;                    /* of the whole problem */
    int32_t *start;                     /* of the reduced one, from forward checking; NULL: none */
    int32_t *kept;                      /* of the reduced one: the best solution */
    int32_t *lifted;                    /* of the reduced one: scratch */
    int32_t n_active, n_rounds, n_stale;
    int64_t share;    /* of bound and reduction in a round, in its entries */
    int64_t searched; /* work of all searchers and bound and reduction in rounds */
    atomic_int next;  /* item of a round: 0 bound and reduction, then searchers */
    clv_status status[CLV_SOLVE_SEARCHERS + 1];
    clv_error error[CLV_SOLVE_SEARCHERS + 1];
} clv_solve_state;

/* Cost of the best solution; there must be one. */
clv_int128 clv_solve_best_cost(const clv_solve_state *s);
clv_int128 clv_solve_best_bound(const clv_solve_state *s); /* 0 at first */
/* Reports to the caller the best solution and bound. */
void clv_solve_report(clv_solve_state *s, const char *method);
/* A bound of the whole problem. Solutions that cost never are beyond it. */
void clv_solve_raise_bound(clv_solve_state *s, clv_int128 bound, const char *method);
/* A solution of the reduced problem: lifted, judged, and kept if it is legal and better. */
clv_status clv_solve_offer(clv_solve_state *s, const int32_t *reduced, const char *method,
                           clv_error *err);
/* s->choice, of the whole problem: judged, and kept if it is legal and better. */
clv_status clv_solve_offer_whole(clv_solve_state *s, const char *method, clv_error *err);
/* The best solution costs less than never, as a whole. */
bool clv_solve_is_finite(const clv_solve_state *s);
/* Solutions below never are proven not to be, or the reduced problem has no others. */
bool clv_solve_none_left(const clv_solve_state *s);

#endif
