/* contiguous_anneal.h - a local search over contiguous placements, for graphs with too many order
 * ideals.
 *
 * Simulated annealing (Kirkpatrick, Gelatt, Vecchi 1983) from the best solution so far. A move
 * takes one block; or a block with all on its device that comes behind it (or before it), so that
 * the end of a stage moves as a whole over places where a cut is dear; or exchanges two blocks.
 * Moves after which the devices cannot be put in a line are undone (contiguous_state.h). Worse ones
 * are taken less and less, by the 16th root of the sum of 16th powers of the loads. Memory may be
 * overdrawn on the way, at a price.
 *
 * O(nets and arcs of the blocks moved + devices^2 / 64) a move, some 300 ns for one block.
 */
#ifndef CLV_SOLVER_PLACEMENT_CONTIGUOUS_CONTIGUOUS_ANNEAL_H
#define CLV_SOLVER_PLACEMENT_CONTIGUOUS_CONTIGUOUS_ANNEAL_H

#include "solver/placement/common/contraction.h"
#include "solver/placement/common/place_search.h"

typedef struct clv_contiguous_anneal clv_contiguous_anneal;

/* *ret NULL: too many nets and devices for it. Lives in the arena. Memory O(nets * devices +
 * devices^2). */
clv_status clv_contiguous_anneal_new(const clv_contraction *b, uint64_t seed, clv_arena *arena,
                                     clv_contiguous_anneal **ret, clv_error *err);

/* One round of about so much work at most (nets and arcs looked at, some 6 ns each) from an
 * assignment by block that is legal but for memory; it becomes the best legal one met, by the
 * largest load, if one is better. Returns the work done; stop is asked often. Each call goes on
 * with other random numbers. */
int64_t clv_contiguous_anneal_improve(clv_contiguous_anneal *w, int64_t work,
                                      bool (*stop)(void *ctx), void *ctx, int32_t *device_of);

/* Rounds from the best solution of the run, or without one from all on one device, until about so
 * much work is done. */
clv_status clv_contiguous_anneal_run(clv_contiguous_anneal *w, clv_place_search *search,
                                     int64_t work, clv_error *err);

#endif
