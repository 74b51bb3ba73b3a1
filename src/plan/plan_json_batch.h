/* plan_json_batch.h - "batch" of a plan file: the size that was chosen for the batch, why, and what
 * others gave (docs/formats/plan.md). Only reported. */
#ifndef CLV_PLAN_PLAN_JSON_BATCH_H
#define CLV_PLAN_PLAN_JSON_BATCH_H

#include "base/json.h"
#include "base/json_out.h"
#include "plan/plan.h"

void clv_plan_put_batch(clv_json_out *out, const clv_plan *plan);
/* It may be absent. CLV_EFORMAT says where a fault is. */
clv_status clv_plan_read_batch(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                               clv_error *err);

#endif
