/* shard_findings.h - what is worth knowing of a plan that splits tensors: the parallelism it uses,
 * and what sharding specs cannot say of its tensors.
 */
#ifndef CLV_EXPLAIN_SHARD_FINDINGS_H
#define CLV_EXPLAIN_SHARD_FINDINGS_H

#include "plan/plan_layouts.h"

/* Sets plan->found, plan->uneven and plan->partial from how the plan lays its tensors. In the
 * arena; CLV_ENOMEM. O(operators + edges + tensors). */
clv_status clv_plan_add_findings(clv_plan *plan, const clv_plan_layouts *layouts, clv_arena *arena,
                                 clv_error *err);

#endif
