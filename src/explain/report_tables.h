/* report_tables.h - the parts of the report of a plan that are tables, each with an empty line in
 * front; nothing where there is nothing to show. Seen by report_plan.c.
 *
 * The devices of a mesh do the same, so that they share a line: gpu0-7.
 */
#ifndef CLV_EXPLAIN_REPORT_TABLES_H
#define CLV_EXPLAIN_REPORT_TABLES_H

#include "explain/text.h"
#include "plan/plan.h"

void clv_report_devices(const clv_plan *plan, clv_text *text);
void clv_report_memory(const clv_plan *plan, clv_text *text);
/* O(transfers log transfers). */
void clv_report_transfers(const clv_plan *plan, clv_text *text);

/* The mesh, what was found in the words that people use, and what sharding specs cannot say. */
void clv_report_mesh(const clv_plan *plan, clv_text *text);
/* By kind and axes, then the largest ones. O(collectives log collectives). */
void clv_report_collectives(const clv_plan *plan, clv_text *text);

/* The name of a device, or of all of the mesh that it leads: "gpu0-7", "n0/gpu6..n1/gpu1 (4)" where
 * the numbers do not follow each other. O(devices of the mesh). */
const char *clv_cell_devices(const clv_plan *plan, int32_t lead, clv_text *text);
/* Has the device a line of its own: is it in use, and the lead of its mesh? */
bool clv_report_is_shown(const clv_plan *plan, int32_t device);

#endif
