/* plan_specs.h - the sharding specs of a plan whose stages are meshes: they follow from its
 * layouts.
 */
#ifndef CLV_LOWER_PLAN_SPECS_H
#define CLV_LOWER_PLAN_SPECS_H

#include "plan/plan_layouts.h"

/* Sets plan->annotations: each node of the main graph with its stage, and a spec for each explicit
 * input as its operator takes it and each output as it is delivered. A tensor whose size is not
 * known has none. plan has its meshes, devices and operators. In the arena. CLV_ENOMEM.
 * O(operators + edges + different specs * devices of a mesh). */
clv_status clv_plan_derive_specs(clv_plan *plan, const clv_plan_layouts *layouts, clv_arena *arena,
                                 clv_error *err);

/* Holds annotations that somebody else wrote, by position, against those of the plan: stages and
 * parts of tensors have to be the same, however they are written. CLV_EFORMAT: they contradict the
 * plan's splits; the sentence names node and tensor. O(what is annotated + shards). */
clv_status clv_plan_check_specs(const clv_plan *plan, const clv_plan_annotation *given, int32_t n,
                                const clv_plan_layouts *layouts, clv_arena *arena, clv_error *err);

#endif
