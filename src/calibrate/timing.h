/* timing.h - a folder of models, run by cleave-run, and the times that it measures. */
#ifndef CLV_CALIBRATE_TIMING_H
#define CLV_CALIBRATE_TIMING_H

#include <stdbool.h>

#include "calibrate/timing_answer.h"

/* How a folder is run: by cleave-run, on what its manifest.json lists. */
typedef struct {
    const char *runner; /* the program: a path, or a name that the shell finds */
    const char *folder;
    int32_t repeat;          /* runs, of which the fastest counts; 0: enough */
    bool in_cache;           /* caches hold what a model works on */
    bool optimized;          /* with the runtime's optimisations; false: nodes as they stand */
    bool (*stop)(void *ctx); /* asked while the runner runs; may be NULL */
    void *stop_ctx;
} clv_timing_job;

/* Runs the n_models models of the folder with a thread each. CLV_EIO: the runner cannot be started
 * or fails, with its last words; CLV_EFORMAT: its answer is not what was asked for; CLV_ECANCELED.
 */
clv_status clv_timing_run(const clv_timing_job *job, int32_t n_models, clv_arena *arena,
                          clv_timing *ret, clv_error *err);
/* The same models at once, one run behind the other: seconds from the end of a run to that of the
 * next, by the clock, where CLV_TIMING_WINDOW of them were fastest. */
clv_status clv_timing_period(const clv_timing_job *job, clv_arena *arena, double *ret_s,
                             clv_error *err);

#endif
