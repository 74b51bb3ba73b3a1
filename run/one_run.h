/* one_run.h - one model of a program, run once: takes its inputs from where they are, times it. */
#ifndef CLV_RUN_ONE_RUN_H
#define CLV_RUN_ONE_RUN_H

#include "run/execution.h"

/* Run number `run` of model i, counted from the start of the meeting. What it takes of other models
 * has been made in that run; what it makes replaces what it made CLR_RUNS_KEPT runs before. On the
 * thread of the model: others may run other models meanwhile. */
clv_status clr_run_once(clr_execution *execution, int32_t i, int32_t run, OrtValue *const *inputs,
                        clv_error *err);

#endif
