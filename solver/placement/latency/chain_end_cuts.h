/* chain_end_cuts.h - smallest cuts (Ford, Fulkerson 1956) of all long intervals of a chain, from
 * one flow for each end.
 *
 * A place is a separator when nothing but its own unit joins what is before it and what is behind:
 * no unit is beside it, and no net has pins on both sides. The two ends of an interval around a
 * separator place have nothing to do with each other, nor with what is between two separators. So
 * what a smallest cut adds to the first value is a number for the first place, one for the last,
 * and one for each stretch between separators. A model of many layers has separators in every
 * layer, whatever their number; so 3 n small flows (common/max_flow.h) stand for n^2 large ones.
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_CHAIN_END_CUTS_H
#define CLV_SOLVER_PLACEMENT_LATENCY_CHAIN_END_CUTS_H

#include "solver/placement/latency/chain_division.h"

/* Makes all values exact of intervals that hold a separator, before any others are; leaves them as
 * they are once stop says so. CLV_ENOMEM. O(n * (n + nets + cut)). */
clv_status clv_chain_end_cuts(clv_chain_division *chain, bool (*stop)(void *ctx), void *ctx,
                              clv_arena *arena, clv_error *err);

#endif
