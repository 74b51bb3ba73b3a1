/* bound_count.h - the bound that prices and messages prove, in whole numbers.
 *
 * Prices become whole multiples of a power of two, messages and shares whole numbers; costs so
 * moved sum to the costs of the problem whatever the numbers are (a reparametrization, Kolmogorov
 * 2006), so the sum of the least of each node and each edge is a bound. What choices pay for memory
 * is rounded down, what the limit is worth is rounded up. The same sums bound the min-marginal of
 * each choice from below.
 */
#ifndef CLV_SOLVER_INTRA_OP_BOUND_COUNT_H
#define CLV_SOLVER_INTRA_OP_BOUND_COUNT_H

#include "solver/intra_op/bound_state.h"

/* Counts the bound of the messages and prices as they are; true: it is better than the last. */
bool clv_bound_count(clv_intra_op_bound *b);

#endif
