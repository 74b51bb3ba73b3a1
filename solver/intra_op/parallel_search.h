/* parallel_search.h - the problem as bound and reduction have left it, and the searchers on it: a
 * portfolio (Huberman, Lukose, Hogg 1997) with a shared incumbent.
 *
 * Bound and reduction go alone first, then beside the searchers, in rounds of so much work. All
 * share the best solution and the choices fixed by the bound between rounds, in a fixed order, so
 * that results do not depend on the number of threads.
 */
#ifndef CLV_SOLVER_INTRA_OP_PARALLEL_SEARCH_H
#define CLV_SOLVER_INTRA_OP_PARALLEL_SEARCH_H

#include "solver/intra_op/lns.h"
#include "solver/intra_op/solve_state.h"

/* What the searchers work on: the problem after so many stages of bound and reduction. */
typedef struct clv_parallel_search {
    clv_arena *arena;
    const clv_intra_op_problem *p;
    int32_t n_stages;
    clv_int128 base; /* of these stages */
    clv_pairwise *pairwise;
    clv_workspace *workspace[CLV_SOLVE_SEARCHERS + 1]; /* by thread */
    clv_lns searcher[CLV_SOLVE_SEARCHERS];
    clv_search_state shared; /* best solution of the searchers */
    clv_search_state other;  /* scratch */
    bool *alive;             /* by choice of p */
    double *likely;          /* by choice of pairwise: what solutions with it cost at least */
    int64_t work;            /* of a round */
} clv_parallel_search;

/* Searchers on what bound and reduction have left now; first tried as one subproblem, where its
 * tables are small. They begin with the best solution known. *none: proven that nothing is within
 * the limit.
 */
clv_status clv_parallel_search_start(clv_solve_state *s, bool *none, clv_error *err);
/* The best solution becomes one of the search, if it can be, for searchers to restart from. */
clv_status clv_parallel_search_import_best(clv_solve_state *s, clv_error *err);
/* bound and reduction have better news: which choices are out, and what others cost. */
void clv_parallel_search_share_bounds(clv_solve_state *s);
void clv_parallel_search_free(clv_solve_state *s); /* none is fine */

/* The same of what the searchers work on. */
clv_status clv_parallel_search_offer(clv_solve_state *s, const int32_t *choice, const char *method,
                                     clv_error *err);

/* Bound and reduction alone for so much work, at first in the smallest steps: a solution soon. */
clv_status clv_solve_run_bound(clv_solve_state *s, int64_t work, clv_error *err);
/* Rounds of both, until there is nothing more to be had. */
clv_status clv_search_rounds(clv_solve_state *s, clv_error *err);

#endif
