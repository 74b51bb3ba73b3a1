/* bound_decode.h - a solution read off the messages: sequential decoding (Kolmogorov 2006, as in
 * bound.h).
 *
 * Nodes choose one after the other, each what costs least with the choices made before it, what the
 * messages say of those still to come, and what memory costs. Ours: only among the choices that
 * meet no never and still fit. Where every span's smallest usage is 0, as presolve leaves it, what
 * fits now fits in the end.
 */
#ifndef CLV_SOLVER_INTRA_OP_BOUND_DECODE_H
#define CLV_SOLVER_INTRA_OP_BOUND_DECODE_H

#include "solver/intra_op/bound_state.h"

/* A solution read off the messages and so many times the prices as they are now, in the order of
 * nodes or backwards: within the limit and without never, or false where the last nodes find no
 * such choice (edges of three and more are not looked at). Good as a start for a search. O(edges *
 * choices + rows of all spans). */
bool clv_intra_op_bound_decode(clv_intra_op_bound *b, bool forward, double price, int32_t *choice);

/* b->sum: as its neighbours that have chosen see v's choices, and as the messages of the others. */
void clv_bound_conditional_costs(clv_intra_op_bound *b, int32_t v, bool forward,
                                 const int32_t *choice);

#endif
