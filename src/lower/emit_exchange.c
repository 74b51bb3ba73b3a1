/* emit_exchange.c - steps that are one collective after which each device has a part: all-to-all
 * and reduce-scatter.
 *
 * Take the axes of the step away, and what a group of devices is about is one tensor, which all of
 * them would have. It is seen as a row of factors, among them two for each axis: one that it has
 * split, and one that it shall split. A device has the tensor without the former, and thereafter
 * without the latter. A collective sends block j of the first dimension to member j, and what comes
 * from member j is block j: so the latter are brought to the front, and as the former what comes
 * out in front is moved to where they belong. Where there were parts of sums, none of the former
 * are there; and where the dialect has no reduce-scatter, an all-to-all sends as much, and each
 * device reduces what it got.
 */
#include "lower/emit.h"

typedef struct {
    clv_tensor t;
    const clv_layout *from, *to;
    clv_layout common; /* both without the axes of the step */
    clv_emit_collective c;
    clv_reduce reduce;          /* of sums; NONE: there are none */
    int64_t view[CLV_VIEW_MAX]; /* of the common tensor, at the device */
    int32_t rank;
    int32_t had[CLV_MESH_AXES_MAX], gets[CLV_MESH_AXES_MAX]; /* by axis: their places; -1: none */
} exchange;

/* -- can it be? -- */

/* Does each of the axes split something, and no other axis further inside the same factor? */
static bool splits_inside(const clv_layout *layout, uint32_t axes)
{
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++) {
        if (!(axes >> a & 1))
            continue;
        if (layout->dim[a] < 0)
            return false;
        for (int32_t b = 0; b < CLV_MESH_AXES_MAX; b++)
            if (!(axes >> b & 1) && layout->dim[b] == layout->dim[a] &&
                layout->outer[b] == layout->outer[a] && layout->nest[b] > layout->nest[a])
                return false;
    }
    return true;
}

static clv_layout without(const clv_layout *layout, uint32_t axes)
{
    clv_layout left = *layout;
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (axes >> a & 1)
            clv_layout_unsplit(&left, a);
    return left;
}

/* The parts into which the axes of the step split a dimension. */
static int64_t parts_of(const clv_emit *e, const exchange *x, const clv_layout *layout, int32_t d)
{
    int64_t n = 1;
    for (int32_t i = 0; i < x->c.n_order; i++)
        if (layout->dim[x->c.order[i]] == d)
            n *= e->s->mesh.size[x->c.order[i]];
    return n;
}

/* On every device, so that all decide alike: nothing is empty, and parts of a group are equal. */
static bool is_even(clv_emit *e, const exchange *x)
{
    int64_t all[CLV_RANK_MAX], before[CLV_RANK_MAX], after[CLV_RANK_MAX];
    bool even = true;
    for (int32_t p = 0; even && p < e->s->mesh.n_devices; p++) {
        clv_emit_dims(e, x->t, &x->common, p, all);
        clv_emit_dims(e, x->t, x->from, p, before);
        clv_emit_dims(e, x->t, x->to, p, after);
        for (int32_t d = 0; d < e->s->types->of[x->t.i].rank; d++)
            even = even && all[d] > 0 && before[d] * parts_of(e, x, x->from, d) == all[d] &&
                   after[d] * parts_of(e, x, x->to, d) == all[d];
    }
    return even;
}

/* The axes of the step that split a dimension, the outermost first. */
static int32_t axes_on(const exchange *x, const clv_layout *layout, int32_t d, int32_t *ret)
{
    int32_t all[CLV_MESH_AXES_MAX], n_all = clv_layout_axes_of(layout, d, all), n = 0;
    for (int32_t i = 0; i < n_all; i++)
        if (x->c.mesh_axes >> all[i] & 1)
            ret[n++] = all[i];
    return n;
}

/* A dimension as factors, those that come in more pieces further inside. false: of two none is
 * within a block of the other. */
static bool view_dim(clv_emit *e, exchange *x, int32_t d, int64_t size)
{
    const clv_layout *layout[2] = { x->from, x->to }, *last = NULL;
    int32_t *place[2] = { x->had, x->gets }, axis[2][CLV_MESH_AXES_MAX], n[2], at[2] = { 0 };
    int64_t within = 1; /* blocks so far */
    int32_t last_outer = 0;
    for (int32_t i = 0; i < 2; i++)
        n[i] = axes_on(x, layout[i], d, axis[i]);
    while (at[0] < n[0] || at[1] < n[1]) {
        int64_t pieces[2] = { INT64_MAX, INT64_MAX };
        for (int32_t i = 0; i < 2; i++)
            if (at[i] < n[i])
                pieces[i] = clv_emit_pieces(e, x->t, &x->common, d,
                                            layout[i]->outer[axis[i][at[i]]], e->only);
        int32_t which = pieces[1] < pieces[0];
        int32_t a = axis[which][at[which]++], outer = layout[which]->outer[a];
        if (last == layout[which] && last_outer == outer) /* one factor, one behind the other */
            pieces[which] = within;
        if (pieces[which] % within != 0)
            return false;
        if (pieces[which] > within)
            x->view[x->rank++] = pieces[which] / within;
        place[which][a] = x->rank;
        x->view[x->rank++] = e->s->mesh.size[a];
        within = pieces[which] * e->s->mesh.size[a];
        last = layout[which];
        last_outer = outer;
    }
    x->view[x->rank++] = size / within;
    return true;
}

static bool make_view(clv_emit *e, exchange *x)
{
    int64_t dims[CLV_RANK_MAX];
    clv_emit_dims(e, x->t, &x->common, e->only, dims);
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        x->had[a] = x->gets[a] = -1;
    for (int32_t d = 0; d < e->s->types->of[x->t.i].rank; d++)
        if (!view_dim(e, x, d, dims[d]))
            return false;
    return true;
}

/* A step is one collective if each of its axes splits before (or has parts of a sum) and after,
 * nothing else changes, all parts are equal, and the dialect has it. */
static bool plan_exchange(clv_emit *e, const clv_spmd_instr *instr, exchange *x)
{
    uint32_t axes = instr->axes, sums = clv_layout_partial_axes(x->from) & axes;
    clv_tensor_split split;
    if (axes == 0 || (sums ? sums != axes : instr->local) || !clv_spmd_split(e->s, x->t, &split))
        return false;
    x->c = (clv_emit_collective){ .mesh_axes = axes };
    for (int32_t a = 0; a < e->s->mesh.n_axes; a++)
        if (axes >> a & 1)
            x->c.order[x->c.n_order++] = a;
    if (sums)
        x->reduce = (clv_reduce)x->from->reduce[x->c.order[0]];
    bool scatters =
        sums && clv_emit_has_collective(e, CLV_STEP_REDUCE_SCATTER, split.dtype, x->reduce);
    x->c.kind = scatters ? CLV_STEP_REDUCE_SCATTER : CLV_STEP_ALL_TO_ALL;
    x->c.reduce = scatters ? x->reduce : CLV_REDUCE_NONE;
    x->common = without(x->to, axes);
    clv_layout other = without(x->from, axes);
    return clv_emit_has_collective(e, x->c.kind, split.dtype, x->c.reduce) &&
           splits_inside(x->to, axes) && (sums || splits_inside(x->from, axes)) &&
           clv_layout_equal(&x->common, &other) && is_even(e, x) && make_view(e, x);
}

/* -- nodes -- */

static bool is_one_of(const int32_t *places, int32_t place)
{
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (places[a] == place)
            return true;
    return false;
}

/* The dims of the view without those that are left out, those in front first, by axis; and where
 * each of them stands among the dims that are not left out. Their number. */
static int32_t put_in_front(const exchange *x, const int32_t *out, const int32_t *front,
                            int64_t *dims, int64_t *place)
{
    int32_t n = 0, number[CLV_VIEW_MAX] = { 0 };
    for (int32_t i = 0, k = 0; i < x->rank; i++)
        number[i] = is_one_of(out, i) ? -1 : k++;
    for (int32_t i = -x->c.n_order; i < x->rank; i++) {
        int32_t v = i < 0 ? front[x->c.order[x->c.n_order + i]] : i;
        if (v < 0 || number[v] < 0 || (i >= 0 && is_one_of(front, v)))
            continue;
        dims[n] = x->view[v];
        place[n++] = number[v];
    }
    return n;
}

/* The first dimensions, one an axis of the step, as one. */
static clv_status merge_front(clv_emit *e, const exchange *x, clv_dtype dtype, int32_t rank,
                              int64_t *dims, clv_str want, clv_str *io)
{
    int32_t n = x->c.n_order;
    if (n == 1)
        return CLV_OK;
    dims[n - 1] = clv_mesh_count(&e->s->mesh, x->c.mesh_axes);
    return clv_emit_reshape(e, *io, dtype, rank - n + 1, dims + n - 1, want, e->only, io);
}

/* What came in front goes to where the axes have split. */
static clv_status put_back(clv_emit *e, const exchange *x, clv_dtype dtype, clv_str want,
                           clv_str *io)
{
    int64_t dims[CLV_VIEW_MAX], place[CLV_VIEW_MAX], perm[CLV_VIEW_MAX];
    int32_t rank = put_in_front(x, x->gets, x->had, dims, place);
    for (int32_t i = 0; i < rank; i++)
        perm[place[i]] = i;
    if (x->c.n_order > 1)
        CLV_TRY(clv_emit_reshape(e, *io, dtype, rank, dims, want, e->only, io));
    return clv_emit_transpose(e, *io, rank, perm, want, e->only, io);
}

static clv_status write_exchange(clv_emit *e, exchange *x, clv_str want, clv_str *io)
{
    static const int32_t none[CLV_MESH_AXES_MAX] = { -1, -1, -1 };
    int64_t dims[CLV_VIEW_MAX], perm[CLV_VIEW_MAX], elems = 1;
    const clv_type *type = &e->s->types->of[x->t.i];
    int32_t rank = put_in_front(x, x->had, none, dims, perm);
    int32_t n = clv_mesh_count(&e->s->mesh, x->c.mesh_axes);
    for (int32_t i = 0; i < rank; i++)
        elems *= dims[i];
    (void)clv_dtype_bytes(type->dtype, elems, &x->c.bytes);
    CLV_TRY(clv_emit_reshape(e, *io, type->dtype, rank, dims, want, e->only, io));
    (void)put_in_front(x, x->had, x->gets, dims, perm);
    CLV_TRY(clv_emit_transpose(e, *io, rank, perm, want, e->only, io));
    CLV_TRY(merge_front(e, x, type->dtype, rank, dims, want, io));
    int32_t merged = x->c.n_order - 1; /* into the first that is left */
    dims[merged] = x->c.kind == CLV_STEP_ALL_TO_ALL ? n : 1;
    CLV_TRY(clv_emit_collective_node(e, &x->c, *io, type->dtype, rank - merged, dims + merged, want,
                                     io));
    /* of parts of sums an all-to-all gives a block from each member */
    if (x->reduce == CLV_REDUCE_NONE)
        CLV_TRY(put_back(e, x, type->dtype, want, io));
    else if (x->c.kind == CLV_STEP_ALL_TO_ALL)
        CLV_TRY(clv_emit_reduce_blocks(e, *io, rank - merged, dims + merged, x->reduce, type->dtype,
                                       want, e->only, io));
    clv_emit_dims(e, x->t, x->to, e->only, dims);
    return clv_emit_reshape(e, *io, type->dtype, type->rank, dims, want, e->only, io);
}

clv_status clv_emit_exchange(clv_emit *e, const clv_spmd_instr *instr, const clv_spmd_value *from,
                             const clv_spmd_value *to, clv_str *io, bool *ret_done)
{
    exchange x = { .t = from->tensor, .from = &from->layout, .to = &to->layout };
    *ret_done = plan_exchange(e, instr, &x);
    return *ret_done ? write_exchange(e, &x, to->name, io) : CLV_OK;
}
