/* run_program.h - running all models of a program, which is open: one after the other, or each on a
 * thread of its own, through which one run follows the other as through a pipeline.
 */
#ifndef CLV_RUN_RUN_PROGRAM_H
#define CLV_RUN_RUN_PROGRAM_H

#include "run/execution.h"

/* One run. inputs: a value for each input of the program. *ret_s: from the first model's start to
 * the last one's end. What it gave is there until the next run. */
clv_status clr_execution_run(clr_execution *execution, OrtValue *const *inputs, double *ret_s,
                             clv_error *err);
/* So many runs, at least 1, one behind the other: each model on a thread of its own goes on to the
 * next run while others are still in this one. ret_end_s: of each run, when the last model ended
 * it, in seconds from the start. What the last one gave is there until the next. */
clv_status clr_execution_run_pipelined(clr_execution *execution, OrtValue *const *inputs,
                                       int32_t runs, double *ret_end_s, clv_error *err);

#endif
