/* emit_exchange.c - an all-to-all or reduce-scatter as nodes.
 *
 * A collective sends block j of the first dimension to member j, and what comes from member j is
 * block j: so of the tensor's factors (spmd_steps.h) those that axes shall split are brought to
 * the front, and as those that they had split what comes out in front is moved to where they
 * belong. Where there were parts of sums, and the dialect has no reduce-scatter, an all-to-all
 * sends as much, and each device reduces what it got.
 */
#include "lower/emit.h"
#include "lower/spmd_steps.h"

typedef struct {
    clv_tensor t;
    const clv_layout *to;
    clv_emit_collective c;
    clv_reduce reduce; /* of sums; NONE: there are none */
    clv_exchange_view view;
} exchange;

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
    for (int32_t i = 0, k = 0; i < x->view.rank; i++)
        number[i] = is_one_of(out, i) ? -1 : k++;
    for (int32_t i = -x->c.n_order; i < x->view.rank; i++) {
        int32_t v = i < 0 ? front[x->c.order[x->c.n_order + i]] : i;
        if (v < 0 || number[v] < 0 || (i >= 0 && is_one_of(front, v)))
            continue;
        dims[n] = x->view.dims[v];
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
    int32_t rank = put_in_front(x, x->view.gets, x->view.had, dims, place);
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
    int32_t rank = put_in_front(x, x->view.had, none, dims, perm);
    int32_t n = clv_mesh_count(&e->s->mesh, x->c.mesh_axes);
    for (int32_t i = 0; i < rank; i++)
        elems *= dims[i];
    (void)clv_dtype_bytes(type->dtype, elems, &x->c.bytes);
    CLV_TRY(clv_emit_reshape(e, *io, type->dtype, rank, dims, want, e->only, io));
    (void)put_in_front(x, x->view.had, x->view.gets, dims, perm);
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
    clv_spmd_dims(e->s, x->t, x->to, e->only, dims);
    return clv_emit_reshape(e, *io, type->dtype, type->rank, dims, want, e->only, io);
}

/* The collective that the dialect has for it; false: none. */
static bool choose(const clv_emit *e, uint32_t axes, const clv_layout *from, exchange *x)
{
    clv_dtype dtype = e->s->types->of[x->t.i].dtype;
    x->c.mesh_axes = axes;
    for (int32_t a = 0; a < e->s->mesh.n_axes; a++)
        if (axes >> a & 1)
            x->c.order[x->c.n_order++] = a;
    if (clv_layout_partial_axes(from) & axes)
        x->reduce = (clv_reduce)from->reduce[x->c.order[0]];
    bool scatters = x->reduce != CLV_REDUCE_NONE &&
                    clv_emit_has_collective(e, CLV_STEP_REDUCE_SCATTER, dtype, x->reduce);
    x->c.kind = scatters ? CLV_STEP_REDUCE_SCATTER : CLV_STEP_ALL_TO_ALL;
    x->c.reduce = scatters ? x->reduce : CLV_REDUCE_NONE;
    return clv_emit_has_collective(e, x->c.kind, dtype, x->c.reduce);
}

clv_status clv_emit_exchange(clv_emit *e, const clv_spmd_instr *instr, const clv_spmd_value *from,
                             const clv_spmd_value *to, clv_str *io, bool *ret_done)
{
    exchange x = { .t = from->tensor, .to = &to->layout };
    *ret_done = instr->exchange && choose(e, instr->axes, &from->layout, &x);
    if (!*ret_done)
        return CLV_OK;
    const clv_spmd_reshard step = { x.t, &from->layout, &to->layout, instr->axes };
    (void)clv_spmd_exchange_view(e->s, &step, e->only, &x.view);
    return write_exchange(e, &x, to->name, io);
}
