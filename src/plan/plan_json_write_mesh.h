/* plan_json_write_mesh.h - the members of a plan file that are about meshes, written, and the same
 * as metadata of an annotated model: docs/formats/plan.md.
 *
 * Nothing is written where stages are single devices.
 */
#ifndef CLV_PLAN_PLAN_JSON_WRITE_MESH_H
#define CLV_PLAN_PLAN_JSON_WRITE_MESH_H

#include "base/json_out.h"
#include "plan/plan.h"

/* "copies": the devices of each, place by place, by number; nothing for one copy. O(devices). */
void clv_plan_put_copies(clv_json_out *out, const clv_plan *plan);
/* The same by name, for files beside which there is no list of devices. O(devices). */
void clv_plan_put_copy_names(clv_json_out *out, const clv_plan *plan);
/* "mesh": the axes, and the devices of each mesh. O(devices). */
void clv_plan_put_mesh(clv_json_out *out, const clv_plan *plan);
/* "split_runs" of "operators": [split, count] over the nodes in file order. O(operators). */
void clv_plan_put_splits(clv_json_out *out, const clv_plan *plan);
/* "collectives" */
void clv_plan_put_collectives(clv_json_out *out, const clv_plan *plan);
/* "found", "uneven_parts", "partial_sums" */
void clv_plan_put_found(clv_json_out *out, const clv_plan *plan);

/* The same on one line each, for the annotated model: the copies and the mesh, as objects that have
 * these alone, and the lists of what specs cannot say. *ret NULL: there is none. CLV_ENOMEM. */
clv_status clv_plan_copies_json(const clv_plan *plan, clv_arena *arena, const char **ret,
                                clv_error *err);
clv_status clv_plan_mesh_json(const clv_plan *plan, clv_arena *arena, const char **ret,
                              clv_error *err);
clv_status clv_plan_uneven_json(const clv_plan *plan, clv_arena *arena, const char **ret,
                                clv_error *err);
clv_status clv_plan_partial_json(const clv_plan *plan, clv_arena *arena, const char **ret,
                                 clv_error *err);

#endif
