/* cleave_plan.c - the public API on plans: making, loading and asking them. */
#include <math.h>
#include <stdio.h>

#include "api/configs_path.h"
#include "api/control.h"
#include "api/host_compiler.h"
#include "api/names.h"
#include "api/objects.h"
#include "api/other_clusters.h"
#include "api/status.h"
#include "cluster/cluster_json.h"
#include "explain/no_fit.h"
#include "explain/report_plan.h"
#include "pipeline/annotated_plan.h"
#include "pipeline/pipeline.h"
#include "pipeline/plan_open.h"
#include "plan/plan_json_write.h"
#include "plan/plan_mesh.h"
#include "problem/micro.h"
#include "proto/same_model.h"
#include "request/precision.h"
#include "request/runtime_load.h"

#define DEFAULT_WORTH        0.02
#define DEFAULT_ALTERNATIVES 5
#define DEFAULT_TIMEOUT_MS   600000 /* ten minutes: real compilers take minutes for one candidate */
#define TIMEOUT_MAX_S        1e9    /* 30 years; no sum of it and a clock leaves 64 bits */

static clv_status check_options(const cleave_plan_options *o, clv_error *err)
{
    CLV_TRY(clv_check_room(o->devices, o->memory_bytes, err));
    CLV_TRY(clv_check_jobs(o->jobs, err));
    if (o->max_candidates < 0)
        return clv_fail(err, CLV_EUSAGE,
                        "max_candidates is %d: expected 0 (the search decides) or more",
                        o->max_candidates);
    if (!(o->compiler_timeout_s >= 0 && o->compiler_timeout_s <= TIMEOUT_MAX_S))
        return clv_fail(err, CLV_EUSAGE,
                        "compiler_timeout_s is %g: expected 0 (the default) to %.0f",
                        o->compiler_timeout_s, TIMEOUT_MAX_S);
    CLV_TRY(clv_check_objective(o->objective, err));
    CLV_TRY(clv_check_deadline(o->deadline_s, err));
    CLV_TRY(clv_check_gap(o->gap, err));
    if (o->max_tensor_devices < 0)
        return clv_fail(err, CLV_EUSAGE,
                        "max_tensor_devices is %d: expected 0 (as many as are best) or more",
                        o->max_tensor_devices);
    if (!(o->worth < 1))
        return clv_fail(err, CLV_EUSAGE,
                        "worth is %g: expected a part below 1, 0 (the default) or less (nothing)",
                        o->worth);
    if (!(o->max_latency_s >= 0 && o->max_latency_s <= TIMEOUT_MAX_S))
        return clv_fail(err, CLV_EUSAGE, "max_latency_s is %g: expected 0 (any) to %.0f",
                        o->max_latency_s, TIMEOUT_MAX_S);
    if (o->copies < 0)
        return clv_fail(err, CLV_EUSAGE, "copies is %d: expected 0 (as many as are best) or more",
                        o->copies);
    if (o->stages < 0)
        return clv_fail(err, CLV_EUSAGE, "stages is %d: expected 0 (any) or more", o->stages);
    if (!(o->overlap >= 0 && o->overlap <= 1))
        return clv_fail(err, CLV_EUSAGE, "overlap is %g: expected 0 to 1", o->overlap);
    if (o->microbatches < 0 || o->microbatches > CLV_MICRO_MAX)
        return clv_fail(err, CLV_EUSAGE, "microbatches is %d: expected 0 (chosen) to %d",
                        o->microbatches, CLV_MICRO_MAX);
    return CLV_OK;
}

/* A part of a millisecond is one: 0 would be the default. */
static int64_t timeout_ms(double seconds)
{
    return seconds > 0 ? (int64_t)ceil(seconds * 1e3) : DEFAULT_TIMEOUT_MS;
}

/* 0 is no limit, and only that. */
static int64_t limit_ns(double seconds)
{
    int64_t ns = llround(seconds * 1e9);
    return seconds > 0 && ns < 1 ? 1 : ns;
}

static clv_status show_plan(cleave_plan *p, clv_error *err)
{
    p->mesh = clv_plan_mesh_text(p->plan, p->arena);
    if (!p->mesh)
        return clv_fail_nomem(err, "a plan");
    p->report.arena = p->arena;
    CLV_TRY(clv_plan_write(p->plan, p->arena, &p->report.json, &p->report.json_size, err));
    return clv_report_plan(p->plan, p->report.form, p->poprt, p->arena, &p->report.text, err);
}

/* Weights and caches as if they were stored otherwise. */
static clv_status set_precision(const cleave_plan_options *o, clv_arena *arena, clv_request *req,
                                clv_error *err)
{
    clv_dtype weights;
    if (o->kv)
        CLV_TRY(clv_precision_find(o->kv, "kv", &req->kv, err));
    if (!o->weights)
        return CLV_OK;
    CLV_TRY(clv_precision_find(o->weights, "weights", &weights, err));
    if (clv_dtype_bits(weights) == 16)
        req->activations = weights;
    return clv_model_stored_as(req->model, weights, arena, &req->model, err);
}

static clv_status note_precision(const cleave_plan_options *o, cleave_plan *p, clv_error *err)
{
    if (!o->weights && !o->kv)
        return CLV_OK;
    const char *note = clv_arena_printf(
        p->arena, "hypothetical:%s%s%s%s%s, as the file does not store them",
        o->weights ? " weights in " : "", o->weights ? o->weights : "",
        o->weights && o->kv ? "," : "", o->kv ? " keys and values in " : "", o->kv ? o->kv : "");
    return clv_plan_add_note(p->plan, note, p->arena, err);
}

static clv_status make_plan(const cleave_model *m, const cleave_plan_options *o, clv_control *c,
                            cleave_plan *p, clv_error *err)
{
    CLV_TRY(check_options(o, err));
    int64_t deadline_ns = clv_deadline_in(o->deadline_s);
    const char *configs = o->configs_path ? o->configs_path : clv_configs_path(p->arena);
    if (!configs)
        return clv_fail_nomem(err, "a path");
    clv_request req = {
        .file = m->file,
        .model = m->model,
        .model_name = m->name,
        .bindings = m->bindings,
        .n_bindings = m->n_bindings,
        .devices = o->devices,
        .memory_bytes = o->memory_bytes,
        .sharding_nodes = o->sharding_nodes,
        .constraints = o->constraints,
        .microbatches = o->microbatches,
        .mesh = o->mesh,
        .max_share = o->max_tensor_devices,
        .stages = o->stages,
        .copies = o->copies,
        .worth = o->worth > 0   ? o->worth
                 : o->worth < 0 ? 0
                                : DEFAULT_WORTH,
        .alternatives = o->alternatives > 0   ? o->alternatives
                        : o->alternatives < 0 ? 0
                                              : DEFAULT_ALTERNATIVES,
        .batch_symbol = o->batch_symbol,
        .max_latency_ns = limit_ns(o->max_latency_s),
        .data_parallel = o->data_parallel != 0,
        .overlap = o->overlap,
        .fewest = o->objective == CLEAVE_DEVICES,
        .backward = o->backward,
        .jobs = o->jobs,
        .compiler_timeout_ms = timeout_ms(o->compiler_timeout_s),
        .stop = c->given.stop ? clv_control_stops : NULL,
        .stop_ctx = c,
        .alloc = clv_model_alloc(m),
        .search = { .solve = { .deadline_ns = deadline_ns, .gap = o->gap },
                    .kind = o->documented_search ? CLV_SEARCH_DOCUMENTED : CLV_SEARCH_DEFAULT,
                    .objective = o->objective == CLEAVE_THROUGHPUT ? CLV_THROUGHPUT : CLV_LATENCY,
                    .first_fit = o->first_fit != 0,
                    .max_judged = o->max_candidates },
    };
    clv_host_compiler host;
    CLV_TRY(clv_set_compiler(o, &host, &req, err));
    clv_control_solve(c, &req.search.solve);
    c->objective_unit = 1e-9;
    const char *name = o->cluster ? o->cluster : CLV_DEFAULT_CLUSTER;
    clv_cluster *cluster;
    clv_runtime *runtime;
    CLV_TRY(clv_cluster_load(name, configs, p->arena, &cluster, err));
    if (o->runtime)
        CLV_TRY(clv_runtime_load(o->runtime, configs, p->arena, &runtime, err));
    else
        CLV_TRY(clv_runtime_of_cluster(cluster, configs, p->arena, &runtime, err));
    if (runtime && runtime->graph) /* what is measured is started by graphs */
        CLV_TRY(clv_cluster_load_times(cluster, configs, p->arena, err));
    if (o->headroom)
        CLV_TRY(
            clv_cluster_keep_free(cluster, o->headroom, o->memory_bytes, p->arena, &cluster, err));
    req.cluster = cluster;
    req.runtime = runtime;
    if (o->backend)
        CLV_TRY(clv_backend_load(o->backend, configs, p->arena, &req.backend, err));
    CLV_TRY(set_precision(o, p->arena, &req, err));
    CLV_TRY(clv_pipeline_run(&req, p->arena, &p->plan, err));
    CLV_TRY(note_precision(o, p, err));
    CLV_TRY(clv_note_other_clusters(&req, configs, p->plan, p->arena, err));
    p->poprt = o->poprt_report != 0;
    return show_plan(p, err);
}

static clv_status new_plan(const cleave_model *m, const clv_control *c, cleave_plan **ret,
                           clv_error *err)
{
    clv_arena *arena = clv_arena_new(clv_model_alloc(m), 0);
    cleave_plan *p = arena ? CLV_NEW(arena, cleave_plan) : NULL;
    if (!p) {
        clv_arena_free(arena);
        return clv_fail_nomem(err, "a plan");
    }
    p->arena = arena;
    p->report.form = clv_control_form(c);
    *ret = p;
    return CLV_OK;
}

/* The shortage in a sentence, or the last note, which is why candidates failed (no_fit.c); the
 * plan's other notes have the rest. */
static void explain_no_plan(const clv_plan *plan, cleave_error *error)
{
    error->status = CLEAVE_NO_PLAN;
    if (plan->outcome == CLV_INFEASIBLE)
        snprintf(error->message, sizeof error->message, "%s", plan->conflict);
    else if (plan->outcome == CLV_LATE)
        snprintf(error->message, sizeof error->message, "%s",
                 clv_show_late(plan, (char[CLV_LATE_WORDS]){ 0 }));
    else if (plan->outcome == CLV_OOM)
        snprintf(error->message, sizeof error->message,
                 "no plan fits %d devices: in the nearest one device %d (%s) lacks %lld bytes",
                 plan->n_devices, plan->short_device, plan->devices[plan->short_device].name,
                 (long long)plan->short_bytes);
    else
        snprintf(error->message, sizeof error->message, "%s", plan->notes[plan->n_notes - 1]);
}

cleave_status cleave_plan_make(cleave_model *model, const cleave_plan_options *options,
                               const cleave_control *control, cleave_plan **ret_plan,
                               cleave_error *error)
{
    clv_error err;
    clv_control c;
    cleave_plan_options o;
    cleave_plan *p = NULL;
    cleave_plan_options_init(&o);
    if (!model || !ret_plan)
        return clv_refuse(error, "cleave_plan_make needs a model and a place for the plan");
    clv_status status = clv_struct_read(options, sizeof o, "cleave_plan_options", &o, &err);
    if (status == CLV_OK)
        status = clv_control_begin(control, &c, &err);
    if (status == CLV_OK)
        status = new_plan(model, &c, &p, &err);
    if (status == CLV_OK)
        status = make_plan(model, &o, &c, p, &err);
    if (status != CLV_OK) {
        cleave_plan_free(p);
        return clv_return(status, &err, error);
    }
    *ret_plan = p;
    if (cleave_plan_fits(p))
        return clv_return(CLV_OK, &err, error);
    if (error)
        explain_no_plan(p->plan, error);
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
int cleave_plan_copies(const cleave_plan *plan) { return clv_plan_copies(plan->plan); }
int64_t cleave_plan_batch(const cleave_plan *plan) { return plan->plan->batch; }
double cleave_plan_latency_s(const cleave_plan *plan)
{
    return (double)plan->plan->latency_ns * 1e-9;
}
double cleave_plan_throughput(const cleave_plan *plan)
{
    const clv_plan *p = plan->plan;
    return p->period_ns > 0 ? 1e9 * clv_plan_copies(p) / (double)p->period_ns : 0;
}
double cleave_plan_bound_s(const cleave_plan *plan)
{
    return clv_plan_gap(plan->plan) >= 0 ? (double)plan->plan->bound_ns * 1e-9 : -1;
}
double cleave_plan_gap(const cleave_plan *plan) { return clv_plan_gap(plan->plan); }
int cleave_plan_microbatches(const cleave_plan *plan)
{
    return plan->plan->microbatches > 0 ? plan->plan->microbatches : 1;
}
static double seconds_or_unknown(const cleave_plan *plan, int64_t ns)
{
    return clv_plan_has_run(plan->plan) && ns >= 0 ? (double)ns * 1e-9 : -1;
}
double cleave_plan_run_s(const cleave_plan *plan)
{
    if (plan->plan->microbatches == 0 && plan->plan->latency_ns > 0)
        return cleave_plan_latency_s(plan);
    return seconds_or_unknown(plan, clv_plan_run_ns(plan->plan));
}
double cleave_plan_fill_s(const cleave_plan *plan)
{
    return seconds_or_unknown(plan, plan->plan->fill_ns);
}
double cleave_plan_drain_s(const cleave_plan *plan)
{
    return seconds_or_unknown(plan, plan->plan->drain_ns);
}
double cleave_plan_bubble(const cleave_plan *plan) { return clv_plan_bubble(plan->plan); }
int64_t cleave_plan_in_flight_bytes(const cleave_plan *plan, int device)
{
    bool is_there = device >= 0 && device < plan->plan->n_devices;
    return is_there ? plan->plan->devices[device].in_flight_bytes : -1;
}
cleave_end cleave_plan_end(const cleave_plan *plan) { return clv_end_of_word(plan->plan->stopped); }
const cleave_report *cleave_plan_report(const cleave_plan *plan) { return &plan->report; }

int cleave_plan_device_of(const cleave_plan *plan, int64_t node)
{
    return node >= 0 && node < plan->plan->n_ops ? plan->plan->device_of_op[node] : -1;
}

/* A plan file names everything; nothing of the run that made it is needed. */
static clv_status load_plan(const cleave_model *m, const char *path, cleave_plan *p, clv_error *err)
{
    CLV_TRY(clv_plan_open_path(path, m->model, m->name, p->arena, &p->plan, err));
    return show_plan(p, err);
}

cleave_status cleave_plan_load(cleave_model *model, const char *path, const cleave_control *control,
                               cleave_plan **ret_plan, cleave_error *error)
{
    clv_error err;
    clv_control c;
    cleave_plan *p = NULL;
    if (!model || !path || !ret_plan)
        return clv_refuse(error, "cleave_plan_load needs a model, a path and a place");
    clv_status status = clv_control_begin(control, &c, &err);
    if (status == CLV_OK)
        status = new_plan(model, &c, &p, &err);
    if (status == CLV_OK)
        status = load_plan(model, path, p, &err);
    if (status == CLV_OK)
        status = clv_control_check(&c, "the plan was read", &err);
    if (status == CLV_OK)
        *ret_plan = p;
    else
        cleave_plan_free(p);
    return clv_return(status, &err, error);
}

static clv_status read_annotations(const cleave_model *m, const cleave_model *annotated,
                                   const char *configuration, cleave_plan *p, clv_error *err)
{
    const char *difference;
    const clv_annotated_model req = { .file = annotated->file,
                                      .model = annotated->model,
                                      .name = annotated->name,
                                      .configuration = configuration,
                                      .bindings = annotated->bindings,
                                      .n_bindings = annotated->n_bindings };
    CLV_TRY(clv_onnx_same_model(m->file, annotated->file, p->arena, &difference, err));
    if (difference)
        return clv_fail(err, CLV_EFORMAT,
                        "%s is not %s with annotations: beside it, its %s; expected one model",
                        annotated->name, m->name, difference);
    CLV_TRY(clv_plan_of_annotations(&req, p->arena, &p->plan, err));
    p->of_annotations = true;
    return show_plan(p, err);
}

cleave_status cleave_plan_of_annotations(cleave_model *model, cleave_model *annotated,
                                         const char *configuration, const cleave_control *control,
                                         cleave_plan **ret_plan, cleave_error *error)
{
    clv_error err;
    clv_control c;
    cleave_plan *p = NULL;
    if (!model || !annotated || !ret_plan)
        return clv_refuse(error, "cleave_plan_of_annotations needs two models and a place");
    clv_status status = clv_control_begin(control, &c, &err);
    if (status == CLV_OK)
        status = new_plan(model, &c, &p, &err);
    if (status == CLV_OK)
        status = read_annotations(model, annotated, configuration, p, &err);
    if (status == CLV_OK)
        status = clv_control_check(&c, "the annotations were read", &err);
    if (status == CLV_OK)
        *ret_plan = p;
    else
        cleave_plan_free(p);
    return clv_return(status, &err, error);
}

/* -- plans that split operators over devices -- */

const char *cleave_plan_mesh(const cleave_plan *plan) { return plan->mesh; }

int cleave_plan_mesh_devices(const cleave_plan *plan)
{
    return clv_plan_has_mesh(plan->plan) ? plan->plan->mesh_devices : 1;
}

int cleave_plan_collectives(const cleave_plan *plan) { return clv_plan_count_sending(plan->plan); }

int64_t cleave_plan_collective_bytes(const cleave_plan *plan)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < plan->plan->n_collectives; i++) {
        int64_t bytes = plan->plan->collectives[i].bytes;
        if (bytes < 0)
            return -1;
        sum = bytes > INT64_MAX - sum ? INT64_MAX : sum + bytes;
    }
    return sum;
}

double cleave_plan_collective_s(const cleave_plan *plan)
{
    double sum = 0;
    for (int32_t i = 0; i < plan->plan->n_collectives; i++) {
        if (plan->plan->collectives[i].ns < 0)
            return -1;
        sum += (double)plan->plan->collectives[i].ns * 1e-9;
    }
    return sum;
}

const char *cleave_plan_strategy(const cleave_plan *plan, int i, const char **ret_axis,
                                 int *ret_count)
{
    if (i < 0 || i >= plan->plan->n_found)
        return NULL;
    const clv_plan_finding *found = &plan->plan->found[i];
    if (ret_axis)
        *ret_axis = found->axes;
    if (ret_count)
        *ret_count = found->n;
    return found->name;
}

const char *cleave_plan_split_of(const cleave_plan *plan, int64_t node)
{
    if (node < 0 || node >= plan->plan->n_ops)
        return NULL;
    const char *split = plan->plan->split_of_op ? plan->plan->split_of_op[node] : NULL;
    return split ? split : "";
}
