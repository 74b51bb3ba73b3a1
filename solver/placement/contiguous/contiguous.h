/* contiguous.h - the best contiguous placement: limits on the load that close in on it.
 *
 * Parametric search over the bottleneck, each limit probed, as for chains-on-chains (Pinar, Aykanat
 * 2004, "Fast optimal load balancing algorithms for 1D partitioning", J. Parallel and Distributed
 * Computing) and dual approximation (Hochbaum, Shmoys 1987, JACM). Ours: probes that are exact over
 * order ideals, both ways round, and limits that start near the bound, where they prune most. It
 * wins where an exact solution is in reach; beyond that the methods of step 4 do.
 *
 * 1. The blocks in their order, devices filled one after the other: a solution at once, for any
 *    size.
 * 2. The same line, cut in the best way.
 * 3. Limits between the work bound (fluid_bound.h) and the best solution, each searched exactly,
 *    loads within it being alike (ideal_search.h): a low one, then all that is below the best
 *    solution. A limit that fails is a bound; a solution brings the top down. From the front and
 * from the back (contraction_reverse.h) in turn, with more and more work.
 * 4. If that is not done soon, for there are too many ideals, turns with more and more work:
 *    annealing (contiguous_anneal.h); other lines through the same stages, blocks of a stage in
 *    random order, each cut in the best way (order_dp.h); proofs by prices (prove.h); and step 3
 *    with limits that rise in smaller steps.
 */
#ifndef CLV_SOLVER_PLACEMENT_CONTIGUOUS_CONTIGUOUS_H
#define CLV_SOLVER_PLACEMENT_CONTIGUOUS_CONTIGUOUS_H

#include "solver/placement/common/contraction.h"
#include "solver/placement/common/place_search.h"

/* Throughput and fewest devices. Ends with the optimum proven, when the run is over, or with its
 * budget of work, a minute or two. */
clv_status clv_contiguous_solve(clv_place_search *search, const clv_contraction *b,
                                clv_arena *arena, clv_error *err);

#endif
