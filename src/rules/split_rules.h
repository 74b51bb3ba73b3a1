/* split_rules.h - rules of a constraints file on how tensors are split over the axes of a mesh:
 * "split", "whole", "data_parallel".
 */
#ifndef CLV_RULES_SPLIT_RULES_H
#define CLV_RULES_SPLIT_RULES_H

#include "rules/constraints_nodes.h"

/* Reads what a rule of that kind says; at: the value of its key, object: all of it. in: scratch,
 * n_ops entries. *n_members counts the operators and tensors in rules. A rule that matches nothing
 * becomes unused. CLV_EFORMAT, naming the place. O(as clv_constraints_parse()). */
clv_status clv_split_rule_read(clv_node_reader *r, clv_rule_kind kind, const clv_json_at *object,
                               const clv_json_at *at, bool *in, int64_t *n_members, clv_rule *rule,
                               clv_error *err);

#endif
