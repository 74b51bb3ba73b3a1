/* plan_json_read_facts.h - what a plan file reports besides its decisions: docs/formats/plan.md.
 *
 * Each member may be absent. root: the whole file, of which devices, stages and meshes have been
 * read. CLV_EFORMAT says where a fault is. O(members).
 */
#ifndef CLV_PLAN_PLAN_JSON_READ_FACTS_H
#define CLV_PLAN_PLAN_JSON_READ_FACTS_H

#include "base/json.h"
#include "plan/plan.h"

clv_status clv_plan_read_pipeline(const clv_json_at *root, clv_plan *plan, clv_error *err);
clv_status clv_plan_read_transfers(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                                   clv_error *err);
clv_status clv_plan_read_host_copies(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                                     clv_error *err);
clv_status clv_plan_read_kernels(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                                 clv_error *err);
clv_status clv_plan_read_collectives(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                                     clv_error *err);
/* "found", "uneven_parts", "partial_sums" */
clv_status clv_plan_read_found(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                               clv_error *err);
/* How the plan was found. The gap follows from other numbers and is not kept. */
clv_status clv_plan_read_search(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                                clv_error *err);
clv_status clv_plan_read_rules(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                               clv_error *err);

#endif
