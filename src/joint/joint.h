/* joint.h - stages and shards found together.
 *
 * The devices are dealt out to meshes of equal form, one mesh a stage. For each form the strategy
 * problem finds how each operator is split over a mesh; what a device of the mesh then runs is a
 * model of its own (lower/local_model.h), and the pipeline finds stages for it on a cluster of
 * meshes (lower/stage_cluster.h). One device a mesh is the pipeline alone, one mesh is tensors
 * alone: both are among the forms, so no plan is worse than either.
 */
#ifndef CLV_JOINT_H
#define CLV_JOINT_H

#include "stages/run.h"

/* Does the request ask for shards? */
bool clv_joint_asked(const clv_request *req);
/* Does it leave open whether operators stay whole? Not where it gives the cut, the search, a limit
 * on it or a compiler, which are of whole operators, nor with more operators than are split in a
 * few seconds. */
bool clv_joint_may(const clv_request *req);

/* The best plan of all forms by the objective, and the least of their bounds. A request that does
 * not ask for shards, with a rule that places operators on devices, gets whole operators. */
clv_status clv_joint_run(const clv_request *req, const clv_analysis *analysis, clv_arena *arena,
                         clv_plan **ret, clv_error *err);

#endif
