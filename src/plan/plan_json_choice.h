/* plan_json_choice.h - "choice" of a plan file: the plans of other forms that were found, why this
 * one was taken, and what fewer devices give (docs/formats/plan.md). Only reported. */
#ifndef CLV_PLAN_PLAN_JSON_CHOICE_H
#define CLV_PLAN_PLAN_JSON_CHOICE_H

#include "base/json.h"
#include "base/json_out.h"
#include "plan/plan.h"

void clv_plan_put_choice(clv_json_out *out, const clv_plan *plan);
/* It may be absent. CLV_EFORMAT says where a fault is. */
clv_status clv_plan_read_choice(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                                clv_error *err);

#endif
