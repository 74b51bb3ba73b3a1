/* branch_and_bound.h - an exact search for a few blocks.
 *
 * Branch and bound (Land and Doig 1960, An automatic method of solving discrete programming
 * problems, Econometrica 28), here depth first. Blocks are assigned one after the other, along an
 * order with few open nets. Cut off are: all but the first of empty devices of one kind (symmetry);
 * loads that reach the incumbent, counting every net that is cut for certain; and where the work
 * left, with the loads so far, is more than all devices can do in less than the incumbent.
 *
 * O(devices^n * nets of a block) at worst, so it wins up to about 20 blocks. Assignments are undone
 * step by step; memory O(nets * devices).
 */
#ifndef CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_BRANCH_AND_BOUND_H
#define CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_BRANCH_AND_BOUND_H

#include "solver/placement/common/contraction.h"
#include "solver/placement/common/place_search.h"

/* Tries at most so many assignments of one block. Each better placement is offered; where the
 * search is complete the bound is raised to the best, or to INFINITY where there is none. order:
 * b->n blocks. */
clv_status clv_noncontiguous_exact(clv_place_search *search, const clv_contraction *b,
                                   const int32_t *order, int64_t tries, clv_arena *arena,
                                   clv_error *err);

#endif
