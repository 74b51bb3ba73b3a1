/* shard_parted.h - how much less than all operators one after the other a pipeline may take.
 *
 * The optimum of the intra-operator problem is what one stage takes that runs everything. A
 * pipeline takes less where stages work side by side: beside the windows of the critical path
 * (shard_path.h), and in the few windows that it parts. All else is one after the other there too.
 */
#ifndef CLV_COST_SHARD_PARTED_H
#define CLV_COST_SHARD_PARTED_H

#include "cost/shard_path.h"
#include "cost/shard_problem.h"

/* What a pipeline of so many stages saves at most: the optimum of the problem, or any bound of it,
 * less *ret is a bound of its latency, within the same memory. -1: nothing is known, as a choice
 * is never or memory is needed at several moments.
 *
 * For the choices of any plan, change those of operators and tensors that may run side by side with
 * others to what costs least, at worst for their neighbours, with the least memory. That is a
 * solution of the problem again, which costs no less than its optimum; it differs from what the
 * plan takes one after the other by what is summed up here. O(nodes + edges * windows that an edge
 * spans + entries of matrices). */
clv_status clv_shard_parted_ns(const clv_shard_problem *s, const clv_shard_path *path,
                               int32_t stages, clv_arena *arena, clv_int128 *ret, clv_error *err);

#endif
