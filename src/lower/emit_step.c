/* emit_step.c - steps between layouts.
 *
 * Whatever its name, a step is at most three things: what is partial is reduced, what is split and
 * shall not be is put together, and each device takes its part of what it then has. Where one
 * collective does all of it at once, and the dialect has it, emit_exchange.c writes that.
 */
#include "lower/emit.h"

#define WHAT "writing a step between layouts"

static clv_status no_memory(const clv_emit *e) { return clv_fail_nomem(e->err, WHAT); }

/* -- parts -- */

static clv_status spans_of(clv_emit *e, clv_tensor t, const clv_layout *layout, int32_t position,
                           clv_spans *ret)
{
    clv_tensor_split split;
    (void)clv_spmd_split(e->s, t, &split);
    for (int32_t d = 0; d < split.rank; d++)
        CLV_TRY(
            clv_layout_spans(layout, &e->s->mesh, &split, d, position, e->arena, &ret[d], e->err));
    return CLV_OK;
}

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

clv_status clv_emit_part(clv_emit *e, clv_str in, clv_tensor t, const clv_layout *from,
                         const clv_layout *to, int32_t position, clv_str want, clv_str *ret)
{
    clv_spans have[CLV_RANK_MAX], need[CLV_RANK_MAX], at[CLV_RANK_MAX];
    const clv_spans *places[CLV_RANK_MAX];
    int64_t dims[CLV_RANK_MAX];
    const clv_type *type = &e->s->types->of[t.i];
    clv_tensor_split split;
    *ret = in;
    if (!clv_spmd_split(e->s, t, &split))
        return CLV_OK; /* it can only be copied */
    CLV_TRY(spans_of(e, t, from, position, have));
    CLV_TRY(spans_of(e, t, to, position, need));
    for (int32_t d = 0; d < split.rank; d++) {
        dims[d] = have[d].elems;
        places[d] = NULL;
        if (!differ(from, to, d))
            continue;
        CLV_TRY(clv_spans_within(&need[d], &have[d], e->arena, &at[d], e->err));
        places[d] = &at[d];
    }
    return clv_emit_take(e, in, type->dtype, split.rank, dims, places, want, position, ret);
}

/* -- putting together -- */

/* A group of devices that differ in one axis, in the order of that axis. */
static int32_t member(const clv_mesh *mesh, int32_t position, int32_t axis, int32_t k)
{
    int32_t stride = 1;
    for (int32_t a = axis + 1; a < mesh->n_axes; a++)
        stride *= mesh->size[a];
    return position + (k - clv_mesh_coord(mesh, position, axis)) * stride;
}

/* What one gathering is about, on the device at a position. The dimension is seen as pieces, each
 * of which the axis splits. */
typedef struct {
    clv_tensor t;
    clv_dtype dtype;
    int32_t rank, d, axis, n; /* n members */
    int64_t pieces;
    int64_t view[CLV_VIEW_MAX]; /* of any member but for [d + 1] */
    int64_t *rest;              /* by member: [d + 1] of its view */
    int64_t most;               /* of them */
} gathering;

static clv_status plan_gathering(clv_emit *e, clv_tensor t, const clv_layout *layout, int32_t axis,
                                 int32_t position, gathering *g)
{
    clv_tensor_split split;
    int64_t dims[CLV_RANK_MAX];
    *g = (gathering){ .t = t, .axis = axis, .d = layout->dim[axis], .n = e->s->mesh.size[axis] };
    (void)clv_spmd_split(e->s, t, &split);
    g->rank = split.rank;
    g->dtype = split.dtype;
    g->pieces = clv_spmd_pieces(e->s, t, layout, g->d, layout->outer[axis], position);
    g->rest = CLV_NEW_ARRAY(e->arena, int64_t, g->n);
    if (!g->rest)
        return no_memory(e);
    for (int32_t k = 0; k < g->n; k++) {
        clv_spmd_dims(e->s, t, layout, member(&e->s->mesh, position, axis, k), dims);
        g->rest[k] = g->pieces ? dims[g->d] / g->pieces : 0;
        g->most = g->rest[k] > g->most ? g->rest[k] : g->most;
    }
    for (int32_t i = 0; i < g->rank; i++)
        g->view[i + (i > g->d)] = dims[i];
    g->view[g->d] = g->pieces;
    return CLV_OK;
}

/* A member's part as pieces of so many elements each. */
static clv_status as_pieces(clv_emit *e, const gathering *g, clv_str in, int64_t rest, clv_str want,
                            int32_t position, clv_str *ret)
{
    int64_t view[CLV_VIEW_MAX];
    *ret = in;
    if (g->pieces == 1)
        return CLV_OK;
    memcpy(view, g->view, (size_t)(g->rank + 1) * sizeof *view);
    view[g->d + 1] = rest;
    return clv_emit_reshape(e, in, g->dtype, g->rank + 1, view, want, position, ret);
}

/* And the pieces as one dimension again. */
static clv_status as_one(clv_emit *e, const gathering *g, clv_str in, int64_t rest, clv_str want,
                         int32_t position, clv_str *ret)
{
    int64_t dims[CLV_RANK_MAX];
    *ret = in;
    if (g->pieces == 1)
        return CLV_OK;
    for (int32_t i = 0; i < g->rank; i++)
        dims[i] = g->view[i + (i > g->d)];
    dims[g->d] = g->pieces * rest;
    return clv_emit_reshape(e, in, g->dtype, g->rank, dims, want, position, ret);
}

static int64_t rest_of_all(const gathering *g)
{
    int64_t sum = 0;
    for (int32_t k = 0; k < g->n; k++)
        sum += g->rest[k];
    return sum;
}

/* All members side by side: one Concat, which all of them read. */
static clv_status gather_plain(clv_emit *e, const gathering *g, int32_t position, clv_str want,
                               clv_str *io)
{
    clv_str *part = CLV_NEW_ARRAY(e->arena, clv_str, g->n), all;
    int32_t n = 0;
    if (!part)
        return no_memory(e);
    for (int32_t k = 0; k < g->n; k++) {
        int32_t p = member(&e->s->mesh, position, g->axis, k);
        if (g->rest[k] > 0 || (k == g->n - 1 && n == 0))
            CLV_TRY(as_pieces(e, g, io[p], g->rest[k], want, p, &part[n++]));
    }
    CLV_TRY(clv_emit_concat(e, part, n, g->d + (g->pieces != 1), want, position, &all));
    CLV_TRY(as_one(e, g, all, rest_of_all(g), want, position, &all));
    for (int32_t k = 0; k < g->n; k++)
        io[member(&e->s->mesh, position, g->axis, k)] = all;
    return CLV_OK;
}

/* Parts are filled up to the longest one, and what was filled in is cut out again: members of a
 * collective have tensors of one shape. The longest is filled up with nothing, so that all members
 * have the same nodes in the same order. */
static clv_status fill_up(clv_emit *e, const gathering *g, int32_t axis, int32_t rank,
                          int64_t *dims, clv_str want, clv_str *io)
{
    clv_str both[2] = { *io };
    dims[axis] = g->most - dims[axis];
    CLV_TRY(clv_emit_filled(e, g->dtype, rank, dims, CLV_FILL_ZERO, &both[1]));
    dims[axis] = g->most;
    return clv_emit_concat(e, both, 2, axis, want, e->only, io);
}

static clv_status cut_out(clv_emit *e, const gathering *g, int32_t axis, int32_t rank,
                          int64_t *dims, clv_str want, clv_str *io)
{
    clv_span *span = CLV_NEW_ARRAY(e->arena, clv_span, g->n);
    clv_spans places = { span, 0, 0 };
    const clv_spans *along[CLV_VIEW_MAX] = { NULL };
    if (!span)
        return no_memory(e);
    for (int32_t k = 0; k < g->n; k++) {
        if (g->rest[k] == 0)
            continue;
        clv_span *last = places.n ? &span[places.n - 1] : NULL;
        if (last && last->at + last->n == k * g->most)
            last->n += g->rest[k];
        else
            span[places.n++] = (clv_span){ k * g->most, g->rest[k] };
        places.elems += g->rest[k];
    }
    along[axis] = &places;
    dims[axis] = g->n * g->most;
    return clv_emit_take(e, *io, g->dtype, rank, dims, along, want, e->only, io);
}

static clv_status gather_node_of(clv_emit *e, const gathering *g, clv_str want, clv_str *io)
{
    int32_t axis = g->d + (g->pieces != 1), rank = g->rank + (g->pieces != 1);
    int64_t dims[CLV_VIEW_MAX], bytes = 1;
    int32_t own = clv_mesh_coord(&e->s->mesh, e->only, g->axis);
    clv_emit_collective c = { .mesh_axes = 1u << g->axis, .order = { g->axis }, .n_order = 1 };
    for (int32_t i = 0; i < rank; i++)
        dims[i] = g->view[i + (g->pieces == 1 && i > g->d)];
    dims[axis] = g->rest[own];
    CLV_TRY(as_pieces(e, g, *io, g->rest[own], want, e->only, io));
    bool uneven = rest_of_all(g) != g->n * g->most;
    if (uneven)
        CLV_TRY(fill_up(e, g, axis, rank, dims, want, io));
    for (int32_t i = 0; i < rank; i++)
        bytes *= dims[i];
    (void)clv_dtype_bytes(g->dtype, bytes, &c.bytes);
    CLV_TRY(clv_emit_gather_node(e, &c, *io, g->dtype, rank, dims, axis, want, io));
    if (uneven)
        CLV_TRY(cut_out(e, g, axis, rank, dims, want, io));
    return as_one(e, g, *io, rest_of_all(g), want, e->only, io);
}

clv_status clv_emit_gather(clv_emit *e, clv_tensor t, clv_layout *layout, int32_t axis, clv_str *io)
{
    const clv_mesh *mesh = &e->s->mesh;
    clv_str want = clv_tensor_at(e->s->model->main, t)->name;
    gathering g;
    for (int32_t p = 0; p < mesh->n_devices; p++) {
        if (!clv_emit_active(e, p) || (e->only < 0 && clv_mesh_coord(mesh, p, axis) != 0))
            continue;
        CLV_TRY(plan_gathering(e, t, layout, axis, p, &g));
        CLV_TRY(e->only < 0 ? gather_plain(e, &g, p, want, io)
                            : gather_node_of(e, &g, want, &io[p]));
    }
    clv_layout_unsplit(layout, axis);
    return CLV_OK;
}

/* -- adding up -- */

/* Where the dialect has no such reduction: gathered one behind the other, and reduced by each. */
static clv_status reduce_gathered(clv_emit *e, clv_emit_collective *c, clv_tensor t, int32_t rank,
                                  const int64_t *dims, clv_reduce reduce, clv_str want, clv_str *io)
{
    int32_t n = clv_mesh_count(&e->s->mesh, c->mesh_axes);
    clv_dtype dtype = e->s->types->of[t.i].dtype;
    int64_t view[CLV_VIEW_MAX];
    view[0] = 1;
    memcpy(view + 1, dims, (size_t)rank * sizeof *dims);
    CLV_TRY(clv_emit_reshape(e, *io, dtype, rank + 1, view, want, e->only, io));
    CLV_TRY(clv_emit_gather_node(e, c, *io, dtype, rank + 1, view, 0, want, io));
    view[0] = n;
    CLV_TRY(clv_emit_reduce_blocks(e, *io, rank + 1, view, reduce, dtype, want, e->only, io));
    return clv_emit_reshape(e, *io, dtype, rank, dims, want, e->only, io);
}

static clv_status reduce_node_of(clv_emit *e, clv_tensor t, const clv_layout *layout, uint32_t axes,
                                 clv_reduce reduce, clv_str want, clv_str *io)
{
    clv_emit_collective c = { .kind = CLV_STEP_ALL_REDUCE, .reduce = reduce, .mesh_axes = axes };
    clv_dtype dtype = e->s->types->of[t.i].dtype;
    int64_t dims[CLV_RANK_MAX], elems = 1;
    int32_t rank = e->s->types->of[t.i].rank;
    for (int32_t a = 0; a < e->s->mesh.n_axes; a++)
        if (axes >> a & 1)
            c.order[c.n_order++] = a;
    clv_spmd_dims(e->s, t, layout, e->only, dims);
    for (int32_t i = 0; i < rank; i++)
        elems *= dims[i];
    (void)clv_dtype_bytes(dtype, elems, &c.bytes);
    if (!clv_emit_has_collective(e, c.kind, dtype, reduce))
        return reduce_gathered(e, &c, t, rank, dims, reduce, want, io);
    return clv_emit_collective_node(e, &c, *io, dtype, rank, dims, want, io);
}

static clv_status reduce_plain(clv_emit *e, clv_tensor t, uint32_t axes, clv_reduce reduce,
                               clv_str want, clv_str *io)
{
    const clv_mesh *mesh = &e->s->mesh;
    int32_t n = clv_mesh_count(mesh, axes);
    int32_t *group = CLV_NEW_ARRAY(e->arena, int32_t, mesh->n_devices);
    clv_str *part = CLV_NEW_ARRAY(e->arena, clv_str, n);
    if (!group || !part)
        return no_memory(e);
    clv_mesh_groups(mesh, axes, group);
    for (int32_t g = 0; g < mesh->n_devices; g += n) {
        clv_str sum;
        for (int32_t k = 0; k < n; k++)
            part[k] = io[group[g + k]];
        CLV_TRY(
            clv_emit_reduce(e, part, n, reduce, e->s->types->of[t.i].dtype, want, group[g], &sum));
        for (int32_t k = 0; k < n; k++)
            io[group[g + k]] = sum;
    }
    return CLV_OK;
}

static clv_status reduce_partial(clv_emit *e, clv_tensor t, clv_layout *layout, uint32_t axes,
                                 clv_str want, clv_str *io)
{
    clv_reduce reduce = CLV_REDUCE_NONE;
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (axes >> a & 1)
            reduce = (clv_reduce)layout->reduce[a];
    if (e->only < 0)
        CLV_TRY(reduce_plain(e, t, axes, reduce, want, io));
    else
        CLV_TRY(reduce_node_of(e, t, layout, axes, reduce, want, &io[e->only]));
    *layout = clv_layout_without(layout, axes);
    return CLV_OK;
}

/* -- steps -- */

/* All devices of an axis but the first get what changes nothing when it is added. */
static clv_status make_neutral(clv_emit *e, clv_tensor t, const clv_layout *to, uint32_t axes,
                               clv_str *io)
{
    for (int32_t p = 0; p < e->s->mesh.n_devices; p++) {
        clv_reduce reduce = CLV_REDUCE_NONE;
        int64_t dims[CLV_RANK_MAX];
        bool first = true;
        for (int32_t a = 0; a < e->s->mesh.n_axes; a++)
            if (axes >> a & 1) {
                reduce = (clv_reduce)to->reduce[a];
                first = first && clv_mesh_coord(&e->s->mesh, p, a) == 0;
            }
        bool keeps =
            reduce == CLV_REDUCE_MAX || reduce == CLV_REDUCE_MIN || reduce == CLV_REDUCE_MEAN;
        clv_fill fill = reduce == CLV_REDUCE_PROD      ? CLV_FILL_ONE
                        : reduce == CLV_REDUCE_LOG_SUM ? CLV_FILL_LOWEST
                                                       : CLV_FILL_ZERO;
        if (!clv_emit_active(e, p) || first || keeps)
            continue;
        clv_spmd_dims(e->s, t, to, p, dims);
        CLV_TRY(clv_emit_filled_after(e, &io[p], 1, e->s->types->of[t.i].dtype,
                                      e->s->types->of[t.i].rank, dims, fill,
                                      clv_tensor_at(e->s->model->main, t)->name, p, &io[p]));
    }
    return CLV_OK;
}

/* The axes of a step that split something, the innermost of each dimension first. */
static int32_t splitting_axes(const clv_layout *layout, uint32_t axes, int32_t *ret)
{
    int32_t n = 0;
    for (int32_t nest = CLV_MESH_AXES_MAX - 1; nest >= 0; nest--)
        for (int32_t a = CLV_MESH_AXES_MAX - 1; a >= 0; a--)
            if (axes >> a & 1 && layout->dim[a] >= 0 && layout->nest[a] == nest)
                ret[n++] = a;
    return n;
}

static clv_status walk(clv_emit *e, const clv_spmd_instr *instr, const clv_spmd_value *from,
                       const clv_spmd_value *to, clv_str *io)
{
    clv_layout layout = from->layout;
    int32_t order[CLV_MESH_AXES_MAX];
    uint32_t partial =
        clv_layout_partial_axes(&layout) & instr->axes & ~clv_layout_partial_axes(&to->layout);
    bool done = false;
    if (instr->kind == CLV_STEP_NEUTRAL)
        return make_neutral(e, from->tensor, &to->layout, instr->axes, io);
    if (e->only >= 0)
        CLV_TRY(clv_emit_exchange(e, instr, from, to, &io[e->only], &done));
    if (done)
        return CLV_OK;
    if (partial)
        CLV_TRY(reduce_partial(e, from->tensor, &layout, partial, to->name, io));
    if (!instr->local) {
        int32_t n = splitting_axes(&layout, instr->axes, order);
        for (int32_t i = 0; i < n; i++)
            CLV_TRY(clv_emit_gather(e, from->tensor, &layout, order[i], io));
    }
    for (int32_t p = 0; p < e->s->mesh.n_devices; p++)
        if (clv_emit_active(e, p))
            CLV_TRY(
                clv_emit_part(e, io[p], from->tensor, &layout, &to->layout, p, to->name, &io[p]));
    return CLV_OK;
}

clv_status clv_emit_step(clv_emit *e, const clv_spmd_instr *instr)
{
    const int32_t *operands = e->s->operands;
    int32_t in = operands[instr->first_in], out = operands[instr->first_out];
    for (int32_t p = 0; p < e->s->mesh.n_devices; p++)
        if (clv_emit_active(e, p))
            e->io[p] = *clv_emit_name(e, in, p);
    CLV_TRY(walk(e, instr, &e->s->values[in], &e->s->values[out], e->io));
    for (int32_t p = 0; p < e->s->mesh.n_devices; p++)
        if (clv_emit_active(e, p))
            *clv_emit_name(e, out, p) = e->io[p];
    return CLV_OK;
}
