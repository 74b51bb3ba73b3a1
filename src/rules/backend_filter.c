#include "rules/backend_filter.h"

#include "rules/hidden_dims.h"
#include "rules/token_dims.h"

typedef struct {
    const clv_backend *backend;
    const clv_graph *g;
    const clv_mesh *mesh;
    clv_token_dims tokens; /* where the backend splits neither */
    clv_hidden_dims hidden;
    int64_t vocabulary; /* rows of the table that tokens are looked up in; 0: there is none */
} context;

/* Of the first table of weights whose rows are chosen by number. */
static int64_t find_vocabulary(const clv_split_model *model)
{
    const clv_graph *g = model->types->graph;
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_factors *f = &model->factors[i];
        clv_tensor table = g->ops[i].n_in > 0 ? clv_op_input(g, &g->ops[i], 0) : CLV_NO_TENSOR;
        if (table.i < 0 || clv_tensor_at(g, table)->role != CLV_TENSOR_WEIGHT || f->n_in < 1 ||
            f->in[0].rank < 2 || f->in[0].dims[0].n != 1)
            continue;
        const clv_factor *rows = &f->factors[f->in[0].dims[0].at[0]];
        if (rows->by_index && clv_str_is(g->ops[i].type, "Gather"))
            return rows->size;
    }
    return 0;
}

/* How many parts a choice makes of a factor. */
static int64_t parts_of(const context *c, const clv_op_choice *choice, int32_t factor)
{
    int64_t parts = 1;
    for (int32_t a = 0; a < c->mesh->n_axes; a++)
        parts *= choice->factor[a] == factor ? c->mesh->size[a] : 1;
    return parts;
}

static bool is_even(const context *c, const clv_factor *factor, int64_t parts)
{
    bool padded = c->backend->padded_vocabulary && factor->size == c->vocabulary;
    return factor->kind == CLV_FACTOR_SUMMANDS || factor->size % parts == 0 || padded;
}

/* Dimensions of a layout that are split, and whether in runs within a longer one. */
static bool layout_passes(const context *c, const clv_layout *l)
{
    int64_t split[CLV_MESH_AXES_MAX] = { 0 }, n = 0;
    for (int32_t a = 0; a < c->mesh->n_axes; a++) {
        bool is_new = l->dim[a] >= 0;
        if (is_new && l->outer[a] > 1 && !c->backend->fused_axes)
            return false;
        for (int64_t i = 0; i < n && is_new; i++)
            is_new = split[i] != l->dim[a];
        if (is_new)
            split[n++] = l->dim[a];
    }
    return n <= c->backend->axes_per_tensor;
}

static bool layouts_pass(const context *c, clv_op op, const clv_factors *f,
                         const clv_op_choice *choice)
{
    const clv_op_info *info = clv_op_at(c->g, op);
    bool all = true;
    for (int32_t k = 0; k < info->n_in && all; k++) {
        clv_layout l = clv_choice_in(f, c->mesh, choice, k);
        all = layout_passes(c, &l);
    }
    for (int32_t k = 0; k < info->n_out && all; k++) {
        clv_layout l = clv_choice_out(f, c->mesh, choice, k);
        all = layout_passes(c, &l);
    }
    return all;
}

static bool is_kept_whole(const context *c, clv_op op)
{
    for (int32_t i = 0; i < c->backend->n_whole_operators; i++)
        if (clv_str_is(clv_op_at(c->g, op)->type, c->backend->whole_operators[i]))
            return true;
    return false;
}

static bool allow(void *ctx, clv_op op, const clv_factors *f, const clv_op_choice *choice)
{
    const context *c = ctx;
    bool splits = false;
    for (int32_t a = 0; a < c->mesh->n_axes; a++) {
        int16_t factor = choice->factor[a];
        if (factor < 0)
            continue;
        splits = true;
        if (!c->backend->uneven && !is_even(c, &f->factors[factor], parts_of(c, choice, factor)))
            return false;
        if (c->backend->megatron && (clv_token_dims_has_factor(&c->tokens, op, f, factor) ||
                                     clv_hidden_dims_has_factor(&c->hidden, op, f, factor)))
            return false;
    }
    return !splits || (!is_kept_whole(c, op) && layouts_pass(c, op, f, choice));
}

clv_status clv_backend_filter_make(const clv_backend *backend, const clv_split_model *model,
                                   clv_arena *arena, clv_choice_filter *ret, clv_error *err)
{
    context *c = CLV_NEW(arena, context);
    if (!c)
        return clv_fail_nomem(err, "what a profile splits");
    *c = (context){ .backend = backend, .g = model->types->graph, .mesh = model->mesh };
    if (backend->padded_vocabulary)
        c->vocabulary = find_vocabulary(model);
    if (backend->megatron) {
        CLV_TRY(clv_token_dims_find(model->types, model->factors, arena, &c->tokens, err));
        CLV_TRY(clv_hidden_dims_find(c->g, model->factors, arena, &c->hidden, err));
    }
    *ret = (clv_choice_filter){ .allow = allow, .ctx = c };
    return CLV_OK;
}
