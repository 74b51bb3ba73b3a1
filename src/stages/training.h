/* training.h - where the model has a backward pass: its units, and the problem with it folded away.
 */
#ifndef CLV_STAGES_TRAINING_H
#define CLV_STAGES_TRAINING_H

#include "stages/run.h"

/* For the throughput of more than one micro-batch at a time, cuts by hand aside: finds the backward
 * pass, and makes units of operators that update weights. To be called before the problem is built.
 */
clv_status clv_run_find_backward(clv_run *r);
/* Lays it over the forward pass: r->problem is of that one, and r->judge is asked about both. Does
 * nothing where there is none. To be called when problem, compiler and judge are there. */
clv_status clv_run_overlay(clv_run *r);

/* Of the units of r->workload from those of r->problem; the same array where nothing is folded. */
clv_status clv_run_expand(const clv_run *r, const int32_t *device_of, const int32_t **ret);
/* The unit of r->workload that a unit of r->problem is, without its backward part. */
int32_t clv_run_unit(const clv_run *r, int32_t unit);

/* Stages by the forward pass, and which operators are of the backward one. device_of: of
 * r->workload. Needs nothing of r that changes, so any thread may call it with an arena of its own.
 */
clv_status clv_run_tell_training(const clv_run *r, const int32_t *device_of, clv_arena *arena,
                                 clv_plan *plan, clv_error *err);

#endif
