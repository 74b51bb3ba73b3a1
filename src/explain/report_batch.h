/* report_batch.h - the part of a plan's report that says which batch: what each size gave, and why
 * one was chosen. */
#ifndef CLV_EXPLAIN_REPORT_BATCH_H
#define CLV_EXPLAIN_REPORT_BATCH_H

#include "explain/text.h"
#include "plan/plan.h"

/* Begins with an empty line; nothing where no batch was chosen. O(sizes). */
void clv_report_batch(const clv_plan *plan, clv_text *text);

#endif
