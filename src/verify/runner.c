#include "verify/runner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "compile/cleave_run.h"

#define WHAT       "running a model"
#define TIMEOUT_MS (INT64_C(24) * 3600 * 1000) /* a day: whoever waits stops it before */
#define CODE_IO    74                          /* of cleave-run: a file was not read or written */

clv_status clv_runner_shapes(const clv_types *types, clv_arena *arena, const char **ret,
                             clv_error *err)
{
    const clv_graph *g = types->graph;
    const char *text = NULL;
    for (int32_t i = 0; i < g->n_inputs; i++) {
        const clv_tensor_info *info = clv_tensor_at(g, g->inputs[i]);
        const clv_type *type = &types->of[g->inputs[i].i];
        if ((info->declared && clv_type_is_static(info->declared)) || !clv_type_is_static(type) ||
            type->kind != CLV_TYPE_TENSOR || type->rank < 1)
            continue;
        text = clv_arena_printf(arena, "%s%s%.*s=", text ? text : "", text ? "," : "",
                                CLV_STR_ARG(info->name));
        for (int32_t d = 0; text && d < type->rank; d++)
            text = clv_arena_printf(arena, "%s%s%" PRId64, text, d ? "x" : "", type->dims[d]);
        if (!text)
            return clv_fail_nomem(err, WHAT);
    }
    *ret = text;
    return CLV_OK;
}

/* What became of a run that did not end well: *ret gets the fault, if it is the model's. */
static clv_status find_fault(const clv_runner *r, const clv_process_result *run, clv_arena *arena,
                             clv_runner_answer *ret, clv_error *err)
{
    static const char own[] = "cleave-run: ";
    enum { N_OWN = sizeof own - 1 };
    clv_str line = clv_process_last_error_line(run);
    if (line.n > N_OWN && memcmp(line.at, own, N_OWN) == 0)
        line = (clv_str){ line.at + N_OWN, line.n - N_OWN };
    const char *words = line.n > 0 ? clv_arena_str(arena, line) : NULL;
    switch (run->end) {
    case CLV_PROCESS_EXITED:
        if (run->code == 126 || run->code == 127) /* of the shell: not found, not executable */
            return clv_fail(err, CLV_EIO, "'%s' cannot be run: %s", r->program,
                            words ? words : "it is no program");
        if (run->code == CODE_IO) /* no fault of the model's */
            return clv_fail(err, CLV_EIO, "%s",
                            words ? words : "the runner could not read or write");
        ret->fault =
            words ? words : clv_arena_printf(arena, "the runner ended with code %d", run->code);
        break;
    case CLV_PROCESS_SIGNALED:
        ret->fault = clv_arena_printf(arena, "the runner was ended by signal %d", run->code);
        break;
    case CLV_PROCESS_STOPPED:
        return clv_fail(err, CLV_ECANCELED, "stopped while a model was running");
    case CLV_PROCESS_NOT_STARTED:
        return clv_fail(err, CLV_EIO, "'%s' cannot be run: %s", r->program, strerror(run->code));
    case CLV_PROCESS_LOST:
    case CLV_PROCESS_TIMED_OUT:
    case CLV_PROCESS_OUTPUT_TOO_LONG:
    case CLV_PROCESS_OUTPUT_HELD_OPEN:
        ret->fault = "the runner did not come to an end";
        break;
    }
    return ret->fault ? CLV_OK : clv_fail_nomem(err, WHAT);
}

/* Do requests go round, as it says? */
static int32_t count_copies(const clv_json_at *root)
{
    clv_json_at requests, request = { 0 }, copy;
    int64_t at, most = 0;
    int32_t n = 0;
    if (clv_json_member(root, "requests", false, &requests, NULL) != CLV_OK || !requests.json ||
        clv_json_length(&requests, &n, NULL) != CLV_OK)
        return 0;
    for (int pass = 0; pass < 2; pass++) /* the highest is known when all are seen */
        for (int32_t k = 0; k < n; k++) {
            request = clv_json_element(&requests, k, k ? &request : NULL);
            if (!clv_json_is_object(&request) ||
                clv_json_member(&request, "copy", true, &copy, NULL) != CLV_OK ||
                clv_json_int(&copy, 0, INT32_MAX - 1, &at, NULL) != CLV_OK)
                return -1;
            most = at > most ? at : most;
            if (pass == 1 && at != k % (most + 1))
                return -1;
        }
    return n > 0 ? (int32_t)most + 1 : 0;
}

/* What it says of itself is for people: without it nothing is wrong. */
static clv_status read_report(const clv_runner *r, const clv_process_result *run, clv_arena *arena,
                              clv_runner_answer *ret, clv_error *err)
{
    clv_json *json = NULL;
    clv_json_at root, runtime, ms;
    const char *name = NULL;
    clv_status status = CLV_OK;
    if (clv_cleave_run_answer(r->program, run, arena, &json, &root, NULL) != CLV_OK)
        return CLV_OK;
    if (clv_json_is_object(&root) &&
        clv_json_member(&root, "runtime", false, &runtime, NULL) == CLV_OK && runtime.json &&
        clv_json_string(&runtime, &name, NULL) == CLV_OK) {
        ret->runtime = clv_arena_printf(arena, "%s", name);
        status = ret->runtime ? CLV_OK : clv_fail_nomem(err, WHAT);
    }
    if (clv_json_is_object(&root) && clv_json_member(&root, "ms", false, &ms, NULL) == CLV_OK &&
        ms.json)
        (void)clv_json_number(&ms, 0, 1e15, &ret->ms, NULL);
    ret->copies = clv_json_is_object(&root) ? count_copies(&root) : 0;
    clv_json_free(json);
    return status;
}

clv_status clv_runner_run(const clv_runner *r, const char *what, const char *out, clv_arena *arena,
                          clv_runner_answer *ret, clv_error *err)
{
    enum { FIXED = 7, OPTIONS = 8 };
    const char *words[FIXED + OPTIONS + 2] = { "run", "--json", "--random", "--seed" };
    int32_t n = 4;
    clv_process_result run;
    *ret = (clv_runner_answer){ .ms = -1 };
    if (!(words[n++] = clv_arena_printf(arena, "%" PRIu64, r->seed)))
        return clv_fail_nomem(err, WHAT);
    words[n++] = "-o";
    words[n++] = out;
    if (r->inputs) {
        words[n++] = "--inputs";
        words[n++] = r->inputs;
    }
    if (r->shapes) {
        words[n++] = "--shape";
        words[n++] = r->shapes;
    }
    if (r->optimize) {
        words[n++] = "--optimize";
        words[n++] = r->optimize;
    }
    if (r->requests > 0) {
        words[n++] = "--requests";
        if (!(words[n++] = clv_arena_printf(arena, "%" PRId32, r->requests)))
            return clv_fail_nomem(err, WHAT);
    }
    words[n++] = what;
    clv_cleave_run call = { r->program, words, ".", TIMEOUT_MS, r->stop, r->stop_ctx };
    CLV_TRY(clv_cleave_run_call(&call, arena, &run, err));
    if (run.end != CLV_PROCESS_EXITED || run.code != 0)
        return find_fault(r, &run, arena, ret, err);
    return read_report(r, &run, arena, ret, err);
}
