/* shard_findings.h - what is worth knowing of a plan that splits tensors: the parallelism it uses,
 * and what sharding specs cannot say of its tensors.
 */
#ifndef CLV_EXPLAIN_SHARD_FINDINGS_H
#define CLV_EXPLAIN_SHARD_FINDINGS_H

#include "cost/shard_problem.h"
#include "plan/plan.h"

/* Sets plan->found, plan->uneven and plan->partial from the layouts that the solution of the
 * problem gives the tensors of graph. plan has its axes and stages. solution: by node, as
 * clv_strategy_solve() gives it. In the arena; CLV_ENOMEM. O(operators + edges + tensors). */
clv_status clv_plan_add_shard_findings(const clv_graph *graph, const clv_shard_problem *problem,
                                       const int32_t *solution, clv_plan *plan, clv_arena *arena,
                                       clv_error *err);

#endif
