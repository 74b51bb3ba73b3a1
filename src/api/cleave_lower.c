/* cleave_lower.c - the public API that writes plans down as models that run. */
#include "api/control.h"
#include "api/lower_report.h"
#include "api/objects.h"
#include "api/plan_of_model.h"
#include "api/status.h"
#include "lower/plan_types.h"

/* The enums have the numbers of those of the inside. */
static clv_status read_options(const cleave_lower_options *given, clv_lowering *ret, clv_error *err)
{
    cleave_lower_options o;
    cleave_lower_options_init(&o);
    CLV_TRY(clv_struct_read(given, sizeof o, "cleave_lower_options", &o, err));
    if ((unsigned)o.form > CLEAVE_FORM_OLIVE)
        return clv_fail(err, CLV_EUSAGE, "%d is no form", (int)o.form);
    if ((unsigned)o.collectives > CLEAVE_COLLECTIVES_TENSORRT)
        return clv_fail(err, CLV_EUSAGE, "%d is no dialect of collectives", (int)o.collectives);
    if ((unsigned)o.weights > CLEAVE_WEIGHTS_RANGES)
        return clv_fail(err, CLV_EUSAGE, "%d is no kind of weights", (int)o.weights);
    ret->form = (clv_lower_form)o.form;
    ret->dialect =
        o.collectives == CLEAVE_COLLECTIVES_TENSORRT ? CLV_DIALECT_TENSORRT : CLV_DIALECT_ORT;
    ret->weights = (clv_parts_kind)o.weights;
    return CLV_OK;
}

static clv_status lower(clv_lowering *l, const char *folder, int64_t start_ns,
                        cleave_report *report, clv_error *err)
{
    clv_lower_summary made;
    CLV_TRY(clv_plan_types(l->model, l->plan, report->arena, &l->types, err));
    CLV_TRY(clv_lower(l, folder, report->arena, &made, err));
    clv_lowered_folder f = { folder, cleave_form_name((cleave_form)l->form), start_ns };
    return clv_lower_report(&made, &f, report, err);
}

cleave_status cleave_lower(cleave_model *model, const cleave_plan *plan,
                           const cleave_lower_options *options, const char *folder,
                           const cleave_control *control, cleave_report **ret_report,
                           cleave_error *error)
{
    clv_error err;
    clv_control c;
    cleave_report *report = NULL;
    if (!model || !plan || !folder)
        return clv_refuse(error, "cleave_lower needs a model, a plan and a folder");
    clv_lowering l = {
        .file = model->file, .model = model->model, .plan = plan->plan, .model_name = model->name
    };
    clv_status status = clv_check_plan_of_model(model, plan, &err);
    if (status == CLV_OK)
        status = clv_control_begin(control, &c, &err);
    if (status == CLV_OK)
        status = read_options(options, &l, &err);
    if (status == CLV_OK) {
        l.stop = c.given.stop;
        l.stop_ctx = c.given.ctx;
        report = clv_report_new(clv_model_alloc(model));
        status = report ? lower(&l, folder, c.start_ns, report, &err)
                        : clv_fail_nomem(&err, "lowering a plan");
    }
    if (status == CLV_OK && ret_report)
        *ret_report = report;
    else
        cleave_report_free(report);
    return clv_return(status, &err, error);
}
