/* joint_plan.h - from stages of a local model to a plan of the whole one. */
#ifndef CLV_JOINT_PLAN_H
#define CLV_JOINT_PLAN_H

#include "lower/local_model.h"
#include "pipeline/pipeline.h"

/* cut: the plan of local->model on a cluster of meshes. Mesh m has the devices order[m * n] to
 * order[m * n + n - 1] of cluster, n those of mesh. Numbers of a mesh count for each of its
 * devices; every node is annotated with the layouts of its inputs and outputs. */
clv_status clv_joint_plan_make(const clv_request *req, const clv_cluster *cluster,
                               const int32_t *order, const clv_mesh *mesh,
                               const clv_shard_problem *problem, const int32_t *answer,
                               const clv_local_model *local, const clv_plan *cut, clv_arena *arena,
                               clv_plan **ret, clv_error *err);

#endif
