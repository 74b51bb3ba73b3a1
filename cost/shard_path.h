/* shard_path.h - the longest way through a model: operators of which none can start before the one
 * before it is done, wherever they run.
 */
#ifndef CLV_COST_SHARD_PATH_H
#define CLV_COST_SHARD_PATH_H

#include "cost/shard_tables.h"

#define CLV_PATH_OFF   (-2) /* not on the path */
#define CLV_PATH_START (-1) /* its first operator */

/* in[n_ops]: by which input an operator is reached on the path, or one of the two above. Longest by
 * the times of whole operators on that kind of device. O(operators + edges). */
clv_status clv_shard_path(const clv_types *types, const clv_costs *costs,
                          const clv_device_kind *kind, clv_arena *arena, int32_t **ret,
                          clv_error *err);

/* The least that the operators of a path cost, with what it takes to come from one to the next,
 * whatever memory there is: no plan, in however many stages, has less latency. The strategy problem
 * of a path alone is a chain, and this its optimum. O(operators * choices^2). */
clv_status clv_shard_path_ns(clv_shard_tables *t, const int32_t *path, clv_wide *ret,
                             clv_error *err);

#endif
