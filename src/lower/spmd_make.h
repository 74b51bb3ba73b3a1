/* spmd_make.h - the program of a plan's devices, made of the plan. */
#ifndef CLV_LOWER_SPMD_MAKE_H
#define CLV_LOWER_SPMD_MAKE_H

#include "lower/spmd.h"

/* The plan must have passed clv_plan_check(). What no output of the model needs is left out.
 * CLV_EFORMAT: the plan splits an operator in a way that its rule does not admit; CLV_EUNSUPP: an
 * operator that draws random numbers would run on several devices, or a tensor is split whose sizes
 * are not all known. Everything lives in the arena. O(operators + edges + steps + values *
 * positions). */
clv_status clv_spmd_make(const clv_model *model, const clv_types *types, const clv_plan *plan,
                         clv_arena *arena, clv_spmd **ret, clv_error *err);
/* The same with whole operators: each stage is one device, the first of its mesh. */
clv_status clv_spmd_make_whole(const clv_model *model, const clv_types *types, const clv_plan *plan,
                               clv_arena *arena, clv_spmd **ret, clv_error *err);

#endif
