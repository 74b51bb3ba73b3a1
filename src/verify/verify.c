#include "verify/verify.h"

#include <unistd.h>

#include <stdio.h>

#include "compile/folder.h"
#include "lower/lower.h"
#include "lower/plan_types.h"
#include "lower/spmd_make.h"
#include "proto/tensor_data.h"
#include "proto/tensor_file.h"
#include "verify/error_growth.h"
#include "verify/every_tensor.h"
#include "verify/lowered_folder.h"
#include "verify/prove.h"
#include "verify/random_ops.h"
#include "verify/reference.h"

#define WHAT "verifying a plan"

typedef struct {
    const clv_verify_request *req;
    clv_arena *arena;
    clv_verify_result *ret;
    const clv_types *types;
    clv_folder folder; /* temporary */
    clv_error_growth growth;
    clv_reference whole;  /* a run of the model as it is */
    clv_reference *right; /* what forms are compared with */
    int32_t n_requests;   /* one for each copy */
} job;

/* -- the proof -- */

static clv_status prove_programs(job *j, clv_error *err)
{
    const clv_verify_request *q = j->req;
    clv_verify_result *r = j->ret;
    clv_spmd *s;
    CLV_TRY(clv_spmd_make_whole(q->model, j->types, q->plan, j->arena, &s, err));
    CLV_TRY(clv_prove(s, j->arena, &r->stages, err));
    CLV_TRY(clv_spmd_make(q->model, j->types, q->plan, j->arena, &s, err));
    CLV_TRY(clv_prove(s, j->arena, &r->proof, err));
    CLV_TRY(
        clv_error_growth_of(j->types, s->factors, s->mesh.n_devices, j->arena, &j->growth, err));
    return CLV_OK;
}

/* A plan that no program can be made of is not one whose program is wrong. */
static clv_status prove(job *j, clv_error *err)
{
    clv_error own;
    clv_status status = prove_programs(j, &own);
    if (status != CLV_OK && status != CLV_EUNSUPP)
        return clv_fail(err, status, "%s", own.message);
    if (status == CLV_EUNSUPP) {
        j->ret->why_not_written = clv_arena_printf(j->arena, "%s", own.message);
        return j->ret->why_not_written ? CLV_OK : clv_fail_nomem(err, WHAT);
    }
    return CLV_OK;
}

/* For so many requests. */
static clv_runner runner_for(const job *j, int32_t requests)
{
    clv_runner runner = j->req->runner;
    runner.requests = requests > 1 ? requests : 0;
    return runner;
}

/* -- lowering -- */

static int stop_of_runner(void *ctx)
{
    const clv_runner *r = ctx;
    return r->stop(r->stop_ctx);
}

static clv_lowering lowering_of(const job *j, clv_lower_form form)
{
    return (clv_lowering){ .file = j->req->file,
                           .model = j->req->model,
                           .types = j->types,
                           .plan = j->req->plan,
                           .form = form,
                           .model_name = j->req->model_name,
                           .stop = j->req->runner.stop ? stop_of_runner : NULL,
                           .stop_ctx = (void *)&j->req->runner };
}

/* What is lowered goes to the folder NAME, whose path is *ret; where that cannot be, f has why. */
static clv_status lower(job *j, const clv_lowering *l, const char *name, const char **ret,
                        clv_verified_form *f, clv_error *err)
{
    clv_error own;
    clv_lower_summary summary;
    char *folder = clv_arena_printf(j->arena, "%s/%s", j->folder.path, name);
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(j->arena), 0);
    if (!folder || !scratch) {
        clv_arena_free(scratch);
        return clv_fail_nomem(err, WHAT);
    }
    clv_status status = clv_lower(l, folder, scratch, &summary, &own);
    clv_arena_free(scratch);
    *ret = folder;
    if (status == CLV_EUNSUPP) {
        f->why_not = clv_arena_printf(j->arena, "%s", own.message);
        return f->why_not ? CLV_OK : clv_fail_nomem(err, WHAT);
    }
    return status == CLV_OK ? CLV_OK : clv_fail(err, status, "%s", own.message);
}

/* Runs the model as it is written on one device, or with every tensor as an output behind its own;
 * *ret: the folder of its outputs, NULL where it is not written or does not run. */
static clv_status run_anew(job *j, bool keeps, const char **ret, clv_error *err)
{
    clv_lowering l = lowering_of(j, CLV_FORM_EMULATE);
    clv_verified_form f = { .form = keeps ? "kept" : "anew" };
    const clv_runner runner = runner_for(j, j->n_requests);
    clv_runner_answer answer;
    const char *folder = NULL;
    clv_model *model;
    if (keeps) {
        CLV_TRY(clv_every_tensor_model(j->req->model, j->types, true, j->arena, &model, err));
        l.model = model;
    }
    CLV_TRY(clv_every_tensor_plan(j->req->plan, j->arena, &l.plan, err));
    CLV_TRY(lower(j, &l, f.form, &folder, &f, err));
    if (f.why_not)
        return CLV_OK;
    char *what = clv_arena_printf(j->arena, "%s/model.onnx", folder);
    char *out = clv_arena_printf(j->arena, "%s.out", folder);
    if (!what || !out)
        return clv_fail_nomem(err, WHAT);
    clv_status status = clv_runner_run(&runner, what, out, j->arena, &answer, err);
    clv_folder_clear(folder);
    *ret = status == CLV_OK && !answer.fault ? out : NULL;
    return status;
}

/* Runs what is right otherwise too, once. */
static clv_status run_others(job *j, clv_error *err)
{
    clv_reference *r = j->right;
    bool asked = r->asked;
    CLV_TRY(clv_reference_run_others(r, j->arena, err));
    if (asked || r != &j->whole)
        return CLV_OK;
    CLV_TRY(run_anew(j, false, &r->other[CLV_REFERENCE_ANEW], err));
    return r->other[CLV_REFERENCE_ANEW] ? run_anew(j, true, &r->other[CLV_REFERENCE_KEPT], err)
                                        : CLV_OK;
}

/* -- comparing -- */

static clv_compared seen(const clv_tensor_file *f)
{
    return (clv_compared){ f->dtype, f->rank, f->dims, f->elems, f->data, f->strings };
}

static clv_status compare_files(job *j, const clv_tensor_file *got, const clv_tensor_file *want,
                                const clv_allowance *allowed, clv_verified *ret, clv_error *err)
{
    char words[CLV_COMPARE_TEXT];
    clv_compared a = seen(got), b = seen(want);
    ret->fault = NULL;
    if (!clv_str_eq(got->name, want->name)) {
        ret->c = (clv_comparison){ .difference = CLV_OTHER_TYPE, .first = -1, .worst = -1 };
        ret->fault = clv_arena_printf(j->arena, "it is '%.*s'", CLV_STR_ARG(got->name));
        return ret->fault ? CLV_OK : clv_fail_nomem(err, WHAT);
    }
    clv_compare(&a, &b, allowed, &ret->c);
    if (ret->c.difference == CLV_SAME)
        return CLV_OK;
    ret->fault = clv_arena_printf(j->arena, "%s", clv_compare_words(words, &a, &b, &ret->c));
    return ret->fault ? CLV_OK : clv_fail_nomem(err, WHAT);
}

/* Output i of a request. */
typedef struct {
    int32_t request, i;
} output_id;

static char *path_of_output(const job *j, const char *folder, output_id of)
{
    return of.request == 0 ? clv_arena_printf(j->arena, "%s/output_%d.pb", folder, (int)of.i)
                           : clv_arena_printf(j->arena, "%s/request_%d/output_%d.pb", folder,
                                              (int)of.request, (int)of.i);
}

static clv_status open_output(job *j, const char *folder, output_id of, clv_tensor_file *ret,
                              clv_error *err)
{
    char *path = path_of_output(j, folder, of);
    return path ? clv_tensor_file_open(path, j->arena, ret, err) : clv_fail_nomem(err, WHAT);
}

/* What the manifest of a given folder does not list, nobody writes. Of ours it lists all. */
static clv_status note_missing(const job *j, const char *folder, output_id of, clv_verified *ret,
                               clv_error *err)
{
    if (!j->req->lowered)
        return CLV_OK;
    const char *path = path_of_output(j, folder, of);
    if (path && access(path, F_OK) == 0)
        return CLV_OK;
    ret->c = (clv_comparison){ .difference = CLV_OTHER_TYPE, .first = -1, .worst = -1 };
    ret->fault = path ? clv_arena_printf(j->arena, "it is not given") : NULL;
    return ret->fault ? CLV_OK : clv_fail_nomem(err, WHAT);
}

/* Of n other runs those that count: the model written anew, and all behind it, only if it gives the
 * same. anew: its number among them. */
static clv_status count_others(job *j, const clv_tensor_file *other, int32_t anew,
                               const clv_tensor_file *want, clv_allowance *allowed, clv_error *err)
{
    clv_verified v = { .c.difference = CLV_SAME };
    const clv_allowance alone = { allowed->growth, allowed->absolute, NULL, 0 };
    if (anew >= allowed->n_others)
        return CLV_OK;
    CLV_TRY(compare_files(j, &other[anew], want, &alone, &v, err));
    if (v.c.difference != CLV_SAME)
        allowed->n_others = anew;
    return CLV_OK;
}

/* Once more, beside what the model itself gives where it runs otherwise. */
static clv_status compare_with_others(job *j, const clv_tensor_file *got,
                                      const clv_tensor_file *want, output_id of, clv_verified *ret,
                                      clv_error *err)
{
    clv_tensor_file other[CLV_REFERENCE_OTHERS];
    clv_compared others[CLV_REFERENCE_OTHERS];
    int32_t n = 0, anew = CLV_REFERENCE_OTHERS;
    clv_status status = run_others(j, err);
    for (int32_t k = 0; k < CLV_REFERENCE_OTHERS && status == CLV_OK; k++) {
        if (!j->right->other[k])
            continue;
        status = open_output(j, j->right->other[k], of, &other[n], err);
        if (status != CLV_OK)
            break;
        anew = k == CLV_REFERENCE_ANEW ? n : anew;
        others[n] = seen(&other[n]);
        n++;
    }
    clv_allowance allowed = { ret->growth, ret->absolute, others, n };
    if (status == CLV_OK)
        status = count_others(j, other, anew, want, &allowed, err);
    if (status == CLV_OK)
        status = compare_files(j, got, want, &allowed, ret, err);
    for (int32_t k = 0; k < n; k++)
        clv_tensor_file_close(&other[k]);
    return status;
}

/* An output of a run, which is ret->tensor, and of what is right. */
static clv_status compare_output(job *j, const char *got_in, output_id of, clv_verified *ret,
                                 clv_error *err)
{
    clv_tensor_file got, want;
    ret->growth = j->growth.growth[ret->tensor.i];
    ret->terms = j->growth.terms[ret->tensor.i];
    ret->absolute = j->growth.absolute[ret->tensor.i];
    const clv_allowance alone = { ret->growth, ret->absolute, NULL, 0 };
    CLV_TRY(open_output(j, j->right->out, of, &want, err));
    clv_status status = open_output(j, got_in, of, &got, err);
    if (status == CLV_OK) {
        status = compare_files(j, &got, &want, &alone, ret, err);
        if (status == CLV_OK && ret->c.n_beyond > 0)
            status = compare_with_others(j, &got, &want, of, ret, err);
        clv_tensor_file_close(&got);
    }
    clv_tensor_file_close(&want);
    return status;
}

/* All outputs of a graph, of all requests, in the folder of a run. */
static clv_status compare_outputs(job *j, const clv_graph *g, const char *got, clv_verified_form *f,
                                  clv_error *err)
{
    double nearest = 0; /* error beside its bound */
    f->at = CLV_NEW_ARRAY(j->arena, clv_verified, (int64_t)f->n_requests * g->n_outputs);
    if (!f->at)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < f->n_requests * g->n_outputs; i++) {
        clv_verified *v = &f->at[i];
        const output_id of = { i / g->n_outputs, i % g->n_outputs };
        v->tensor = g->outputs[of.i];
        v->request = of.request;
        CLV_TRY(note_missing(j, got, of, v, err));
        if (!v->fault)
            CLV_TRY(compare_output(j, got, of, v, err));
        f->n++;
        f->n_blind += v->c.is_blind;
        if (v->fault && f->n_differ++ == 0)
            f->first = i;
        if (v->c.worst >= 0 && (f->nearest < 0 || v->c.error / v->c.bound > nearest)) {
            nearest = v->c.error / v->c.bound;
            f->nearest = i;
        }
    }
    return CLV_OK;
}

/* -- running -- */

/* By what the runner says of them: in a folder as it should be request k runs on copy k. */
static clv_status note_round(const job *j, int32_t copies, clv_verified_form *f, clv_error *err)
{
    if (f->n_requests == 1 || f->unlike || copies == 0 || copies == f->n_requests)
        return CLV_OK;
    f->fault =
        clv_arena_printf(j->arena, "its requests do not go round on %d copies", (int)f->n_requests);
    return f->fault ? CLV_OK : clv_fail_nomem(err, WHAT);
}

/* Runs what lies in a folder and compares. */
static clv_status run_folder(job *j, const char *folder, const char *out, const clv_graph *g,
                             clv_verified_form *f, clv_error *err)
{
    const clv_runner runner = runner_for(j, f->n_requests);
    clv_runner_answer answer;
    /* runner.shapes are not needed: the manifest has them */
    CLV_TRY(clv_runner_run(&runner, folder, out, j->arena, &answer, err));
    f->fault = answer.fault;
    f->ms = answer.ms;
    if (!f->fault)
        CLV_TRY(note_round(j, answer.copies, f, err));
    return f->fault ? CLV_OK : compare_outputs(j, g, out, f, err);
}

/* Lowers, runs and compares, and leaves nothing. */
static clv_status run_form(job *j, const clv_lowering *l, const clv_graph *g, clv_verified_form *f,
                           clv_error *err)
{
    const char *folder = NULL;
    CLV_TRY(lower(j, l, f->form, &folder, f, err));
    if (f->why_not)
        return CLV_OK;
    char *out = clv_arena_printf(j->arena, "%s.out", folder);
    if (!out)
        return clv_fail_nomem(err, WHAT);
    clv_status status = run_folder(j, folder, out, g, f, err);
    clv_folder_clear(folder);
    clv_folder_clear(out);
    return status;
}

/* A form of one model has no copies. */
static int32_t requests_of(const job *j, clv_lower_form form)
{
    return clv_lower_form_has_devices(form) ? j->n_requests : 1;
}

static clv_verified_form *add_form(job *j, const char *name)
{
    clv_verified_form *f = &j->ret->form[j->ret->n_forms++];
    *f = (clv_verified_form){ .form = name, .first = -1, .nearest = -1, .ms = -1, .n_requests = 1 };
    return f;
}

/* Every tensor: the model with all of them as outputs, on one device and as planned. */
static clv_status run_tensors(job *j, clv_error *err)
{
    clv_verified_form *f = add_form(j, "tensors");
    clv_lowering l = lowering_of(j, CLV_FORM_EMULATE);
    clv_reference one = { .runner = j->req->runner };
    clv_runner_answer answer;
    clv_model *model;
    CLV_TRY(clv_every_tensor_model(j->req->model, j->types, false, j->arena, &model, err));
    CLV_TRY(clv_every_tensor_plan(j->req->plan, j->arena, &l.plan, err));
    l.model = model;
    CLV_TRY(lower(j, &l, "one", &one.what, f, err));
    if (f->why_not)
        return CLV_OK;
    if (!(one.out = clv_arena_printf(j->arena, "%s.out", one.what)))
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(clv_reference_run(&one, j->arena, &answer, err));
    f->fault = answer.fault;
    if (f->fault)
        return CLV_OK;
    l.plan = j->req->plan;
    j->right = &one;
    clv_status status = run_form(j, &l, model->main, f, err);
    j->right = NULL;
    return status;
}

/* Files of the model that a folder of ranges is to be given, as links or copies. */
static clv_status list_originals(const job *j, clv_map *ret, clv_error *err)
{
    clv_tensor_data *data;
    int32_t id, n = 0;
    CLV_TRY(clv_map_put(ret, clv_str_of(j->req->model_name), n++, &id, err));
    CLV_TRY(clv_tensor_data_find(j->req->file, j->req->model, j->arena, &data, err));
    for (int32_t i = 0; i < j->req->model->main->n_weights; i++)
        if (data[i].kind == CLV_DATA_EXTERNAL || data[i].kind == CLV_DATA_ABSENT)
            CLV_TRY(clv_map_put(ret, data[i].location, n++, &id, err));
    return CLV_OK;
}

/* The folder on disk beside one that is made anew. */
static clv_status compare_folder(job *j, clv_error *err)
{
    const char *want = NULL;
    clv_verified_form *f = add_form(j, "folder");
    clv_lowering l = lowering_of(j, CLV_FORM_STAGES);
    CLV_TRY(clv_lowered_folder_form(j->req->lowered, j->arena, &l, err));
    f->n_requests = requests_of(j, l.form);
    CLV_TRY(lower(j, &l, "expected", &want, f, err));
    if (f->why_not)
        return CLV_OK;
    clv_map originals;
    clv_status status = clv_map_init(&originals, j->arena, 0, err);
    if (status == CLV_OK && l.weights == CLV_PARTS_RANGES) {
        status = list_originals(j, &originals, err);
        if (!j->ret->why_not_run)
            j->ret->why_not_run = "its weights are ranges of other files, for a loader to read";
    }
    if (status == CLV_OK)
        status = clv_lowered_folder_compare(j->req->lowered, want, &originals, j->arena, &f->unlike,
                                            err);
    clv_folder_clear(want);
    return status;
}

static bool has_type(const clv_tensor_file *f, const clv_type *type)
{
    bool same = f->dtype == type->dtype && f->rank == type->rank;
    for (int32_t d = 0; same && d < f->rank; d++)
        same = f->dims[d] == type->dims[d];
    return same;
}

/* Where a form is not as it should be: are the model's own outputs of the sizes that it says? A
 * shape that is an input, and a random one, leads to others, which no plan is made for. */
static clv_status check_own_sizes(job *j, clv_error *err)
{
    char text[CLV_MESSAGE_SIZE];
    const clv_graph *g = j->req->model->main;
    for (int32_t i = 0; i < j->n_requests * g->n_outputs && !j->ret->original_fault; i++) {
        clv_tensor_file want;
        const output_id of = { i / g->n_outputs, i % g->n_outputs };
        const clv_type *type = &j->types->of[g->outputs[of.i].i];
        if (type->kind != CLV_TYPE_TENSOR || !clv_type_is_static(type))
            continue;
        CLV_TRY(open_output(j, j->right->out, of, &want, err));
        if (!has_type(&want, type))
            j->ret->original_fault = clv_arena_printf(
                j->arena,
                "with these inputs '%.*s' has other sizes than the file says, %s; --inputs gives "
                "others",
                CLV_STR_ARG(clv_tensor_at(g, g->outputs[of.i])->name),
                clv_type_show(j->req->model, type, text, sizeof text));
        bool failed = !has_type(&want, type) && !j->ret->original_fault;
        clv_tensor_file_close(&want);
        if (failed)
            return clv_fail_nomem(err, WHAT);
    }
    return CLV_OK;
}

static bool all_are_right(const clv_verify_result *r)
{
    for (int32_t i = 0; i < r->n_forms; i++)
        if (r->form[i].fault || r->form[i].n_differ > 0)
            return false;
    return true;
}

static clv_status run_all(job *j, clv_error *err)
{
    clv_runner_answer answer;
    clv_reference *whole = &j->whole;
    *whole = (clv_reference){ .runner = runner_for(j, j->n_requests), .what = j->req->model_path };
    if (!(whole->out = clv_arena_printf(j->arena, "%s/whole", j->folder.path)))
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(clv_runner_shapes(j->types, j->arena, &whole->runner.shapes, err));
    CLV_TRY(clv_reference_run(whole, j->arena, &answer, err));
    j->ret->original_fault = answer.fault;
    if (answer.fault)
        return CLV_OK;
    j->ret->runtime = answer.runtime;
    j->right = whole;
    if (j->req->lowered) {
        const char *out = clv_arena_printf(j->arena, "%s/folder.out", j->folder.path);
        clv_verified_form *f = &j->ret->form[0];
        CLV_TRY(out ? run_folder(j, j->req->lowered, out, j->req->model->main, f, err)
                    : clv_fail_nomem(err, WHAT));
        return all_are_right(j->ret) ? CLV_OK : check_own_sizes(j, err);
    }
    for (int32_t form = 0; form < CLV_N_FORMS; form++) {
        if (clv_lower_form_is_annotated((clv_lower_form)form)) /* nothing to compare */
            continue;
        const clv_lowering l = lowering_of(j, (clv_lower_form)form);
        clv_verified_form *f = add_form(j, clv_lower_form_name((clv_lower_form)form));
        f->n_requests = requests_of(j, (clv_lower_form)form);
        CLV_TRY(run_form(j, &l, j->req->model->main, f, err));
    }
    if (!all_are_right(j->ret))
        CLV_TRY(check_own_sizes(j, err));
    return j->req->all ? run_tensors(j, err) : CLV_OK;
}

/* -- all of it -- */

/* Can it run at all, and twice alike? Else *ret says why not. */
static clv_status find_obstacle(const job *j, const char **ret, clv_error *err)
{
    clv_tensor_data *data;
    const clv_op_info *draws = clv_op_that_draws(j->types);
    if (draws) {
        *ret =
            clv_arena_printf(j->arena, "operator '%.*s' (%.*s) draws random numbers without a seed",
                             CLV_STR_ARG(draws->label), CLV_STR_ARG(draws->type));
        return *ret ? CLV_OK : clv_fail_nomem(err, WHAT);
    }
    CLV_TRY(clv_tensor_data_find(j->req->file, j->req->model, j->arena, &data, err));
    for (int32_t i = 0; i < j->req->model->main->n_weights; i++)
        if (data[i].kind == CLV_DATA_ABSENT) {
            *ret = clv_arena_printf(j->arena, "the file of weights '%.*s' is not there",
                                    CLV_STR_ARG(data[i].location));
            return *ret ? CLV_OK : clv_fail_nomem(err, WHAT);
        }
    return CLV_OK;
}

clv_status clv_verify(const clv_verify_request *req, clv_arena *arena, clv_verify_result *ret,
                      clv_error *err)
{
    job j = { .req = req, .arena = arena, .ret = ret, .n_requests = clv_plan_copies(req->plan) };
    *ret = (clv_verify_result){ .model = req->model,
                                .plan = req->plan,
                                .model_name = req->model_name,
                                .why_not_run = req->why_not_run,
                                .is_folder = req->lowered != NULL,
                                .inputs = req->runner.inputs,
                                .seed = req->runner.seed };
    CLV_TRY(clv_lower_check(req->model, req->model_name, err));
    CLV_TRY(clv_plan_types(req->model, req->plan, arena, &j.types, err));
    CLV_TRY(prove(&j, err));
    if (ret->why_not_written)
        ret->why_not_run = "what cannot be written is not run";
    else if (!ret->proof.holds || !ret->stages.holds)
        ret->why_not_run = "what is wrong by proof is not run";
    if (!ret->why_not_run)
        CLV_TRY(find_obstacle(&j, &ret->why_not_run, err));
    bool compares = req->lowered && !ret->why_not_written && ret->proof.holds && ret->stages.holds;
    if (ret->why_not_run && !compares)
        return CLV_OK;
    clv_folder_tidy(req->folder);
    CLV_TRY(clv_folder_make(req->folder, arena, &j.folder, err));
    clv_status status = compares ? compare_folder(&j, err) : CLV_OK;
    if (status == CLV_OK && !ret->why_not_run)
        status = run_all(&j, err);
    clv_folder_remove(&j.folder);
    return status;
}
