/* shard_path_bound.h - a lower bound of latency: the critical path, each operator split as suits it
 * best, with what it takes to come from one layout to the next.
 */
#ifndef CLV_COST_SHARD_PATH_BOUND_H
#define CLV_COST_SHARD_PATH_BOUND_H

#include "cost/shard_path.h"
#include "cost/shard_tables.h"

/* The greater of two: what the operators of a path cost at least with what is between them, each
 * window no less than its operators dealt out to the stages; and the path alone with what is beside
 * it in all windows but the stages - 1 where that is most. No plan in that many has less latency,
 * whatever memory there is. The intra-operator problem of a path alone is a chain, and this its
 * optimum, by dynamic programming. O(operators * choices^2 + windows * log windows). */
clv_status clv_shard_path_bound_ns(clv_shard_tables *t, const clv_shard_path *path, int32_t stages,
                                   clv_int128 *ret, clv_error *err);

#endif
