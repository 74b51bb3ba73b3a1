/* bound_count.h - the bound that prices and messages prove, in whole numbers. */
#ifndef CLV_SOLVER_INTRA_OP_BOUND_COUNT_H
#define CLV_SOLVER_INTRA_OP_BOUND_COUNT_H

#include "solver/intra_op/bound_state.h"

/* Counts the bound of the messages and prices as they are; true: it is better than the last. */
bool clv_bound_count(clv_intra_op_bound *b);

#endif
