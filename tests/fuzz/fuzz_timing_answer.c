/* fuzz_timing_answer.c - any bytes as what cleave-run answers to `cleave calibrate`: refused in a
 * sentence, or times from which numbers of a device follow, whose file reads back. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/calibration_json.h"
#include "calibrate/timing_answer.h"
#include "cluster/cluster_json.h"
#include "compile/cleave_run.h"

#define N_MODELS 4
#define LEAST_S  1e-9 /* as calibrate.c has it: what is not more than the empty model */

static void must(bool yes)
{
    if (!yes)
        abort();
}

static void check_error(clv_status s, const clv_error *err)
{
    must(s == CLV_OK || s == CLV_EFORMAT || s == CLV_ELIMIT || s == CLV_ENOMEM);
    must(s == CLV_OK || (err->message[0] && memchr(err->message, '\0', sizeof err->message)));
}

static bool is_share(double x) { return x > 0 && x <= 1; }

/* What calibrate says of a device has to be what a plan can be made with. */
static void check_file(const clv_fit *fit, clv_arena *arena)
{
    clv_calibration c = { .runtime = "1",
                          .fit = *fit,
                          .n_points = N_MODELS,
                          .latency_s = 1e-6,
                          .bytes_per_s = 1e9,
                          .memory_bytes = INT64_C(1) << 34,
                          .devices = 2,
                          .repeat = 1 };
    const char *text = NULL;
    size_t n = 0;
    clv_error err = { 0 };
    clv_cluster *cluster = NULL;
    clv_status s = clv_calibration_json(&c, arena, &text, &n, &err);
    check_error(s, &err);
    must(s != CLV_OK || clv_cluster_parse(&(clv_cluster_source){ text, n, "fuzz", NULL, NULL },
                                          arena, &cluster, &err) == CLV_OK);
}

static void fit_times(const double *least_s, clv_arena *arena)
{
    clv_fit_point points[N_MODELS] = {
        { 0, 1e6, 0, 1e4, 0 }, { 0, 1e9, 0, 1e6, 0 }, { 1, 0, 1e6, 1e6, 0 }, { 2, 0, 0, 1e7, 0 }
    };
    clv_fit fit = { 0 };
    clv_error err = { 0 };
    for (int i = 0; i < N_MODELS; i++)
        points[i].seconds = least_s[i] > LEAST_S ? least_s[i] : LEAST_S;
    clv_status s = clv_fit_points(points, N_MODELS, arena, &fit, &err);
    check_error(s, &err);
    if (s != CLV_OK)
        return;
    must(isfinite(fit.launch_s) && fit.launch_s >= 0);
    must(isfinite(fit.matrix_per_s) && fit.matrix_per_s > 0);
    must(isfinite(fit.vector_per_s) && fit.vector_per_s > 0);
    must(isfinite(fit.bytes_per_s) && fit.bytes_per_s > 0);
    must(is_share(fit.matrix_share) && is_share(fit.vector_share) && is_share(fit.bytes_share));
    check_file(&fit, arena);
}

static void read_all(const clv_json_at *root, clv_arena *arena)
{
    clv_timing timing = { 0 };
    double period_s = -1;
    clv_error err = { 0 };
    clv_status s = clv_timing_read_times(root, N_MODELS, arena, &timing, &err);
    check_error(s, &err);
    if (s == CLV_OK) {
        must(timing.runtime != NULL);
        for (int i = 0; i < N_MODELS; i++)
            must(isfinite(timing.least_s[i]) && timing.least_s[i] >= 0);
        fit_times(timing.least_s, arena);
    }
    s = clv_timing_read_period(root, &period_s, &err);
    check_error(s, &err);
    must(s != CLV_OK || (isfinite(period_s) && period_s >= 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clv_arena *arena = clv_arena_new(NULL, (size_t)256 << 20);
    clv_process_result run = { .output = malloc(size + 1), .n_output = size };
    clv_json *json = NULL;
    clv_json_at root;
    clv_error err = { 0 };
    must(arena && run.output);
    if (size)
        memcpy(run.output, data, size);
    run.output[size] = '\0';
    clv_status s = clv_cleave_run_answer("fuzz", &run, arena, &json, &root, &err);
    check_error(s, &err);
    if (s == CLV_OK)
        read_all(&root, arena);
    clv_json_free(json);
    free(run.output);
    clv_arena_free(arena);
    return 0;
}
