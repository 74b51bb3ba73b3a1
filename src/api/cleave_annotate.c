/* cleave_annotate.c - the public API that writes models: annotated and stripped. */
#include "api/control.h"
#include "api/objects.h"
#include "api/status.h"
#include "base/file.h"
#include "base/streams.h"
#include "proto/onnx_annotate.h"
#include "proto/out_file.h"
#include "proto/stoppable_sink.h"

typedef struct {
    const cleave_model *model;
    const cleave_plan *plan; /* NULL: to be stripped */
    bool keep_ir_version;    /* annotating */
    bool all;                /* stripping: anybody's annotations */
    const clv_control *control;
    clv_arena *arena;
} rewriting;

static clv_status write_model(void *ctx, const clv_sink *to, clv_error *err)
{
    const rewriting *w = ctx;
    const cleave_model *m = w->model;
    const cleave_control *given = &w->control->given;
    clv_stoppable s = { *to, given->stop, given->ctx, "the model was" };
    clv_sink sink = clv_stoppable_sink(&s);
    if (w->plan)
        CLV_TRY(clv_onnx_annotate(&(clv_onnx_model){ m->file, m->model }, w->plan->plan,
                                  !w->keep_ir_version, &sink, w->arena, err));
    else
        CLV_TRY(clv_onnx_strip(m->file, w->all, &sink, w->arena, err));
    return clv_stoppable_ask(&s, err);
}

/* Opens path and writes the model to it; *ret_out is to be committed. */
static clv_status open_and_write(rewriting *w, const char *path, clv_out_file **ret_out,
                                 clv_error *err)
{
    const cleave_model *m = w->model;
    clv_out_file *out;
    CLV_TRY(clv_out_refuse(path, m->file, m->model, w->arena, err));
    CLV_TRY(clv_out_open(path, clv_model_alloc(m), &out, err));
    clv_status status = clv_out_refuse_opened(out, m->file, m->model, err);
    clv_sink sink = clv_out_sink(out);
    if (status == CLV_OK)
        status = write_model(w, &sink, err);
    if (status == CLV_OK)
        *ret_out = out;
    else
        clv_out_abort(out);
    return status;
}

/* report NULL: the model alone, else the unit of both. */
static clv_status write_files(rewriting *w, const char *path, const cleave_report *report,
                              const char *report_path, clv_error *err)
{
    clv_out_file *outs[2];
    CLV_TRY(open_and_write(w, path, &outs[0], err));
    if (!report)
        return clv_out_commit(outs[0], err);
    clv_status status = clv_out_open(report_path, clv_model_alloc(w->model), &outs[1], err);
    if (status == CLV_OK) {
        clv_sink sink = clv_out_sink(outs[1]);
        status = sink.write(sink.ctx, report->json, report->json_size, err);
        if (status == CLV_OK)
            return clv_out_commit_unit(outs, 2, err);
        clv_out_abort(outs[1]);
    }
    clv_out_abort(outs[0]);
    return status;
}

typedef struct {
    const char *path;
    const cleave_report *report; /* NULL: none */
    const char *report_path;
} outputs;

static clv_status rewrite_model(rewriting *w, const outputs *to, const cleave_control *control,
                                clv_error *err)
{
    clv_control c;
    CLV_TRY(clv_control_begin(control, &c, err));
    w->control = &c;
    w->arena = clv_arena_new(clv_model_alloc(w->model), 0);
    clv_status status = w->arena ? write_files(w, to->path, to->report, to->report_path, err)
                                 : clv_fail_nomem(err, "writing a model");
    clv_arena_free(w->arena);
    return status;
}

cleave_status cleave_check_output(cleave_model *model, const char *path, cleave_error *error)
{
    clv_error err;
    clv_status status = CLV_OK;
    if (!path)
        return clv_refuse(error, "cleave_check_output needs a path");
    if (model)
        status = clv_out_refuse(path, model->file, model->model, model->arena, &err);
    if (status == CLV_OK)
        status = clv_out_try(path, model ? clv_model_alloc(model) : NULL, &err);
    return clv_return(status, &err, error);
}

static clv_status annotate(cleave_model *model, const cleave_plan *plan,
                           const cleave_annotate_options *options, const outputs *to,
                           const cleave_control *control, clv_error *err)
{
    cleave_annotate_options o;
    cleave_annotate_options_init(&o);
    CLV_TRY(clv_check_plan_of_model(model, plan, err));
    CLV_TRY(clv_struct_read(options, sizeof o, "cleave_annotate_options", &o, err));
    rewriting w = { .model = model, .plan = plan, .keep_ir_version = o.keep_ir_version != 0 };
    return rewrite_model(&w, to, control, err);
}

cleave_status cleave_annotate(cleave_model *model, const cleave_plan *plan,
                              const cleave_annotate_options *options, const char *path,
                              const cleave_control *control, cleave_error *error)
{
    clv_error err;
    if (!model || !plan || !path)
        return clv_refuse(error, "cleave_annotate needs a model, a plan and a path");
    const outputs to = { .path = path };
    return clv_return(annotate(model, plan, options, &to, control, &err), &err, error);
}

cleave_status cleave_plan_save(cleave_model *model, const cleave_plan *plan,
                               const cleave_annotate_options *options, const char *model_path,
                               const char *plan_path, const cleave_control *control,
                               cleave_error *error)
{
    clv_error err;
    if (!model || !plan || !model_path || !plan_path)
        return clv_refuse(error, "cleave_plan_save needs a model, a plan and two paths");
    const outputs to = { model_path, cleave_plan_report(plan), plan_path };
    if (!to.report || !to.report->json)
        return clv_refuse(error, "cleave_plan_save needs a plan that has its JSON");
    if (clv_is_stream(model_path) || clv_is_stream(plan_path))
        return clv_refuse(error, "cleave_plan_save writes two files, expected no pipe or device");
    if (clv_same_place(model_path, plan_path))
        return clv_refuse(error, "cleave_plan_save needs a path for each of two files");
    return clv_return(annotate(model, plan, options, &to, control, &err), &err, error);
}

cleave_status cleave_strip(cleave_model *model, int all, const char *path,
                           const cleave_control *control, cleave_error *error)
{
    clv_error err;
    if (!model || !path)
        return clv_refuse(error, "cleave_strip needs a model and a path");
    rewriting w = { .model = model, .all = all != 0 };
    const outputs to = { .path = path };
    return clv_return(rewrite_model(&w, &to, control, &err), &err, error);
}
