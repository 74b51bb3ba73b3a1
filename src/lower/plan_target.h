/* plan_target.h - which part of which weight a plan gives to which device. */
#ifndef CLV_LOWER_PLAN_TARGET_H
#define CLV_LOWER_PLAN_TARGET_H

#include "graph/infer.h"
#include "plan/plan.h"
#include "weights/weight_layout.h"

/* A weight that a device needs in two ways lies whole on all that need it; one that no output of
 * the model needs is left where it is. Each copy of the plan has all that it needs. Weights are
 * numbered as in clv_weight_list_of(). Everything lives in the arena. As clv_spmd_make(). */
clv_status clv_plan_target(const clv_model *model, const clv_types *types, const clv_plan *plan,
                           clv_arena *arena, clv_weight_layout *ret, clv_error *err);

#endif
