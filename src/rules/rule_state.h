/* rule_state.h - a request's rules while a plan is searched, and what became of each: in force,
 * left out, part of a conflict, without effect.
 */
#ifndef CLV_RULES_RULE_STATE_H
#define CLV_RULES_RULE_STATE_H

#include "plan/plan.h"
#include "rules/constraints.h"

typedef struct {
    clv_constraints rules;
    const bool *skip;     /* by rule: left out; NULL: none is */
    const bool *core;     /* by rule: they contradict each other, or a cut by hand breaks them */
    const char *conflict; /* why no plan meets the rules; NULL: one does, as far as is known */
    const char **notes;   /* sentences on rules, for the notes of the plan */
    int32_t n_notes, cap_notes;
} clv_rule_state;

/* Labels of the rules for which in is set, n of them: "rules[0] 'a', rules[2] and rules[5]". In the
 * arena; NULL without memory. */
const char *clv_rules_list(const clv_constraints *rules, const bool *in, int32_t n,
                           clv_arena *arena);
/* The label of one (clv_constraint_label()), in the arena; NULL without memory. */
const char *clv_rules_label(const clv_constraints *rules, int32_t rule, clv_arena *arena);

/* A sentence for the notes of the plan. text is kept; NULL: there was no memory for it. */
clv_status clv_rule_state_note(clv_rule_state *s, const char *text, clv_arena *arena,
                               clv_error *err);

/* Sets conflict and core where a plan given by hand breaks rules, with a note for each; nothing
 * where it meets them. O(operators + rules * clv_constraints_first_broken()). */
clv_status clv_rule_state_find_broken(clv_rule_state *s, const clv_graph *g, const clv_plan *plan,
                                      clv_arena *arena, clv_error *err);

/* CLV_EINTERNAL if the plan breaks a rule that is in force. */
clv_status clv_rule_state_check(const clv_rule_state *s, const clv_graph *g, const clv_plan *plan,
                                clv_arena *arena, clv_error *err);

/* The rules into the plan, with what became of each, and notes and warnings among its notes. */
clv_status clv_rule_state_mark_plan(const clv_rule_state *s, clv_plan *plan, clv_arena *arena,
                                    clv_error *err);

#endif
