/* cleave_write.c - the public API that writes files: plans, programs, annotated and stripped
 * models. */
#include "api/api.h"


#include "proto/onnx_annotate.h"
#include "proto/out_file.h"
#include "proto/stoppable_sink.h"
#include "solver/placement/mip/mip_formulation.h"

/* Opens path for writing, lets body fill it, and keeps the file only if all went well. */
static clv_status write_file(const char *path, const clv_alloc *alloc,
                             clv_status (*body)(void *, const clv_sink *, clv_error *), void *arg,
                             clv_error *err)
{
    clv_out_file *out;
    CLV_TRY(clv_out_open(path, alloc, &out, err));
    clv_sink sink = clv_out_sink(out);
    clv_status status = body(arg, &sink, err);
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
        return clv_api_refuse(error, CLV_EUSAGE, "cleave_plan_save needs a plan and a path");
    return clv_api_give(
        write_file(path, clv_arena_alloc(plan->arena), write_plan, (void *)plan, &err), &err,
        error);
}

static clv_status write_placement(void *arg, const clv_sink *sink, clv_error *err)
{
    const cleave_placement *placement = arg;
    return sink->write(sink->ctx, placement->json, placement->n_json, err);
}

cleave_status cleave_placement_save(const cleave_placement *placement, const char *path,
                                    cleave_error *error)
{
    clv_error err;
    if (!placement || !path)
        return clv_api_refuse(error, CLV_EUSAGE,
                              "cleave_placement_save needs a placement and a path");
    return clv_api_give(write_file(path, clv_arena_alloc(placement->arena), write_placement,
                                   (void *)placement, &err),
                        &err, error);
}

static clv_status write_solution(void *arg, const clv_sink *sink, clv_error *err)
{
    const cleave_solution *solution = arg;
    return sink->write(sink->ctx, solution->json, solution->n_json, err);
}

cleave_status cleave_solution_save(const cleave_solution *solution, const char *path,
                                   cleave_error *error)
{
    clv_error err;
    if (!solution || !path)
        return clv_api_refuse(error, CLV_EUSAGE,
                              "cleave_solution_save needs a solution and a path");
    return clv_api_give(
        write_file(path, clv_arena_alloc(solution->arena), write_solution, (void *)solution, &err),
        &err, error);
}

typedef struct {
    const char *at;
    size_t n;
} mps_text;

static clv_status write_mps(void *arg, const clv_sink *sink, clv_error *err)
{
    const mps_text *text = arg;
    return sink->write(sink->ctx, text->at, text->n, err);
}

static clv_status make_mps(const cleave_workload *w, const cleave_place_options *o,
                           clv_arena *arena, mps_text *ret, clv_error *err)
{
    clv_contraction *b;
    clv_place_rules rules = { .objective = CLV_PLACE_THROUGHPUT,
                              .contiguous = o->free_assignment == 0 };
    if (o->objective != CLEAVE_PLACE_THROUGHPUT)
        return clv_fail(err, CLV_EUSAGE,
                        "only the objective of throughput can be written as a program");
    CLV_TRY(clv_contraction_new(w->problem, &rules, arena, &b, err));
    return clv_mip_write_mps(b, &rules, arena, &ret->at, &ret->n, err);
}

cleave_status cleave_workload_save_mps(cleave_workload *workload,
                                       const cleave_place_options *options, const char *path,
                                       cleave_error *error)
{
    static const cleave_place_options defaults = CLEAVE_PLACE_OPTIONS;
    clv_error err;
    mps_text text;
    if (!workload || !path)
        return clv_api_refuse(error, CLV_EUSAGE,
                              "cleave_workload_save_mps needs a workload and a path");
    const clv_alloc *alloc = clv_arena_alloc(workload->arena);
    clv_arena *arena = clv_arena_new(alloc, 0);
    clv_status status = arena
                            ? make_mps(workload, options ? options : &defaults, arena, &text, &err)
                            : clv_fail_nomem(&err, "an integer program as text");
    if (status == CLV_OK)
        status = write_file(path, alloc, write_mps, &text, &err);
    clv_arena_free(arena);
    return clv_api_give(status, &err, error);
}

typedef struct {
    const cleave_model *model;
    const cleave_plan *plan;
    clv_arena *arena;
    bool all;
} rewrite;

static clv_stoppable stoppable(const cleave_model *m, const clv_sink *to)
{
    return (clv_stoppable){ *to, m->stop, m->stop_ctx, "the model was" };
}

static clv_status write_annotated(void *arg, const clv_sink *to, clv_error *err)
{
    const rewrite *w = arg;
    clv_stoppable s = stoppable(w->model, to);
    clv_sink sink = clv_stoppable_sink(&s);
    CLV_TRY(clv_onnx_annotate(&(clv_onnx_model){ w->model->file, w->model->model }, w->plan->plan,
                              !w->model->keep_ir, &sink, w->arena, err));
    return clv_stoppable_ask(&s, err);
}

static clv_status write_stripped(void *arg, const clv_sink *to, clv_error *err)
{
    const rewrite *w = arg;
    clv_stoppable s = stoppable(w->model, to);
    clv_sink sink = clv_stoppable_sink(&s);
    CLV_TRY(clv_onnx_strip(w->model->file, w->all, &sink, w->arena, err));
    return clv_stoppable_ask(&s, err);
}

static cleave_status rewrite_model(rewrite *w, const char *path,
                                   clv_status (*body)(void *, const clv_sink *, clv_error *),
                                   cleave_error *error)
{
    clv_error err;
    const clv_alloc *alloc = clv_api_alloc(w->model);
    w->arena = clv_arena_new(alloc, 0);
    clv_status status = w->arena
                            ? clv_out_refuse(path, w->model->file, w->model->model, w->arena, &err)
                            : clv_fail_nomem(&err, "writing a model");
    if (status == CLV_OK)
        status = write_file(path, alloc, body, w, &err);
    clv_arena_free(w->arena);
    return clv_api_give(status, &err, error);
}

cleave_status cleave_check_output(cleave_model *model, const char *path, cleave_error *error)
{
    clv_error err;
    clv_status status = CLV_OK;
    if (!path)
        return clv_api_refuse(error, CLV_EUSAGE, "cleave_check_output needs a path");
    if (model)
        status = clv_out_refuse(path, model->file, model->model, model->arena, &err);
    if (status == CLV_OK)
        status = clv_out_try(path, model ? clv_api_alloc(model) : NULL, &err);
    return clv_api_give(status, &err, error);
}

cleave_status cleave_annotate(cleave_model *model, const cleave_plan *plan, const char *path,
                              cleave_error *error)
{
    if (!model || !plan || !path)
        return clv_api_refuse(error, CLV_EUSAGE,
                              "cleave_annotate needs a model, a plan and a path");
    cleave_status status = clv_api_own_plan(model, plan, error);
    if (status != CLEAVE_OK)
        return status;
    return rewrite_model(&(rewrite){ .model = model, .plan = plan }, path, write_annotated, error);
}

cleave_status cleave_strip(cleave_model *model, int all, const char *path, cleave_error *error)
{
    if (!model || !path)
        return clv_api_refuse(error, CLV_EUSAGE, "cleave_strip needs a model and a path");
    return rewrite_model(&(rewrite){ .model = model, .all = all != 0 }, path, write_stripped,
                         error);
}
