/* plan_types.h - the types of a model as a plan saw them: with the sizes that it was made for. */
#ifndef CLV_LOWER_PLAN_TYPES_H
#define CLV_LOWER_PLAN_TYPES_H

#include "graph/infer.h"
#include "plan/plan.h"

/* CLV_EFORMAT: a binding of the plan is not "symbol=size", or does not go with the model. In the
 * arena. As clv_infer_bound(). */
clv_status clv_plan_types(const clv_model *model, const clv_plan *plan, clv_arena *arena,
                          const clv_types **ret, clv_error *err);

#endif
