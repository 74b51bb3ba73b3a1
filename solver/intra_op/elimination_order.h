/* elimination_order.h - in which order the nodes of a subproblem are eliminated, and which are
 * held.
 *
 * The node with the smallest table goes first (min-weight: Kjaerulff, "Triangulation of graphs:
 * algorithms giving small total state space", 1990). Where every table would pass the cap, a node
 * is held at its present choice (cutset conditioning: Dechter, Artificial Intelligence 41, 1990) at
 * one value, so what is solved is always solved exactly. O(sum of squares of scopes + arcs log
 * nodes).
 */
#ifndef CLV_SOLVER_INTRA_OP_ELIMINATION_ORDER_H
#define CLV_SOLVER_INTRA_OP_ELIMINATION_ORDER_H

#include "solver/intra_op/subproblem.h"

typedef struct {
    double cap_log2;     /* entries of a table, and of one node more */
    int64_t max_entries; /* of all tables together; the rest is held */
} clv_elimination_caps;

/* Fills order, position, scope_first, scope, n_order, n_held. Deterministic by *random. */
clv_status clv_elimination_order(clv_subproblem *x, const clv_elimination_caps *caps,
                                 uint64_t *random, clv_error *err);

#endif
