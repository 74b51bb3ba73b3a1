/* plan_model.h - model -> types, costs, units -> plan of shards and stages, or of stages alone. */
#ifndef CLV_PIPELINE_PLAN_MODEL_H
#define CLV_PIPELINE_PLAN_MODEL_H

#include "plan/plan.h"
#include "request/request.h"

/* As clv_pipeline_run(), for the sizes of symbols that the request gives, which have to be enough:
 * CLV_EFORMAT names those that are missing. */
clv_status clv_plan_model(const clv_request *req, clv_arena *arena, clv_plan **ret, clv_error *err);

#endif
