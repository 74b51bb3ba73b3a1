/* branch_and_bound.h - all free placements of a few blocks, but for those that cannot be better.
 *
 * Blocks are put on devices one after the other, along a line with few open nets. Left out are: all
 * but the first of empty devices of one kind; loads that reach the best known, counting every net
 * that is cut for certain; and where the work left, added to what devices of all kinds have, is
 * more than they can do in less than the best.
 *
 * O(devices^n * nets of a block) at worst, so for about 16 blocks; undone step by step, memory
 * O(nets * devices).
 */
#ifndef CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_BRANCH_AND_BOUND_H
#define CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_BRANCH_AND_BOUND_H

#include "solver/placement/common/blocks.h"
#include "solver/placement/common/place_search.h"

/* Tries at most so many placements of one block. If that is enough, the best is offered and the
 * bound raised to it; to INFINITY, where there is none. */
clv_status clv_noncontiguous_exact(clv_place_search *search, const clv_blocks *b,
                                   const int32_t *order, int64_t tries, clv_arena *arena,
                                   clv_error *err);

#endif
