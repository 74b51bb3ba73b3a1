/* plan_json_read_mesh.h - the members of a plan file that are about copies and meshes, read:
 * docs/formats/plan.md.
 *
 * All may be absent, and are where stages are single devices. CLV_EFORMAT says where a fault is.
 */
#ifndef CLV_PLAN_PLAN_JSON_READ_MESH_H
#define CLV_PLAN_PLAN_JSON_READ_MESH_H

#include "base/json.h"
#include "plan/plan.h"

/* "copies", after the devices. Refused where they are not as clv_plan_check_copies() wants them.
 * O(devices). */
clv_status clv_plan_read_copies(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                                clv_error *err);
/* "mesh", after the copies. Refused where the axes are not those of a mesh, meshes differ in size
 * or have a device twice, or a device outside of them has a stage. O(devices). */
clv_status clv_plan_read_mesh(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                              clv_error *err);
/* May operators be put on a device? With meshes only on the first of one. at: where it stands. */
clv_status clv_plan_check_lead(const clv_json_at *at, const clv_plan *plan, int32_t device,
                               clv_error *err);
/* "split_runs" of "operators", after their count. O(operators). */
clv_status clv_plan_read_splits(const clv_json_at *operators, clv_plan *plan, clv_arena *arena,
                                clv_error *err);

#endif
