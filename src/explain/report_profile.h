/* report_profile.h - who is to run a plan: the command line, and what the restriction costs. */
#ifndef CLV_EXPLAIN_REPORT_PROFILE_H
#define CLV_EXPLAIN_REPORT_PROFILE_H

#include "explain/text.h"
#include "plan/plan.h"

/* Nothing where anyone may run it. */
void clv_report_profile(const clv_plan *plan, clv_text *text);

#endif
