/* derived_layouts.h - what follows from the decisions of a plan: where each tensor lies.
 *
 * The only place that works it out. A program that is lowered and proven (spmd_make.h), the specs
 * of an annotated model (plan_specs.h) and what a plan says of itself all come from here.
 */
#ifndef CLV_LOWER_DERIVED_LAYOUTS_H
#define CLV_LOWER_DERIVED_LAYOUTS_H

#include "lower/spmd_plan.h"
#include "plan/plan_layouts.h"

/* What a plan decides, looked up in its model. */
typedef struct {
    clv_plan_layouts layouts;
    const clv_factors *factors; /* by operator: its rule for the plan's mesh */
    const int16_t *factor;      /* n_ops * CLV_MESH_AXES_MAX: what each axis splits, -1 */
    clv_plan_steps steps;
    bool *needed; /* by operator: an output of the model needs it */
} clv_plan_decisions;

/* s: with model, types, plan and mesh, and factors where they are known already; else it gets them.
 * CLV_EFORMAT: a split that a rule does not
 * admit, a collective that leads from a layout which its tensor never has, or to one that nobody
 * needs. In the arena. O(operators + edges + collectives). */
clv_status clv_derive_layouts(clv_spmd *s, clv_arena *arena, clv_plan_decisions *ret,
                              clv_error *err);

/* The mesh of the stages of a plan; one device where it has none. */
clv_mesh clv_plan_mesh_form(const clv_plan *plan);

#endif
