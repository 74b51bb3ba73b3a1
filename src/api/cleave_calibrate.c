/* cleave_calibrate.c - the public API that describes this machine by what it measures. */
#include <stdio.h>

#include "api/api.h"
#include "calibrate/calibration_json.h"
#include "proto/out_file.h"

#define DEFAULT_RUNNER  "cleave-run"
#define DEFAULT_DEVICES 2

typedef struct {
    const cleave_calibrate_options *given;
} asking;

static bool should_stop(void *ctx)
{
    const asking *a = ctx;
    return a->given->stop && a->given->stop(a->given->stop_ctx);
}

static clv_status write_text(const char *path, const char *text, size_t n, clv_arena *arena,
                             clv_error *err)
{
    clv_out_file *out;
    CLV_TRY(clv_out_open(path, clv_arena_alloc(arena), &out, err));
    clv_sink sink = clv_out_sink(out);
    clv_status status = sink.write(sink.ctx, text, n, err);
    if (status != CLV_OK) {
        clv_out_abort(out);
        return status;
    }
    return clv_out_commit(out, err);
}

static void summarise(const clv_calibration *c, cleave_calibrated *ret)
{
    *ret = (cleave_calibrated){ .measurements = c->n_points,
                                .operators = c->fit.n_ops,
                                .devices = c->devices,
                                .matrix_flops = c->fit.matrix_per_s,
                                .vector_flops = c->fit.vector_per_s,
                                .memory_bytes_per_s = c->fit.bytes_per_s,
                                .launch_s = c->fit.launch_s,
                                .link_latency_s = c->latency_s,
                                .link_bytes_per_s = c->bytes_per_s,
                                .error = c->fit.error };
    snprintf(ret->runtime, sizeof ret->runtime, "%s", c->runtime);
}

static clv_status calibrate(const cleave_calibrate_options *given, const char *path,
                            clv_arena *arena, cleave_calibrated *ret, clv_error *err)
{
    asking a = { given };
    clv_calibrate_options o = { .runner = given->runner ? given->runner : DEFAULT_RUNNER,
                                .devices = given->devices ? given->devices : DEFAULT_DEVICES,
                                .stop = should_stop,
                                .stop_ctx = &a };
    clv_calibration c;
    const char *text;
    size_t n;
    CLV_TRY(clv_out_try(path, clv_arena_alloc(arena), err));
    CLV_TRY(clv_calibrate(&o, arena, &c, err));
    CLV_TRY(clv_calibration_json(&c, arena, &text, &n, err));
    CLV_TRY(write_text(path, text, n, arena, err));
    if (ret)
        summarise(&c, ret);
    return CLV_OK;
}

cleave_status cleave_calibrate(const cleave_calibrate_options *options, const char *path,
                               cleave_calibrated *ret, cleave_error *error)
{
    clv_error err;
    if (!options || !path)
        return clv_api_refuse(error, CLV_EUSAGE, "cleave_calibrate needs options and a path");
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_status status =
        arena ? calibrate(options, path, arena, ret, &err) : clv_fail_nomem(&err, "calibrating");
    clv_arena_free(arena);
    return clv_api_give(status, &err, error);
}
