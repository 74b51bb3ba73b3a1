/* plan_json_profile.h - who is to run a plan, how, and what that costs, in the plan file. */
#ifndef CLV_PLAN_PLAN_JSON_PROFILE_H
#define CLV_PLAN_PLAN_JSON_PROFILE_H

#include "base/json.h"
#include "base/json_out.h"
#include "plan/plan.h"

/* "profile"; nothing where anyone may run it. */
void clv_plan_put_profile(clv_json_out *out, const clv_plan *plan);
/* CLV_EFORMAT. */
clv_status clv_plan_read_profile(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                                 clv_error *err);

#endif
