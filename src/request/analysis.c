#include "request/analysis.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cost/kernel_costs.h"
#include "graph/infer_bound.h"
#include "graph/last_token.h"
#include "kernels/form.h"
#include "kernels/host.h"

#define SYMBOLS_SHOWN 300 /* characters of the names that are still open */
#define SIZE_TRIED    512 /* the largest that is tried for them: windows and patches divide it */

/* Costs of operators as parts of kernels, and units that do not take kernels apart. */
static clv_status add_kernels(const clv_analysed *of, clv_arena *arena, clv_analysis *a,
                              clv_error *err)
{
    clv_kernels *kernels;
    clv_types *stored;
    CLV_TRY(clv_kernels_form(a->types, of->runtime, arena, &kernels, err));
    CLV_TRY(clv_types_stored(a->types, kernels, of->kv, arena, &stored, err));
    CLV_TRY(clv_costs_build(of->model, stored, arena, &a->costs, err));
    CLV_TRY(clv_kernel_costs_apply(kernels, a->costs, arena, err));
    if (!of->parts_kernels)
        CLV_TRY(clv_kernel_followers(stored, kernels, arena, &a->costs->goes_with, err));
    a->types = stored;
    a->kernels = kernels;
    return CLV_OK;
}

/* What of a serving loop depends on the prompt. */
static clv_status add_prompt(const clv_runtime *runtime, clv_arena *arena, clv_analysis *a,
                             clv_error *err)
{
    const clv_types *of_file = a->types;
    clv_prompt prompt;
    if (!runtime->last_token && runtime->host.request_ns == 0 && runtime->host.prompt_token_ns == 0)
        return CLV_OK;
    CLV_TRY(clv_prompt_find(of_file, arena, &prompt, err));
    a->front_end_ns = clv_front_end_ns(&runtime->host, &prompt);
    if (runtime->last_token)
        CLV_TRY(clv_types_last_token(of_file, &prompt, arena, &a->types, err));
    a->last_token = a->types != of_file;
    return CLV_OK;
}

clv_status clv_analyse(const clv_analysed *of, clv_arena *arena, clv_analysis *ret, clv_error *err)
{
    clv_analysis a = { .types = NULL };
    CLV_TRY(clv_infer_bound(of->model, of->bindings, of->n_bindings, arena, &a.inference, err));
    a.types = a.inference->main;
    if (of->activations != CLV_DT_UNDEFINED)
        CLV_TRY(clv_types_narrowed(a.types, of->activations, arena, &a.types, err));
    if (of->runtime)
        CLV_TRY(add_prompt(of->runtime, arena, &a, err));
    if (of->runtime && of->runtime->n > 0)
        CLV_TRY(add_kernels(of, arena, &a, err));
    else
        CLV_TRY(clv_costs_build(of->model, a.types, arena, &a.costs, err));
    if (of->runtime)
        a.host_ns = clv_host_ns(&of->runtime->host, a.types);
    CLV_TRY(clv_subgraphs_build(a.costs, true, arena, &a.units, err));
    *ret = a;
    return CLV_OK;
}

/* The symbols that are asked for. */
typedef struct {
    const clv_model *model;
    const clv_inference *inference;
    clv_symbol_need *needs; /* by symbol */
    int32_t n_asked;
} question;

/* Symbols of inputs without a size, but for those that follow. */
static clv_status find_asked(question *q, clv_arena *scratch, clv_error *err)
{
    const clv_bindings *bound = &q->inference->bound;
    const clv_graph *g = q->model->main;
    q->needs = CLV_NEW_ARRAY(scratch, clv_symbol_need, q->model->n_symbols);
    if (!q->needs)
        return clv_fail_nomem(err, "symbols");
    for (int32_t i = 0; i < g->n_inputs; i++) {
        const clv_type *type = &q->inference->main->of[g->inputs[i].i];
        for (int32_t a = 0; type->kind == CLV_TYPE_TENSOR && a < type->rank; a++)
            if (clv_dim_is_symbol(type->dims[a])) {
                q->needs[clv_dim_symbol_id(type->dims[a])].asked = true;
                q->n_asked++;
            }
    }
    if (q->n_asked == 0)
        return CLV_OK;
    q->n_asked = 0;
    CLV_TRY(clv_bindings_asked(q->model, q->inference->relations, bound, scratch, q->needs, err));
    for (int32_t i = 0; i < q->model->n_symbols; i++)
        q->n_asked += q->needs[i].asked;
    return CLV_OK;
}

/* Does the model take this size for all that is asked for? */
static clv_status try_size(const question *q, int64_t size, clv_arena *scratch, bool *ret,
                           clv_error *err)
{
    const clv_bindings *bound = &q->inference->bound;
    const clv_model *model = q->model;
    clv_binding *given = CLV_NEW_ARRAY(scratch, clv_binding, bound->n_given + q->n_asked);
    clv_bindings all = { .at = given, .n_given = bound->n_given };
    clv_inference *inference;
    clv_error inner;
    if (!given)
        return clv_fail_nomem(err, "symbols");
    if (bound->n_given)
        memcpy(given, bound->at, (size_t)bound->n_given * sizeof *given);
    for (int32_t i = 0; i < model->n_symbols; i++)
        if (q->needs[i].asked)
            given[all.n_given++] = (clv_binding){ model->symbols[i], size };
    clv_status status =
        clv_bindings_complete(model, q->inference->relations, scratch, &all, &inner);
    if (status == CLV_OK)
        status = clv_infer(model, all.at, all.n, scratch, &inference, &inner);
    if (status == CLV_ENOMEM)
        return clv_fail_nomem(err, "symbols");
    *ret = status == CLV_OK;
    return CLV_OK;
}

clv_status clv_analysis_require_numbers(const clv_model *model, const clv_analysis *analysis,
                                        clv_arena *scratch, clv_error *err)
{
    question q = { .model = model, .inference = analysis->inference };
    char list[SYMBOLS_SHOWN] = "";
    bool fits = false;
    int64_t size = 1;
    size_t n = 0;
    CLV_TRY(find_asked(&q, scratch, err));
    if (q.n_asked == 0)
        return CLV_OK;
    for (; size <= SIZE_TRIED && !fits; size *= fits ? 1 : 2)
        CLV_TRY(try_size(&q, size, scratch, &fits, err));
    for (int32_t i = 0; i < model->n_symbols && n < sizeof list; i++) {
        if (!q.needs[i].asked)
            continue;
        n = clv_add_words(list, sizeof list, n, "%s%.*s=", n ? "," : "",
                          CLV_STR_ARG(model->symbols[i]));
        n = fits ? clv_add_words(list, sizeof list, n, "%" PRId64, size)
                 : clv_add_words(list, sizeof list, n, "N");
    }
    return clv_fail(err, CLV_EFORMAT,
                    "%d symbol%s of the inputs' shapes %s no size: give %s, as in --bind '%s'",
                    q.n_asked, q.n_asked == 1 ? "" : "s", q.n_asked == 1 ? "has" : "have",
                    q.n_asked == 1 ? "it" : "them", list);
}
