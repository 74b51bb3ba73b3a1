/* noncontiguous.h - noncontiguous placements for throughput: search and proof by turns.
 *
 * A device may hold any blocks, and the largest load is minimised. Primal: chains on chains
 * (chains_on_chains.h), the best contiguous placement and dives (diving.h) as starts of a local
 * search (local_search.h). Dual: bounds by work and by the largest block (simple_bounds.h), then
 * column generation (column_generation.h). Turns with doubled work, so that neither side starves
 * the other. Few blocks are solved by branch and bound (branch_and_bound.h).
 */
#ifndef CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_NONCONTIGUOUS_H
#define CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_NONCONTIGUOUS_H

#include "solver/placement/common/contraction.h"
#include "solver/placement/common/place_search.h"

/* Starts from the incumbent of the search, if any; ends when the search is over, or after fixed
 * amounts of work. Memory: some 10 MB for a problem of hundreds of blocks, at most
 * about 500 MB. */
clv_status clv_noncontiguous_solve(clv_place_search *search, const clv_contraction *b,
                                   clv_arena *arena, clv_error *err);

#endif
