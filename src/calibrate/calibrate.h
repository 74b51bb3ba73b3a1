/* calibrate.h - a cluster of devices of this machine, described by what a runner measures.
 *
 * docs/calibration.md says what is measured, fitted and assumed.
 */
#ifndef CLV_CALIBRATE_CALIBRATE_H
#define CLV_CALIBRATE_CALIBRATE_H

#include "calibrate/fit.h"

#define CLV_CALIBRATE_DEVICES_MAX 64

typedef struct {
    const char *runner;      /* the program cleave-run: a path, or a name that the shell finds */
    int32_t devices;         /* that the cluster gets; 1 to CLV_CALIBRATE_DEVICES_MAX */
    int32_t repeat;          /* runs, of which the fastest counts; 0: enough */
    bool (*stop)(void *ctx); /* asked while the runner runs; may be NULL */
    void *stop_ctx;
} clv_calibrate_options;

typedef struct {
    const char *runtime; /* its version, by the runner */
    clv_fit fit;
    int32_t n_points;
    double latency_s, bytes_per_s; /* of a collective of two devices */
    int64_t memory_bytes;          /* of the machine */
    int32_t devices, repeat;
} clv_calibration;

/* Makes models in a folder of its own, runs them, removes them. CLV_EIO: no folder, or the runner
 * cannot be started or fails, with its last words; CLV_EFORMAT: its answer is not what was asked
 * for, or cannot be fitted; CLV_ECANCELED. Strings and arrays live in the arena. */
clv_status clv_calibrate(const clv_calibrate_options *options, clv_arena *arena,
                         clv_calibration *ret, clv_error *err);

#endif
