#include "pipeline/pipeline.h"

#include <stdio.h>
#include <string.h>

#include "cost/problem_build.h"
#include "explain/no_fit.h"
#include "graph/bindings.h"
#include "joint/joint.h"
#include "plan/plan_check.h"
#include "plan/plan_json.h"
#include "plan/plan_note.h"
#include "rules/conflict.h"
#include "rules/pins.h"
#include "rules/split_pins.h"
#include "stages/microbatches.h"
#include "stages/plan_make.h"
#include "stages/training.h"

#define ANSWER_MAX   (1 << 20) /* bytes of an external compiler's stdout */
#define JUDGE_BATCH  8         /* candidates given at once: enough for any --jobs in use */
#define SYMBOLS_TOLD 300       /* characters of the names that are still open */

/* -- before the cluster -- */

/* Marks the symbols that stand in an input's type; how many of them there are. */
static int32_t mark_open_symbols(const clv_type *type, bool *open)
{
    int32_t n = 0;
    for (int32_t a = 0; type->kind == CLV_TYPE_TENSOR && a < type->rank; a++)
        if (clv_dim_is_symbol(type->dims[a]) && !open[clv_dim_symbol_id(type->dims[a])]) {
            open[clv_dim_symbol_id(type->dims[a])] = true;
            n++;
        }
    return n;
}

/* All that is missing is told at once, in the form in which it is to be given. */
static clv_status require_numbers(const clv_model *model, const clv_types *types, clv_arena *arena,
                                  clv_error *err)
{
    const clv_graph *g = model->main;
    bool *open = CLV_NEW_ARRAY(arena, bool, model->n_symbols);
    char list[SYMBOLS_TOLD] = "";
    int32_t n_open = 0;
    size_t n = 0;
    if (!open)
        return clv_fail_nomem(err, "symbols");
    for (int32_t i = 0; i < g->n_inputs; i++)
        n_open += mark_open_symbols(&types->of[g->inputs[i].i], open);
    if (n_open == 0)
        return CLV_OK;
    for (int32_t i = 0; i < model->n_symbols && n < sizeof list; i++)
        if (open[i])
            n += (size_t)snprintf(list + n, sizeof list - n, "%s%.*s=1", n ? "," : "",
                                  CLV_STR_ARG(model->symbols[i]));
    bool cut = n >= sizeof list;
    return clv_fail(err, CLV_EFORMAT,
                    "%d symbol%s of the inputs' shapes %s no size: give %s, as in --bind '%s%s'",
                    n_open, n_open == 1 ? "" : "s", n_open == 1 ? "has" : "have",
                    n_open == 1 ? "it" : "them", list, cut ? "..." : "");
}

clv_status clv_analyse(const clv_model *model, const clv_binding *bindings, int32_t n_bindings,
                       bool strict, clv_arena *arena, clv_analysis *ret, clv_error *err)
{
    clv_analysis a = { NULL, NULL, NULL };
    CLV_TRY(clv_bindings_complete(model, bindings, n_bindings, arena, &bindings, &n_bindings, err));
    CLV_TRY(clv_infer(model, bindings, n_bindings, arena, &a.inference, err));
    if (strict)
        CLV_TRY(require_numbers(model, a.inference->main, arena, err));
    CLV_TRY(clv_costs_build(model, a.inference->main, arena, &a.costs, err));
    CLV_TRY(clv_subgraphs_build(a.inference->main, a.costs, true, arena, &a.units, err));
    *ret = a;
    return CLV_OK;
}

/* -- compilers -- */

static clv_status write_text(const char *path, const char *text, size_t n, const clv_alloc *alloc,
                             clv_error *err)
{
    clv_out_file *out;
    CLV_TRY(clv_out_open(path, alloc, &out, err));
    clv_sink sink = clv_out_sink(out);
    clv_status status = sink.write(sink.ctx, text, n, err);
    if (status != CLV_OK) {
        clv_out_abort(out);
        return status;
    }
    return clv_out_commit(out, err);
}

/* What an external compiler is given: the candidate as an annotated model and as a plan file. */
static clv_status emit_candidate(void *ctx, const clv_assignment *candidate, const char *folder,
                                 clv_arena *arena, clv_error *err)
{
    const clv_run *r = ctx;
    clv_plan *plan;
    const char *text;
    size_t n;
    clv_verdict unknown = { .outcome = CLV_FITS };
    const clv_partition *whole = r->overlay ? r->overlay->whole : r->problem;
    CLV_TRY(clv_plan_make(&r->workload, whole, candidate, &unknown, NULL, arena, &plan, err));
    CLV_TRY(clv_run_tell_training(r, candidate->device_of, arena, plan, err));
    plan->model = r->req->model_name;
    plan->cluster = r->cluster->name;
    plan->compiler = r->compiler ? r->compiler->name : "";
    plan->objective = r->req->search.objective;
    plan->search = "candidate";
    plan->fingerprint = clv_onnx_fingerprint(r->req->model);
    CLV_TRY(clv_plan_write(plan, arena, &text, &n, err));
    const char *plan_path = clv_arena_printf(arena, "%s/plan.json", folder);
    const char *model_path = clv_arena_printf(arena, "%s/model.onnx", folder);
    if (!plan_path || !model_path)
        return clv_fail_nomem(err, "a candidate's files");
    CLV_TRY(write_text(plan_path, text, n, r->req->alloc, err));
    clv_out_file *out;
    CLV_TRY(clv_out_open(model_path, r->req->alloc, &out, err));
    clv_sink sink = clv_out_sink(out);
    clv_status status =
        clv_onnx_annotate(r->req->file, r->req->model, plan, true, &sink, arena, err);
    if (status != CLV_OK) {
        clv_out_abort(out);
        return status;
    }
    return clv_out_commit(out, err);
}

static clv_status open_judge(clv_run *r)
{
    const clv_request *req = r->req;
    int32_t jobs = req->jobs > 0 ? req->jobs : CLV_DEFAULT_JOBS;
    if (req->compiler) {
        clv_external_options options = { .source = clv_onnx_path(req->file),
                                         .command = req->compiler,
                                         .timeout_ms = req->compiler_timeout_ms,
                                         .max_answer_bytes = ANSWER_MAX,
                                         .emit = emit_candidate,
                                         .emit_ctx = r,
                                         .stop = req->stop,
                                         .stop_ctx = req->stop_ctx };
        CLV_TRY(clv_external_open(&r->workload, &options, req->alloc, &r->compiler, r->err));
    } else {
        CLV_TRY(clv_builtin_open(&r->workload, jobs, req->alloc, &r->compiler, r->err));
    }
    CLV_TRY(clv_pool_open(r->compiler, jobs, JUDGE_BATCH, req->alloc, &r->pool, r->err));
    r->judge = clv_pool_judge(r->pool);
    clv_run_set_microbatches(r);
    return CLV_OK;
}

void clv_run_close(clv_run *r)
{
    clv_pool_close(r->pool);
    clv_compiler_close(r->compiler);
    r->pool = NULL;
    r->compiler = NULL;
}

/* Manual mode: the subgraphs are those of the given nodes. */
static clv_status take_manual_units(clv_run *r)
{
    const clv_types *types = r->analysis.inference->main;
    CLV_TRY(clv_manual_cut_parse(r->req->sharding_nodes, r->req->model->main, r->cluster->n_devices,
                                 r->arena, &r->cut, r->err));
    CLV_TRY(clv_subgraphs_of_nodes(types, r->analysis.costs, r->cut.node, r->cut.n, r->arena,
                                   &r->analysis.units, r->err));
    return clv_manual_cut_check(&r->cut, r->analysis.units, r->req->model->main, r->err);
}

/* -- rules -- */

static clv_status read_rules(clv_run *r)
{
    int32_t n = r->cluster->n_devices;
    const char **names = CLV_NEW_ARRAY(r->arena, const char *, n);
    if (!names)
        return clv_fail_nomem(r->err, "constraints");
    for (int32_t d = 0; d < n; d++)
        names[d] = r->cluster->devices[d].name;
    CLV_TRY(clv_constraints_parse(r->req->constraints, strlen(r->req->constraints),
                                  r->req->model->main, names, n, r->arena, &r->rules, r->err));
    clv_pins_drop_followers(&r->rules, r->analysis.costs->goes_with);
    if (!clv_joint_asked(r->req) && clv_split_pins_need_mesh(&r->rules))
        return clv_fail(r->err, CLV_EUSAGE,
                        "there are rules that split tensors, so a mesh is expected: --mesh, "
                        "--max-tp or --stages");
    return CLV_OK;
}

/* Units of which the rules say one thing only. */
static clv_status take_ruled_units(clv_run *r)
{
    const clv_types *types = r->analysis.inference->main;
    int32_t n = types->graph->n_ops, *mark = NULL;
    if (!r->by_ops) {
        CLV_TRY(clv_pins_mark(&r->rules, types->graph, r->arena, &mark, r->err));
        return clv_subgraphs_split(types, r->analysis.costs, r->analysis.units, mark, r->arena,
                                   &r->analysis.units, r->err);
    }
    clv_op *all = CLV_NEW_ARRAY(r->arena, clv_op, n);
    if (!all)
        return clv_fail_nomem(r->err, "constraints");
    for (int32_t i = 0; i < n; i++)
        all[i] = (clv_op){ i };
    return clv_subgraphs_of_nodes(types, r->analysis.costs, all, n, r->arena, &r->analysis.units,
                                  r->err);
}

clv_status clv_run_search(clv_run *r, const clv_search_options *options, clv_search_result *ret)
{
    CLV_TRY(clv_search(r->problem, &r->judge, options, r->arena, ret, r->err));
    if (!ret->none_obeys || r->by_ops || r->problem->n_units == r->req->model->main->n_ops)
        return CLV_OK;
    int32_t devices = r->cluster->n_devices;
    clv_run_close(r);
    r->by_ops = true;
    CLV_TRY(clv_run_open(r, devices, r->memory_bytes));
    return clv_search(r->problem, &r->judge, options, r->arena, ret, r->err);
}

/* Cluster -> rules, problem -> judge, for so many devices with so much memory. */
clv_status clv_run_open(clv_run *r, int32_t devices, int64_t memory_bytes)
{
    const clv_request *req = r->req;
    int32_t n = devices ? devices : req->cluster->n_devices;
    CLV_TRY(clv_cluster_take(req->cluster, n, memory_bytes, r->arena, &r->cluster, r->err));
    r->memory_bytes = memory_bytes;
    if (req->constraints)
        CLV_TRY(read_rules(r));
    if (req->sharding_nodes)
        CLV_TRY(take_manual_units(r));
    else if (r->rules.n > 0)
        CLV_TRY(take_ruled_units(r));
    CLV_TRY(clv_run_find_backward(r));
    CLV_TRY(clv_problem_build(r->analysis.inference->main, r->analysis.costs, r->analysis.units,
                              r->cluster, r->arena, &r->problem, r->err));
    if (r->rules.n > 0 && !req->sharding_nodes)
        CLV_TRY(clv_pins_lower(&r->rules, r->skip, r->analysis.units, r->problem, r->arena,
                               &r->problem->rules, r->err));
    r->workload = (clv_workload){ req->model, r->analysis.inference->main, r->analysis.costs,
                                  r->analysis.units, r->cluster };
    CLV_TRY(open_judge(r));
    return clv_run_overlay(r);
}

/* -- manual mode -- */

/* The one assignment that the given nodes mean, judged like any other. */
static clv_status judge_manual(clv_run *r, clv_search_result *ret)
{
    int32_t *device_of = CLV_NEW_ARRAY(r->arena, int32_t, r->problem->n_units);
    clv_tried *tried = CLV_NEW(r->arena, clv_tried);
    if (!device_of || !tried)
        return clv_fail_nomem(r->err, "a manual plan");
    for (int32_t u = 0; u < r->problem->n_units; u++)
        device_of[u] = u < r->cut.n ? r->cut.device[u] : r->cut.rest_device;
    clv_assignment given = { .device_of = device_of };
    *tried = (clv_tried){ .device_of = device_of, .move = "given by hand" };
    CLV_TRY(r->judge.judge(r->judge.ctx, &given, 1, &tried->verdict, r->err));
    *ret = (clv_search_result){ .found = tried->verdict.outcome == CLV_FITS,
                                .best = *tried,
                                .n_judged = 1,
                                .tried = tried,
                                .why = CLV_STOP_NONE };
    return CLV_OK;
}

/* pipelining_info instead of the stages that follow from the devices (B.058). */
static void set_manual_stages(const clv_run *r, clv_plan *plan)
{
    if (!r->cut.stage)
        return;
    plan->n_stages = 0;
    for (int32_t i = 0; i <= r->cut.n; i++) {
        int32_t device = i < r->cut.n ? r->cut.device[i] : r->cut.rest_device;
        int32_t stage = i < r->cut.n ? r->cut.stage[i] : r->cut.rest_stage;
        if (plan->devices[device].n_ops == 0)
            continue;
        plan->devices[device].stage = stage;
        if (stage >= plan->n_stages)
            plan->n_stages = stage + 1;
    }
}

/* -- the result -- */

static clv_status add_open_things(clv_run *r, clv_plan *plan)
{
    const clv_graph *g = r->req->model->main;
    const clv_inference *inf = r->analysis.inference;
    const clv_costs *costs = r->analysis.costs;
    plan->open_tensors = CLV_NEW_ARRAY(r->arena, const char *, inf->n_open);
    plan->unknown_ops = CLV_NEW_ARRAY(r->arena, const char *, costs->n_unknown);
    plan->bindings = CLV_NEW_ARRAY(r->arena, const char *, r->req->n_bindings);
    if (!plan->open_tensors || !plan->unknown_ops || !plan->bindings)
        return clv_fail_nomem(r->err, "notes of a plan");
    for (int32_t i = 0; i < inf->n_open; i++)
        plan->open_tensors[plan->n_open_tensors++] =
            clv_arena_printf(r->arena, "%.*s", CLV_STR_ARG(g->tensors[inf->open[i].i].name));
    for (int32_t i = 0; i < costs->n_unknown; i++) {
        const clv_op_info *op = &g->ops[costs->unknown[i].i];
        plan->unknown_ops[plan->n_unknown_ops++] = clv_arena_printf(
            r->arena, "%.*s (%.*s)", CLV_STR_ARG(op->label), CLV_STR_ARG(op->type));
    }
    for (int32_t i = 0; i < r->req->n_bindings; i++) {
        const clv_binding *b = &r->req->bindings[i];
        plan->bindings[plan->n_bindings++] =
            clv_arena_printf(r->arena, "%.*s=%lld", CLV_STR_ARG(b->symbol), (long long)b->value);
    }
    for (int32_t i = 0; i < r->req->model->n_warnings; i++)
        CLV_TRY(clv_plan_note(
            plan, clv_arena_printf(r->arena, "%.*s", CLV_STR_ARG(r->req->model->warnings[i])),
            r->arena, r->err));
    for (int32_t i = 0; i < inf->n_conflicts; i++)
        CLV_TRY(clv_plan_note(plan,
                              clv_arena_printf(r->arena, "%.*s", CLV_STR_ARG(inf->conflicts[i])),
                              r->arena, r->err));
    return CLV_OK;
}

static const char *search_name(const clv_search_options *options)
{
    if (options->kind == CLV_SEARCH_DOCUMENTED)
        return options->first_fit ? "documented, first-fit" : "documented";
    return options->first_fit ? "first-fit" : "default";
}

/* The words of docs/formats/plan.md. */
static const char *stop_word(clv_stop why)
{
    switch (why) {
    case CLV_STOP_SEARCHED:
        return "searched";
    case CLV_STOP_OPTIMAL:
        return "optimal";
    case CLV_STOP_GAP:
        return "gap";
    case CLV_STOP_FIRST_FIT:
        return "first fit";
    case CLV_STOP_LIMIT:
        return "limit";
    case CLV_STOP_DEADLINE:
        return "deadline";
    case CLV_STOP_CANCELED:
        return "stopped";
    case CLV_STOP_INFEASIBLE:
        return "infeasible";
    case CLV_STOP_NONE:
        break;
    }
    return NULL;
}

static clv_status finish(clv_run *r, const clv_search_result *result, clv_plan **ret)
{
    const clv_partition *whole = r->overlay ? r->overlay->whole : r->problem;
    clv_assignment best = { .proportion = result->best.proportion };
    clv_verdict verdict = result->best.verdict;
    clv_compile_report report = { .devices = NULL };
    bool reports = !r->req->compiler;
    CLV_TRY(clv_run_expand(r, result->best.device_of, &best.device_of));
    if (reports) /* once more, for the numbers of the table */
        CLV_TRY(r->compiler->compile(r->compiler, 0, &best, r->arena, &verdict, &report, r->err));
    clv_plan *plan;
    CLV_TRY(clv_plan_make(&r->workload, whole, &best, &verdict, reports ? &report : NULL, r->arena,
                          &plan, r->err));
    set_manual_stages(r, plan);
    CLV_TRY(r->req->sharding_nodes ? clv_explain_broken(r, plan) : clv_check_rules(r, plan));
    if (r->conflict)
        plan->outcome = CLV_INFEASIBLE;
    CLV_TRY(clv_run_tell_training(r, best.device_of, r->arena, plan, r->err));
    clv_run_tell_microbatches(r, reports ? &report : NULL, plan);
    /* The plan outlives the compiler and may outlive the model. */
    plan->model = clv_arena_printf(r->arena, "%s", r->req->model_name);
    plan->compiler = clv_arena_printf(r->arena, "%s", r->compiler->name);
    if (!plan->model || !plan->compiler)
        return clv_fail_nomem(r->err, "a plan");
    plan->fingerprint = clv_onnx_fingerprint(r->req->model);
    plan->cluster = r->cluster->name;
    plan->objective = r->req->search.objective;
    plan->search = r->req->sharding_nodes ? "manual" : search_name(&r->req->search);
    plan->n_judged = result->n_judged;
    plan->stopped = stop_word(result->why);
    plan->bound_ns = result->bound_ns;
    for (int32_t i = 0; i < result->n_judged; i++)
        plan->n_fitting += result->tried[i].verdict.outcome == CLV_FITS;
    CLV_TRY(add_open_things(r, plan));
    CLV_TRY(clv_tell_shortages(r, plan, result));
    CLV_TRY(clv_note_rules(r, plan));
    if (r->compiler->warning)
        CLV_TRY(clv_plan_note(plan, clv_arena_printf(r->arena, "%s", r->compiler->warning),
                              r->arena, r->err));
    if (result->found)
        CLV_TRY(clv_plan_check(plan, r->req->model->main, r->arena, r->err));
    else if (!r->conflict)
        CLV_TRY(clv_explain_no_fit(r, plan, &result->best, &report));
    *ret = plan;
    return CLV_OK;
}

static clv_status find_plan(clv_run *r, const clv_search_options *options, clv_search_result *ret)
{
    if (r->req->sharding_nodes)
        return judge_manual(r, ret);
    return clv_run_search(r, options, ret);
}

clv_status clv_pipeline_cut(const clv_request *req, const clv_analysis *analysis, clv_arena *arena,
                            clv_plan **ret, clv_error *err)
{
    clv_run r = { .req = req, .arena = arena, .err = err, .analysis = *analysis };
    clv_search_options options = req->search;
    clv_search_result result = { .found = false };
    clv_plan *plan = NULL;
    options.use_all_devices = req->devices > 0;

    r.plain_units = r.analysis.units;
    /* cluster -> problem and judge */
    clv_status status = clv_run_open(&r, req->devices, req->memory_bytes);
    /* problem -> assignment */
    if (status == CLV_OK)
        status = clv_run_find(&r, &options, find_plan, &result);
    if (status == CLV_OK && result.none_obeys)
        status = clv_explain_conflict(&r, &options, result.proven, &result);
    else if (status == CLV_OK && !result.found && r.rules.n > 0)
        status = clv_tell_rules_and_memory(&r, &options);
    /* assignment -> plan, checked by code that did not make it */
    if (status == CLV_OK)
        status = finish(&r, &result, &plan);
    clv_run_close(&r);
    CLV_TRY(status);
    *ret = plan;
    return CLV_OK;
}

static clv_status run_analysed(const clv_request *req, const clv_analysis *analysis,
                               clv_arena *arena, clv_plan **ret, clv_error *err)
{
    bool joint = clv_joint_asked(req) || clv_joint_may(req);
    if (req->data_parallel && !joint)
        return clv_fail(err, CLV_EUSAGE,
                        "data parallel over which devices? --data-parallel goes with --mesh, "
                        "--max-tp or --stages");
    if (joint)
        return clv_joint_run(req, analysis, arena, ret, err);
    return clv_pipeline_cut(req, analysis, arena, ret, err);
}

/* Devices whose memory together holds the weights, in their order: no fewer hold the model. */
static int32_t least_devices(const clv_request *req, const clv_analysis *analysis, int32_t most)
{
    int64_t left = analysis->costs->total.weight_bytes;
    int32_t n = 1;
    for (; n < most; n++) {
        const clv_device_kind *k = clv_device_kind_of(req->cluster, n - 1);
        left -= req->memory_bytes > 0 ? req->memory_bytes : k->memory_bytes - k->reserved_bytes;
        if (left <= 0)
            break;
    }
    return n;
}

static clv_status run_fewest(const clv_request *req, const clv_analysis *analysis, clv_arena *arena,
                             clv_plan **ret, clv_error *err)
{
    clv_request part = *req;
    int32_t most = req->devices > 0 ? req->devices : req->cluster->n_devices;
    part.fewest = false;
    part.devices = least_devices(req, analysis, most);
    for (;; part.devices++) {
        part.terse = part.devices < most; /* words on what would fit: for the last only */
        CLV_TRY(run_analysed(&part, analysis, arena, ret, err));
        if ((*ret)->outcome == CLV_FITS || part.devices >= most)
            return CLV_OK;
    }
}

clv_status clv_pipeline_run(const clv_request *req, clv_arena *arena, clv_plan **ret,
                            clv_error *err)
{
    clv_analysis analysis;
    /* model -> types, costs, subgraphs */
    CLV_TRY(clv_analyse(req->model, req->bindings, req->n_bindings, true, arena, &analysis, err));
    if (req->fewest)
        return run_fewest(req, &analysis, arena, ret, err);
    return run_analysed(req, &analysis, arena, ret, err);
}
