/* joint_rules.h - a user's rules where stages and shards are found together. */
#ifndef CLV_JOINT_RULES_H
#define CLV_JOINT_RULES_H

#include "joint/split_pins.h"
#include "pipeline.h"

/* The rules of the request. Whoever cuts the model into stages sees meshes for devices, so a rule
 * on single devices is CLV_EUSAGE; all others hold. */
clv_status clv_joint_rules_read(const clv_request *req, const clv_cluster *cluster,
                                clv_arena *arena, clv_constraints *ret, clv_error *err);

/* text: lives in the arena; NULL is taken for lack of memory. */
clv_status clv_joint_add_note(clv_plan *plan, const char *text, clv_arena *arena, clv_error *err);

/* What became of the rules on tensors, into the plan; of the others the cut has told. idle: by
 * rule, those that bind nothing; NULL: none. conflict: NULL, or why the plan leaves them out. */
clv_status clv_joint_rules_tell(const clv_constraints *rules, const bool *idle,
                                const char *conflict, clv_arena *arena, clv_plan *plan,
                                clv_error *err);

#endif
