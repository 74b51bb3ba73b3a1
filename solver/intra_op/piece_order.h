/* piece_order.h - in which order a piece is eliminated; a part of piece.c. */
#ifndef CLV_SOLVER_INTRA_OP_PIECE_ORDER_H
#define CLV_SOLVER_INTRA_OP_PIECE_ORDER_H

#include "solver/intra_op/piece.h"

/* Fills order, position, scope_first, scope, n_order, n_held. Deterministic by *random. */
clv_status clv_piece_order(clv_piece *x, const clv_piece_caps *caps, uint64_t *random,
                           clv_error *err);

#endif
