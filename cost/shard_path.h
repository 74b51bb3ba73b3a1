/* shard_path.h - the longest way through a model: operators of which none can start before the one
 * before it is done, wherever they run.
 */
#ifndef CLV_COST_SHARD_PATH_H
#define CLV_COST_SHARD_PATH_H

#include "cost/op_cost.h"

#define CLV_PATH_OFF   (-2) /* not on the path */
#define CLV_PATH_START (-1) /* its first operator */

/* in[n_ops]: by which input an operator is reached on the path, or one of the two above. Longest by
 * the times of whole operators on that kind of device. O(operators + edges). */
clv_status clv_shard_path(const clv_types *types, const clv_costs *costs,
                          const clv_device_kind *kind, clv_arena *arena, int32_t **ret,
                          clv_error *err);

#endif
