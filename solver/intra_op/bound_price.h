/* bound_price.h - prices of memory follow what the cheapest choices overfill. */
#ifndef CLV_SOLVER_INTRA_OP_BOUND_PRICE_H
#define CLV_SOLVER_INTRA_OP_BOUND_PRICE_H

#include "solver/intra_op/bound_state.h"

/* A step of the prices. cost: as in clv_intra_op_bound_run(). O(spans * choices), and O(nodes +
 * spans
 * + rows) for each row that gets a price. */
void clv_bound_update_prices(clv_intra_op_bound *b, clv_int128 cost);

#endif
