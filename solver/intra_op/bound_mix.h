/* bound_mix.h - a solution between two that messages read off at nearby prices.
 *
 * With few rows, as where all nodes hold memory all the time, the cheapest solutions at a little
 * more and a little less than the best price fill memory too little and too much. One factor on all
 * prices is bisected between them (Everett, "Generalized Lagrange multiplier method", Operations
 * Research 11, 1963). Then the solution that fits goes over to the other, node by node breadth
 * first through the parts in which they differ, and the best on the way that fits is kept (path
 * relinking: Glover, Laguna, Marti, Control and Cybernetics 29, 2000). It wins where the problem is
 * long and narrow, and is then near the bound.
 */
#ifndef CLV_SOLVER_INTRA_OP_BOUND_MIX_H
#define CLV_SOLVER_INTRA_OP_BOUND_MIX_H

#include "solver/intra_op/bound_state.h"

/* As clv_intra_op_bound_decode() for problems of few rows, between two solutions at a little more
 * and a little less than the prices; false as above, or where there are more rows. */
bool clv_intra_op_bound_mix(clv_intra_op_bound *b, bool forward, int32_t *choice);

#endif
