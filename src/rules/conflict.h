/* conflict.h - words for rules that no plan obeys: which of them contradict each other, and what
 * leaving one out would give. */
#ifndef CLV_RULES_CONFLICT_H
#define CLV_RULES_CONFLICT_H

#include "stages/run.h"

/* After a search that found that no plan obeys (proven or not): finds a minimal conflicting set
 * (one that is none without any of its rules; of few rules the smallest of all), says in r->told
 * what leaving out each gives, and runs the search without the one that gives most. r is open on
 * that and *ret its result; r->conflict says what the plan lacks. O(rules in the set * log rules)
 * searches of clv_obey, and a search of plans for each rule in the set. */
clv_status clv_explain_conflict(clv_run *r, const clv_search_options *options, bool proven,
                                clv_search_result *ret);

/* The rules that a plan given by hand breaks, into r->told and r->conflict; nothing if it obeys. */
clv_status clv_explain_broken(clv_run *r, const clv_plan *plan);

/* A plan that fits nowhere, while rules hold: says in r->told a minimal set of rules that leaves too
 * little memory, as far as was searched, and what leaving out each of it gives; or that none would
 * fit without rules either. O(rules in the set * log rules) searches that end at the first plan
 * that fits, some more for smaller sets, and a longer one for each rule in the set. */
clv_status clv_tell_rules_and_memory(clv_run *r, const clv_search_options *options);

/* A fault of ours if the plan breaks a rule that holds. */
clv_status clv_check_rules(clv_run *r, const clv_plan *plan);

/* The rules into the plan, with what became of each, and the warnings among its notes. */
clv_status clv_note_rules(clv_run *r, clv_plan *plan);

#endif
