/* plan_json_write.h - a plan as the plan file: docs/formats/plan.schema.json. */
#ifndef CLV_PLAN_PLAN_JSON_WRITE_H
#define CLV_PLAN_PLAN_JSON_WRITE_H

#include "base/json_out.h"
#include "plan/plan.h"

/* The keys are in the order of docs/formats/plan.md, always the same, so that equal plans are equal
 * files; what is not known is left out. Device per operator is written as runs [device, count].
 * Text in the arena, a newline at the end. CLV_ENOMEM. O(plan). */
clv_status clv_plan_write(const clv_plan *plan, clv_arena *arena, const char **ret_text,
                          size_t *ret_n, clv_error *err);
/* The same without what is only reported or follows: an object of what decides, which reads as a
 * plan with the same programs. */
clv_status clv_plan_put_decisions(clv_json_out *out, const char *key, const clv_plan *plan,
                                  clv_error *err);

#endif
