/* bound_extrapolate.h - messages go on as they went. */
#ifndef CLV_SOLVER_INTRA_OP_BOUND_EXTRAPOLATE_H
#define CLV_SOLVER_INTRA_OP_BOUND_EXTRAPOLATE_H

#include "solver/intra_op/bound_state.h"

/* After a count. False: the last leap was no good and is taken back, prices included. */
bool clv_bound_extrapolate(clv_intra_op_bound *b);

#endif
