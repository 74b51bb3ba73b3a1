/* bound_mix.h - an answer between two that messages read off at nearby prices. */
#ifndef CLV_SOLVER_INTRA_OP_BOUND_MIX_H
#define CLV_SOLVER_INTRA_OP_BOUND_MIX_H

#include "solver/intra_op/bound_state.h"

/* As clv_intra_op_bound_answer() for problems of few rows, between two answers at a little more and
 * a little less than the prices; false as above, or where there are more rows. */
bool clv_intra_op_bound_mix(clv_intra_op_bound *b, bool forward, int32_t *choice);

#endif
