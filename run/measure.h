/* measure.h - runs a program again and again, and keeps the times. */
#ifndef CLV_RUN_MEASURE_H
#define CLV_RUN_MEASURE_H

#include "run/execution.h"

typedef struct {
    int warmup, repeat; /* runs before, and those that are timed; repeat at least 1 */
    double budget_s;    /* no further run begins after that, but for the first timed one; 0: none.
                           A quarter of it is for the runs before. */
} clr_measure_options;

typedef struct {
    const double *run_s;          /* of each timed run, in order */
    int n, warmup;                /* how many there were */
    double median_s;              /* of an even number the lower of the two in the middle */
    const clr_model_times *times; /* of each model, in the run of that time */
    const clr_model_times *all;   /* of each model in the first timed run, in the next, ... */
} clr_measured;

/* All lives in the arena. */
clv_status clr_measure(clr_execution *x, OrtValue *const *inputs,
                       const clr_measure_options *options, clv_arena *arena, clr_measured *ret,
                       clv_error *err);

#endif
