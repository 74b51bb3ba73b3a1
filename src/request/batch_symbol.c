#include "request/batch_symbol.h"

#include <inttypes.h>
#include <strings.h>

#define SYMBOLS_SHOWN 200 /* characters of their names */

/* The symbol that is the first dimension of an input; -1: it has none, or a number there. */
static int32_t leading_symbol(const clv_graph *g, int32_t input)
{
    const clv_type *type = clv_tensor_at(g, g->inputs[input])->declared;
    bool leads =
        type && type->kind == CLV_TYPE_TENSOR && type->rank > 0 && clv_dim_is_symbol(type->dims[0]);
    return leads ? clv_dim_symbol_id(type->dims[0]) : -1;
}

static bool has_dimensions(const clv_graph *g, int32_t input)
{
    const clv_type *type = clv_tensor_at(g, g->inputs[input])->declared;
    return !type || type->kind != CLV_TYPE_TENSOR || type->rank != 0;
}

static bool leads_any(const clv_model *model, int32_t symbol)
{
    bool any = false;
    for (int32_t i = 0; i < model->main->n_inputs; i++)
        any |= leading_symbol(model->main, i) == symbol;
    return any;
}

/* Does its name say that it counts steps of one sample? */
static bool is_named_as_steps(clv_str name)
{
    static const char *const words[] = { "seq", "len", "token", "time", "frame" };
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        int32_t n = (int32_t)strlen(words[w]);
        for (int32_t i = 0; i + n <= (int32_t)name.n; i++)
            if (strncasecmp(name.at + i, words[w], (size_t)n) == 0)
                return true;
    }
    return false;
}

/* The first dimension of all inputs; -1: they differ. */
static int32_t find_plain(const clv_model *model)
{
    int32_t symbol = -1;
    for (int32_t i = 0; i < model->main->n_inputs; i++) {
        int32_t leading = leading_symbol(model->main, i);
        if (!has_dimensions(model->main, i))
            continue;
        if (leading < 0 || (symbol >= 0 && leading != symbol))
            return -1;
        symbol = leading;
    }
    return symbol >= 0 && !is_named_as_steps(model->symbols[symbol]) ? symbol : -1;
}

/* What gives a symbol its size; NULL: nothing does. *ret_follows: others, by a relation. */
static clv_status find_size(const clv_request *req, int32_t symbol, clv_arena *arena,
                            const clv_binding **ret, const char **ret_follows, clv_error *err)
{
    const clv_model *model = req->model;
    clv_bindings all = { .at = req->bindings, .n_given = req->n_bindings };
    clv_relations *relations;
    *ret = NULL;
    if (req->n_bindings == 0)
        return CLV_OK;
    CLV_TRY(clv_infer_relations(model, arena, &relations, err));
    CLV_TRY(clv_bindings_complete(model, relations, arena, &all, err));
    for (int32_t i = 0; i < all.n; i++)
        if (clv_str_eq(all.at[i].symbol, model->symbols[symbol])) {
            *ret = &all.at[i];
            *ret_follows = i < req->n_bindings   ? NULL
                           : all.follows_from[i] ? all.follows_from[i]
                                                 : "its name";
        }
    return CLV_OK;
}

static clv_status fail_unknown(const clv_request *req, clv_error *err)
{
    const clv_model *model = req->model;
    char list[SYMBOLS_SHOWN] = "";
    size_t n = 0;
    for (int32_t i = 0; i < model->n_symbols && n < sizeof list; i++)
        if (leads_any(model, i))
            n = clv_add_words(list, sizeof list, n, "%s%.*s", n ? ", " : "",
                              CLV_STR_ARG(model->symbols[i]));
    return clv_fail(err, CLV_EFORMAT,
                    "'%.60s', the symbol of the batch, is the first dimension of no input: %s%s",
                    req->batch_symbol,
                    n ? "expected one of " : "no symbol is, so the batch of the model is fixed",
                    list);
}

static clv_status find_named(const clv_request *req, clv_arena *arena, int32_t *ret, clv_error *err)
{
    const clv_model *model = req->model;
    const clv_binding *size;
    const char *follows;
    int32_t symbol = 0;
    if (req->search.objective != CLV_THROUGHPUT)
        return clv_fail(err, CLV_EUSAGE,
                        "a batch, '%.60s', is chosen by throughput, but the objective is %s: "
                        "expected throughput, or a size for it",
                        req->batch_symbol, req->fewest ? "devices" : "latency");
    while (symbol < model->n_symbols && !clv_str_is(model->symbols[symbol], req->batch_symbol))
        symbol++;
    if (symbol == model->n_symbols || !leads_any(model, symbol))
        return fail_unknown(req, err);
    CLV_TRY(find_size(req, symbol, arena, &size, &follows, err));
    if (size)
        return clv_fail(err, CLV_EUSAGE,
                        "a size is to be chosen for '%.60s', the batch, but it is %" PRId64
                        "%s%s: expected one or the other",
                        req->batch_symbol, size->value, follows ? " by " : ", as given",
                        follows ? follows : "");
    *ret = symbol;
    return CLV_OK;
}

clv_status clv_batch_symbol_find(const clv_request *req, clv_arena *arena, clv_batch_symbol *ret,
                                 clv_error *err)
{
    const clv_binding *size;
    const char *follows;
    *ret = (clv_batch_symbol){ .symbol = -1 };
    if (req->batch_symbol)
        return find_named(req, arena, &ret->symbol, err);
    int32_t plain = req->search.objective == CLV_THROUGHPUT ? find_plain(req->model) : -1;
    if (plain < 0)
        return CLV_OK;
    CLV_TRY(find_size(req, plain, arena, &size, &follows, err));
    if (!size)
        *ret = (clv_batch_symbol){ .symbol = plain, .found = true };
    return CLV_OK;
}
