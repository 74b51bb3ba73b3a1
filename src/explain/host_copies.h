/* host_copies.h - how inputs of a model come to the devices that read them, and outputs back.
 *
 * States (graph/states.h), weights and what is known before the run stay where they are.
 */
#ifndef CLV_EXPLAIN_HOST_COPIES_H
#define CLV_EXPLAIN_HOST_COPIES_H

#include "plan/plan_layouts.h"

/* Sets plan->host_copies by where layouts has the tensors; kept NULL: each device is a stage of its
 * own, with whole tensors. The plan's devices are those of the cluster. What has no size that is
 * known is left out. Lives in the arena. CLV_ENOMEM. O(edges + ends * devices), ends: inputs and
 * outputs. */
clv_status clv_plan_add_host_copies(const clv_plan_layouts *layouts, const clv_cluster *cluster,
                                    clv_arena *arena, clv_plan *plan, clv_error *err);

#endif
