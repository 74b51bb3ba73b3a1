/* mesh_rules.h - a user's rules where stages are meshes of devices that share tensors. */
#ifndef CLV_RULES_MESH_RULES_H
#define CLV_RULES_MESH_RULES_H

#include "plan/plan.h"
#include "rules/constraints.h"

/* Is there a rule that places operators on single devices? O(rules). */
bool clv_mesh_rules_name_devices(const clv_constraints *rules);
/* CLV_EUSAGE where there is one: all devices of a mesh have its operators. All other rules hold. */
clv_status clv_mesh_rules_check(const clv_constraints *rules, clv_error *err);

/* What became of the rules on tensors, into a plan that has the state of the others. idle: by rule,
 * those that bind nothing; NULL: none. conflict: NULL, or why the plan leaves them out. */
clv_status clv_mesh_rules_mark_plan(const clv_constraints *rules, const bool *idle,
                                    const char *conflict, clv_plan *plan, clv_arena *arena,
                                    clv_error *err);

#endif
