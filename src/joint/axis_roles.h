/* axis_roles.h - what each axis of a mesh is for in a plan, and the name of its form that follows:
 * "DP2xTP4xPP2".
 *
 * Data parallel (dp): at least half of the matmuls with weights have copies of these along the
 * axis, and parts of the batch. Context parallel (cp): the same with parts of a sequence or an
 * image. Else expert parallel (ep), where experts are dealt out by most of those that are split, or
 * tensor parallel (tp), where weights are split any other way. These are the rules of
 * parallelism.h, which names what is found one by one.
 */
#ifndef CLV_JOINT_AXIS_ROLES_H
#define CLV_JOINT_AXIS_ROLES_H

#include "cost/shard_problem.h"

typedef enum {
    CLV_ROLE_NONE, /* nothing with weights is split along it */
    CLV_ROLE_DATA,
    CLV_ROLE_CONTEXT,
    CLV_ROLE_TENSOR,
    CLV_ROLE_EXPERT,
    CLV_N_ROLES
} clv_axis_role;

/* Matmuls with weights: what all forms have in common. */
typedef struct {
    const struct clv_role_op *at;
    int32_t n;
    bool flat_is_sequence; /* all inputs have a batch of one */
} clv_role_ops;

/* In the arena. CLV_ENOMEM. O(operators + edges). */
clv_status clv_role_ops_find(const clv_costs *costs, const clv_types *types, clv_arena *arena,
                             clv_role_ops *ret, clv_error *err);

/* By axis of the problem's mesh. O(matmuls with weights). */
void clv_axis_roles_of(const clv_shard_problem *problem, const int32_t *solution,
                       const clv_role_ops *ops, clv_axis_role ret[static CLV_MESH_AXES_MAX]);

/* "TP", as a part of the name of a form. */
const char *clv_axis_role_form(clv_axis_role role);

/* Names of axes that say what they do, where the form has none of its own: of two that do the same
 * the outer one is "tp-outer". Axes without a role keep theirs where no other has it, else they are
 * "rep" and "rep-outer". The names are constants. */
void clv_axis_roles_name(const clv_axis_role roles[static CLV_MESH_AXES_MAX], clv_mesh *io);

#endif
