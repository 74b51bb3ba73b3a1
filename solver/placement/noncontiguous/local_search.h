/* local_search.h - a local search for free placements whose step cuts two devices anew.
 *
 * Step: all that two devices hold is shared between them in the best way there is, or nearly so
 * where there are too many ways (pareto_dp.h). That is a neighbourhood of exponential size: it
 * moves whole layers, and swaps pieces of equal time that save transfers. Two devices are cut anew
 * until no pair gets better, by the sum of the 8th powers of the two loads: the larger load counts
 * most, but transfers saved elsewhere are room for later. A kind counts by how fast it is. Then the
 * busiest device and each other are made as even as can be. Then a few runs of blocks, neighbours
 * in the line, are thrown on devices at random, and the pairs touched are cut anew, starting from
 * the best so far; after many vain throws, from a random placement.
 *
 * Memory is kept in every step. The search needs a legal answer to start from: one in the run, or
 * all on one device, or blocks put by size wherever they fit.
 */
#ifndef CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_LOCAL_SEARCH_H
#define CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_LOCAL_SEARCH_H

#include "solver/placement/common/blocks.h"
#include "solver/placement/common/place_search.h"

typedef struct clv_local_search clv_local_search;

/* order: b->n blocks, few nets open (cutwidth_order.h); kept, not copied. Lives in the arena. O(n +
 * nets
 * + devices^2). */
clv_status clv_local_search_new(const clv_blocks *b, const int32_t *order, uint64_t seed,
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
