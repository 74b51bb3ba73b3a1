/* local_search.h - iterated local search whose step shares the blocks of two devices anew.
 *
 * A very large neighbourhood (Ahuja, Ergun, Orlin and Punnen 2002, A survey of very large-scale
 * neighborhood search techniques, Discrete Applied Mathematics 123) in the pairwise order of
 * Kernighan and Lin 1970 (An efficient heuristic procedure for partitioning graphs, Bell System
 * Technical J. 49), in an iterated local search (Lourenco, Martin and Stuetzle 2003, Handbook of
 * Metaheuristics).
 *
 * Step: all that two devices hold is shared between them in the best way there is, or nearly so
 * where there are too many ways (pareto_dp.h): it moves whole layers, and swaps pieces of equal
 * time that save transfers. Ours: two devices are resplit until no pair gets better by the sum of
 * the 8th powers of the two loads: the larger load counts most, but transfers saved elsewhere are
 * room for later. A kind counts by how fast it is. Then the busiest device and each other are made
 * as even as can be. Then a few runs of blocks, neighbours in the order, move to devices at random,
 * and the pairs touched are resplit; after many failures, it restarts from a far perturbation.
 *
 * Memory limits hold in every step. The search needs a legal start: the incumbent, or all blocks on
 * one device, or blocks placed by size wherever they fit. One resplit costs O(states * width). It
 * wins on long thin graphs, where single moves are stuck because each cuts more nets.
 */
#ifndef CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_LOCAL_SEARCH_H
#define CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_LOCAL_SEARCH_H

#include "solver/placement/common/contraction.h"
#include "solver/placement/common/place_search.h"

typedef struct clv_local_search clv_local_search;

/* order: b->n blocks, few nets open (cutwidth_order.h); kept, not copied. Lives in the arena. O(n +
 * nets
 * + devices^2). */
clv_status clv_local_search_new(const clv_contraction *b, const int32_t *order, uint64_t seed,
                                clv_arena *arena, clv_local_search **ret, clv_error *err);

/* Takes this placement of blocks as a start of its own if it is legal, and improves it until no
 * pair gets better. */
clv_status clv_local_search_start(clv_local_search *l, clv_place_search *search,
                                  const int32_t *device_of, clv_error *err);

/* Searches for so much work (pairs of loads looked at, some 2 * 10^8 in a second) and offers what
 * it finds. Goes on where it was when called again. Devices in excess of 512 are not used by it. */
clv_status clv_local_search_run(clv_local_search *l, clv_place_search *search, int64_t work,
                                clv_error *err);

#endif
