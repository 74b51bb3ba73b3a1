#include "calibrate/timing.h"

#include <string.h>

#include "compile/cleave_run.h"

#define REPEAT     60
#define WARMUP     "3"
#define TIMEOUT_MS INT64_C(300000) /* of one start; it takes some seconds */

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

/* -- starting it -- */

/* The runner's answer, to be freed, with a path for messages. how: "--repeat" or "--pipeline". */
static clv_status run_folder(const clv_timing_job *job, const char *how, clv_arena *arena,
                             clv_json **ret, clv_json_at *ret_root, clv_error *err)
{
    int repeat = job->repeat > 0 ? job->repeat : REPEAT;
    const char *times = clv_arena_printf(arena, "%d", repeat);
    const char *level = job->optimized ? "all" : "none";
    /* Of an operator that moves data the input was just written by the one before, in a model;
     * products read weights that were not. */
    const char *again = job->in_cache ? "--again" : NULL;
    const char *const words[] = { "run",        ".",      "--random", "--threads", "1",
                                  "--optimize", level,    "--warmup", WARMUP,      how,
                                  times,        "--json", again,      NULL };
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
    clv_status status = clv_timing_read_times(&root, n_models, arena, ret, err);
    clv_json_free(json);
    return status;
}

clv_status clv_timing_period(const clv_timing_job *job, clv_arena *arena, double *ret_s,
                             clv_error *err)
{
    clv_json *json;
    clv_json_at root;
    CLV_TRY(run_folder(job, "--pipeline", arena, &json, &root, err));
    clv_status status = clv_timing_read_period(&root, ret_s, err);
    clv_json_free(json);
    return status;
}
