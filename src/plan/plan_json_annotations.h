/* plan_json_annotations.h - the member "annotations" of a plan file: docs/formats/plan.md. */
#ifndef CLV_PLAN_PLAN_JSON_ANNOTATIONS_H
#define CLV_PLAN_PLAN_JSON_ANNOTATIONS_H

#include "base/json.h"
#include "base/json_out.h"
#include "plan/plan.h"

/* Into plan, which has its operators already; copied into the arena. Both spellings of the map of
 * device groups are taken. A node named by its label is looked up by clv_plan_find_nodes().
 * CLV_EFORMAT says where. O(n). */
clv_status clv_plan_read_annotations(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                                     clv_error *err);
/* Nothing when there are none. */
void clv_plan_put_annotations(clv_json_out *out, const clv_plan *plan);
/* An element of an annotation's "specs". */
void clv_plan_put_spec(clv_json_out *out, const char *key, const clv_sharding_spec *spec);

#endif
