/* report_choice.h - the part of a plan's report that says which plan: the best of other forms
 * beside it, why it was taken, and what fewer devices give. */
#ifndef CLV_EXPLAIN_REPORT_CHOICE_H
#define CLV_EXPLAIN_REPORT_CHOICE_H

#include "explain/text.h"
#include "plan/plan.h"

/* Begins with an empty line; nothing where there is one form alone. O(alternatives). */
void clv_report_choice(const clv_plan *plan, clv_text *text);

#endif
