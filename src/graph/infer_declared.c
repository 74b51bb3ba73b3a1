/* infer_declared.c - inference first, the file's word second.
 *
 * Files lie: a binding makes their numbers stale, and exporters write the shapes of a sample run.
 * So a declared type only fills what inference leaves open. The symbols of a function stand for
 * something else at each call; there, only numbers are taken.
 */
#include "graph/infer_declared.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"

/* More sentences than anybody reads; the rest are left out. */
#define CONFLICTS_MAX 1000

/* -- bindings -- */

/* "a, b, c" of the model's symbols, cut to what a message holds */
static void list_symbols(const clv_model *model, char *buf, size_t size)
{
    size_t n = 0;
    buf[0] = '\0';
    for (int32_t i = 0; i < model->n_symbols && n < size; i++)
        n += (size_t)snprintf(buf + n, size - n, "%s%.*s", i ? ", " : "",
                              CLV_STR_ARG(model->symbols[i]));
    if (n >= size)
        memcpy(buf + size - 4, "...", 4);
    if (model->n_symbols == 0)
        snprintf(buf, size, "none");
}

static clv_status bind(clv_declared_ctx *ctx, const clv_map *names, const clv_binding *binding,
                       clv_error *err)
{
    int32_t id = clv_map_get(names, binding->symbol);
    if (id < 0) {
        char known[300];
        list_symbols(ctx->model, known, sizeof known);
        return clv_fail(err, CLV_EFORMAT, "the model has no symbol '%.*s'; its symbols are: %s",
                        CLV_STR_ARG(binding->symbol), known);
    }
    if (binding->value < 1)
        return clv_fail(err, CLV_EFORMAT,
                        "symbol '%.*s' is bound to %" PRId64 ", must be at least 1",
                        CLV_STR_ARG(binding->symbol), binding->value);
    if (clv_dim_is_number(ctx->symbol[id]) && ctx->symbol[id] != binding->value)
        return clv_fail(err, CLV_EFORMAT, "symbol '%.*s' is bound to %" PRId64 " and to %" PRId64,
                        CLV_STR_ARG(binding->symbol), ctx->symbol[id], binding->value);
    ctx->symbol[id] = binding->value;
    return CLV_OK;
}

static clv_status bind_all(clv_declared_ctx *ctx, const clv_binding *bindings, int32_t n_bindings,
                           clv_error *err)
{
    clv_map names;
    CLV_TRY(clv_map_init(&names, ctx->arena, ctx->model->n_symbols, err));
    for (int32_t i = 0; i < ctx->model->n_symbols; i++) {
        int32_t id;
        CLV_TRY(clv_map_put(&names, ctx->model->symbols[i], i, &id, err));
    }
    for (int32_t i = 0; i < n_bindings; i++)
        CLV_TRY(bind(ctx, &names, &bindings[i], err));
    return CLV_OK;
}

clv_status clv_declared_init(clv_declared_ctx *ctx, const clv_model *model,
                             const clv_binding *bindings, int32_t n_bindings, clv_arena *arena,
                             clv_error *err)
{
    *ctx = (clv_declared_ctx){ .model = model, .arena = arena };
    ctx->symbol = CLV_NEW_ARRAY(arena, clv_dim, model->n_symbols);
    if (!ctx->symbol)
        return clv_fail_nomem(err, "symbols");
    for (int32_t i = 0; i < model->n_symbols; i++)
        ctx->symbol[i] = clv_dim_symbol(i);
    return n_bindings > 0 ? bind_all(ctx, bindings, n_bindings, err) : CLV_OK;
}

/* -- merging -- */

typedef struct {
    clv_declared_ctx *ctx;
    bool symbols;  /* may unbound symbols be taken? */
    bool output;   /* of the model */
    bool conflict; /* both knew, and differently */
} merging;

/* An output by its symbol, which is bound or not. Where the file has a number instead, that may be
 * of a sample run. */
static clv_dim merge_output_dim(clv_declared_ctx *ctx, clv_dim found, int32_t symbol)
{
    clv_dim declared = symbol < ctx->model->n_symbols ? ctx->symbol[symbol] : CLV_DIM_UNKNOWN;
    if (clv_dim_is_number(found) == clv_dim_is_number(declared))
        clv_relate(ctx->relations, found, declared);
    bool is_sum = clv_dim_is_symbol(found) && clv_dim_symbol_id(found) >= ctx->model->n_symbols;
    return is_sum ? declared : found; /* what has a name is shown by it */
}

static clv_dim merge_dim(merging *m, clv_dim found, clv_dim declared)
{
    if (clv_dim_is_symbol(declared)) {
        int32_t id = clv_dim_symbol_id(declared);
        found = m->output ? merge_output_dim(m->ctx, found, id) : found;
        declared = id < m->ctx->model->n_symbols ? m->ctx->symbol[id] : CLV_DIM_UNKNOWN;
        if (!clv_dim_is_number(declared) && !m->symbols)
            declared = CLV_DIM_UNKNOWN;
    }
    if (clv_dim_is_number(found)) {
        m->conflict |= clv_dim_is_number(declared) && declared != found;
        return found;
    }
    return clv_dim_is_number(declared) || found == CLV_DIM_UNKNOWN ? declared : found;
}

/* New dims only where they are not the same as one of the two. */
static clv_status merge_dims(merging *m, const clv_type *declared, clv_type *type, clv_error *err)
{
    clv_dim dims[CLV_RANK_MAX];
    bool known = type->rank != CLV_RANK_UNKNOWN;
    if (declared->rank <= 0 || declared->rank > CLV_RANK_MAX ||
        (known && type->rank != declared->rank)) {
        m->conflict |= known && declared->rank >= 0 && type->rank != declared->rank;
        type->rank = known ? type->rank : declared->rank;
        return CLV_OK;
    }
    size_t bytes = (size_t)declared->rank * sizeof *dims;
    for (int32_t i = 0; i < declared->rank; i++)
        dims[i] = merge_dim(m, known ? type->dims[i] : CLV_DIM_UNKNOWN, declared->dims[i]);
    type->rank = declared->rank;
    if (known && memcmp(dims, type->dims, bytes) == 0)
        return CLV_OK;
    if (memcmp(dims, declared->dims, bytes) == 0) {
        type->dims = declared->dims;
        return CLV_OK;
    }
    clv_dim *copy = CLV_NEW_ARRAY(m->ctx->arena, clv_dim, declared->rank);
    if (!copy)
        return clv_fail_nomem(err, "a shape");
    memcpy(copy, dims, bytes);
    type->dims = copy;
    return CLV_OK;
}

static clv_status merge_type(merging *m, const clv_type *declared, clv_type *type, clv_error *err)
{
    if (type->kind == CLV_TYPE_UNKNOWN)
        *type = (clv_type){ .kind = declared->kind, .rank = CLV_RANK_UNKNOWN };
    if (type->kind != declared->kind) {
        m->conflict |= declared->kind != CLV_TYPE_UNKNOWN;
        return CLV_OK;
    }
    m->conflict |= type->dtype != CLV_DT_UNDEFINED && declared->dtype != CLV_DT_UNDEFINED &&
                   type->dtype != declared->dtype;
    if (type->dtype == CLV_DT_UNDEFINED)
        type->dtype = declared->dtype;
    if (type->kind == CLV_TYPE_TENSOR || type->kind == CLV_TYPE_SPARSE)
        return merge_dims(m, declared, type, err);
    if (!declared->elem)
        return CLV_OK;
    clv_type *elem = CLV_NEW(m->ctx->arena, clv_type);
    if (!elem)
        return clv_fail_nomem(err, "a type");
    *elem = type->elem ? *type->elem : (clv_type){ .rank = CLV_RANK_UNKNOWN };
    type->elem = elem;
    return merge_type(m, declared->elem, elem, err);
}

static clv_status report_conflict(merging *m, const clv_tensor_info *info, const clv_type *found,
                                  clv_error *err)
{
    clv_declared_ctx *ctx = m->ctx;
    if (ctx->n_conflicts == CONFLICTS_MAX)
        return CLV_OK;
    char declared[160], inferred[160];
    clv_type_show(ctx->model, info->declared, declared, sizeof declared);
    clv_type_show(ctx->model, found, inferred, sizeof inferred);
    char *text = clv_arena_printf(ctx->arena, "tensor '%.*s' is declared as %s but comes out as %s",
                                  CLV_STR_ARG(info->name), declared, inferred);
    if (!text || !CLV_PUSH_ROOM(ctx->arena, ctx->conflicts, ctx->n_conflicts, ctx->cap_conflicts))
        return clv_fail_nomem(err, "a warning");
    ctx->conflicts[ctx->n_conflicts++] = clv_str_of(text);
    return CLV_OK;
}

clv_status clv_declared_merge(clv_declared_ctx *ctx, const clv_graph *graph, int32_t t,
                              clv_types *types, clv_error *err)
{
    const clv_tensor_info *info = &graph->tensors[t];
    if (!info->declared)
        return CLV_OK;
    const clv_graph *outermost = graph;
    while (outermost->parent)
        outermost = outermost->parent;
    merging m = { .ctx = ctx,
                  .symbols = outermost == outermost->model->main,
                  .output = graph == ctx->model->main && info->is_output };
    CLV_TRY(merge_type(&m, info->declared, &types->of[t], err));
    return m.conflict && graph == ctx->model->main ? report_conflict(&m, info, &types->of[t], err)
                                                   : CLV_OK;
}
