/* report_inspect.h - what a model is, for people: its head, its ends, what is open, what it costs
 * and where it may be cut.
 *
 * As wide as the form says, but for sentences. Names of the model are shown with control characters
 * escaped; long lists are cut, whose rest is in the JSON form (report_inspect_json.h).
 */
#ifndef CLV_EXPLAIN_REPORT_INSPECT_H
#define CLV_EXPLAIN_REPORT_INSPECT_H

#include "explain/inspection.h"
#include "explain/text.h"

/* The text lives in the arena. CLV_ENOMEM only. O(operators + tensors * rank + subgraphs log
 * subgraphs). */
clv_status clv_report_inspect(const clv_inspection *in, clv_text_form form, clv_arena *arena,
                              const char **ret_text, clv_error *err);

#endif
