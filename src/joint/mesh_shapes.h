/* mesh_shapes.h - the shapes of meshes that are tried. */
#ifndef CLV_JOINT_MESH_SHAPES_H
#define CLV_JOINT_MESH_SHAPES_H

#include "joint/joint_state.h"

/* Whole operators do not do what is asked of tensors. */
bool clv_joint_needs_shards(const clv_joint *j);

/* Into j->shapes and j->whole: the shape that is asked for, else all whose devices the stages can
 * share alike. The largest meshes are first, most often the best for latency, so that others need
 * not be searched. CLV_EUSAGE where none goes with what is asked. */
clv_status clv_joint_list_shapes(clv_joint *j, clv_error *err);

#endif
