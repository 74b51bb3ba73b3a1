#include "lower/emit_exchange.h"

#include "lower/emit_collective.h"
#include "lower/emit_reduce.h"
#include "lower/spmd_steps.h"

typedef struct {
    clv_emit_scope scope;
    clv_spmd_reshard step;
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
static int32_t order_dims(const exchange *x, const int32_t *out, const int32_t *front,
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

/* What came in front goes to where the axes have split. */
static clv_status move_back(const exchange *x, clv_str *io, clv_error *err)
{
    int64_t dims[CLV_VIEW_MAX], place[CLV_VIEW_MAX], perm[CLV_VIEW_MAX];
    int32_t rank = order_dims(x, x->view.gets, x->view.had, dims, place);
    const clv_emit_type apart = { x->scope.e->s->types->of[x->step.tensor.i].dtype, rank, dims };
    for (int32_t i = 0; i < rank; i++)
        perm[place[i]] = i;
    if (x->c.n_order > 1)
        CLV_TRY(clv_emit_reshape(&x->scope, *io, &apart, io, err));
    return clv_emit_transpose(&x->scope, *io, &apart, perm, io, err);
}

static clv_status write_exchange(exchange *x, clv_str *io, clv_error *err)
{
    static const int32_t none[CLV_MESH_AXES_MAX] = { -1, -1, -1 };
    const clv_emit_scope *scope = &x->scope;
    const clv_spmd *s = scope->e->s;
    const clv_type *whole = &s->types->of[x->step.tensor.i];
    int64_t dims[CLV_VIEW_MAX], perm[CLV_VIEW_MAX];
    int32_t rank = order_dims(x, x->view.had, none, dims, perm);
    int32_t n = clv_mesh_count(&s->mesh, x->c.mesh_axes), merged = x->c.n_order - 1;
    const clv_emit_type factors = { whole->dtype, rank, dims };
    const clv_emit_type blocks = { whole->dtype, rank - merged, dims + merged };
    const clv_emit_type part = { whole->dtype, whole->rank, dims };
    x->c.elems = clv_emit_elems(&factors);
    CLV_TRY(clv_emit_reshape(scope, *io, &factors, io, err));
    (void)order_dims(x, x->view.had, x->view.gets, dims, perm);
    CLV_TRY(clv_emit_transpose(scope, *io, &factors, perm, io, err));
    dims[merged] = n; /* the first dimensions, one an axis of the step, as one */
    if (merged > 0)
        CLV_TRY(clv_emit_reshape(scope, *io, &blocks, io, err));
    dims[merged] = x->c.kind == CLV_STEP_ALL_TO_ALL ? n : 1;
    CLV_TRY(clv_emit_collective_node(scope, &x->c, *io, &blocks, io, err));
    /* of parts of sums an all-to-all gives a block from each member */
    if (x->reduce == CLV_REDUCE_NONE)
        CLV_TRY(move_back(x, io, err));
    else if (x->c.kind == CLV_STEP_ALL_TO_ALL)
        CLV_TRY(clv_emit_reduce_blocks(scope, *io, &blocks, x->reduce, io, err));
    clv_spmd_dims(s, x->step.tensor, x->step.to, scope->position, dims);
    return clv_emit_reshape(scope, *io, &part, io, err);
}

/* Sets the collective that the dialect has for the step; false: it has none. */
static bool find_collective(exchange *x)
{
    const clv_emit *e = x->scope.e;
    clv_dtype dtype = e->s->types->of[x->step.tensor.i].dtype;
    uint32_t axes = x->step.axes;
    x->c.mesh_axes = axes;
    for (int32_t a = 0; a < e->s->mesh.n_axes; a++)
        if (axes >> a & 1)
            x->c.order[x->c.n_order++] = a;
    if (clv_layout_partial_axes(x->step.from) & axes)
        x->reduce = (clv_reduce)x->step.from->reduce[x->c.order[0]];
    bool scatters = x->reduce != CLV_REDUCE_NONE &&
                    clv_emit_has_collective(e, CLV_STEP_REDUCE_SCATTER, dtype, x->reduce);
    x->c.kind = scatters ? CLV_STEP_REDUCE_SCATTER : CLV_STEP_ALL_TO_ALL;
    x->c.reduce = scatters ? x->reduce : CLV_REDUCE_NONE;
    return clv_emit_has_collective(e, x->c.kind, dtype, x->c.reduce);
}

clv_status clv_emit_exchange(clv_emit *e, const clv_spmd_instr *step, clv_str *io, bool *ret_done,
                             clv_error *err)
{
    const clv_spmd_value *from = &e->s->values[e->s->operands[step->first_in]];
    const clv_spmd_value *to = &e->s->values[e->s->operands[step->first_out]];
    exchange x = { .scope = { e, to->name, e->only },
                   .step = { from->tensor, &from->layout, &to->layout, step->axes } };
    *ret_done = step->is_exchange && find_collective(&x);
    if (!*ret_done)
        return CLV_OK;
    (void)clv_spmd_exchange_view(e->s, &x.step, e->only, &x.view);
    return write_exchange(&x, io, err);
}
