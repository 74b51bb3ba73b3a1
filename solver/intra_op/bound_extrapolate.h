/* bound_extrapolate.h - messages go on as they went: extrapolation with restarts.
 *
 * Over long paths of nodes costs move a little in each round, always the same way, and so do
 * messages. After some rounds each message goes on as far again as it has come since the last
 * extrapolation, about, and the rounds that follow mend what that broke. Where the bound is then
 * lower than before, messages and prices go back to where they were, and extrapolations
 * and the longest steps of prices get shorter. The idea is that of accelerated gradient methods
 * with adaptive restart (O'Donoghue, Candes, Foundations of Computational Mathematics 15, 2015);
 * for messages it is ours.
 */
#ifndef CLV_SOLVER_INTRA_OP_BOUND_EXTRAPOLATE_H
#define CLV_SOLVER_INTRA_OP_BOUND_EXTRAPOLATE_H

#include "solver/intra_op/bound_state.h"

/* After a count. False: the last extrapolation was no good and is taken back, prices included. */
bool clv_bound_extrapolate(clv_intra_op_bound *b);

#endif
