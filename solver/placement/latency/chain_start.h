/* chain_start.h - a solution from the shortest way along a chain, to be made better by local
 * search: a rounding of the relaxation that gave the bound, as in Lagrangian heuristics (Beasley
 * 1993).
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_CHAIN_START_H
#define CLV_SOLVER_PLACEMENT_LATENCY_CHAIN_START_H

#include "solver/placement/common/place_search.h"
#include "solver/placement/latency/chain_division.h"

/* Offers the pieces of the chain's best way, and what is in none beside what it reads. Nothing
 * where devices are too few. O(pieces * (cut + units) + edges). */
clv_status clv_chain_start(clv_place_search *search, clv_chain_division *chain, clv_arena *arena,
                           clv_error *err);

#endif
