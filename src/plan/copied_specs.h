/* copied_specs.h - the sharding specs of a plan with copies: what a spec puts on a device is on the
 * device at the same place of each copy too, so the entry becomes the group of these. And back.
 */
#ifndef CLV_PLAN_COPIED_SPECS_H
#define CLV_PLAN_COPIED_SPECS_H

#include "plan/plan.h"

/* plan->n_annotations entries, with specs for all copies; those of the plan where it has no copies.
 * Lists of devices that several specs share stay shared. In the arena. CLV_ENOMEM. O(specs + their
 * distinct lists * copies). */
clv_status clv_plan_copied_annotations(const clv_plan *plan, clv_arena *arena,
                                       const clv_plan_annotation **ret, clv_error *err);

/* The spec of copy 0 alone, in *io. CLV_EFORMAT: it has a device of one copy without that at the
 * same place of each other one. In the arena. O(devices of the spec * copies). */
clv_status clv_plan_spec_of_one(const clv_plan *plan, const int32_t *originals, clv_arena *arena,
                                clv_sharding_spec *io, clv_error *err);

#endif
