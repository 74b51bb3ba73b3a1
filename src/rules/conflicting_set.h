/* conflicting_set.h - which rules contradict each other: a minimal set that no plan meets.
 *
 * Finds an irreducible infeasible subset by a deletion filter (Chinneck and Dravnieks 1991): rules
 * are left out, larger lots first as in delta debugging (Zeller and Hildebrandt 2002), as long as
 * no plan meets what is left. Of such a set no rule can go, and still it may not be the smallest;
 * of few rules smaller ones are tried in order of their size. Whether a plan meets a set of rules
 * the caller says. O(rules in the set * log rules) calls, and a fixed number more.
 */
#ifndef CLV_RULES_CONFLICTING_SET_H
#define CLV_RULES_CONFLICTING_SET_H

#include "rules/rule_state.h"
#include "solver/partition/rule_repair.h"

typedef struct {
    const clv_constraints *rules;
    /* Is there a plan that meets the rules that skip leaves? */
    clv_status (*find_plan)(void *ctx, const bool *skip, clv_rule_outcome *ret, clv_error *err);
    void *ctx;
    bool by_memory; /* a plan has to fit, too: without any rule one does */
    /* No plan meets them: proven, or none was found. Before the call of all rules, then of the set.
     */
    bool proven;
    bool *core; /* by rule: in the set */
    int32_t n_core;
} clv_conflicting_set;

/* Sets core, n_core and proven. Lives in the arena. */
clv_status clv_conflicting_set_find(clv_conflicting_set *c, clv_arena *arena, clv_error *err);

/* Into the notes: which rules contradict each other, or leave too little memory, and what each of
 * them asks. *ret_words: the first of these sentences. */
clv_status clv_conflicting_set_note(const clv_conflicting_set *c, clv_rule_state *notes,
                                    const char **ret_words, clv_arena *arena, clv_error *err);

#endif
