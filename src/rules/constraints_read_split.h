/* constraints_read_split.h - rules of a constraints file on how tensors are split over the axes of
 * a mesh: "split", "whole", "data_parallel".
 */
#ifndef CLV_RULES_CONSTRAINTS_READ_SPLIT_H
#define CLV_RULES_CONSTRAINTS_READ_SPLIT_H

#include "rules/constraints_select.h"

/* Reads what a rule of rule->kind says. object: all of it, at: the value of the key that says its
 * kind. A rule that matches nothing becomes unused. CLV_EFORMAT, naming the place. O(as
 * clv_constraints_parse()). */
clv_status clv_constraints_read_split(clv_constraints_reader *r, const clv_json_at *object,
                                      const clv_json_at *at, clv_constraint *rule, clv_error *err);

#endif
