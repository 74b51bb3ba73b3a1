/* segment_dp_plan.h - the plan behind the dynamic programme of segment_dp.h: traced from its end
 * back to its start, each time the run that gave the least, then devices for the runs.
 */
#ifndef CLV_SOLVER_PARTITION_SEGMENT_DP_PLAN_H
#define CLV_SOLVER_PARTITION_SEGMENT_DP_PLAN_H

#include "solver/partition/segment_dp_state.h"

/* order and device_of as in clv_segment_dp. *ret: there is a plan. CLV_ENOMEM. O(runs * nodes *
 * classes). */
clv_status clv_segment_dp_plan(const clv_segment_dp_state *dp, const clv_segment_dp_end *end,
                               int32_t *order, int32_t *device_of, bool *ret, clv_error *err);

#endif
