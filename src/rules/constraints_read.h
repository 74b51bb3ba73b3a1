/* constraints_read.h - constraints out of a constraints file (docs/formats/constraints.md). */
#ifndef CLV_RULES_CONSTRAINTS_READ_H
#define CLV_RULES_CONSTRAINTS_READ_H

#include "cluster/cluster.h"
#include "rules/constraints.h"

/* Rules about the operators of g and the devices of a cluster, by number or name. CLV_EFORMAT,
 * naming the place in the text and the rule's name if it has one; CLV_ELIMIT where there are more
 * rules, or more operators in all rules, than are looked at. Strings are copied, everything is in
 * the arena. O(text + patterns with wildcards * operators + operators in rules). */
clv_status clv_constraints_parse(const char *text, const clv_graph *g, const clv_cluster *cluster,
                                 clv_arena *arena, clv_constraints *ret, clv_error *err);

#endif
