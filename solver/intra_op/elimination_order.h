/* elimination_order.h - in which order a piece is eliminated; a part of subproblem.c. */
#ifndef CLV_SOLVER_INTRA_OP_ELIMINATION_ORDER_H
#define CLV_SOLVER_INTRA_OP_ELIMINATION_ORDER_H

#include "solver/intra_op/subproblem.h"

/* Fills order, position, scope_first, scope, n_order, n_held. Deterministic by *random. */
clv_status clv_elimination_order(clv_subproblem *x, const clv_elimination_caps *caps,
                                 uint64_t *random, clv_error *err);

#endif
