/* strategies_work.h - the state of a solve, shared by its files.
 *
 * strategies.c is the order of things; strategies_offer.c judges and keeps what is found;
 * strategies_field.c is what the searchers work on; strategies_rounds.c runs squeezer and searchers
 * side by side.
 */
#ifndef CLV_SOLVER_INTRA_OP_STRATEGIES_WORK_H
#define CLV_SOLVER_INTRA_OP_STRATEGIES_WORK_H

#include "solver/common/incumbent.h"
#include "solver/intra_op/presolve.h"
#include "solver/intra_op/search.h"
#include "solver/intra_op/solve.h"
#include "solver/intra_op/squeeze.h"

/* Searchers at most. Without a deadline all of them, whatever the threads, so that the answer does
 * not depend on them. */
#define CLV_SOLVE_SEARCHERS 4

/* What the searchers work on: the problem after so many stages of the squeezer. */
typedef struct {
    clv_arena *arena;
    const clv_intra_op_problem *p;
    int32_t n_stages;
    clv_int128 base; /* of these stages */
    clv_flat *flat;
    clv_bench *bench[CLV_SOLVE_SEARCHERS + 1]; /* by thread */
    clv_searcher searcher[CLV_SOLVE_SEARCHERS];
    clv_state shared; /* best answer of the searchers */
    clv_state other;  /* scratch */
    bool *alive;      /* by choice of p */
    double *likely;   /* by choice of flat: what answers with it cost at least */
    int64_t work;     /* of a round */
} clv_intra_op_field;

typedef struct {
    const clv_intra_op_problem *p;
    const clv_intra_op_options *o;
    clv_arena *arena;
    clv_intra_op_result *r;
    clv_incumbent incumbent; /* of the problem as given */
    int32_t jobs;
    clv_presolved *presolved;
    clv_int128 base;
    clv_squeezer *squeezer;
    clv_limits elsewhere; /* for all other threads than the calling one */
    clv_intra_op_field *field;
    int32_t *choice; /* of the whole problem */
    int32_t *kept;   /* of the reduced one: the best answer */
    int32_t *lifted; /* of the reduced one: scratch */
    int32_t n_active, n_rounds, n_stale;
    int64_t share;    /* of the squeezer in a round, in its entries */
    int64_t searched; /* work of all searchers and the squeezer in rounds */
    atomic_int next;  /* item of a round: 0 the squeezer, then searchers */
    clv_status status[CLV_SOLVE_SEARCHERS + 1];
    clv_error error[CLV_SOLVE_SEARCHERS + 1];
} clv_intra_op_state;

/* ---- what is found (strategies_offer.c) ---- */

/* Cost of the best answer; there must be one. */
clv_int128 clv_intra_op_best_cost(const clv_intra_op_state *s);
clv_int128 clv_intra_op_best_bound(const clv_intra_op_state *s);
/* Tells the caller of the best answer and bound. */
void clv_intra_op_report(clv_intra_op_state *s, const char *method);
/* A bound of the whole problem. Answers that cost never are beyond it. */
void clv_intra_op_raise(clv_intra_op_state *s, clv_int128 bound, const char *method);
/* An answer of the reduced problem: lifted, judged, and kept if it is legal and better. */
clv_status clv_intra_op_offer(clv_intra_op_state *s, const int32_t *reduced, const char *method,
                              clv_error *err);
/* The same of what the searchers work on. */
clv_status clv_intra_op_offer_field(clv_intra_op_state *s, const int32_t *choice,
                                    const char *method, clv_error *err);
/* The best answer has no cost of never. */
bool clv_intra_op_is_finite(const clv_intra_op_state *s);
/* Answers without never are proven not to be, or the reduced problem has no others. */
bool clv_intra_op_none_left(const clv_intra_op_state *s);

/* ---- what the searchers work on (strategies_field.c) ---- */

/* Searchers on what the squeezer has left now; first tried as one piece, where its tables are
 * small. They begin with the best answer known. *none: proven that nothing is within the limit. */
clv_status clv_intra_op_enter_field(clv_intra_op_state *s, bool *none, clv_error *err);
/* The best answer becomes one of the field, if it can be, for searchers to begin a life with. */
clv_status clv_intra_op_bring(clv_intra_op_state *s, clv_error *err);
/* The squeezer has better news: which choices are out, and what others cost. */
void clv_intra_op_share(clv_intra_op_state *s);
void clv_intra_op_free_field(clv_intra_op_state *s);

/* ---- squeezer and searchers (strategies_rounds.c) ---- */

/* The squeezer alone for so much work, at first in the smallest steps: an answer soon. */
clv_status clv_intra_op_run_squeezer(clv_intra_op_state *s, int64_t work, clv_error *err);
/* Rounds of both, until there is nothing more to be had. */
clv_status clv_intra_op_search(clv_intra_op_state *s, clv_error *err);

#endif
