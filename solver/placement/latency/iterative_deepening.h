/* iterative_deepening.h - proofs for the latency objective: the search over ideals
 * (latency_ideals.h) under cost limits that rise, as in iterative deepening (Korf 1985,
 * "Depth-first iterative-deepening: an optimal admissible tree search").
 *
 * A limit under which nothing is found is a bound; low limits are cheap, and what is found below
 * one is the best there is. Each find is made an assignment by packing its pieces into devices,
 * best and worst fit decreasing (Johnson 1973, "Near-optimal bin packing algorithms"). It wins on
 * graphs of few ideals.
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_ITERATIVE_DEEPENING_H
#define CLV_SOLVER_PLACEMENT_LATENCY_ITERATIVE_DEEPENING_H

#include "solver/placement/common/place_search.h"
#include "solver/placement/latency/chain_division.h"

/* The exact search, with limits that rise, until work steps (some 100 ns each) are done.
 * *ret_start: the best that it found as an assignment of classes, which need not be legal; NULL
 * without. */
clv_status clv_iterative_deepening(clv_place_search *search, clv_chain_division *chain,
                                   int64_t work, clv_arena *arena, int32_t **ret_start,
                                   clv_error *err);

#endif
