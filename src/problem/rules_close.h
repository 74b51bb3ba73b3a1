/* rules_close.h - groups of units that must be on one device, and what that pulls along. */
#ifndef CLV_PROBLEM_RULES_CLOSE_H
#define CLV_PROBLEM_RULES_CLOSE_H

#include "problem/partition_problem.h"

/* As in clv_rules: groups by their first unit. */
typedef struct {
    int32_t n;
    const int32_t *first; /* n + 1, into units */
    const int32_t *units; /* ascending in each group */
} clv_rule_groups;

/* Closes groups: with u and v in a group, all that is read on a way from u to v is in it as well.
 * group_of: n_units, -1 or any number below n_units; becomes the closed groups. O(units + nets'
 * readers). */
clv_status clv_rules_close(const clv_partition_problem *p, clv_arena *arena, int32_t *group_of,
                           clv_rule_groups *ret, clv_error *err);

#endif
