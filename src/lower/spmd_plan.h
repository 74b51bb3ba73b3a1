/* spmd_plan.h - what a plan says of operators and tensors, looked up for spmd_make.h: which phase
 * runs an operator, how it is split, which collectives stand between layouts. */
#ifndef CLV_LOWER_SPMD_PLAN_H
#define CLV_LOWER_SPMD_PLAN_H

#include "cost/shard_choices.h"
#include "lower/spmd.h"

/* One step of the plan's list of collectives. */
typedef struct {
    clv_step_kind kind;
    uint32_t axes;
    clv_op reader; /* CLV_NO_OP: for all */
    clv_layout from, to;
} clv_plan_step;

typedef struct {
    const clv_plan_step *step; /* those of a tensor stand together, in the order of the plan */
    int32_t *first;            /* n_tensors + 1 */
} clv_plan_steps;

/* By tensor, what the plan's collectives do. CLV_EFORMAT names the collective and what is wrong.
 * O(collectives + tensors). */
clv_status clv_spmd_read_steps(const clv_spmd *s, clv_arena *arena, clv_plan_steps *ret,
                               clv_error *err);

/* How plans write what is read here: "dp=b tp=n", the factor that each axis splits; "dp,tp", the
 * axes of a step. NULL: no memory. */
const char *clv_plan_split_text(const clv_factors *f, const clv_mesh *mesh,
                                const clv_op_choice *choice, clv_arena *arena);
const char *clv_plan_axes_text(const clv_mesh *mesh, uint32_t axes, clv_arena *arena);

/* By operator the factor that each axis splits: n_ops * CLV_MESH_AXES_MAX, -1 for none.
 * CLV_EFORMAT: the rule of an operator does not admit it. O(operators). */
clv_status clv_spmd_read_choices(const clv_spmd *s, clv_arena *arena, int16_t **ret,
                                 clv_error *err);

/* s->phases, without their instructions and values; *ret_of: the phase of each operator.
 * CLV_ENOMEM. O(operators + devices * stages). */
clv_status clv_spmd_read_phases(clv_spmd *s, clv_arena *arena, int32_t **ret_of, clv_error *err);

#endif
