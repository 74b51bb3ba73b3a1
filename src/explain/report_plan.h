/* report_plan.h - a plan for people, from the answer to its reasons: does it fit, who does what,
 * which other plans there are, what is in memory, what moves, how fast, how good.
 *
 * As wide as the form says, but for sentences and for names that must be exact (the sharding
 * nodes). Names of the model are shown with control characters escaped.
 */
#ifndef CLV_EXPLAIN_REPORT_PLAN_H
#define CLV_EXPLAIN_REPORT_PLAN_H

#include "explain/text.h"
#include "plan/plan.h"

/* poprt: at the end are the lines of PopRT's auto_sharding.py, "Sharding nodes: Device 0 - [...]"
 * and "[Success] ..." (docs/formats/plan.md), instead of our own. The text lives in the arena.
 * CLV_ENOMEM only. O(devices + transfers log transfers + collectives log collectives). */
clv_status clv_report_plan(const clv_plan *plan, clv_text_form form, bool poprt, clv_arena *arena,
                           const char **ret_text, clv_error *err);

#endif
