/* function_devices.h - the device of each model-local function: that of its calls, where they
 * agree.
 */
#ifndef CLV_PROTO_FUNCTION_DEVICES_H
#define CLV_PROTO_FUNCTION_DEVICES_H

#include "base/arena.h"
#include "graph/graph.h"
#include "plan/plan.h"

/* Calls disagree, one is annotated by hand, or there are none. */
#define CLV_NO_DEVICE (-1)

/* A device for each of model->functions, in the arena. O(operators in the model), as a function is
 * looked into at most twice; O(functions log functions) to find each by its graph. */
clv_status clv_function_devices(const clv_model *model, const clv_plan *plan, clv_arena *arena,
                                int32_t **ret, clv_error *err);

#endif
