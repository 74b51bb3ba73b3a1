/* shard_path_bound.h - a lower bound of latency: the critical path, each operator split as suits it
 * best, with what it takes to come from one layout to the next.
 */
#ifndef CLV_COST_SHARD_PATH_BOUND_H
#define CLV_COST_SHARD_PATH_BOUND_H

#include "cost/shard_path.h"
#include "cost/shard_tables.h"

/* The least that the operators of a path cost, with what is between them, or the windows, dealt out
 * to so many stages, whatever memory there is: no plan in that many has less latency. The
 * intra-operator problem of a path alone is a chain, and without windows this is its optimum, by
 * dynamic programming. O(operators * choices^2). */
clv_status clv_shard_path_bound_ns(clv_shard_tables *t, const clv_shard_path *path, int32_t stages,
                                   clv_int128 *ret, clv_error *err);

#endif
