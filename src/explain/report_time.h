/* report_time.h - the parts of the report of a plan that say what its time goes to, and what that
 * rests on. Nothing where the plan does not say what its kernels are.
 */
#ifndef CLV_EXPLAIN_REPORT_TIME_H
#define CLV_EXPLAIN_REPORT_TIME_H

#include "explain/text.h"
#include "plan/plan.h"

/* By device and cause, by kind of kernel, and the dearest kernels. O(kernels log kernels). */
void clv_report_time(const clv_plan *plan, clv_text *text);
/* Who forms kernels, how many there are, and how much of the time is measured. O(kernels). */
void clv_report_basis(const clv_plan *plan, clv_text *text);

#endif
