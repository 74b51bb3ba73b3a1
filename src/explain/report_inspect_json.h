/* report_inspect_json.h - what a model is, for programs: docs/formats/inspect.schema.json. */
#ifndef CLV_EXPLAIN_REPORT_INSPECT_JSON_H
#define CLV_EXPLAIN_REPORT_INSPECT_JSON_H

#include "explain/inspection.h"

/* The facts of report_inspect.h, nothing left out but the operators themselves; keys in the order
 * of the schema. The text lives in the arena. CLV_ENOMEM only. */
clv_status clv_report_inspect_json(const clv_inspection *in, clv_arena *arena,
                                   const char **ret_text, clv_error *err);

#endif
