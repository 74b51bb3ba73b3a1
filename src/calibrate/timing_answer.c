#include "calibrate/timing_answer.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"

#define MS_MAX 1e9
/* One run in so many may be faster than what counts: clocks of virtual machines at times count less
 * of a thread's time than there was, down to none. */
#define FASTEST 10

static clv_status read_model(const clv_json_at *at, clv_arena *arena, double *ret_s, clv_error *err)
{
    clv_json_at runs, run = { 0 };
    int32_t n;
    char path[256];
    CLV_TRY(clv_json_member(at, "cpu_runs_ms", true, &runs, err));
    CLV_TRY(clv_json_length(&runs, &n, err));
    if (n == 0)
        return clv_fail(err, CLV_EFORMAT, "%s is empty, expected the times of all runs",
                        clv_json_path(&runs, path, sizeof path));
    double *ms = CLV_NEW_ARRAY(arena, double, n);
    if (!ms)
        return clv_fail_nomem(err, "the runner's answer");
    for (int32_t i = 0; i < n; i++) {
        run = clv_json_element(&runs, i, i ? &run : NULL);
        CLV_TRY(clv_json_number(&run, 0, MS_MAX, &ms[i], err));
    }
    qsort(ms, (size_t)n, sizeof *ms, clv_compare_double);
    *ret_s = ms[n / FASTEST] * 1e-3;
    return CLV_OK;
}

clv_status clv_timing_read_times(const clv_json_at *root, int32_t n_models, clv_arena *arena,
                                 clv_timing *ret, clv_error *err)
{
    clv_json_at runtime, models, model = { 0 };
    double *least = CLV_NEW_ARRAY(arena, double, n_models);
    int32_t n;
    char path[256];
    if (!least)
        return clv_fail_nomem(err, "the runner's answer");
    CLV_TRY(clv_json_member(root, "runtime", true, &runtime, err));
    CLV_TRY(clv_json_copy_string(&runtime, arena, &ret->runtime, err));
    CLV_TRY(clv_json_member(root, "models", true, &models, err));
    CLV_TRY(clv_json_length(&models, &n, err));
    if (n != n_models)
        return clv_fail(err, CLV_EFORMAT, "%s has %d elements, expected one for each of %d models",
                        clv_json_path(&models, path, sizeof path), (int)n, (int)n_models);
    for (int32_t i = 0; i < n; i++) {
        model = clv_json_element(&models, i, i ? &model : NULL);
        CLV_TRY(read_model(&model, arena, &least[i], err));
    }
    ret->least_s = least;
    return CLV_OK;
}

clv_status clv_timing_read_period(const clv_json_at *root, double *ret_s, clv_error *err)
{
    clv_json_at pipeline, ends, end = { 0 };
    double ms[CLV_TIMING_WINDOW], least_ms = INFINITY, last_ms = 0; /* ms: the last ends, in turn */
    int32_t n;
    char path[256];
    CLV_TRY(clv_json_member(root, "pipeline", true, &pipeline, err));
    CLV_TRY(clv_json_member(&pipeline, "ends_ms", true, &ends, err));
    CLV_TRY(clv_json_length(&ends, &n, err));
    if (n <= CLV_TIMING_WINDOW)
        return clv_fail(err, CLV_EFORMAT, "%s has %d elements, expected more than %d",
                        clv_json_path(&ends, path, sizeof path), (int)n, CLV_TIMING_WINDOW);
    for (int32_t i = 0; i < n; i++) {
        double now_ms, *before_ms = &ms[i % CLV_TIMING_WINDOW];
        end = clv_json_element(&ends, i, i ? &end : NULL);
        CLV_TRY(clv_json_number(&end, last_ms, MS_MAX, &now_ms, err));
        last_ms = now_ms;
        if (i >= CLV_TIMING_WINDOW && now_ms - *before_ms < least_ms)
            least_ms = now_ms - *before_ms;
        *before_ms = now_ms;
    }
    *ret_s = least_ms * 1e-3 / CLV_TIMING_WINDOW;
    return CLV_OK;
}
