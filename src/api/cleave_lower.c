/* cleave_lower.c - the public API that writes plans down as models that run. */
#include "api/api.h"
#include "base/suggest.h"
#include "lower/lower.h"
#include "lower/plan_types.h"

/* Which of the words, NULL-terminated, the text is; NULL is the first. */
static clv_status choose(const char *text, const char *what, const char *const *words, int *ret,
                         clv_error *err)
{
    int n = 0;
    for (*ret = 0; text && words[*ret] && strcmp(words[*ret], text) != 0; ++*ret)
        ;
    if (!text || words[*ret])
        return CLV_OK;
    while (words[n])
        n++;
    const char *near = clv_suggest(text, words, n);
    return clv_fail(err, CLV_EUSAGE, "%s '%.60s' is unknown, expected %s", what, text,
                    near ? near : words[0]);
}

static clv_status read_options(const cleave_model *m, const cleave_lower_options *given,
                               clv_lowering *ret, clv_error *err)
{
    static const char *const forms[] = { "stages",      "devices", "emulate",
                                         "ort-options", "olive",   NULL };
    static const char *const dialects[] = { "ort", "tensorrt", NULL };
    static const char *const kinds[] = { "external", "safetensors", "ranges", NULL };
    int form, dialect, kind;
    CLV_TRY(choose(given->form, "form", forms, &form, err));
    CLV_TRY(choose(given->collectives, "dialect of collectives", dialects, &dialect, err));
    CLV_TRY(choose(given->weights, "kind of weights", kinds, &kind, err));
    *ret = (clv_lowering){ .file = m->file,
                           .model = m->model,
                           .form = (clv_lower_form)form,
                           .dialect = dialect ? CLV_DIALECT_TENSORRT : CLV_DIALECT_ORT,
                           .weights = (clv_parts_kind)kind,
                           .model_name = m->name,
                           .stop = m->stop,
                           .stop_ctx = m->stop_ctx };
    return CLV_OK;
}

static clv_status lower(const cleave_model *m, const clv_plan *plan,
                        const cleave_lower_options *given, const char *folder, clv_arena *arena,
                        clv_lower_summary *ret, clv_error *err)
{
    clv_lowering l;
    CLV_TRY(read_options(m, given, &l, err));
    l.plan = plan;
    CLV_TRY(clv_plan_types(m->model, plan, arena, &l.types, err));
    return clv_lower(&l, folder, arena, ret, err);
}

cleave_status cleave_lower(cleave_model *model, const cleave_plan *plan,
                           const cleave_lower_options *options, const char *folder,
                           cleave_lowered *ret, cleave_error *error)
{
    clv_error err;
    clv_lower_summary made;
    if (!model || !plan || !options || !options->form || !folder)
        return clv_api_refuse(error, CLV_EUSAGE,
                              "cleave_lower needs a model, a plan, a form and a folder");
    cleave_status fits = clv_api_own_plan(model, plan, error);
    if (fits != CLEAVE_OK)
        return fits;
    clv_arena *arena = clv_arena_new(clv_api_alloc(model), 0);
    clv_status status = arena ? lower(model, plan->plan, options, folder, arena, &made, &err)
                              : clv_fail_nomem(&err, "lowering a plan");
    if (status == CLV_OK && ret)
        *ret = (cleave_lowered){ made.n_models, made.n_files, made.n_collectives, made.n_transfers,
                                 made.bytes };
    clv_arena_free(arena);
    return clv_api_give(status, &err, error);
}
