/* whole_plan.h - from stages of the model of one device of a mesh to a plan of the whole model. */
#ifndef CLV_JOINT_WHOLE_PLAN_H
#define CLV_JOINT_WHOLE_PLAN_H

#include "joint/mesh_candidate.h"

/* The plan of j's best solution, whose problem, local model and cut are in c. Mesh m of the cut has
 * the devices order[m * n] to order[m * n + n - 1] of the cluster, n those of a mesh, order that of
 * its links. Numbers of a mesh count for each of its devices; every node is annotated with the
 * layouts of its inputs and outputs. Lives in j->arena. O(operators * devices of a mesh + edges).
 */
clv_status clv_joint_whole_plan(const clv_joint *j, const clv_mesh_candidate *c,
                                const clv_joint_found *found, clv_plan **ret, clv_error *err);

#endif
