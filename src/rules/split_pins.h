/* split_pins.h - a user's rules on tensors (rules/split_rules.h) on one mesh: a filter of choices.
 *
 * A rule on a tensor is about the layout in which it lies; of a weight, the one that each operator
 * needs that reads it. A rule on an operator is about the factors that it splits.
 */
#ifndef CLV_RULES_SPLIT_PINS_H
#define CLV_RULES_SPLIT_PINS_H

#include "cost/shard_problem.h"
#include "rules/constraints.h"

typedef struct {
    clv_choice_filter filter;
    bool any;             /* false: all choices pass */
    const bool *idle;     /* by rule: what it names is nothing to be split */
    const char *conflict; /* no choice of some operator obeys them all; NULL: one does */
} clv_split_pins;

/* Rules that speak of shards at all, other than those that are unused? */
bool clv_split_pins_asked(const clv_constraints *rules);
/* Some that a plan without shards does not obey? */
bool clv_split_pins_need_mesh(const clv_constraints *rules);

/* data_parallel: the outermost axis splits nothing but the batch, as a rule could say. CLV_EFORMAT,
 * naming rule, axis and tensor or operator: no such axis, a dimension that is not there or too
 * short, what an operator cannot split and why, two rules that contradict each other. Lives in the
 * arena, beside rules, types, factors and mesh. O(operators + edges + what rules name, and for
 * those the choices of an operator). */
clv_status clv_split_pins_make(const clv_constraints *rules, bool data_parallel,
                               const clv_types *types, const clv_factors *factors,
                               const clv_mesh *mesh, clv_arena *arena, clv_split_pins **ret,
                               clv_error *err);

#endif
