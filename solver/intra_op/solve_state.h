/* solve_state.h - the state of a solve, shared by its files.
 *
 * strategies.c is the order of things; solve_state.c judges and keeps what is found;
 * parallel_search.c is what the searchers work on; search_rounds.c runs bound_and_reduce and
 * searchers side by side.
 */
#ifndef CLV_SOLVER_INTRA_OP_SOLVE_STATE_H
#define CLV_SOLVER_INTRA_OP_SOLVE_STATE_H

#include "solver/common/incumbent.h"
#include "solver/intra_op/bound_and_reduce.h"
#include "solver/intra_op/lns.h"
#include "solver/intra_op/presolve.h"
#include "solver/intra_op/solve.h"

/* Searchers at most. Without a deadline all of them, whatever the threads, so that the answer does
 * not depend on them. */
#define CLV_SOLVE_SEARCHERS 4

/* What the searchers work on: the problem after so many stages of bound and reduction. */
typedef struct {
    clv_arena *arena;
    const clv_intra_op_problem *p;
    int32_t n_stages;
    clv_int128 base; /* of these stages */
    clv_pairwise *flat;
    clv_workspace *workspace[CLV_SOLVE_SEARCHERS + 1]; /* by thread */
    clv_lns searcher[CLV_SOLVE_SEARCHERS];
    clv_search_state shared; /* best answer of the searchers */
    clv_search_state other;  /* scratch */
    bool *alive;             /* by choice of p */
    double *likely;          /* by choice of flat: what answers with it cost at least */
    int64_t work;            /* of a round */
} clv_parallel_search;

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
    clv_limits elsewhere; /* for all other threads than the calling one */
    clv_parallel_search *search;
    int32_t *choice; /* of the whole problem */
    int32_t *kept;   /* of the reduced one: the best answer */
    int32_t *lifted; /* of the reduced one: scratch */
    int32_t n_active, n_rounds, n_stale;
    int64_t share;    /* of bound and reduction in a round, in its entries */
    int64_t searched; /* work of all searchers and bound and reduction in rounds */
    atomic_int next;  /* item of a round: 0 bound and reduction, then searchers */
    clv_status status[CLV_SOLVE_SEARCHERS + 1];
    clv_error error[CLV_SOLVE_SEARCHERS + 1];
} clv_solve_state;

/* ---- what is found (solve_state.c) ---- */

/* Cost of the best answer; there must be one. */
clv_int128 clv_solve_best_cost(const clv_solve_state *s);
clv_int128 clv_solve_best_bound(const clv_solve_state *s);
/* Tells the caller of the best answer and bound. */
void clv_solve_report(clv_solve_state *s, const char *method);
/* A bound of the whole problem. Answers that cost never are beyond it. */
void clv_solve_raise_bound(clv_solve_state *s, clv_int128 bound, const char *method);
/* An answer of the reduced problem: lifted, judged, and kept if it is legal and better. */
clv_status clv_solve_offer(clv_solve_state *s, const int32_t *reduced, const char *method,
                           clv_error *err);
/* The same of what the searchers work on. */
clv_status clv_parallel_search_offer(clv_solve_state *s, const int32_t *choice, const char *method,
                                     clv_error *err);
/* The best answer has no cost of never. */
bool clv_solve_is_finite(const clv_solve_state *s);
/* Answers without never are proven not to be, or the reduced problem has no others. */
bool clv_solve_none_left(const clv_solve_state *s);

/* ---- what the searchers work on (parallel_search.c) ---- */

/* Searchers on what bound and reduction have left now; first tried as one piece, where its tables
 * are small. They begin with the best answer known. *none: proven that nothing is within the limit.
 */
clv_status clv_parallel_search_start(clv_solve_state *s, bool *none, clv_error *err);
/* The best answer becomes one of the search, if it can be, for searchers to begin a life with. */
clv_status clv_parallel_search_import_best(clv_solve_state *s, clv_error *err);
/* bound and reduction have better news: which choices are out, and what others cost. */
void clv_parallel_search_share_bounds(clv_solve_state *s);
void clv_parallel_search_free(clv_solve_state *s);

/* ---- bound_and_reduce and searchers (search_rounds.c) ---- */

/* Bound and reduction alone for so much work, at first in the smallest steps: an answer soon. */
clv_status clv_solve_run_bound(clv_solve_state *s, int64_t work, clv_error *err);
/* Rounds of both, until there is nothing more to be had. */
clv_status clv_search_rounds(clv_solve_state *s, clv_error *err);

#endif
