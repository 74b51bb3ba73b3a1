/* cleave_verify.c - the public API that proves plans, and runs them beside the original. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "verify/verify_report.h"

#define TEMPORARY "/tmp"

static bool relay_stop(void *ctx)
{
    const cleave_model *m = ctx;
    return m->stop(m->stop_ctx) != 0;
}

static clv_verify_request request_of(cleave_model *m, const clv_plan *plan,
                                     const cleave_verify_options *o)
{
    const char *folder = getenv("TMPDIR");
    return (clv_verify_request){
        .file = m->file,
        .model = m->model,
        .plan = plan,
        .model_name = m->name,
        .model_path = o->model_path,
        .folder = folder && *folder ? folder : TEMPORARY,
        .runner = { .program = o->runner,
                    .inputs = o->inputs,
                    .seed = o->seed,
                    .stop = m->stop ? relay_stop : NULL,
                    .stop_ctx = m },
        .why_not_run = o->proof_only    ? "only the proof was asked for"
                       : !o->runner     ? "there is no cleave-run to run models with"
                       : !o->model_path ? "the model has no file"
                                        : NULL,
        .all = o->all != 0,
    };
}

static clv_status verify(cleave_model *m, const clv_plan *plan, const cleave_verify_options *o,
                         cleave_verification *v, clv_error *err)
{
    clv_verify_result result;
    clv_verify_request req = request_of(m, plan, o);
    CLV_TRY(clv_verify(&req, v->arena, &result, err));
    v->holds = result.holds;
    v->ran = !result.why_not_run;
    CLV_TRY(clv_verify_text(&result, v->arena, &v->text, err));
    return clv_verify_json(&result, v->arena, &v->json, err);
}

cleave_status cleave_verify(cleave_model *model, const cleave_plan *plan,
                            const cleave_verify_options *options, cleave_verification **ret,
                            cleave_error *error)
{
    static const cleave_verify_options defaults = CLEAVE_VERIFY_OPTIONS;
    clv_error err;
    if (!model || !plan || !ret)
        return clv_api_refuse(error, CLV_EUSAGE,
                              "cleave_verify needs a model, a plan and a place for the result");
    cleave_status fits = clv_api_own_plan(model, plan, error);
    if (fits != CLEAVE_OK)
        return fits;
    clv_arena *arena = clv_arena_new(clv_api_alloc(model), 0);
    cleave_verification *v = arena ? CLV_NEW(arena, cleave_verification) : NULL;
    clv_status status = v ? CLV_OK : clv_fail_nomem(&err, "verifying a plan");
    if (status == CLV_OK) {
        v->arena = arena;
        status = verify(model, plan->plan, options ? options : &defaults, v, &err);
    }
    if (status == CLV_OK)
        *ret = v;
    else
        clv_arena_free(arena);
    return clv_api_give(status, &err, error);
}

void cleave_verification_free(cleave_verification *v)
{
    if (v)
        clv_arena_free(v->arena);
}

int cleave_verification_holds(const cleave_verification *v) { return v->holds; }
int cleave_verification_ran(const cleave_verification *v) { return v->ran; }
const char *cleave_verification_text(const cleave_verification *v) { return v->text; }
const char *cleave_verification_json(const cleave_verification *v) { return v->json; }
