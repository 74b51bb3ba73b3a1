/* reoptimize.h - a neighbourhood solved under memory: Lagrangian relaxation, a dive, branch and
 * bound.
 *
 * The repair step of large neighbourhood search (lns.h). The relaxation of memory at prices is
 * solved exactly by elimination (elimination.h); that gives a bound on what the nodes can cost at
 * all, the cheapest relaxed solution, and from the tables the exact relaxed cost of each choice on
 * the way down. The dive takes choices in that order as memory allows. Where the bound does not
 * meet the best solution, prices take a subgradient step (Held, Wolfe, Crowder 1974), and the same
 * tables are filled again. At last depth-first branch and bound, with the tables as its heuristic
 * (Kask, Dechter, Artificial Intelligence 129, 2001), closes what prices leave open, where that is
 * little. O(tries * table entries + rows).
 */
#ifndef CLV_SOLVER_INTRA_OP_REOPTIMIZE_H
#define CLV_SOLVER_INTRA_OP_REOPTIMIZE_H

#include "solver/intra_op/elimination.h"
#include "solver/intra_op/search_state.h"

/* What a thread works with; holds nothing between two calls. */
typedef struct {
    const clv_pairwise *f;
    clv_subproblem *subproblem;
    double *price, *sum;          /* rows, rows + 1 */
    int64_t *used, *room;         /* rows */
    int32_t *chosen, *old, *list; /* nodes: choices */
    bool *keep;                   /* max_choices */
    double *regret, *spent;       /* choices of all nodes; nodes + 1 */
    /* Of the last call: nothing was held or left out but by `alive`; then no better solution of
     * these nodes costs less than bound (the others as they are), but for rounding of doubles. */
    bool whole;
    double bound;
    double *score, *on_top; /* max_choices; choices of all nodes */
} clv_workspace;

typedef struct {
    const int32_t *node; /* n: the nodes that choose anew */
    int32_t n;
    clv_elimination_caps caps;
    int32_t n_tries;      /* prices tried */
    int32_t n_branches;   /* choices tried by branch and bound afterwards; 0: none */
    int32_t max_values;   /* of a node, the rest is left out at random and by cost; 0: all */
    double penalty;       /* cost of memory above the limits, a limit's worth in one row */
    const double *belief; /* by choice: which values of a node are likely; NULL: counted here */
    const bool *alive;    /* by choice: others are left out; NULL: none is */
    const int32_t *const *pool; /* n_pool solutions: a node keeps the choices of these; NULL: all */
    int32_t n_pool;
    double noise;    /* 0; above: own costs are changed at random by up to so much of them */
    bool whole_only; /* does nothing where a node would be held */
    bool must_move;  /* takes the solution found even if it is worse, if memory allows */
} clv_reoptimize_options;

/* What a searcher keeps from call to call. */
typedef struct {
    double *price;   /* of memory, by row */
    uint64_t random; /* the state of its random numbers */
    int64_t work;    /* table entries filled so far */
} clv_search_progress;

/* NULL is fine */
/* Lives in the arena, but for the tables, which end with clv_workspace_free(). O(choices + rows).
 */
clv_status clv_workspace_new(const clv_pairwise *f, clv_arena *arena, clv_workspace **ret,
                             clv_error *err);
void clv_workspace_free(clv_workspace *b);

/* Better choices for the nodes of o, or none: s never gets worse (unless must_move). */
clv_status clv_reoptimize(clv_workspace *b, clv_search_state *s, const clv_reoptimize_options *o,
                          clv_search_progress *progress, clv_error *err);

#endif
