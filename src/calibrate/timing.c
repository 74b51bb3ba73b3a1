#include "calibrate/timing.h"

#include <math.h>
#include <string.h>

#include "compile/cleave_run.h"

#define REPEAT     60
#define WARMUP     "3"
#define TIMEOUT_MS INT64_C(300000) /* of one start; it takes some seconds */
#define MS_MAX     1e9

/* -- how it ended -- */

static clv_status check_end(const char *runner, const clv_process_result *run, clv_error *err)
{
    clv_str words = clv_process_last_error_line(run);
    switch (run->end) {
    case CLV_PROCESS_EXITED:
        if (run->code == 0)
            return CLV_OK;
        return clv_fail(err, CLV_EIO, "the runner '%.100s' ended with exit code %d%s%.*s", runner,
                        run->code, words.n ? ": " : "", words.n > 200 ? 200 : words.n, words.at);
    case CLV_PROCESS_SIGNALED:
        return clv_fail(err, CLV_EIO, "the runner '%.100s' was ended by signal %d", runner,
                        run->code);
    case CLV_PROCESS_TIMED_OUT:
        return clv_fail(err, CLV_EIO, "the runner '%.100s' took more than %d s", runner,
                        (int)(TIMEOUT_MS / 1000));
    case CLV_PROCESS_STOPPED:
        return clv_fail(err, CLV_ECANCELED, "stopped while the runner '%.100s' ran", runner);
    case CLV_PROCESS_NOT_STARTED:
        return clv_fail(err, CLV_EIO, "the runner '%.100s' cannot be started: %s", runner,
                        strerror(run->code));
    case CLV_PROCESS_OUTPUT_TOO_LONG:
    case CLV_PROCESS_OUTPUT_HELD_OPEN:
    case CLV_PROCESS_LOST:
        break;
    }
    return clv_fail(err, CLV_EIO, "the runner '%.100s' gave no answer that can be read", runner);
}

/* -- its answer -- */

static clv_status read_model(const clv_json_at *at, double *ret_s, clv_error *err)
{
    clv_json_at runs, run = { 0 };
    int32_t n;
    char path[256];
    CLV_TRY(clv_json_member(at, "cpu_runs_ms", true, &runs, err));
    CLV_TRY(clv_json_length(&runs, &n, err));
    if (n == 0)
        return clv_fail(err, CLV_EFORMAT, "%s is empty, expected the times of all runs",
                        clv_json_path(&runs, path, sizeof path));
    *ret_s = INFINITY;
    for (int32_t i = 0; i < n; i++) {
        double ms;
        run = clv_json_element(&runs, i, i ? &run : NULL);
        CLV_TRY(clv_json_number(&run, 0, MS_MAX, &ms, err));
        *ret_s = ms * 1e-3 < *ret_s ? ms * 1e-3 : *ret_s;
    }
    return CLV_OK;
}

static clv_status read_answer(const clv_json_at *root, int32_t n_models, clv_arena *arena,
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
        CLV_TRY(read_model(&model, &least[i], err));
    }
    ret->least_s = least;
    return CLV_OK;
}

static clv_status read_period(const clv_json_at *root, double *ret_s, clv_error *err)
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

/* -- starting it -- */

/* The runner's answer, to be freed, with a path for messages. how: "--repeat" or "--pipeline". */
static clv_status run_folder(const clv_timing_job *job, const char *how, clv_arena *arena,
                             clv_json **ret, clv_json_at *ret_root, clv_error *err)
{
    int repeat = job->repeat > 0 ? job->repeat : REPEAT;
    const char *times = clv_arena_printf(arena, "%d", repeat);
    const char *const words[] = { "run",        ".",      "--random", "--threads", "1",
                                  "--optimize", "none",   "--warmup", WARMUP,      how,
                                  times,        "--json", NULL };
    clv_cleave_run call = { job->runner, words, job->folder, TIMEOUT_MS, job->stop, job->stop_ctx };
    clv_process_result run;
    if (!times)
        return clv_fail_nomem(err, "the runner");
    CLV_TRY(clv_cleave_run_call(&call, arena, &run, err));
    CLV_TRY(check_end(job->runner, &run, err));
    return clv_cleave_run_answer(job->runner, &run, arena, ret, ret_root, err);
}

clv_status clv_timing_run(const clv_timing_job *job, int32_t n_models, clv_arena *arena,
                          clv_timing *ret, clv_error *err)
{
    clv_json *json;
    clv_json_at root;
    CLV_TRY(run_folder(job, "--repeat", arena, &json, &root, err));
    clv_status status = read_answer(&root, n_models, arena, ret, err);
    clv_json_free(json);
    return status;
}

clv_status clv_timing_period(const clv_timing_job *job, clv_arena *arena, double *ret_s,
                             clv_error *err)
{
    clv_json *json;
    clv_json_at root;
    CLV_TRY(run_folder(job, "--pipeline", arena, &json, &root, err));
    clv_status status = read_period(&root, ret_s, err);
    clv_json_free(json);
    return status;
}
