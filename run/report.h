/* report.h - what a run gave, as a table for people or as JSON (docs/formats/run.schema.json). */
#ifndef CLV_RUN_REPORT_H
#define CLV_RUN_REPORT_H

#include "run/profile.h"
#include "run/requests.h"

typedef struct {
    const clr_execution *x; /* of the first copy, which ran request 0 */
    const clr_requests *requests;
    const clr_output_files *files; /* that their outputs were written to */
    const clr_node_times *nodes;   /* of each model of x; NULL: not asked for */
    int64_t peak_bytes;            /* that the process has held at most; 0: not known */
} clr_report;

/* In the arena; NULL without memory. The JSON ends with a line break. */
const char *clr_report_text(const clr_report *report, clv_arena *arena);
const char *clr_report_json(const clr_report *report, clv_arena *arena);

#endif
