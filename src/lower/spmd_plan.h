/* spmd_plan.h - what a plan says of operators and tensors, looked up: between the files of spmd. */
#ifndef CLV_LOWER_SPMD_PLAN_H
#define CLV_LOWER_SPMD_PLAN_H

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
clv_status clv_plan_steps_read(const clv_spmd *s, clv_arena *arena, clv_plan_steps *ret,
                               clv_error *err);

/* By operator the factor that each axis splits: n_ops * CLV_MESH_AXES_MAX, -1 for none.
 * CLV_EFORMAT: the rule of an operator does not admit it. O(operators). */
clv_status clv_plan_choices_read(const clv_spmd *s, clv_arena *arena, int16_t **ret,
                                 clv_error *err);

/* Phases, without their instructions; *ret_of: the phase of each operator. */
clv_status clv_plan_phases_read(clv_spmd *s, clv_arena *arena, int32_t **ret_of, clv_error *err);

#endif
