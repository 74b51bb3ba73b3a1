/* cleave_lower.c - the public API that writes plans down as models that run. */
#include "api/control.h"
#include "api/objects.h"
#include "api/status.h"
#include "base/clock.h"
#include "base/json_out.h"
#include "base/units.h"
#include "explain/text.h"
#include "lower/lower.h"
#include "lower/plan_types.h"

#define SCHEMA_VERSION 1 /* docs/formats/lower.schema.json */

/* The enums have the numbers of those of the inside. */
static clv_status read_options(const cleave_lower_options *given, clv_lowering *ret, clv_error *err)
{
    cleave_lower_options o;
    cleave_lower_options_init(&o);
    CLV_TRY(clv_struct_read(given, sizeof o, "cleave_lower_options", &o, err));
    CLV_TRY(clv_check_enum("form", (int)o.form, CLEAVE_FORM_OLIVE,
                           "stages, devices, emulate, ort-options or olive", err));
    CLV_TRY(clv_check_enum("collectives", (int)o.collectives, CLEAVE_COLLECTIVES_TENSORRT,
                           "ort or tensorrt", err));
    CLV_TRY(clv_check_weights(o.weights, err));
    ret->form = (clv_lower_form)o.form;
    ret->dialect =
        o.collectives == CLEAVE_COLLECTIVES_TENSORRT ? CLV_DIALECT_TENSORRT : CLV_DIALECT_ORT;
    ret->weights = (clv_parts_kind)o.weights;
    return CLV_OK;
}

typedef struct {
    const char *path, *form;
    int64_t start_ns; /* of clv_now_ns(), when the work began */
} lowered_folder;

static const char *plural(int n) { return n == 1 ? "" : "s"; }

static clv_status write_report(const clv_lower_summary *made, const lowered_folder *folder,
                               cleave_report *report, clv_error *err)
{
    char bytes[32];
    clv_json_out out;
    clv_arena *arena = report->arena;
    const char *shown = clv_show_name(arena, clv_str_of(folder->path));
    report->text =
        shown
            ? clv_arena_printf(arena,
                               "%s: %d model%s, %d collective%s, %d tensor%s from one to another, "
                               "%s in %d file%s\n",
                               shown, made->n_models, plural(made->n_models), made->n_collectives,
                               plural(made->n_collectives), made->n_transfers,
                               plural(made->n_transfers), clv_show_bytes(bytes, made->bytes),
                               made->n_files, plural(made->n_files))
            : NULL;
    if (!report->text)
        return clv_fail_nomem(err, "a report");
    clv_json_begin(&out, arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_put_int(&out, "schema_version", SCHEMA_VERSION);
    clv_json_put_string(&out, "folder", folder->path);
    clv_json_put_string(&out, "form", folder->form);
    clv_json_put_int(&out, "models", made->n_models);
    clv_json_put_int(&out, "files", made->n_files);
    clv_json_put_int(&out, "collectives", made->n_collectives);
    clv_json_put_int(&out, "transfers", made->n_transfers);
    clv_json_put_int(&out, "bytes", made->bytes);
    clv_json_put_number(&out, "seconds", clv_seconds_since(folder->start_ns));
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    report->json = out.text;
    report->json_size = out.n;
    return CLV_OK;
}

static clv_status lower(clv_lowering *l, const char *folder, int64_t start_ns,
                        cleave_report *report, clv_error *err)
{
    clv_lower_summary made;
    CLV_TRY(clv_plan_types(l->model, l->plan, report->arena, &l->types, err));
    CLV_TRY(clv_lower(l, folder, report->arena, &made, err));
    lowered_folder f = { folder, cleave_form_name((cleave_form)l->form), start_ns };
    return write_report(&made, &f, report, err);
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
