/* plan_mesh_json.h - the parts of a plan file that are about meshes: docs/formats/plan.md.
 *
 * All may be absent, and are where stages are single devices.
 */
#ifndef CLV_PLAN_PLAN_MESH_JSON_H
#define CLV_PLAN_PLAN_MESH_JSON_H

#include "plan/plan_json_get.h"

/* "mesh", after the devices. Refused where the axes are not those of a mesh, meshes differ in size
 * or have a device twice, or a device outside of them has a stage. */
clv_status clv_plan_read_mesh(clv_plan_reader *r, const clv_json_at *root);
/* May operators be put on a device? With meshes only on the first of one. at: where it stands. */
clv_status clv_plan_check_lead(clv_plan_reader *r, const clv_json_at *at, int32_t device);
/* operators.split_runs; at->json NULL: absent. After the count of operators. */
clv_status clv_plan_read_splits(clv_plan_reader *r, const clv_json_at *at);
clv_status clv_plan_read_collectives(clv_plan_reader *r, const clv_json_at *root);
/* "found", "uneven_parts", "partial_sums" */
clv_status clv_plan_read_found(clv_plan_reader *r, const clv_json_at *root);

void clv_plan_put_mesh(clv_json_out *out, const clv_plan *plan);
void clv_plan_put_splits(clv_json_out *out, const clv_plan *plan);
void clv_plan_put_collectives(clv_json_out *out, const clv_plan *plan);
void clv_plan_put_found(clv_json_out *out, const clv_plan *plan);

/* The same on one line each, for the annotated model: the value of "mesh", and of the lists of what
 * specs cannot say. *ret NULL: there is none. CLV_ENOMEM. */
clv_status clv_plan_mesh_note(const clv_plan *plan, clv_arena *arena, const char **ret,
                              clv_error *err);
clv_status clv_plan_uneven_note(const clv_plan *plan, clv_arena *arena, const char **ret,
                                clv_error *err);
clv_status clv_plan_partial_note(const clv_plan *plan, clv_arena *arena, const char **ret,
                                 clv_error *err);

#endif
