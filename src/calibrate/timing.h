/* timing.h - a folder of models, run by cleave-run, and the times that it measures. */
#ifndef CLV_CALIBRATE_TIMING_H
#define CLV_CALIBRATE_TIMING_H

#include "calibrate/calibrate.h"

typedef struct {
    const char *runtime;   /* version */
    const double *least_s; /* of each model: its processor time in its fastest run */
} clv_timing;

/* Runs what manifest.json of the folder lists, n_models models with a thread each. Errors as those
 * of clv_calibrate(). */
clv_status clv_timing_run(const clv_calibrate_options *options, const char *folder,
                          int32_t n_models, clv_arena *arena, clv_timing *ret, clv_error *err);
/* The same models at once, one run behind the other: seconds from the end of a run to that of the
 * next, by the clock, where CLV_TIMING_WINDOW of them were fastest. */
#define CLV_TIMING_WINDOW 10
clv_status clv_timing_period(const clv_calibrate_options *options, const char *folder,
                             clv_arena *arena, double *ret_s, clv_error *err);

#endif
