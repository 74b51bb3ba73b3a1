/* chains_on_chains.h - an order of blocks cut into runs, one for a device: a first solution.
 *
 * Chains-on-chains partitioning by dynamic programming (Bokhari 1988, Partitioning problems in
 * parallel, pipelined, and distributed computing, IEEE Trans. Computers 37; Pinar and Aykanat 2004,
 * Fast optimal load balancing algorithms for 1D partitioning, J. Parallel and Distributed Computing
 * 64). Ours: devices of several kinds in any order, over where the last run ends and how many
 * devices of each kind are used, with transfers in the loads. Along an order with few open nets
 * that is a good solution, and often near the best contiguous one; it wins as a start, in well
 * under a second.
 */
#ifndef CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_CHAINS_ON_CHAINS_H
#define CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_CHAINS_ON_CHAINS_H

#include "solver/placement/common/contraction.h"

/* Into device_of, by block. Not found where there is none, memory looked at, or where it would take
 * too long: more than 2,000 blocks, or 2 * 10^8 steps. O(n^2 * (kinds * nets of a block +
 * product over kinds of (devices + 1))), and memory of 8 bytes * n^2 * kinds. */
clv_status clv_chains_on_chains(const clv_contraction *b, const int32_t *order, clv_arena *arena,
                                int32_t *device_of, bool *found, clv_error *err);

#endif
