#include "verify/verify_report.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/json_out.h"
#include "explain/report_devices.h"
#include "explain/text.h"
#include "plan/plan_json_write_mesh.h"
#include "plan/plan_mesh.h"
#include "verify/verdict.h"

#define WHAT "a report"

/* -- for people -- */

typedef struct {
    clv_text text;
    const clv_verify_result *r;
} page;

static const char *shown(page *p, clv_str name)
{
    const char *text = clv_show_name(p->text.arena, name);
    p->text.failed = p->text.failed || !text;
    return text ? text : "";
}

/* A sentence, with what a file or a program said. */
static const char *said(page *p, const char *text) { return shown(p, clv_str_of(text)); }

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

static void add_proof(page *p)
{
    const clv_proof *f = &p->r->proof;
    char elems[CLV_INT128_TEXT], parts[CLV_INT128_TEXT];
    if (p->r->why_not_written) {
        clv_text_printf(&p->text, "proof     none, the plan cannot be written: %s\n",
                        said(p, p->r->why_not_written));
        return;
    }
    if (!f->holds || !p->r->stages.holds) {
        clv_text_printf(&p->text, "proof     does not hold: %s\n",
                        said(p, f->holds ? p->r->stages.fault : f->fault));
        return;
    }
    clv_text_printf(
        &p->text,
        "proof     holds: %d tensor%s in %d layout%s, %d operator%s, %d step%s, %d transfer%s, on "
        "%d "
        "device%s in %d stage%s\n",
        f->n_tensors, plural(f->n_tensors), f->n_values, plural(f->n_values), f->n_operators,
        plural(f->n_operators), f->n_steps, plural(f->n_steps), f->n_transfers,
        plural(f->n_transfers), f->n_devices * f->n_phases, plural(f->n_devices * f->n_phases),
        f->n_phases, plural(f->n_phases));
    clv_text_printf(
        &p->text, "          each of %s elements is made once for each of its copies, %s in all\n",
        clv_int128_text(elems, f->elems), clv_int128_text(parts, f->parts));
}

/* The proof is of the first copy, and so of all: clv_plan_check_copies() has passed the others. */
static void add_copies(page *p)
{
    if (clv_plan_copies(p->r->plan) == 1)
        return;
    clv_text_printf(&p->text, "copies    %d, on ", (int)clv_plan_copies(p->r->plan));
    clv_report_copy_devices(p->r->plan, &p->text);
    clv_text_printf(&p->text, ": no device is in two, and they are alike place by place\n");
}

/* "'y'", "'y' of request 2": where there are several. */
static const char *shown_output(page *p, const clv_verified_form *f, const clv_verified *v)
{
    const char *name = shown(p, clv_tensor_at(p->r->model->main, v->tensor)->name);
    const char *text = f->n_requests > 1 ? clv_arena_printf(p->text.arena, "'%s' of request %d",
                                                            name, (int)v->request)
                                         : clv_arena_printf(p->text.arena, "'%s'", name);
    p->text.failed = p->text.failed || !text;
    return text ? text : "";
}

/* What was allowed, or not looked at, because of the model itself. */
static void add_remarks(page *p, const clv_verified_form *f)
{
    for (int32_t i = 0; i < f->n; i++) {
        const clv_comparison *c = &f->at[i].c;
        const char *name = shown_output(p, f, &f->at[i]);
        if (c->own > 0)
            clv_text_printf(&p->text,
                            "          %s of the model itself differs by %.2g of its size where it "
                            "is run otherwise\n",
                            name, c->own);
        if (c->n_unsettled > 0)
            clv_text_printf(&p->text,
                            "          %" PRId64 " element%s of %s not judged: the model itself "
                            "gives others where it is run otherwise\n",
                            c->n_unsettled, plural(c->n_unsettled), name);
        if (c->is_blind)
            clv_text_printf(&p->text,
                            "          %s says nothing: all that is expected is within the error "
                            "that is allowed\n",
                            name);
    }
}

static void add_form(page *p, const clv_verified_form *f)
{
    const clv_graph *g = p->r->model->main;
    bool tensors = strcmp(f->form, "tensors") == 0;
    if (f->why_not) {
        clv_text_printf(&p->text, "%-8s  cannot be written: %s\n", f->form, said(p, f->why_not));
        return;
    }
    if (f->unlike)
        clv_text_printf(&p->text, "%-8s  is not what the plan gives: %s\n", f->form,
                        said(p, f->unlike));
    if (!f->fault && f->n == 0) /* it was looked at only */
        return;
    if (f->fault) {
        clv_text_printf(&p->text, "%-8s  does not run: %s\n", f->form, said(p, f->fault));
        return;
    }
    clv_text_printf(&p->text, "%-8s  %d of %d %s%s equal", f->form, f->n - f->n_differ, f->n,
                    tensors ? "tensor" : "output", plural(f->n));
    if (f->n_requests > 1)
        clv_text_printf(&p->text, ", %d requests on %d copies", (int)f->n_requests,
                        (int)f->n_requests);
    if (f->nearest >= 0) {
        const clv_verified *v = &f->at[f->nearest];
        clv_text_printf(&p->text, "; largest error %.2g, where %.2g is allowed, in %s", v->c.error,
                        v->c.bound, shown_output(p, f, v));
    } else if (f->n_differ == 0) {
        clv_text_printf(&p->text, ", bit by bit");
    }
    clv_text_printf(&p->text, "\n");
    add_remarks(p, f);
    if (f->first < 0)
        return;
    const clv_verified *v = &f->at[f->first];
    clv_op op = clv_tensor_at(g, v->tensor)->producer;
    clv_text_printf(&p->text, "          %s differs: %s\n", shown_output(p, f, v),
                    said(p, v->fault));
    if (tensors && op.i >= 0)
        clv_text_printf(&p->text, "          the first node that differs is '%s' (%.*s)\n",
                        shown(p, clv_op_at(g, op)->label), CLV_STR_ARG(clv_op_at(g, op)->type));
}

clv_status clv_verify_text(const clv_verify_result *r, clv_text_form form, clv_arena *arena,
                           const char **ret, clv_error *err)
{
    page p = { .text = { .arena = arena, .form = form }, .r = r };
    const char *sentence;
    CLV_TRY(clv_verdict_sentence(r, arena, &sentence, err));
    clv_text_printf(&p.text, "%s with its plan for %d device%s\n\n", r->model_name,
                    r->plan->n_devices, plural(r->plan->n_devices));
    clv_text_printf(&p.text,
                    "plan      goes together: devices, stages%s; not checked: times, memory\n",
                    clv_plan_has_mesh(r->plan) ? ", splits, specs, collectives" : "");
    add_proof(&p);
    add_copies(&p);
    if (r->why_not_run)
        clv_text_printf(&p.text, "run       nothing: %s\n", said(&p, r->why_not_run));
    else if (r->original_fault && r->n_forms == 0)
        clv_text_printf(&p.text, "run       nothing: the model itself does not run: %s\n",
                        said(&p, r->original_fault));
    else
        clv_text_printf(&p.text, "run       on ONNX Runtime %s, %s seed %" PRIu64 "\n",
                        r->runtime ? r->runtime : "of unknown version",
                        r->inputs ? "inputs given, others random by" : "random inputs of", r->seed);
    for (int32_t i = 0; i < r->n_forms; i++)
        add_form(&p, &r->form[i]);
    if (r->original_fault && r->n_forms > 0)
        clv_text_printf(&p.text, "original  %s\n", said(&p, r->original_fault));
    clv_verify_verdict verdict = clv_verdict_of(r);
    bool is_good = verdict == CLV_VERDICT_AGREES || verdict == CLV_VERDICT_PROVEN;
    clv_text_printf(
        &p.text, "\n%s%c%s.%s\n", clv_tone_begin(&p.text, is_good ? CLV_TONE_GOOD : CLV_TONE_BAD),
        toupper((unsigned char)sentence[0]), said(&p, sentence + 1), clv_tone_end(&p.text));
    const char *text = clv_text_end(&p.text);
    if (!text)
        return clv_fail_nomem(err, WHAT);
    *ret = text;
    return CLV_OK;
}

/* -- JSON -- */

static void write_int128(clv_json_out *out, const char *key, clv_int128 value)
{
    char text[CLV_INT128_TEXT];
    clv_json_put_string(out, key, clv_int128_text(text, value));
}

static void write_proof(clv_json_out *out, const char *key, const clv_proof *f)
{
    clv_json_open_object(out, key);
    clv_json_put_bool(out, "holds", f->holds);
    if (f->fault)
        clv_json_put_string(out, "fault", f->fault);
    clv_json_put_int(out, "tensors", f->n_tensors);
    clv_json_put_int(out, "layouts", f->n_values);
    clv_json_put_int(out, "operators", f->n_operators);
    clv_json_put_int(out, "steps", f->n_steps);
    clv_json_put_int(out, "transfers", f->n_transfers);
    clv_json_put_int(out, "outputs", f->n_outputs);
    clv_json_put_int(out, "stages", f->n_phases);
    clv_json_put_int(out, "devices_per_stage", f->n_devices);
    write_int128(out, "elements", f->elems);
    write_int128(out, "elements_in_parts", f->parts);
    clv_json_close_object(out);
}

static void write_tensor(clv_json_out *out, const clv_graph *g, const clv_verified_form *f,
                         const clv_verified *v)
{
    const clv_tensor_info *info = clv_tensor_at(g, v->tensor);
    clv_json_open_object(out, NULL);
    clv_json_put_str(out, "name", info->name);
    if (f->n_requests > 1)
        clv_json_put_int(out, "request", v->request);
    if (info->producer.i >= 0)
        clv_json_put_str(out, "node", clv_op_at(g, info->producer)->label);
    clv_json_put_bool(out, "equal", !v->fault);
    if (v->fault)
        clv_json_put_string(out, "fault", v->fault);
    clv_json_put_number(out, "growth", v->growth);
    clv_json_put_number(out, "terms", v->terms);
    clv_json_put_number(out, "absolute", v->absolute);
    if (v->c.own > 0)
        clv_json_put_number(out, "own", v->c.own);
    if (v->c.n_unsettled > 0)
        clv_json_put_int(out, "unsettled", v->c.n_unsettled);
    if (v->c.is_blind)
        clv_json_put_bool(out, "blind", true);
    clv_json_put_int(out, "inexact", v->c.n_inexact);
    clv_json_put_int(out, "beyond", v->c.n_beyond);
    if (v->c.first >= 0)
        clv_json_put_int(out, "first", v->c.first);
    if (v->c.worst >= 0) {
        clv_json_open_object(out, "worst");
        clv_json_put_int(out, "at", v->c.worst);
        clv_json_put_number(out, "got", v->c.got);
        clv_json_put_number(out, "expected", v->c.want);
        clv_json_put_number(out, "error", v->c.error);
        clv_json_put_number(out, "bound", v->c.bound);
        clv_json_close_object(out);
    }
    clv_json_close_object(out);
}

static void write_form(clv_json_out *out, const clv_verify_result *r, const clv_verified_form *f)
{
    clv_json_open_object(out, NULL);
    clv_json_put_string(out, "form", f->form);
    if (f->why_not)
        clv_json_put_string(out, "not_compared", f->why_not);
    if (f->unlike)
        clv_json_put_string(out, "unlike", f->unlike);
    if (f->fault)
        clv_json_put_string(out, "fault", f->fault);
    if (f->ms >= 0)
        clv_json_put_number(out, "ms", f->ms);
    if (f->n_requests > 1)
        clv_json_put_int(out, "requests", f->n_requests);
    if (f->first >= 0)
        clv_json_put_int(out, "first", f->first);
    clv_json_open_array(out, "tensors");
    for (int32_t i = 0; i < f->n; i++)
        write_tensor(out, r->model->main, f, &f->at[i]);
    clv_json_close_array(out);
    clv_json_close_object(out);
}

clv_status clv_verify_json(const clv_verify_result *r, clv_arena *arena, const char **ret,
                           clv_error *err)
{
    clv_json_out out;
    clv_verify_verdict verdict = clv_verdict_of(r);
    const char *sentence;
    CLV_TRY(clv_verdict_sentence(r, arena, &sentence, err));
    clv_json_begin(&out, arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_put_int(&out, "schema_version", 1);
    clv_json_put_string(&out, "model", r->model_name);
    clv_json_put_bool(&out, "holds",
                      verdict == CLV_VERDICT_AGREES || verdict == CLV_VERDICT_PROVEN);
    clv_json_put_string(&out, "verdict", clv_verdict_name(verdict));
    clv_json_put_string(&out, "conclusion", sentence);
    if (r->why_not_written)
        clv_json_put_string(&out, "why_not_written", r->why_not_written);
    write_proof(&out, "proof", &r->proof);
    write_proof(&out, "proof_of_stages", &r->stages);
    clv_plan_put_copy_names(&out, r->plan);
    clv_json_put_bool(&out, "run", !r->why_not_run && (!r->original_fault || r->n_forms > 0));
    if (r->original_fault)
        clv_json_put_string(&out, "original_fault", r->original_fault);
    if (r->why_not_run) {
        clv_json_put_string(&out, "why_not_run", r->why_not_run);
    } else if (!r->original_fault || r->n_forms > 0) {
        clv_json_put_string(&out, "runtime", r->runtime);
        clv_json_put_string(&out, "inputs", r->inputs);
        clv_json_put_int(&out, "seed", (int64_t)r->seed);
    }
    clv_json_open_array(&out, "forms");
    for (int32_t i = 0; i < r->n_forms; i++)
        write_form(&out, r, &r->form[i]);
    clv_json_close_array(&out);
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    *ret = out.text;
    return CLV_OK;
}
