/* chain_end_cuts.h - smallest cuts of all long intervals of a chain, from one flow for each end.
 *
 * A place is clean when nothing but its own unit joins what is before it and what is behind: no
 * unit is beside it, and no net has pins on both sides. The two ends of an interval around a clean
 * place have nothing to do with each other, nor with what is between two clean places. So what a
 * smallest cut adds to the first value is a number for the first place, one for the last, and one
 * for each stretch between clean places. A model of many layers has clean places in every layer,
 * whatever their number; so 3 n small flows (common/max_flow.h) stand for n^2 large ones.
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_CHAIN_END_CUTS_H
#define CLV_SOLVER_PLACEMENT_LATENCY_CHAIN_END_CUTS_H

#include "solver/placement/latency/chain_division.h"

/* Makes all values exact of intervals that hold a place where the chain falls apart:
 * before any others are. Nothing is done where stop says so. O(n * (n + nets +
 * cut)). */
clv_status clv_chain_end_cuts(clv_chain_division *chain, bool (*stop)(void *ctx), void *ctx,
                              clv_arena *arena, clv_error *err);

#endif
