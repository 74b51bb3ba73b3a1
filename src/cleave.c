/* cleave.c - the public API on top of the pipeline: objects, codes, nothing else. */
#include "cleave.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "cluster/cluster_json.h"
#include "pipeline.h"
#include "plan/plan_annotations.h"
#include "plan/plan_check.h"
#include "plan/plan_json.h"
#include "report/report.h"
#include "shards.h"

#define DEFAULT_CLUSTER    "dgx-h100"
#define DEFAULT_TIMEOUT_MS 600000 /* ten minutes: real compilers take minutes for one candidate */
#define PLAN_FILE_MAX      ((size_t)1 << 30) /* a plan of 10^8 operators is smaller */
#define ASK_EVERY          ((uint64_t)64 << 20) /* bytes written between two looks at `stop` */

struct cleave_model {
    clv_alloc alloc;
    bool own_alloc; /* the host gave one */
    clv_arena *arena;
    clv_onnx_file *file;
    clv_model *model;
    const char *name;
    clv_binding *bindings;
    int32_t n_bindings, cap_bindings;
    int (*stop)(void *ctx); /* asked while files are written; may be NULL */
    void *stop_ctx;
};

struct cleave_plan {
    clv_arena *arena;
    clv_plan *plan;
    const char *text, *json;
    size_t n_json;
};

/* -- codes: the two tables, once each -- */

static cleave_status public_status(clv_status status)
{
    switch (status) {
    case CLV_OK:
        return CLEAVE_OK;
    case CLV_EUSAGE:
        return CLEAVE_EUSAGE;
    case CLV_EFORMAT:
    case CLV_ELIMIT:
        return CLEAVE_EINPUT;
    case CLV_EUNSUPP:
        return CLEAVE_EUNSUPPORTED;
    case CLV_EIO:
        return CLEAVE_EIO;
    case CLV_ENOMEM:
        return CLEAVE_ENOMEM;
    case CLV_ECANCELED:
        return CLEAVE_ECANCELED;
    case CLV_ESOLVER:
    case CLV_EINTERNAL:
        break;
    }
    return CLEAVE_EINTERNAL;
}

static cleave_status give(clv_status status, const clv_error *err, cleave_error *ret)
{
    cleave_status code = public_status(status);
    if (ret) {
        ret->status = code;
        memset(ret->message, 0, sizeof ret->message);
        if (code != CLEAVE_OK)
            memcpy(ret->message, err->message, sizeof ret->message - 1);
    }
    return code;
}

static cleave_status refuse(cleave_error *ret, clv_status status, const char *words)
{
    clv_error err;
    clv_fail(&err, status, "%s", words);
    return give(status, &err, ret);
}

const char *cleave_version(void) { return CLEAVE_VERSION; }

/* -- models -- */

static const clv_alloc *alloc_of(const cleave_model *m) { return m->own_alloc ? &m->alloc : NULL; }

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Takes an opened file over; frees all of it when reading fails. */
static clv_status read_model(cleave_model *m, const char *name, clv_error *err)
{
    m->name = clv_arena_printf(m->arena, "%s", name);
    if (!m->name)
        return clv_fail_nomem(err, "a model");
    return clv_onnx_read(m->file, m->arena, &m->model, err);
}

static clv_status new_model(const cleave_allocator *allocator, cleave_model **ret, clv_error *err)
{
    clv_alloc alloc = { NULL, NULL };
    if (allocator && allocator->resize)
        alloc = (clv_alloc){ allocator->resize, allocator->ctx };
    clv_arena *arena = clv_arena_new(&alloc, 0);
    cleave_model *m = arena ? CLV_NEW(arena, cleave_model) : NULL;
    if (!m) {
        clv_arena_free(arena);
        return clv_fail_nomem(err, "a model");
    }
    m->arena = arena;
    m->alloc = alloc;
    m->own_alloc = alloc.resize != NULL;
    *ret = m;
    return CLV_OK;
}

cleave_status cleave_model_open(const char *path, const cleave_allocator *allocator,
                                cleave_model **ret_model, cleave_error *error)
{
    clv_error err;
    cleave_model *m = NULL;
    if (!path || !ret_model)
        return refuse(error, CLV_EUSAGE,
                      "cleave_model_open needs a path and a place for the model");
    clv_status status = new_model(allocator, &m, &err);
    if (status == CLV_OK)
        status = clv_onnx_open(path, alloc_of(m), &m->file, &err);
    if (status == CLV_OK)
        status = read_model(m, base_name(path), &err);
    if (status == CLV_OK)
        *ret_model = m;
    else
        cleave_model_free(m);
    return give(status, &err, error);
}

cleave_status cleave_model_open_bytes(const void *bytes, size_t n, const char *folder,
                                      const cleave_allocator *allocator, cleave_model **ret_model,
                                      cleave_error *error)
{
    clv_error err;
    cleave_model *m = NULL;
    if ((!bytes && n) || !ret_model)
        return refuse(error, CLV_EUSAGE,
                      "cleave_model_open_bytes needs bytes and a place for the model");
    clv_status status = new_model(allocator, &m, &err);
    if (status == CLV_OK)
        status = clv_onnx_open_bytes(bytes, n, folder, alloc_of(m), &m->file, &err);
    if (status == CLV_OK)
        status = read_model(m, "model", &err);
    if (status == CLV_OK)
        *ret_model = m;
    else
        cleave_model_free(m);
    return give(status, &err, error);
}

void cleave_model_free(cleave_model *model)
{
    if (!model)
        return;
    clv_onnx_close(model->file);
    clv_arena_free(model->arena);
}

cleave_status cleave_model_bind(cleave_model *model, const char *symbol, int64_t size,
                                cleave_error *error)
{
    clv_error err;
    if (!model || !symbol)
        return refuse(error, CLV_EUSAGE, "cleave_model_bind needs a model and a symbol");
    clv_str name = clv_str_of(symbol);
    bool known = false;
    for (int32_t i = 0; i < model->model->n_symbols; i++)
        known |= clv_str_eq(model->model->symbols[i], name);
    if (!known || size < 1) {
        char list[256] = "none";
        size_t n = 0;
        for (int32_t i = 0; i < model->model->n_symbols && n < sizeof list; i++)
            n += (size_t)snprintf(list + n, sizeof list - n, "%s%.*s", n ? ", " : "",
                                  CLV_STR_ARG(model->model->symbols[i]));
        clv_status status =
            known ? clv_fail(&err, CLV_EFORMAT,
                             "symbol '%.60s' is bound to %lld: expected at least 1", symbol,
                             (long long)size)
                  : clv_fail(&err, CLV_EFORMAT,
                             "'%.60s' is not a symbol of this model: its symbols are %s", symbol,
                             list);
        return give(status, &err, error);
    }
    for (int32_t i = 0; i < model->n_bindings; i++)
        if (clv_str_eq(model->bindings[i].symbol, name)) {
            model->bindings[i].value = size;
            return give(CLV_OK, &err, error);
        }
    char *copy = clv_arena_printf(model->arena, "%s", symbol);
    if (!copy ||
        !CLV_PUSH_ROOM(model->arena, model->bindings, model->n_bindings, model->cap_bindings))
        return give(clv_fail_nomem(&err, "a binding"), &err, error);
    model->bindings[model->n_bindings++] = (clv_binding){ clv_str_of(copy), size };
    return give(CLV_OK, &err, error);
}

const char *cleave_model_warning(const cleave_model *model, int i)
{
    /* Warnings are made by us and end in a NUL. */
    return model && i >= 0 && i < model->model->n_warnings ? model->model->warnings[i].at : NULL;
}

/* Text that outlives the arena it was made in. */
static char *keep_text(const cleave_model *m, const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = m->own_alloc ? m->alloc.resize(m->alloc.ctx, NULL, n) : malloc(n);
    return copy ? memcpy(copy, text, n) : NULL;
}

void cleave_text_free(cleave_model *model, char *text)
{
    if (model && model->own_alloc)
        model->alloc.resize(model->alloc.ctx, text, 0);
    else
        free(text);
}

static clv_status inspect(const cleave_model *m, bool as_json, clv_arena *arena, char **ret,
                          clv_error *err)
{
    clv_analysis a;
    const char *text;
    CLV_TRY(clv_analyse(m->model, m->bindings, m->n_bindings, false, arena, &a, err));
    clv_inspection in = { m->name, m->model, a.inference, a.costs, a.units };
    CLV_TRY(as_json ? clv_report_inspect_json(&in, arena, &text, err)
                    : clv_report_inspect(&in, arena, &text, err));
    *ret = keep_text(m, text);
    return *ret ? CLV_OK : clv_fail_nomem(err, "a report");
}

cleave_status cleave_model_inspect(cleave_model *model, int as_json, char **ret_text,
                                   cleave_error *error)
{
    clv_error err;
    if (!model || !ret_text)
        return refuse(error, CLV_EUSAGE,
                      "cleave_model_inspect needs a model and a place for the text");
    clv_arena *arena = clv_arena_new(alloc_of(model), 0);
    clv_status status = arena ? inspect(model, as_json != 0, arena, ret_text, &err)
                              : clv_fail_nomem(&err, "a report");
    clv_arena_free(arena);
    return give(status, &err, error);
}

static clv_status list_shards(const cleave_model *m, const clv_shards_request *req, bool as_json,
                              clv_arena *arena, char **ret, int *ret_wrong, clv_error *err)
{
    clv_shard_list list;
    const char *text;
    CLV_TRY(clv_shards_make(req, arena, &list, err));
    CLV_TRY(as_json ? clv_report_shards_json(&list, arena, &text, err)
                    : clv_report_shards(&list, arena, &text, err));
    char *copy = keep_text(m, text);
    if (!copy)
        return clv_fail_nomem(err, "a report");
    *ret = copy;
    if (ret_wrong)
        *ret_wrong = list.n_wrong;
    return CLV_OK;
}

cleave_status cleave_model_shards(cleave_model *model, const char *configuration,
                                  cleave_uneven uneven, int as_json, char **ret_text,
                                  int *ret_wrong, cleave_error *error)
{
    static const clv_uneven_policy policies[] = { CLV_UNEVEN_REFUSE, CLV_UNEVEN_CEIL,
                                                  CLV_UNEVEN_BALANCED };
    clv_error err;
    if (!model || !ret_text || (unsigned)uneven > CLEAVE_UNEVEN_BALANCED)
        return refuse(error, CLV_EUSAGE,
                      "cleave_model_shards needs a model, a policy and a place for the text");
    clv_shards_request req = { .file = model->file,
                               .model = model->model,
                               .model_name = model->name,
                               .bindings = model->bindings,
                               .n_bindings = model->n_bindings,
                               .configuration = configuration,
                               .policy = policies[uneven] };
    clv_arena *arena = clv_arena_new(alloc_of(model), 0);
    clv_status status = arena
                            ? list_shards(model, &req, as_json != 0, arena, ret_text, ret_wrong, &err)
                            : clv_fail_nomem(&err, "a report");
    clv_arena_free(arena);
    return give(status, &err, error);
}

/* -- planning -- */

/* Between the search's callback and the host's. */
typedef struct {
    const cleave_plan_options *options;
    struct timespec start;
} progress_relay;

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) * 1e-9;
}

static double per_second(int64_t period_ns) { return period_ns > 0 ? 1e9 / (double)period_ns : 0; }

static bool relay_progress(void *ctx, int32_t judged, int32_t queued, const clv_verdict *best)
{
    const progress_relay *relay = ctx;
    double seconds = seconds_since(&relay->start);
    cleave_progress p = { .candidates_judged = judged,
                          .candidates_queued = queued,
                          .found = best && best->outcome == CLV_FITS,
                          .seconds = seconds,
                          .seconds_left = judged > 0 ? seconds / judged * queued : -1 };
    if (p.found) {
        p.latency_ms = (double)best->latency_ns * 1e-6;
        p.throughput = per_second(best->period_ns);
    }
    return relay->options->progress(relay->options->progress_ctx, &p) != 0;
}

static bool relay_stop(void *ctx)
{
    const cleave_plan_options *options = ctx;
    return options->stop(options->stop_ctx) != 0;
}

static clv_status check_options(const cleave_plan_options *o, clv_error *err)
{
    if (o->devices < 0)
        return clv_fail(err, CLV_EUSAGE, "devices is %d: expected 0 (as many as are best) or more",
                        o->devices);
    if (o->memory_bytes < 0)
        return clv_fail(err, CLV_EUSAGE, "memory is %lld bytes: expected 0 (as described) or more",
                        (long long)o->memory_bytes);
    if (o->jobs < 0 || o->jobs > 1024)
        return clv_fail(err, CLV_EUSAGE, "jobs is %d: expected 1 to 1024", o->jobs);
    if (o->max_candidates < 0)
        return clv_fail(err, CLV_EUSAGE,
                        "max_candidates is %d: expected 0 (the search decides) or more",
                        o->max_candidates);
    return CLV_OK;
}

static clv_status show_plan(cleave_plan *p, clv_error *err)
{
    CLV_TRY(clv_plan_write(p->plan, p->arena, &p->json, &p->n_json, err));
    return clv_report_plan(p->plan, p->arena, &p->text, err);
}

static clv_status make_plan(const cleave_model *m, const cleave_plan_options *o, cleave_plan *p,
                            clv_error *err)
{
    progress_relay relay = { .options = o };
    clock_gettime(CLOCK_MONOTONIC, &relay.start);
    CLV_TRY(check_options(o, err));
    const char *configs =
        o->configs_path ? o->configs_path : CLEAVE_CONFIGS_INSTALLED ":" CLEAVE_CONFIGS_SOURCE;
    clv_request req = {
        .file = m->file,
        .model = m->model,
        .model_name = m->name,
        .bindings = m->bindings,
        .n_bindings = m->n_bindings,
        .devices = o->devices,
        .memory_bytes = o->memory_bytes,
        .sharding_nodes = o->sharding_nodes,
        .jobs = o->jobs,
        .compiler = o->compiler,
        .compiler_timeout_ms =
            o->compiler_timeout_s > 0 ? (int64_t)(o->compiler_timeout_s * 1e3) : DEFAULT_TIMEOUT_MS,
        .stop = o->stop ? relay_stop : NULL,
        .stop_ctx = (void *)o,
        .alloc = alloc_of(m),
        .search = { .kind = o->documented_search ? CLV_SEARCH_DOCUMENTED : CLV_SEARCH_DEFAULT,
                    .objective = o->objective == CLEAVE_THROUGHPUT ? CLV_THROUGHPUT : CLV_LATENCY,
                    .first_fit = o->first_fit != 0,
                    .max_judged = o->max_candidates,
                    .progress = o->progress ? relay_progress : NULL,
                    .progress_ctx = &relay },
    };
    clv_cluster *cluster;
    CLV_TRY(clv_cluster_load(o->cluster ? o->cluster : DEFAULT_CLUSTER, configs, p->arena, &cluster,
                             err));
    req.cluster = cluster;
    CLV_TRY(clv_pipeline_run(&req, p->arena, &p->plan, err));
    return show_plan(p, err);
}

static clv_status new_plan(const cleave_model *m, cleave_plan **ret, clv_error *err)
{
    clv_arena *arena = clv_arena_new(alloc_of(m), 0);
    cleave_plan *p = arena ? CLV_NEW(arena, cleave_plan) : NULL;
    if (!p) {
        clv_arena_free(arena);
        return clv_fail_nomem(err, "a plan");
    }
    p->arena = arena;
    *ret = p;
    return CLV_OK;
}

cleave_status cleave_plan_make(cleave_model *model, const cleave_plan_options *options,
                               cleave_plan **ret_plan, cleave_error *error)
{
    static const cleave_plan_options defaults = CLEAVE_PLAN_OPTIONS;
    clv_error err;
    cleave_plan *p = NULL;
    if (!model || !ret_plan)
        return refuse(error, CLV_EUSAGE, "cleave_plan_make needs a model and a place for the plan");
    clv_status status = new_plan(model, &p, &err);
    if (status == CLV_OK)
        status = make_plan(model, options ? options : &defaults, p, &err);
    if (status != CLV_OK) {
        cleave_plan_free(p);
        return give(status, &err, error);
    }
    *ret_plan = p;
    if (cleave_plan_fits(p))
        return give(CLV_OK, &err, error);
    if (error) {
        error->status = CLEAVE_NO_PLAN;
        snprintf(error->message, sizeof error->message, "%s",
                 p->plan->n_notes ? p->plan->notes[p->plan->n_notes - 1] : "no plan fits");
    }
    return CLEAVE_NO_PLAN;
}

void cleave_plan_free(cleave_plan *plan)
{
    if (plan)
        clv_arena_free(plan->arena);
}

int cleave_plan_fits(const cleave_plan *plan) { return plan->plan->outcome == CLV_FITS; }
int cleave_plan_devices(const cleave_plan *plan) { return plan->plan->n_devices; }
int cleave_plan_stages(const cleave_plan *plan) { return plan->plan->n_stages; }
double cleave_plan_latency_ms(const cleave_plan *plan)
{
    return (double)plan->plan->latency_ns * 1e-6;
}
double cleave_plan_throughput(const cleave_plan *plan) { return per_second(plan->plan->period_ns); }
const char *cleave_plan_text(const cleave_plan *plan) { return plan->text; }
const char *cleave_plan_json(const cleave_plan *plan) { return plan->json; }

int cleave_plan_device_of(const cleave_plan *plan, int64_t node)
{
    return node >= 0 && node < plan->plan->n_ops ? plan->plan->device_of_op[node] : -1;
}

/* A plan file names everything; nothing of the run that made it is needed. */
static clv_status load_plan(const cleave_model *m, const char *path, cleave_plan *p, clv_error *err)
{
    const char *text;
    size_t n;
    CLV_TRY(clv_read_file(path, PLAN_FILE_MAX, p->arena, &text, &n, err));
    CLV_TRY(clv_plan_read(text, n, path, p->arena, &p->plan, err));
    uint64_t fingerprint = clv_onnx_fingerprint(m->model);
    if (p->plan->fingerprint != fingerprint)
        return clv_fail(err, CLV_EFORMAT,
                        "%s is a plan for model '%s' (fingerprint %016llx), not for '%s' (%016llx)",
                        path, p->plan->model, (unsigned long long)p->plan->fingerprint, m->name,
                        (unsigned long long)fingerprint);
    CLV_TRY(clv_plan_find_nodes(p->plan, m->model->main, p->arena, err));
    CLV_TRY(clv_plan_check(p->plan, m->model->main, p->arena, err));
    return show_plan(p, err);
}

cleave_status cleave_plan_load(cleave_model *model, const char *path, cleave_plan **ret_plan,
                               cleave_error *error)
{
    clv_error err;
    cleave_plan *p = NULL;
    if (!model || !path || !ret_plan)
        return refuse(error, CLV_EUSAGE, "cleave_plan_load needs a model, a path and a place");
    clv_status status = new_plan(model, &p, &err);
    if (status == CLV_OK)
        status = load_plan(model, path, p, &err);
    if (status == CLV_OK)
        *ret_plan = p;
    else
        cleave_plan_free(p);
    return give(status, &err, error);
}

/* -- writing -- */

/* Opens path for writing, lets body fill it, and keeps the file only if all went well. */
static clv_status write_file(const char *path, const clv_onnx_file *input, const clv_alloc *alloc,
                             clv_status (*body)(void *, const clv_sink *, clv_error *), void *arg,
                             clv_error *err)
{
    clv_out_file *out;
    CLV_TRY(clv_out_open(path, alloc, &out, err));
    clv_sink sink = clv_out_sink(out);
    clv_status status = input ? clv_out_refuse(out, input, err) : CLV_OK;
    if (status == CLV_OK)
        status = body(arg, &sink, err);
    if (status != CLV_OK) {
        clv_out_abort(out);
        return status;
    }
    return clv_out_commit(out, err);
}

static clv_status write_plan(void *arg, const clv_sink *sink, clv_error *err)
{
    const cleave_plan *plan = arg;
    return sink->write(sink->ctx, plan->json, plan->n_json, err);
}

cleave_status cleave_plan_save(const cleave_plan *plan, const char *path, cleave_error *error)
{
    clv_error err;
    if (!plan || !path)
        return refuse(error, CLV_EUSAGE, "cleave_plan_save needs a plan and a path");
    return give(
        write_file(path, NULL, clv_arena_alloc(plan->arena), write_plan, (void *)plan, &err), &err,
        error);
}

typedef struct {
    const cleave_model *model;
    const cleave_plan *plan;
    clv_arena *arena;
    const clv_sink *sink; /* the file's own */
    bool all;
} rewrite;

static clv_status ask_to_go_on(const cleave_model *m, clv_error *err)
{
    return m->stop && m->stop(m->stop_ctx)
               ? clv_fail(err, CLV_ECANCELED, "stopped while the model was written")
               : CLV_OK;
}

static clv_status write_bytes(void *ctx, const void *bytes, size_t n, clv_error *err)
{
    const rewrite *w = ctx;
    return w->sink->write(w->sink->ctx, bytes, n, err);
}

/* Weights are what takes long. */
static clv_status copy_in_parts(void *ctx, const clv_onnx_file *file, uint64_t offset, uint64_t n,
                                clv_error *err)
{
    const rewrite *w = ctx;
    for (uint64_t part; n > 0; offset += part, n -= part) {
        part = n < ASK_EVERY ? n : ASK_EVERY;
        CLV_TRY(ask_to_go_on(w->model, err));
        CLV_TRY(w->sink->from_file(w->sink->ctx, file, offset, part, err));
    }
    return CLV_OK;
}

static clv_status write_annotated(void *arg, const clv_sink *sink, clv_error *err)
{
    rewrite *w = arg;
    clv_sink asking = { .write = write_bytes, .from_file = copy_in_parts, .ctx = w };
    w->sink = sink;
    CLV_TRY(clv_onnx_annotate(w->model->file, w->model->model, w->plan->plan, true, &asking,
                              w->arena, err));
    return ask_to_go_on(w->model, err);
}

static clv_status write_stripped(void *arg, const clv_sink *sink, clv_error *err)
{
    rewrite *w = arg;
    clv_sink asking = { .write = write_bytes, .from_file = copy_in_parts, .ctx = w };
    w->sink = sink;
    CLV_TRY(clv_onnx_strip(w->model->file, w->all, &asking, w->arena, err));
    return ask_to_go_on(w->model, err);
}

static cleave_status rewrite_model(rewrite *w, const char *path,
                                   clv_status (*body)(void *, const clv_sink *, clv_error *),
                                   cleave_error *error)
{
    clv_error err;
    const clv_alloc *alloc = alloc_of(w->model);
    w->arena = clv_arena_new(alloc, 0);
    clv_status status = w->arena ? write_file(path, w->model->file, alloc, body, w, &err)
                                 : clv_fail_nomem(&err, "writing a model");
    clv_arena_free(w->arena);
    return give(status, &err, error);
}

cleave_status cleave_annotate(cleave_model *model, const cleave_plan *plan, const char *path,
                              cleave_error *error)
{
    if (!model || !plan || !path)
        return refuse(error, CLV_EUSAGE, "cleave_annotate needs a model, a plan and a path");
    if (plan->plan->n_ops != model->model->main->n_ops)
        return refuse(error, CLV_EUSAGE, "the plan is for another model");
    return rewrite_model(&(rewrite){ .model = model, .plan = plan }, path, write_annotated, error);
}

cleave_status cleave_strip(cleave_model *model, int all, const char *path, cleave_error *error)
{
    if (!model || !path)
        return refuse(error, CLV_EUSAGE, "cleave_strip needs a model and a path");
    return rewrite_model(&(rewrite){ .model = model, .all = all != 0 }, path, write_stripped,
                         error);
}

void cleave_model_set_stop(cleave_model *model, int (*stop)(void *ctx), void *ctx)
{
    model->stop = stop;
    model->stop_ctx = ctx;
}
