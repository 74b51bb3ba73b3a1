/* joint.h - stages and shards found together.
 *
 * The devices are dealt out to meshes of equal shape, one mesh a stage. For each shape the
 * intra-operator problem finds how each operator is split over a mesh; what a device of the mesh
 * then runs is a model of its own (lower/local_model.h), and src/stages finds stages for it on a
 * cluster of meshes (lower/stage_cluster.h), as Alpa does (Zheng et al. 2022) with the two passes
 * the other way round. One device a mesh is stages alone, one mesh is shards alone: both are among
 * the shapes, so no plan is worse than either.
 */
#ifndef CLV_JOINT_JOINT_H
#define CLV_JOINT_JOINT_H

#include "plan/plan.h"
#include "request/analysis.h"
#include "request/request.h"

/* Does the request leave open whether operators stay whole, or how many copies of a plan there are?
 * Not where it gives the cut, the search, a limit on it or a compiler; and operators stay whole
 * where more are there than are split in a few seconds. */
bool clv_joint_may(const clv_request *req);

/* The best plan of all shapes by the objective, and the least of their bounds. A request that does
 * not ask for shards, with a rule that places operators on devices, gets whole operators. The plan
 * lives in the arena, beside analysis and model. Notes as of clv_stages_plan(). */
clv_status clv_joint_plan(const clv_request *req, const clv_analysis *analysis, clv_arena *arena,
                          clv_plan **ret, clv_error *err);

#endif
