/* report.h - plans and models in words and tables for people; inspect also as JSON.
 *
 * Plain text without colour, at most CLV_REPORT_WIDTH columns but for names that must be exact
 * (the sharding nodes). Names of the model are shown with control characters escaped.
 */
#ifndef CLV_EXPLAIN_REPORT_H
#define CLV_EXPLAIN_REPORT_H

#include "cost/subgraph.h"
#include "plan/plan.h"

/* Whether it fits, the devices, transfers, speed, how it was found, and at the end the lines
 * "Sharding nodes: Device 0 - [...]" and "[Success] ..." (docs/formats/plan.md). The text lives in
 * the arena. CLV_ENOMEM only. O(devices + transfers log transfers). */
clv_status clv_report_plan(const clv_plan *plan, clv_arena *arena, const char **ret_text,
                           clv_error *err);

/* What inspecting a model found. All of the main graph. */
typedef struct {
    const char *name; /* of the file, for the head line */
    const clv_model *model;
    const clv_inference *inference;
    const clv_costs *costs;
    const clv_subgraphs *subgraphs;
} clv_inspection;

clv_status clv_report_inspect(const clv_inspection *in, clv_arena *arena, const char **ret_text,
                              clv_error *err);
/* docs/formats/inspect.schema.json */
clv_status clv_report_inspect_json(const clv_inspection *in, clv_arena *arena,
                                   const char **ret_text, clv_error *err);

#endif
