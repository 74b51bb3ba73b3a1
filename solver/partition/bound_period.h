/* bound_period.h - the lower bound of the period: the greatest of several, each tight on other
 * models, and the plan behind the last of them.
 *
 *     bound_load.h          work, and units that must share a device
 *     bound_broadcast.h     what one device must send to many
 *     bound_contraction.h   the first two, of units that too much is sent between
 *     ideal_dp.h            order and memory, transfers aside, by bisection
 */
#ifndef CLV_SOLVER_PARTITION_BOUND_PERIOD_H
#define CLV_SOLVER_PARTITION_BOUND_PERIOD_H

#include "solver/partition/bound.h"

/* best_ns: of the best plan known, which fits: nothing above it is looked for. CLV_ENOMEM. O() as
 * the sum of the four, each within its limit of work. */
clv_status clv_bound_period(const clv_partition_problem *p, const clv_bound_options *options,
                            int64_t best_ns, clv_arena *arena, clv_bound *ret, clv_error *err);

#endif
