#include "graph/infer_bound.h"

/* Is a symbol of the inputs without a size? */
static clv_status find_open(const clv_model *model, const clv_bindings *b, clv_arena *arena,
                            bool *ret_open, clv_error *err)
{
    bool *open = clv_input_symbols(model, arena);
    clv_map ids;
    if (!open)
        return clv_fail_nomem(err, "sizes of symbols");
    CLV_TRY(clv_map_init(&ids, arena, b->n, err));
    for (int32_t i = 0; i < b->n; i++)
        CLV_TRY(clv_map_put(&ids, b->at[i].symbol, i, NULL, err));
    *ret_open = false;
    for (int32_t i = 0; i < model->n_symbols; i++)
        *ret_open |= open[i] && clv_map_get(&ids, model->symbols[i]) < 0;
    return CLV_OK;
}

static bool are_same(const clv_bindings *a, const clv_bindings *b)
{
    bool same = a->n == b->n;
    for (int32_t i = 0; same && i < a->n; i++)
        same = clv_str_eq(a->at[i].symbol, b->at[i].symbol) && a->at[i].value == b->at[i].value;
    return same;
}

/* With what names say; *ret_sure is false where relations may say more, or what contradicts. */
static clv_status infer_by_names(const clv_model *model, clv_bindings *b, clv_arena *arena,
                                 clv_inference **ret, bool *ret_sure, clv_error *err)
{
    bool open = true;
    CLV_TRY(clv_bindings_complete(model, NULL, arena, b, err));
    CLV_TRY(find_open(model, b, arena, &open, err));
    if (open)
        return CLV_OK;
    clv_status status = clv_infer(model, b->at, b->n, arena, ret, err);
    *ret_sure = status == CLV_OK && !(*ret)->relations->disagree;
    return status;
}

clv_status clv_infer_bound(const clv_model *model, const clv_binding *given, int32_t n_given,
                           clv_arena *arena, clv_inference **ret, clv_error *err)
{
    clv_bindings by_names = { .at = given, .n_given = n_given }, b = by_names;
    clv_inference *inference = NULL;
    clv_relations *relations = NULL;
    clv_error first;
    bool sure = false;
    if (n_given == 0)
        return clv_infer(model, NULL, 0, arena, ret, err);
    clv_status status = infer_by_names(model, &by_names, arena, &inference, &sure, &first);
    if (!sure && (status == CLV_OK || status == CLV_EFORMAT)) {
        CLV_TRY(clv_infer_relations(model, arena, &relations, err));
        CLV_TRY(clv_bindings_complete(model, relations, arena, &b, err));
        if (!are_same(&b, &by_names) || (status == CLV_OK && !inference))
            status = clv_infer(model, b.at, b.n, arena, &inference, &first);
    }
    if (status != CLV_OK)
        return clv_fail(err, status, "%s", first.message);
    inference->relations = relations ? relations : inference->relations;
    inference->bound = relations ? b : by_names;
    *ret = inference;
    return CLV_OK;
}
