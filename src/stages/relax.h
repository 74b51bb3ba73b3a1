/* relax.h - a search under rules that found no plan: which rules are in the way, and what leaving
 * one of them out would give.
 */
#ifndef CLV_STAGES_RELAX_H
#define CLV_STAGES_RELAX_H

#include "stages/stage_search.h"

/* After a search that found that no plan meets (proven or not): finds a minimal conflicting set,
 * notes what leaving out each of its rules gives, and searches without the one that gives most. s
 * is open on that and *ret its result; s->rules.conflict says what the plan lacks. O(rules in the
 * set * log rules) searches of clv_rule_repair, and a search of plans for each rule in the set. */
clv_status clv_relax_conflict(clv_stage_search *s, const clv_partition_options *options,
                              bool proven, clv_partition_result *ret, clv_error *err);

/* A plan that fits nowhere, while rules hold: notes a minimal set of rules that leaves too little
 * memory, as far as was searched, and what leaving out each of it gives; or that none would fit
 * without rules either. Does nothing without such rules or with an external compiler. O(rules in
 * the set * log rules) searches that end at the first plan that fits, some more for smaller sets,
 * and a longer one for each rule in the set. */
clv_status clv_relax_memory(clv_stage_search *s, const clv_partition_options *options,
                            clv_error *err);

#endif
