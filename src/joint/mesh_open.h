/* mesh_open.h - the mesh of a form and the stages on it, and whether they can be used at all. */
#ifndef CLV_JOINT_MESH_OPEN_H
#define CLV_JOINT_MESH_OPEN_H

#include "joint/joint_state.h"
#include "rules/tensor_constraints.h"

typedef struct {
    const clv_mesh *mesh; /* of the first stage: all are alike */
    clv_resharder *resharder;
    clv_factors *factors;                /* by operator, for the mesh */
    clv_tensor_constraints *constraints; /* NULL: no rule speaks of tensors */
    int32_t n_stages;
    clv_cluster *stages; /* of meshes */
    bool refused;        /* its rules do not go with it: error says why */
    bool unlike;         /* devices of its stages would be, in kind or links */
    bool excluded;       /* for one of those, or as no plan keeps the rules */
} clv_mesh_opened;

/* What rules on tensors, or who is to run the plan, mean for a mesh, with the factors for it; *ret
 * NULL where none asks anything. */
clv_status clv_mesh_open_constraints(const clv_joint *j, const clv_factors *factors,
                                     const clv_mesh *mesh, clv_arena *arena,
                                     clv_tensor_constraints **ret, clv_error *err);

/* The mesh, its communication and what rules mean for it: the same however many groups and stages
 * there are. CLV_ENOMEM. O(operators). */
clv_status clv_mesh_open(const clv_joint *j, const clv_joint_form *form, clv_arena *arena,
                         clv_mesh_opened *ret, clv_error *err);

/* The stages of a group, after that. CLV_ENOMEM. O(devices^2). */
clv_status clv_mesh_open_stages(const clv_joint *j, const clv_joint_form *form, clv_arena *arena,
                                clv_mesh_opened *io, clv_error *err);

/* Of all stages together: what a device of each has for tensors; whether there is room for its part
 * of j->kept_bytes, were all of that split; its part of j->held_bytes. O(1). */
int64_t clv_mesh_memory_bytes(const clv_mesh_opened *on);
bool clv_mesh_has_room(const clv_joint *j, const clv_mesh_opened *on);
int64_t clv_mesh_split_bytes(const clv_joint *j, const clv_mesh_opened *on);

#endif
