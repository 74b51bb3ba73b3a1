/* report.h - what a run gave, as a table for people or as JSON (docs/formats/run.schema.json). */
#ifndef CLV_RUN_REPORT_H
#define CLV_RUN_REPORT_H

#include "run/execution.h"
#include "run/measure.h"
#include "run/profile.h"
#include "run/value_stats.h"

typedef struct {
    const clr_execution *x;
    const clr_value_stats *outputs; /* of each output of the program */
    const char **files;             /* where each was written; NULL: none was */
    clr_measured measured;
    const clr_node_times *nodes; /* of each model; NULL: not asked for */
} clr_report;

/* In the arena; NULL without memory. The JSON ends with a line break. */
const char *clr_report_text(const clr_report *report, clv_arena *arena);
const char *clr_report_json(const clr_report *report, clv_arena *arena);

#endif
