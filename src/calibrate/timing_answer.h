/* timing_answer.h - what cleave-run answers with --json, as times. */
#ifndef CLV_CALIBRATE_TIMING_ANSWER_H
#define CLV_CALIBRATE_TIMING_ANSWER_H

#include "base/json.h"

typedef struct {
    const char *runtime;   /* version */
    const double *least_s; /* of each model: its processor time in fast runs, the
                            * fastest tenth left out */
} clv_timing;

#define CLV_TIMING_WINDOW 10

/* Of "run --repeat": the runtime's version, and of each of the n_models models the fastest run.
 * CLV_EFORMAT names the member that is not what was asked for. O(runs). */
clv_status clv_timing_read_times(const clv_json_at *root, int32_t n_models, clv_arena *arena,
                                 clv_timing *ret, clv_error *err);
/* Of "run --pipeline": seconds from the end of a run to that of the next, where CLV_TIMING_WINDOW
 * of them were fastest. CLV_EFORMAT: as above. O(runs). */
clv_status clv_timing_read_period(const clv_json_at *root, double *ret_s, clv_error *err);

#endif
