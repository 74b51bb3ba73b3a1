#include "request/analysis.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cost/kernel_costs.h"
#include "graph/bindings.h"
#include "graph/last_token.h"
#include "kernels/form.h"
#include "kernels/host.h"

#define SYMBOLS_SHOWN 300 /* characters of the names that are still open */
#define SIZE_TRIED    512 /* the largest that is tried for them: windows and patches divide it */

/* Marks the symbols that stand in an input's type; how many of them there are. */
static int32_t mark_open_symbols(const clv_type *type, bool *open)
{
    int32_t n = 0;
    for (int32_t a = 0; type->kind == CLV_TYPE_TENSOR && a < type->rank; a++)
        if (clv_dim_is_symbol(type->dims[a]) && !open[clv_dim_symbol_id(type->dims[a])]) {
            open[clv_dim_symbol_id(type->dims[a])] = true;
            n++;
        }
    return n;
}

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
    const clv_binding *bindings = of->bindings;
    int32_t n_bindings = of->n_bindings;
    CLV_TRY(clv_bindings_complete(of->model, arena, &bindings, &n_bindings, err));
    CLV_TRY(clv_infer(of->model, bindings, n_bindings, arena, &a.inference, err));
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

typedef struct {
    const clv_model *model;
    const clv_binding *bindings; /* that are given */
    int32_t n_bindings;
    const bool *open; /* by symbol */
} question;

/* The least power of two that the model takes for all open symbols; 1 where it takes none. */
static clv_status find_size(const question *q, clv_arena *scratch, int64_t *ret, clv_error *err)
{
    const clv_model *model = q->model;
    clv_binding *all = CLV_NEW_ARRAY(scratch, clv_binding, q->n_bindings + model->n_symbols);
    clv_status status = CLV_EFORMAT;
    if (!all)
        return clv_fail_nomem(err, "symbols");
    for (*ret = 1; *ret <= SIZE_TRIED && status != CLV_OK; *ret *= 2) {
        const clv_binding *complete = all;
        clv_inference *inference;
        clv_error inner;
        int32_t n = q->n_bindings;
        if (n)
            memcpy(all, q->bindings, (size_t)n * sizeof *all);
        for (int32_t i = 0; i < model->n_symbols; i++)
            if (q->open[i])
                all[n++] = (clv_binding){ model->symbols[i], *ret };
        CLV_TRY(clv_bindings_complete(model, scratch, &complete, &n, err));
        status = clv_infer(model, complete, n, scratch, &inference, &inner);
        if (status == CLV_ENOMEM)
            return clv_fail_nomem(err, "symbols");
    }
    *ret = status == CLV_OK ? *ret / 2 : 1;
    return CLV_OK;
}

clv_status clv_analysis_require_numbers(const clv_model *model, const clv_binding *bindings,
                                        int32_t n_bindings, const clv_analysis *analysis,
                                        clv_arena *scratch, clv_error *err)
{
    const clv_graph *g = model->main;
    bool *open = CLV_NEW_ARRAY(scratch, bool, model->n_symbols);
    char list[SYMBOLS_SHOWN] = "";
    int32_t n_open = 0;
    int64_t size = 1;
    size_t n = 0;
    if (!open)
        return clv_fail_nomem(err, "symbols");
    for (int32_t i = 0; i < g->n_inputs; i++)
        n_open += mark_open_symbols(&analysis->inference->main->of[g->inputs[i].i], open);
    if (n_open == 0)
        return CLV_OK;
    const question q = { model, bindings, n_bindings, open };
    CLV_TRY(find_size(&q, scratch, &size, err));
    for (int32_t i = 0; i < model->n_symbols && n < sizeof list; i++)
        if (open[i])
            n += (size_t)snprintf(list + n, sizeof list - n, "%s%.*s=%" PRId64, n ? "," : "",
                                  CLV_STR_ARG(model->symbols[i]), size);
    bool is_cut = n >= sizeof list;
    return clv_fail(err, CLV_EFORMAT,
                    "%d symbol%s of the inputs' shapes %s no size: give %s, as in --bind '%s%s'",
                    n_open, n_open == 1 ? "" : "s", n_open == 1 ? "has" : "have",
                    n_open == 1 ? "it" : "them", list, is_cut ? "..." : "");
}
