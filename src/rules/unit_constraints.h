/* unit_constraints.h - a user's constraints (rules/constraints.h) lowered to units of operators, as
 * numbers (problem/rules.h).
 */
#ifndef CLV_RULES_UNIT_CONSTRAINTS_H
#define CLV_RULES_UNIT_CONSTRAINTS_H

#include "cost/subgraph.h"
#include "problem/rules.h"
#include "rules/constraints.h"

/* Takes out of all rules what goes with another operator (clv_costs.goes_with; NULL: nothing does):
 * it is where that one is, on its side of a boundary too. O(operators in rules). */
void clv_unit_constraints_drop_followers(clv_constraints *c, const clv_op *goes_with);

/* Marks of operators for clv_subgraphs_split: equal where all rules say the same, 0 where they say
 * nothing. A Constant node has 0 too where all that rules say of it they say of its readers, which
 * take it along. In the arena; CLV_ENOMEM. O(operators in rules + edges). */
clv_status clv_unit_constraints_mark(const clv_constraints *c, const clv_graph *g, clv_arena *arena,
                                     int32_t **ret_mark, clv_error *err);

/* Sets p->rules, of a problem over these units. skip: by rule, those to be left out; may be NULL. A
 * rule of which units hold more than its operators binds all of the unit. In the arena; CLV_ENOMEM.
 * O(operators in rules + units * devices / 64 + nets' readers). */
clv_status clv_unit_constraints_lower(const clv_constraints *c, const bool *skip,
                                      const clv_subgraphs *units, clv_partition_problem *p,
                                      clv_arena *arena, clv_error *err);

#endif
