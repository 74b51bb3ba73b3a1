/* no_fit.h - words for a plan that does not fit: what is missing where, and what would fit. */
#ifndef CLV_EXPLAIN_NO_FIT_H
#define CLV_EXPLAIN_NO_FIT_H

#include "stages/run.h"

/* What verdicts on plans that do not fit say: where memory is missing, if the compiler knows more
 * than the device, and what each lower proportion lacked (B.056), but for those that were tried
 * only in the hope of something faster. */
clv_status clv_tell_shortages(clv_run *r, clv_plan *plan, const clv_search_result *result);

/* Adds the notes; what would help is left out of a terse request. report may be NULL. */
clv_status clv_explain_no_fit(clv_run *r, clv_plan *plan, const clv_tried *best,
                              const clv_compile_report *report);

#endif
