/* lns.h - large neighbourhood search (Shaw 1998, "Using constraint programming and local search
 * methods to solve vehicle routing problems"): a placement re-optimised exactly, window by window.
 *
 * A window is the busiest device, one or two others, and a connected set of their blocks; all other
 * blocks stay where they are. What is best for the window is a small 0/1 program:
 *
 *   x[i][s] = 1    block i is on device s of the window; one s for each block
 *   T              the largest load of these devices, below what it is now
 *
 * and for every net that the window can change, on each device that pays: whether it pays. Windows
 * are moved over the devices, and grow while they are solved with little work, until none gets
 * better. A step makes the largest load of its devices smaller, so no arrangement comes twice.
 *
 * Contiguous: the devices of a window are neighbours in the line, and no arc leads back.
 */
#ifndef CLV_SOLVER_PLACEMENT_MIP_LNS_H
#define CLV_SOLVER_PLACEMENT_MIP_LNS_H

#include "solver/placement/mip/lns_options.h"

/* Improves device_of (by block, legal) in place for throughput. Without a solver of programs
 * nothing happens; one that gives up costs its window. O(pins) for each window beside its program.
 */
clv_status clv_lns_improve(const clv_contraction *b, const clv_lns_options *options,
                           int32_t *device_of, clv_arena *arena, clv_lns_work *ret, clv_error *err);

#endif
