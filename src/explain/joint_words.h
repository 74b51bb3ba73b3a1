/* joint_words.h - what people are told of a plan that splits tensors. */
#ifndef CLV_EXPLAIN_JOINT_WORDS_H
#define CLV_EXPLAIN_JOINT_WORDS_H

#include "cost/shard_problem.h"
#include "plan/plan.h"

/* Fills plan->found, plan->uneven and plan->partial from the layouts that the answer of the problem
 * gives the tensors of graph. plan has its axes and stages. CLV_ENOMEM. O(operators + edges +
 * tensors). */
clv_status clv_joint_words(const clv_graph *graph, const clv_shard_problem *problem,
                           const int32_t *answer, clv_plan *plan, clv_arena *arena, clv_error *err);

#endif
