/* report.h - what a run gave, as a table for people or as JSON (docs/formats/run.schema.json). */
#ifndef CLV_RUN_REPORT_H
#define CLV_RUN_REPORT_H

#include "run/execution.h"
#include "run/measure.h"
#include "run/value_stats.h"

typedef struct {
    const char *name, *op_type;
    double seconds; /* all its runs together */
    int64_t runs;
} clr_node_time;

typedef struct {
    const clr_node_time *at; /* in the order in which they ran first */
    int32_t n;
} clr_node_times;

typedef struct {
    const clr_execution *x;
    const clr_value_stats *outputs; /* of each output of the program */
    const char **files;             /* where each was written; NULL: none was */
    clr_measured measured;
    const clr_node_times *nodes; /* of each model; NULL: not asked for */
    int32_t n_runs, n_warmup;
} clr_report;

/* In the arena; NULL without memory. */
const char *clr_report_text(const clr_report *report, clv_arena *arena);
const char *clr_report_json(const clr_report *report, clv_arena *arena);

/* Reads the runtime's profile: a JSON list of events. Models have one run in it for each run.
 * CLV_EIO names the file: it cannot be read, or the runtime could not write all of it. CLV_EFORMAT:
 * it is no JSON, as where a name has a quote. */
clv_status clr_profile_read(const char *path, clv_arena *arena, clr_node_times *ret,
                            clv_error *err);

#endif
