/* joint_rules.h - a user's rules where stages and shards are found together. */
#ifndef CLV_RULES_JOINT_RULES_H
#define CLV_RULES_JOINT_RULES_H

#include "pipeline/pipeline.h"
#include "rules/split_pins.h"

clv_status clv_joint_rules_read(const clv_request *req, const clv_cluster *cluster,
                                clv_arena *arena, clv_constraints *ret, clv_error *err);
/* Is there a rule on single devices? */
bool clv_joint_rules_place(const clv_constraints *rules);
/* Whoever cuts the model into stages sees meshes for devices, so such a rule is CLV_EUSAGE; all
 * others hold. */
clv_status clv_joint_rules_check(const clv_constraints *rules, clv_error *err);

/* What became of the rules on tensors, into the plan; of the others the cut has told. idle: by
 * rule, those that bind nothing; NULL: none. conflict: NULL, or why the plan leaves them out. */
clv_status clv_joint_rules_tell(const clv_constraints *rules, const bool *idle,
                                const char *conflict, clv_arena *arena, clv_plan *plan,
                                clv_error *err);

#endif
