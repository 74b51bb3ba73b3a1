/* bound_price.h - prices of memory: deflected subgradient steps of the Lagrangian dual.
 *
 * Where many nodes are alike, all change their cheapest choice at the same price, and what they
 * hold jumps far to either side of the limit. So prices move along a running mean of the
 * subgradients (Camerini, Fratta, Maffioli, "On improving relaxation methods by modified gradient
 * techniques", Mathematical Programming Study 3, 1975), by the step that would close the gap if the
 * bound were as steep as the jumps (Polyak 1969). A step by the length of the mean, which is near
 * nothing once the jumps cancel, would throw prices far off. The mean being long beside the jumps
 * says that prices are on their way, and steps get longer; its being short that they are there, and
 * steps get shorter.
 *
 * Ours: which rows get a price. In good solutions few rows are full, but those next to them nearly
 * so: a price on each would be paid many times for one that is wanted. A row without a price gets
 * one only if it is overfull even without what others, fuller ones, will give back.
 */
#ifndef CLV_SOLVER_INTRA_OP_BOUND_PRICE_H
#define CLV_SOLVER_INTRA_OP_BOUND_PRICE_H

#include "solver/intra_op/bound_state.h"

/* A step of the prices. cost: as in clv_intra_op_bound_run(). O(spans * choices), and O(nodes +
 * spans
 * + rows) for each row that gets a price. */
void clv_bound_update_prices(clv_intra_op_bound *b, clv_int128 cost);

#endif
