/* cleave_annotate.c - the public API that writes models: annotated and stripped. */
#include "api/control.h"
#include "api/objects.h"
#include "api/status.h"
#include "api/write_file.h"
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

static clv_status rewrite_model(rewriting *w, const char *path, const cleave_control *control,
                                clv_error *err)
{
    clv_control c;
    const clv_alloc *alloc = clv_model_alloc(w->model);
    CLV_TRY(clv_control_begin(control, &c, err));
    w->control = &c;
    w->arena = clv_arena_new(alloc, 0);
    clv_status status = w->arena
                            ? clv_out_refuse(path, w->model->file, w->model->model, w->arena, err)
                            : clv_fail_nomem(err, "writing a model");
    if (status == CLV_OK)
        status = clv_write_file(path, alloc, write_model, w, err);
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

cleave_status cleave_annotate(cleave_model *model, const cleave_plan *plan,
                              const cleave_annotate_options *options, const char *path,
                              const cleave_control *control, cleave_error *error)
{
    clv_error err;
    cleave_annotate_options o;
    if (!model || !plan || !path)
        return clv_refuse(error, "cleave_annotate needs a model, a plan and a path");
    cleave_annotate_options_init(&o);
    clv_status status = clv_check_plan_of_model(model, plan, &err);
    if (status == CLV_OK)
        status = clv_struct_read(options, sizeof o, "cleave_annotate_options", &o, &err);
    rewriting w = { .model = model, .plan = plan, .keep_ir_version = o.keep_ir_version != 0 };
    if (status == CLV_OK)
        status = rewrite_model(&w, path, control, &err);
    return clv_return(status, &err, error);
}

cleave_status cleave_strip(cleave_model *model, int all, const char *path,
                           const cleave_control *control, cleave_error *error)
{
    clv_error err;
    if (!model || !path)
        return clv_refuse(error, "cleave_strip needs a model and a path");
    rewriting w = { .model = model, .all = all != 0 };
    return clv_return(rewrite_model(&w, path, control, &err), &err, error);
}
