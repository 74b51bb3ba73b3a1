/* plan_note.h - sentences that a plan carries along. */
#ifndef CLV_PLAN_NOTE_H
#define CLV_PLAN_NOTE_H

#include "plan/plan.h"

/* One more note. text: lives as long as the plan; NULL is taken for lack of memory. */
clv_status clv_plan_note(clv_plan *plan, const char *text, clv_arena *arena, clv_error *err);

#endif
