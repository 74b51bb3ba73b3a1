#include "lower/emit_part.h"

#include "lower/emit_collective.h"

#define WHAT "writing a step between layouts"

/* -- taken out -- */

/* Does any device have other elements of the dimension under the one than under the other? */
static bool differ(const clv_layout *a, const clv_layout *b, int32_t d)
{
    for (int32_t x = 0; x < CLV_MESH_AXES_MAX; x++)
        if ((a->dim[x] == d) != (b->dim[x] == d) ||
            (a->dim[x] == d &&
             (a->outer[x] != b->outer[x] || a->unit[x] != b->unit[x] || a->nest[x] != b->nest[x])))
            return true;
    return false;
}

clv_status clv_emit_part(clv_emit *e, const clv_layout *from, const clv_spmd_value *to,
                         int32_t position, clv_str *io, clv_error *err)
{
    const clv_mesh *mesh = &e->s->mesh;
    const clv_emit_scope scope = { e, to->name, position };
    clv_spans have, need, at[CLV_RANK_MAX];
    const clv_spans *places[CLV_RANK_MAX] = { NULL };
    int64_t dims[CLV_RANK_MAX];
    clv_tensor_split split;
    if (!clv_spmd_split(e->s, to->tensor, &split))
        return CLV_OK; /* it can only be copied */
    const clv_emit_type type = { split.dtype, split.rank, dims };
    for (int32_t d = 0; d < split.rank; d++) {
        CLV_TRY(clv_layout_spans(&(clv_laid_out){ from, mesh, &split }, d, position, e->arena,
                                 &have, err));
        dims[d] = have.elems;
        if (!differ(from, &to->layout, d))
            continue;
        CLV_TRY(clv_layout_spans(&(clv_laid_out){ &to->layout, mesh, &split }, d, position,
                                 e->arena, &need, err));
        CLV_TRY(clv_spans_within(&need, &have, e->arena, &at[d], err));
        places[d] = &at[d];
    }
    return clv_emit_take(&scope, *io, &type, places, io, err);
}

/* -- put together -- */

/* What one gathering is about, on the device at a position. The dimension is seen as pieces, each
 * of which the axis splits. */
typedef struct {
    clv_emit_scope scope;
    clv_emit_collective c; /* of one axis */
    clv_dtype dtype;
    int32_t rank, d, n; /* of the tensor; n members */
    int64_t pieces;     /* of dimension d */
    int32_t view_rank;  /* where there are several pieces they are a dimension of their own, */
    int32_t along;      /* and the axis splits the one behind it; else d */
    int64_t view[CLV_VIEW_MAX]; /* of any member but for [along] */
    int64_t *rest;              /* by member: [along] of its view */
    int64_t most, sum;          /* of them */
} gathering;

static int32_t member(const gathering *g, int32_t k)
{
    return clv_emit_member(&g->scope.e->s->mesh, &g->c, g->scope.position, k);
}

/* The gathering of a tensor that lies as the layout says; g has its scope and the collective. */
static clv_status plan_gathering(gathering *g, clv_tensor t, const clv_layout *layout,
                                 clv_error *err)
{
    clv_emit *e = g->scope.e;
    int32_t axis = g->c.order[0];
    clv_tensor_split split;
    int64_t dims[CLV_RANK_MAX];
    (void)clv_spmd_split(e->s, t, &split);
    g->dtype = split.dtype;
    g->rank = split.rank;
    g->d = layout->dim[axis];
    g->n = e->s->mesh.size[axis];
    g->pieces = clv_spmd_pieces(e->s, t, layout, g->d, layout->outer[axis], g->scope.position);
    g->view_rank = g->rank + (g->pieces != 1);
    g->along = g->d + (g->pieces != 1);
    g->rest = CLV_NEW_ARRAY(e->arena, int64_t, g->n);
    if (!g->rest)
        return clv_fail_nomem(err, WHAT);
    for (int32_t k = 0; k < g->n; k++) {
        clv_spmd_dims(e->s, t, layout, member(g, k), dims);
        g->rest[k] = g->pieces ? dims[g->d] / g->pieces : 0;
        g->most = g->rest[k] > g->most ? g->rest[k] : g->most;
        g->sum += g->rest[k];
    }
    for (int32_t i = 0; i < g->rank; i++)
        g->view[i + (g->pieces != 1 && i > g->d)] = dims[i];
    if (g->pieces != 1)
        g->view[g->d] = g->pieces;
    return CLV_OK;
}

/* The part of member k as pieces of so many elements each. */
static clv_status as_pieces(const gathering *g, int32_t k, clv_str *io, clv_error *err)
{
    const clv_emit_scope scope = { g->scope.e, g->scope.name, member(g, k) };
    int64_t dims[CLV_VIEW_MAX];
    const clv_emit_type view = { g->dtype, g->view_rank, dims };
    if (g->pieces == 1)
        return CLV_OK;
    memcpy(dims, g->view, (size_t)g->view_rank * sizeof *dims);
    dims[g->along] = g->rest[k];
    return clv_emit_reshape(&scope, *io, &view, io, err);
}

/* And the pieces of all members as one dimension again. */
static clv_status as_one(const gathering *g, clv_str *io, clv_error *err)
{
    int64_t dims[CLV_RANK_MAX];
    const clv_emit_type whole = { g->dtype, g->rank, dims };
    if (g->pieces == 1)
        return CLV_OK;
    for (int32_t i = 0; i < g->rank; i++)
        dims[i] = g->view[i + (i > g->d)];
    dims[g->d] = g->pieces * g->sum;
    return clv_emit_reshape(&g->scope, *io, &whole, io, err);
}

/* All members side by side: one Concat, which all of them read. */
static clv_status gather_plain(const gathering *g, clv_str *io, clv_error *err)
{
    clv_str *part = CLV_NEW_ARRAY(g->scope.e->arena, clv_str, g->n), all;
    int32_t n = 0;
    if (!part)
        return clv_fail_nomem(err, WHAT);
    for (int32_t k = 0; k < g->n; k++)
        if (g->rest[k] > 0 || (k == g->n - 1 && n == 0)) {
            part[n] = io[member(g, k)];
            CLV_TRY(as_pieces(g, k, &part[n++], err));
        }
    CLV_TRY(clv_emit_concat(&g->scope, (clv_names){ part, n }, g->dtype, g->along, &all, err));
    CLV_TRY(as_one(g, &all, err));
    for (int32_t k = 0; k < g->n; k++)
        io[member(g, k)] = all;
    return CLV_OK;
}

/* What was filled in to make parts equal is cut out again, of a gathered tensor of these dims. */
static clv_status cut_fillings(const gathering *g, int64_t *dims, clv_str *io, clv_error *err)
{
    const clv_emit_type type = { g->dtype, g->view_rank, dims };
    clv_span *span = CLV_NEW_ARRAY(g->scope.e->arena, clv_span, g->n);
    clv_spans places = { span, 0, g->sum };
    const clv_spans *along[CLV_VIEW_MAX] = { NULL };
    if (!span)
        return clv_fail_nomem(err, WHAT);
    for (int32_t k = 0; k < g->n; k++) {
        clv_span *last = places.n ? &span[places.n - 1] : NULL;
        if (g->rest[k] == 0)
            continue;
        if (last && last->at + last->n == k * g->most)
            last->n += g->rest[k];
        else
            span[places.n++] = (clv_span){ k * g->most, g->rest[k] };
    }
    along[g->along] = &places;
    dims[g->along] = g->n * g->most;
    return clv_emit_take(&g->scope, *io, &type, along, io, err);
}

/* Members of a collective have tensors of one shape: parts are filled up to the longest one. The
 * longest is filled up with nothing, so that all members have the same nodes in the same order. */
static clv_status gather_by_node(gathering *g, clv_str *io, clv_error *err)
{
    clv_emit *e = g->scope.e;
    int32_t own = clv_mesh_coord(&e->s->mesh, e->only, g->c.order[0]);
    bool uneven = g->sum != g->n * g->most;
    int64_t dims[CLV_VIEW_MAX];
    const clv_emit_type type = { g->dtype, g->view_rank, dims };
    clv_str filling;
    memcpy(dims, g->view, (size_t)g->view_rank * sizeof *dims);
    dims[g->along] = g->rest[own];
    CLV_TRY(as_pieces(g, own, io, err));
    if (uneven) {
        dims[g->along] = g->most - g->rest[own];
        CLV_TRY(clv_emit_filled(e, &type, CLV_FILL_ZERO, &filling, err));
        dims[g->along] = g->most;
        CLV_TRY(clv_emit_concat(&g->scope, CLV_NAMES(*io, filling), g->dtype, g->along, io, err));
    }
    g->c.elems = clv_emit_elems(&type);
    g->c.axis = g->along;
    CLV_TRY(clv_emit_gather_node(&g->scope, &g->c, *io, &type, io, err));
    if (uneven)
        CLV_TRY(cut_fillings(g, dims, io, err));
    return as_one(g, io, err);
}

clv_status clv_emit_gather(clv_emit *e, clv_tensor t, clv_layout *layout, int32_t axis, clv_str *io,
                           clv_error *err)
{
    const clv_mesh *mesh = &e->s->mesh;
    for (int32_t p = 0; p < mesh->n_devices; p++) {
        gathering g = { .scope = { e, clv_tensor_at(e->s->model->main, t)->name, p },
                        .c = { .mesh_axes = 1u << axis, .order = { axis }, .n_order = 1 } };
        if (!clv_emit_active(e, p) || (e->only < 0 && clv_mesh_coord(mesh, p, axis) != 0))
            continue;
        CLV_TRY(plan_gathering(&g, t, layout, err));
        CLV_TRY(e->only < 0 ? gather_plain(&g, io, err) : gather_by_node(&g, &io[p], err));
    }
    clv_layout_unsplit(layout, axis);
    return CLV_OK;
}
