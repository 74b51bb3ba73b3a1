/* report_mesh.h - the parts of the report of a plan that are about meshes: what the stages' meshes
 * are, and what their devices send each other. Nothing where stages are single devices.
 */
#ifndef CLV_EXPLAIN_REPORT_MESH_H
#define CLV_EXPLAIN_REPORT_MESH_H

#include "explain/text.h"
#include "plan/plan.h"

/* The mesh, the parallelism that was found, and what sharding specs cannot say. */
void clv_report_mesh(const clv_plan *plan, clv_text *text);
/* By kind and axes, then the largest ones. O(collectives log collectives). */
void clv_report_collectives(const clv_plan *plan, clv_text *text);

#endif
