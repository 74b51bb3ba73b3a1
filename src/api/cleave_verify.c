/* cleave_verify.c - the public API that proves plans, and runs them beside the original. */
#include <stdlib.h>
#include <string.h>

#include "api/control.h"
#include "api/objects.h"
#include "api/status.h"
#include "pipeline/plan_open.h"
#include "verify/verify_report.h"

#define TEMPORARY "/tmp"

static clv_verify_request request_of(cleave_model *m, const clv_plan *plan,
                                     const cleave_verify_options *o, clv_control *c)
{
    const char *folder = getenv("TMPDIR");
    return (clv_verify_request){
        .file = m->file,
        .model = m->model,
        .plan = plan,
        .model_name = m->name,
        .model_path = o->model_path,
        .lowered = o->lowered,
        .folder = folder && *folder ? folder : TEMPORARY,
        .runner = { .program = o->runner,
                    .inputs = o->inputs,
                    .seed = o->seed,
                    .stop = c->given.stop ? clv_control_stops : NULL,
                    .stop_ctx = c },
        .why_not_run = o->proof_only    ? "only the proof was asked for"
                       : !o->runner     ? "there is no cleave-run to run models with"
                       : !o->model_path ? "the model has no file"
                                        : NULL,
        .all = o->all != 0,
    };
}

static clv_status verify(clv_verify_request *req, bool of_annotations, cleave_verification *v,
                         clv_error *err)
{
    clv_verify_result result;
    if (of_annotations && req->lowered)
        CLV_TRY(clv_plan_open_annotated_folder(req->lowered, req->plan, req->model, v->arena,
                                               &req->plan, err));
    CLV_TRY(clv_verify(req, v->arena, &result, err));
    v->verdict = clv_verdict_of(&result);
    CLV_TRY(clv_verdict_sentence(&result, v->arena, &v->conclusion, err));
    CLV_TRY(clv_verify_text(&result, v->report.form, v->arena, &v->report.text, err));
    CLV_TRY(clv_verify_json(&result, v->arena, &v->report.json, err));
    v->report.json_size = strlen(v->report.json);
    return CLV_OK;
}

cleave_status cleave_verify(cleave_model *model, const cleave_plan *plan,
                            const cleave_verify_options *options, const cleave_control *control,
                            cleave_verification **ret_verification, cleave_error *error)
{
    clv_error err;
    clv_control c;
    cleave_verify_options o;
    if (!model || !plan || !ret_verification)
        return clv_refuse(error, "cleave_verify needs a model, a plan and a place for the result");
    clv_arena *arena = clv_arena_new(clv_model_alloc(model), 0);
    cleave_verification *v = arena ? CLV_NEW(arena, cleave_verification) : NULL;
    clv_status status = v ? CLV_OK : clv_fail_nomem(&err, "verifying a plan");
    cleave_verify_options_init(&o);
    if (status == CLV_OK)
        status = clv_check_plan_of_model(model, plan, &err);
    if (status == CLV_OK)
        status = clv_struct_read(options, sizeof o, "cleave_verify_options", &o, &err);
    if (status == CLV_OK)
        status = clv_control_begin(control, &c, &err);
    if (status == CLV_OK) {
        clv_verify_request req = request_of(model, plan->plan, &o, &c);
        v->arena = v->report.arena = arena;
        v->report.form = clv_control_form(&c);
        status = verify(&req, plan->of_annotations, v, &err);
    }
    if (status == CLV_OK)
        status = clv_control_check(&c, "the plan was verified", &err);
    if (status == CLV_OK)
        *ret_verification = v;
    else
        clv_arena_free(arena);
    return clv_return(status, &err, error);
}

void cleave_verification_free(cleave_verification *verification)
{
    if (verification)
        clv_arena_free(verification->arena);
}

const cleave_report *cleave_verification_report(const cleave_verification *verification)
{
    return &verification->report;
}

cleave_verdict cleave_verification_verdict(const cleave_verification *verification)
{
    _Static_assert((int)CLEAVE_VERDICT_AGREES == CLV_VERDICT_AGREES &&
                       (int)CLEAVE_VERDICT_DOES_NOT_RUN == CLV_VERDICT_DOES_NOT_RUN,
                   "verdicts have the numbers of cleave.h");
    return (cleave_verdict)verification->verdict;
}

const char *cleave_verification_conclusion(const cleave_verification *verification)
{
    return verification->conclusion;
}
