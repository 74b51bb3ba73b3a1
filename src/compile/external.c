#include "compile/external.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_out.h"
#include "compile/external_answer.h"
#include "compile/folder.h"
#include "problem/micro.h"

/* For each candidate: a folder, the files in it, the command, its answer, no folder. The
 * environment is copied once, when the compiler is opened, so that workers never read it while the
 * host changes it. The compiler itself never changes after that; any number of workers may share
 * it.
 */
#define DEFAULT_TIMEOUT_MS  INT64_C(600000)
#define DEFAULT_ANSWER_SIZE INT64_C(65536)
#define DEFAULT_PARENT      "/tmp"
#define N_OWN_VARIABLES     5 /* of each call */
#define N_ADDED             2 /* of all calls: the caller's folder and the model */

/* Makes the Poplar engine write profiles while it runs, which slows it down. */
#define DISTURBING_VARIABLE "POPLAR_ENGINE_OPTIONS"

static const char *const own_variables[] = { "CLEAVE_MODEL",   "CLEAVE_PLAN",
                                             "CLEAVE_OPTIONS", "CLEAVE_DEVICES",
                                             "CLEAVE_WORKER",  "CLEAVE_CALLER_DIR",
                                             "CLEAVE_SOURCE",  DISTURBING_VARIABLE };

typedef struct {
    clv_compiler base;
    clv_arena *arena;
    clv_workload workload;
    clv_external_options options;
    const char *parent;
    char **env; /* without the variables above, but for the caller's folder */
    int32_t n_env;
} external;

static bool names(const char *entry, const char *variable)
{
    size_t n = strlen(variable);
    return strncmp(entry, variable, n) == 0 && entry[n] == '=';
}

/* entry: NULL without memory. */
static clv_status add_variable(external *x, char *entry, clv_error *err)
{
    if (!entry)
        return clv_fail_nomem(err, "the environment");
    x->env[x->n_env++] = entry;
    return CLV_OK;
}

static clv_status copy_environment(external *x, clv_error *err)
{
    char path[PATH_MAX];
    int32_t n = 0;
    while (environ && environ[n])
        n++;
    x->env = CLV_NEW_ARRAY(x->arena, char *, (size_t)n + N_ADDED);
    if (!x->env)
        return clv_fail_nomem(err, "the environment");
    for (int32_t k = 0; k < n; k++) {
        bool is_replaced = false;
        for (size_t v = 0; v < sizeof own_variables / sizeof *own_variables; v++)
            is_replaced = is_replaced || names(environ[k], own_variables[v]);
        if (names(environ[k], DISTURBING_VARIABLE))
            x->base.warning = DISTURBING_VARIABLE
                " is unset for the external compiler: profiling would disturb its measurements";
        if (!is_replaced)
            CLV_TRY(add_variable(x, clv_arena_printf(x->arena, "%s", environ[k]), err));
    }
    /* The command runs elsewhere; this is where its files are. Left out where that folder is gone.
     */
    if (getcwd(path, sizeof path))
        CLV_TRY(add_variable(x, clv_arena_printf(x->arena, "CLEAVE_CALLER_DIR=%s", path), err));
    /* Where the planned model is, so that weights beside it are found. Left out without one. */
    if (x->options.source && realpath(x->options.source, path))
        CLV_TRY(add_variable(x, clv_arena_printf(x->arena, "CLEAVE_SOURCE=%s", path), err));
    return CLV_OK;
}

/* Of one call. */
static clv_status make_environment(const external *x, const clv_compile_worker *worker,
                                   const char *folder, char ***ret, clv_error *err)
{
    clv_arena *arena = worker->arena;
    char **env = CLV_NEW_ARRAY(arena, char *, x->n_env + N_OWN_VARIABLES + 1);
    if (!env)
        return clv_fail_nomem(err, "the environment");
    int32_t n = 0;
    env[n++] = clv_arena_printf(arena, "CLEAVE_MODEL=%s/model.onnx", folder);
    env[n++] = clv_arena_printf(arena, "CLEAVE_PLAN=%s/plan.json", folder);
    env[n++] = clv_arena_printf(arena, "CLEAVE_OPTIONS=%s/options.json", folder);
    env[n++] = clv_arena_printf(arena, "CLEAVE_DEVICES=%d", x->workload.cluster->n_devices);
    env[n++] = clv_arena_printf(arena, "CLEAVE_WORKER=%d", worker->index);
    for (int32_t k = 0; k < n; k++)
        if (!env[k])
            return clv_fail_nomem(err, "the environment");
    memcpy(env + n, x->env, (size_t)x->n_env * sizeof *env);
    *ret = env;
    return CLV_OK;
}

static void put_devices(clv_json_out *out, const clv_cluster *cluster)
{
    clv_json_open_array(out, "devices");
    for (int32_t d = 0; d < cluster->n_devices; d++) {
        const clv_device_kind *kind = clv_device_kind_of(cluster, d);
        clv_json_open_object(out, NULL);
        clv_json_put_string(out, "name", cluster->devices[d].name);
        clv_json_put_string(out, "kind", kind->name);
        clv_json_put_int(out, "memory_bytes", kind->memory_bytes);
        clv_json_put_int(out, "reserved_bytes", kind->memory_bytes - clv_device_capacity(kind));
        clv_json_put_int(out, "tiles", kind->tiles);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}

static clv_status write_options(const external *x, const clv_assignment *candidate,
                                const char *folder, clv_arena *arena, clv_error *err)
{
    const clv_workload *w = &x->workload;
    bool is_half = false; /* is any input of the model FLOAT16? */
    clv_json_out out;
    for (int32_t k = 0; k < w->model->main->n_inputs; k++)
        is_half = is_half || w->types->of[w->model->main->inputs[k].i].dtype == CLV_DT_FLOAT16;
    clv_json_begin(&out, arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_put_int(&out, "version", CLV_PROTOCOL_VERSION);
    if (candidate->proportion > 0)
        clv_json_put_number(&out, "available_memory_proportion", candidate->proportion);
    clv_json_put_string(&out, "virtual_graph_mode", "manual");
    clv_json_put_int(&out, "num_ipus", w->cluster->n_devices);
    if (is_half)
        clv_json_put_string(&out, "partials_type", "half");
    if (x->base.microbatches > 1 && x->base.microbatches < CLV_MICRO_FULL)
        clv_json_put_int(&out, "microbatches", x->base.microbatches);
    put_devices(&out, w->cluster);
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    return clv_folder_write(folder, "options.json", out.text, out.n, arena, err);
}

/* A function of the host: it ends as a command that exits. */
static clv_status ask_host(const external *x, const char *folder, const clv_compile_worker *worker,
                           clv_process_result *ret, clv_error *err)
{
    const clv_external_options *o = &x->options;
    const clv_call call = { folder, x->workload.cluster->n_devices, worker->index };
    size_t n = (size_t)o->max_answer_bytes;
    char *answer = CLV_NEW_ARRAY(worker->arena, char, n);
    if (!answer)
        return clv_fail_nomem(err, "the compiler's answer");
    int code = o->host->ask(o->host->ctx, &call, answer, n);
    answer[n - 1] = '\0';
    *ret = (clv_process_result){ .end = CLV_PROCESS_EXITED, .code = code };
    if (code == 0) {
        ret->output = answer;
        ret->n_output = strlen(answer);
    } else {
        ret->n_errors = strlen(answer) < CLV_ERRORS_KEPT ? strlen(answer) : CLV_ERRORS_KEPT;
        memcpy(ret->errors, answer, ret->n_errors);
    }
    return CLV_OK;
}

/* One call of a command. */
typedef struct {
    const clv_external_options *options;
    const clv_compile_worker *worker;
} call;

static bool is_stopped(void *ctx)
{
    const call *c = ctx;
    const clv_external_options *o = c->options;
    return (c->worker->is_dropped && atomic_load(c->worker->is_dropped)) ||
           (o->stop && o->stop(o->stop_ctx));
}

static clv_status run_command(const external *x, const char *folder,
                              const clv_compile_worker *worker, clv_process_result *ret,
                              clv_error *err)
{
    const clv_external_options *o = &x->options;
    char **env = NULL;
    CLV_TRY(make_environment(x, worker, folder, &env, err));
    call stop = { o, worker };
    clv_command command = { o->command,          folder,     env,  o->timeout_ms,
                            o->max_answer_bytes, is_stopped, &stop };
    CLV_TRY(clv_process_run(&command, worker->arena, ret, err));
    if (ret->end == CLV_PROCESS_STOPPED)
        return clv_fail(err, CLV_ECANCELED, "stopped while the compiler '%s' ran", o->command);
    return CLV_OK;
}

static clv_status judge_in(const external *x, const char *folder, const clv_compile_worker *worker,
                           const clv_assignment *candidate, clv_verdict *verdict, clv_error *err)
{
    const clv_external_options *o = &x->options;
    clv_arena *arena = worker->arena;
    clv_process_result *result = CLV_NEW(arena, clv_process_result);
    if (!result)
        return clv_fail_nomem(err, "the compiler's answer");
    CLV_TRY(o->emitter.emit(o->emitter.ctx, candidate, folder, arena, err));
    CLV_TRY(write_options(x, candidate, folder, arena, err));
    CLV_TRY(o->host ? ask_host(x, folder, worker, result, err)
                    : run_command(x, folder, worker, result, err));
    return clv_external_answer_read(result, x->workload.cluster, candidate->busy_ns, verdict, err);
}

static clv_status compile(clv_compiler *self, const clv_compile_worker *worker,
                          const clv_assignment *candidate, clv_verdict *verdict,
                          clv_compile_report *report, clv_error *err)
{
    const external *x = (const external *)self;
    clv_folder folder;
    clv_verdict made;
    CLV_TRY(clv_folder_make(x->parent, worker->arena, &folder, err));
    clv_status status = judge_in(x, folder.path, worker, candidate, &made, err);
    clv_folder_remove(&folder);
    if (status != CLV_OK)
        return status;
    *verdict = made;
    if (report)
        *report = (clv_compile_report){ 0 };
    return CLV_OK;
}

static void close_external(clv_compiler *self) { clv_arena_free(((external *)self)->arena); }

static clv_status set_up(external *x, const clv_external_options *options, clv_error *err)
{
    const char *parent = getenv("TMPDIR");
    x->options = *options;
    if (x->options.timeout_ms <= 0)
        x->options.timeout_ms = DEFAULT_TIMEOUT_MS;
    if (x->options.max_answer_bytes <= 0)
        x->options.max_answer_bytes = DEFAULT_ANSWER_SIZE;
    x->options.command = clv_arena_printf(x->arena, "%s", options->command);
    x->parent = clv_arena_printf(x->arena, "%s", parent && *parent ? parent : DEFAULT_PARENT);
    if (!x->options.command || !x->parent)
        return clv_fail_nomem(err, "the compiler");
    x->base.name = x->options.command;
    clv_folder_tidy(x->parent);
    return copy_environment(x, err);
}

clv_status clv_external_open(const clv_workload *workload, const clv_external_options *options,
                             const clv_alloc *alloc, clv_compiler **ret, clv_error *err)
{
    assert(workload && options && options->command && options->emitter.emit && ret);
    clv_arena *arena = clv_arena_new(alloc, 0);
    external *x = arena ? CLV_NEW(arena, external) : NULL;
    if (!x) {
        clv_arena_free(arena);
        return clv_fail_nomem(err, "the compiler");
    }
    *x = (external){ .base = { .compile = compile, .close = close_external },
                     .arena = arena,
                     .workload = *workload };
    clv_status status = set_up(x, options, err);
    if (status != CLV_OK) {
        clv_arena_free(arena);
        return status;
    }
    *ret = &x->base;
    return CLV_OK;
}
