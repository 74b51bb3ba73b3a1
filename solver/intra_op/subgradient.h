/* subgradient.h - prices of memory found together with messages, and solutions read on the way.
 *
 * Subgradient optimization of the Lagrangian dual (Held, Wolfe, Crowder, Mathematical Programming
 * 6, 1974) with steps after Polyak (1969). Ours: after each sweep of messages (trws.h) a solution
 * is read, and prices go along its excess; what it costs at the prices falls into place as messages
 * settle, so both walk at once instead of one inside the other.
 */
#ifndef CLV_SOLVER_INTRA_OP_SUBGRADIENT_H
#define CLV_SOLVER_INTRA_OP_SUBGRADIENT_H

#include "solver/intra_op/search_state.h"
#include "solver/intra_op/trws.h"

typedef struct {
    const clv_pairwise *f;
    clv_trws trws;
    double *price, *best_price; /* rows */
    double *sum;                /* rows + 1 */
    double level, best_level;   /* of the messages, less the rows' room at their prices */
    double reach;               /* the share of the level that a step aims at */
    int32_t n_sweeps, n_since;  /* all, and since the best level */
    clv_search_state read;      /* the last solution */
} clv_subgradient;

/* At prices 0; lives in the arena. O(arcs * choices + rows). */
clv_status clv_subgradient_new(const clv_pairwise *f, clv_arena *arena, clv_subgradient *ret,
                               clv_error *err);
/* Prices as given (NULL: 0), no messages. */
void clv_subgradient_start(clv_subgradient *a, const double *price);
/* One sweep, its solution in a->read, and the next prices. known: the cost of a legal solution, or
 * INFINITY. O(matrix entries of all edges + rows). */
void clv_subgradient_step(clv_subgradient *a, double known);

#endif
