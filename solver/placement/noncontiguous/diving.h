/* diving.h - placements guided by the prices of column generation.
 *
 * A greedy relative of diving in branch-and-price (Sadykov et al. 2019, Primal heuristics for
 * branch and price: the assets of diving methods, INFORMS J. on Computing 31): device by device,
 * the pricing problem is solved for the blocks that are left, and its column is fixed. Ours: the
 * master is not solved again; each price is changed a little at random, so that dives differ. One
 * pricing problem a device. It wins as a start for local search where the bound is nearly closed.
 */
#ifndef CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_DIVING_H
#define CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_DIVING_H

#include "solver/placement/noncontiguous/column_generation.h"

/* Into device_of, by block: a placement that may be near one with loads up to the limit, by the
 * best prices of the last clv_column_gen_refute(). Blocks left over go beside their neighbours in
 * the order, so loads may be above it, and memory limits may be broken. Not found when the search
 * is over. */
clv_status clv_diving_run(clv_column_gen *f, int64_t limit_ticks, uint64_t *random,
                          int32_t *device_of, bool *found, clv_error *err);

#endif
