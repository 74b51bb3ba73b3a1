#include "verify/verify.h"

#include <stdio.h>

#include "compile/folder.h"
#include "lower/lower.h"
#include "lower/plan_types.h"
#include "lower/spmd_make.h"
#include "proto/tensor_data.h"
#include "proto/value_file.h"
#include "verify/every_tensor.h"
#include "verify/growth.h"

#define WHAT "verifying a plan"

typedef struct {
    const clv_verify_request *req;
    clv_arena *arena;
    clv_error *err;
    clv_verify_result *ret;
    const clv_types *types;
    const char *folder; /* temporary */
    const double *growth, *length;
} job;

/* -- the proof -- */

static clv_status prove(job *j)
{
    clv_spmd *s;
    clv_verify_result *r = j->ret;
    double *growth, *length;
    CLV_TRY(clv_spmd_make_whole(j->req->model, j->types, j->req->plan, j->arena, &s, j->err));
    CLV_TRY(clv_prove(s, j->arena, &r->stages, j->err));
    CLV_TRY(clv_spmd_make(j->req->model, j->types, j->req->plan, j->arena, &s, j->err));
    CLV_TRY(clv_prove(s, j->arena, &r->proof, j->err));
    CLV_TRY(
        clv_growth(j->types, s->factors, s->mesh.n_devices, j->arena, &growth, &length, j->err));
    j->growth = growth;
    j->length = length;
    r->holds = r->proof.holds && r->stages.holds;
    return CLV_OK;
}

/* -- comparing -- */

static clv_compared compared(const clv_value_file *v)
{
    return (clv_compared){ v->dtype, v->rank, v->dims, v->elems, v->data, v->strings };
}

static clv_status compare_files(job *j, const clv_value_file *got, const clv_value_file *want,
                                clv_verified *ret)
{
    char words[CLV_COMPARE_TEXT];
    clv_compared a = compared(got), b = compared(want);
    if (!clv_str_eq(got->name, want->name)) {
        ret->c.difference = CLV_OTHER_TYPE;
        ret->fault = clv_arena_printf(j->arena, "it is '%.*s'", CLV_STR_ARG(got->name));
        return ret->fault ? CLV_OK : clv_fail_nomem(j->err, WHAT);
    }
    clv_compare(&a, &b, ret->growth, &ret->c);
    if (ret->c.difference == CLV_SAME)
        return CLV_OK;
    ret->fault = clv_arena_printf(j->arena, "%s", clv_compare_words(words, &a, &b, &ret->c));
    return ret->fault ? CLV_OK : clv_fail_nomem(j->err, WHAT);
}

/* Output i of two runs. */
static clv_status compare_one(job *j, const char *got_in, const char *want_in, int32_t i,
                              clv_verified *ret)
{
    clv_value_file got, want;
    char *a = clv_arena_printf(j->arena, "%s/output_%d.pb", got_in, (int)i);
    char *b = clv_arena_printf(j->arena, "%s/output_%d.pb", want_in, (int)i);
    if (!a || !b)
        return clv_fail_nomem(j->err, WHAT);
    ret->growth = j->growth[ret->tensor.i];
    ret->length = j->length[ret->tensor.i];
    CLV_TRY(clv_value_file_open(b, j->arena, &want, j->err));
    clv_status status = clv_value_file_open(a, j->arena, &got, j->err);
    if (status == CLV_OK) {
        status = compare_files(j, &got, &want, ret);
        clv_value_file_close(&got);
    }
    clv_value_file_close(&want);
    return status;
}

static double nearness(const clv_comparison *c) { return c->worst < 0 ? 0 : c->error / c->bound; }

static clv_status compare_all(job *j, const clv_graph *g, const char *got, const char *want,
                              clv_verified_form *f)
{
    f->at = CLV_NEW_ARRAY(j->arena, clv_verified, g->n_outputs);
    if (!f->at)
        return clv_fail_nomem(j->err, WHAT);
    for (int32_t i = 0; i < g->n_outputs; i++) {
        f->at[i].tensor = g->outputs[i];
        CLV_TRY(compare_one(j, got, want, i, &f->at[i]));
        f->n++;
        if (f->at[i].fault && f->n_differ++ == 0)
            f->first = i;
        if (f->at[i].c.worst >= 0 &&
            (f->nearest < 0 || nearness(&f->at[i].c) > nearness(&f->at[f->nearest].c)))
            f->nearest = i;
    }
    j->ret->holds = j->ret->holds && f->n_differ == 0;
    return CLV_OK;
}

/* -- running -- */

static char *place(job *j, const char *name)
{
    return clv_arena_printf(j->arena, "%s/%s", j->folder, name);
}

static int ask(void *ctx)
{
    const clv_runner *r = ctx;
    return r->stop(r->stop_ctx);
}

/* Lowers, runs, and takes what was lowered away again; its outputs stay. */
static clv_status lower_and_run(job *j, const clv_model *model, const clv_plan *plan,
                                clv_lower_form form, const char *name, clv_verified_form *f)
{
    clv_lowering l = { .file = j->req->file,
                       .model = model,
                       .types = j->types,
                       .plan = plan,
                       .form = form,
                       .model_name = j->req->model_name,
                       .stop = j->req->runner.stop ? ask : NULL,
                       .stop_ctx = (void *)&j->req->runner };
    clv_lower_summary summary;
    clv_runner_answer answer;
    clv_runner runner = j->req->runner;
    char *folder = place(j, name), *out = clv_arena_printf(j->arena, "%s.out", folder);
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(j->arena), 0);
    if (!folder || !out || !scratch) {
        clv_arena_free(scratch);
        return clv_fail_nomem(j->err, WHAT);
    }
    clv_status status = clv_lower(&l, folder, scratch, &summary, j->err);
    clv_arena_free(scratch);
    if (status == CLV_EUNSUPP) {
        f->why_not = clv_arena_printf(j->arena, "%s", j->err->message);
        return f->why_not ? CLV_OK : clv_fail_nomem(j->err, WHAT);
    }
    CLV_TRY(status);
    runner.shapes = NULL; /* the manifest tells them */
    CLV_TRY(clv_runner_run(&runner, folder, out, j->arena, &answer, j->err));
    clv_folder_remove(folder);
    f->fault = answer.fault;
    f->ms = answer.ms;
    j->ret->holds = j->ret->holds && !f->fault;
    return CLV_OK;
}

static clv_verified_form *new_form(job *j, const char *name)
{
    clv_verified_form *f = &j->ret->form[j->ret->n_forms++];
    *f = (clv_verified_form){ .form = name, .first = -1, .nearest = -1, .ms = -1 };
    return f;
}

static clv_status run_form(job *j, clv_lower_form form, const char *whole)
{
    const char *name = clv_lower_form_name(form);
    clv_verified_form *f = new_form(j, name);
    CLV_TRY(lower_and_run(j, j->req->model, j->req->plan, form, name, f));
    if (f->why_not || f->fault)
        return CLV_OK;
    char *out = clv_arena_printf(j->arena, "%s/%s.out", j->folder, name);
    if (!out)
        return clv_fail_nomem(j->err, WHAT);
    CLV_TRY(compare_all(j, j->req->model->main, out, whole, f));
    clv_folder_remove(out);
    return CLV_OK;
}

/* Every tensor: the model with all of them as outputs, on one device and as planned. */
static clv_status run_tensors(job *j)
{
    clv_verified_form *f = new_form(j, "tensors"), one = { .first = -1 };
    clv_model *model;
    const clv_plan *plan;
    CLV_TRY(clv_every_tensor_model(j->req->model, j->types, j->arena, &model, j->err));
    CLV_TRY(clv_every_tensor_plan(j->req->plan, j->arena, &plan, j->err));
    CLV_TRY(lower_and_run(j, model, plan, CLV_FORM_EMULATE, "one", &one));
    f->why_not = one.why_not;
    f->fault = one.fault;
    if (!f->why_not && !f->fault)
        CLV_TRY(lower_and_run(j, model, j->req->plan, CLV_FORM_EMULATE, "tensors", f));
    if (f->why_not || f->fault)
        return CLV_OK;
    char *got = place(j, "tensors.out"), *want = place(j, "one.out");
    if (!got || !want)
        return clv_fail_nomem(j->err, WHAT);
    return compare_all(j, model->main, got, want, f);
}

static clv_status run_all(job *j)
{
    clv_runner_answer answer;
    clv_runner runner = j->req->runner;
    char *whole = place(j, "whole");
    if (!whole)
        return clv_fail_nomem(j->err, WHAT);
    CLV_TRY(clv_runner_shapes(j->types, j->arena, &runner.shapes, j->err));
    CLV_TRY(clv_runner_run(&runner, j->req->model_path, whole, j->arena, &answer, j->err));
    if (answer.fault)
        return clv_fail(j->err, CLV_EUNSUPP,
                        "the original does not run: %.400s; --proof-only needs no run",
                        answer.fault);
    j->ret->runtime = answer.runtime;
    for (int32_t form = 0; form < CLV_N_FORMS; form++) /* the model itself has nothing to compare */
        if (!clv_lower_form_is_annotated((clv_lower_form)form))
            CLV_TRY(run_form(j, (clv_lower_form)form, whole));
    return j->req->all ? run_tensors(j) : CLV_OK;
}

/* -- all of it -- */

/* Can it run at all, and twice alike? */
static clv_status look_for_reasons(job *j)
{
    clv_tensor_data *data;
    const clv_op_info *draws = clv_op_that_draws(j->types);
    if (draws) {
        j->ret->why_not_run =
            clv_arena_printf(j->arena, "operator '%.*s' (%.*s) draws random numbers without a seed",
                             CLV_STR_ARG(draws->label), CLV_STR_ARG(draws->type));
        return j->ret->why_not_run ? CLV_OK : clv_fail_nomem(j->err, WHAT);
    }
    CLV_TRY(clv_tensor_data_find(j->req->file, j->req->model, j->arena, &data, j->err));
    for (int32_t i = 0; i < j->req->model->main->n_weights; i++)
        if (data[i].kind == CLV_DATA_ABSENT) {
            j->ret->why_not_run = clv_arena_printf(
                j->arena, "the file of weights '%.*s' is not there", CLV_STR_ARG(data[i].location));
            return j->ret->why_not_run ? CLV_OK : clv_fail_nomem(j->err, WHAT);
        }
    return CLV_OK;
}

clv_status clv_verify(const clv_verify_request *req, clv_arena *arena, clv_verify_result *ret,
                      clv_error *err)
{
    job j = { .req = req, .arena = arena, .err = err, .ret = ret };
    *ret = (clv_verify_result){ .model = req->model,
                                .plan = req->plan,
                                .model_name = req->model_name,
                                .why_not_run = req->why_not_run,
                                .inputs = req->runner.inputs,
                                .seed = req->runner.seed };
    CLV_TRY(clv_lower_check(req->model, req->model_name, err));
    CLV_TRY(clv_plan_types(req->model, req->plan, arena, &j.types, err));
    CLV_TRY(prove(&j));
    if (!ret->holds && !ret->why_not_run)
        ret->why_not_run = "what is wrong by proof is not run";
    if (!ret->why_not_run)
        CLV_TRY(look_for_reasons(&j));
    if (ret->why_not_run)
        return CLV_OK;
    CLV_TRY(clv_folder_make(req->folder, arena, &j.folder, err));
    clv_status status = run_all(&j);
    clv_folder_remove(j.folder);
    return status;
}
