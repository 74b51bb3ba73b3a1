/* training.h - a graph with a backward pass: the problem of its forward pass, the backward one
 * folded into it.
 */
#ifndef CLV_STAGES_TRAINING_H
#define CLV_STAGES_TRAINING_H

#include "stages/stage_state.h"

/* For the throughput of more than one micro-batch at a time, cuts by hand aside: finds the backward
 * pass, and makes units of operators that update weights. To be called before the problem is built.
 * O(operators + edges). */
clv_status clv_training_find_backward(clv_stage_search *s, clv_error *err);

/* Folds the backward pass into the forward one: s->problem is of the forward pass, and s->judge
 * judges both. Does nothing where there is no backward pass. To be called when problem, compiler
 * and judge are there. */
clv_status clv_training_fold(clv_stage_search *s, clv_error *err);

/* The devices of the units of s->workload from those of s->problem; the same array where nothing is
 * folded. */
clv_status clv_training_unfold(const clv_stage_search *s, const int32_t *device_of,
                               const int32_t **ret, clv_error *err);

/* The unit of s->workload that a unit of s->problem is, without its backward part. */
int32_t clv_training_forward_unit(const clv_stage_search *s, int32_t unit);

/* Stages by the forward pass into the plan, and which operators are of the backward one. device_of:
 * of s->workload. Changes nothing in s, so any thread may call it with an arena of its own. */
clv_status clv_training_mark_plan(const clv_stage_search *s, const int32_t *device_of,
                                  clv_arena *arena, clv_plan *plan, clv_error *err);

#endif
