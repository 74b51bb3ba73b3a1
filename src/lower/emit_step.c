#include "lower/emit_step.h"

#include "lower/emit_collective.h"
#include "lower/emit_exchange.h"
#include "lower/emit_part.h"
#include "lower/emit_reduce.h"

#define WHAT "writing a step between layouts"

typedef struct {
    clv_emit *e;
    const clv_spmd_value *from, *to;
    clv_layout layout; /* so far */
    clv_str *io;       /* by position */
} stepping;

/* -- reduced -- */

/* On one device, by a collective. Where the dialect has none, parts are gathered one behind the
 * other, and each device reduces them. */
static clv_status reduce_by_node(const stepping *x, uint32_t axes, clv_reduce reduce,
                                 clv_error *err)
{
    clv_emit *e = x->e;
    const clv_type *whole = &e->s->types->of[x->from->tensor.i];
    const clv_emit_scope scope = { e, x->to->name, e->only };
    clv_emit_collective c = { .kind = CLV_STEP_ALL_REDUCE, .reduce = reduce, .mesh_axes = axes };
    int64_t dims[CLV_VIEW_MAX] = { 1 }; /* blocks, and the part's own */
    const clv_emit_type part = { whole->dtype, whole->rank, dims + 1 };
    const clv_emit_type blocks = { whole->dtype, whole->rank + 1, dims };
    clv_str *io = &x->io[e->only];
    for (int32_t a = 0; a < e->s->mesh.n_axes; a++)
        if (axes >> a & 1)
            c.order[c.n_order++] = a;
    clv_spmd_dims(e->s, x->from->tensor, &x->layout, e->only, dims + 1);
    c.elems = clv_emit_elems(&part);
    if (clv_emit_has_collective(e, c.kind, whole->dtype, reduce))
        return clv_emit_collective_node(&scope, &c, *io, &part, io, err);
    CLV_TRY(clv_emit_reshape(&scope, *io, &blocks, io, err));
    CLV_TRY(clv_emit_gather_node(&scope, &c, *io, &blocks, io, err));
    dims[0] = clv_mesh_count(&e->s->mesh, axes);
    CLV_TRY(clv_emit_reduce_blocks(&scope, *io, &blocks, reduce, io, err));
    return clv_emit_reshape(&scope, *io, &part, io, err);
}

/* Side by side, group by group. */
static clv_status reduce_plain(const stepping *x, uint32_t axes, clv_reduce reduce, clv_error *err)
{
    clv_emit *e = x->e;
    const clv_mesh *mesh = &e->s->mesh;
    clv_dtype dtype = e->s->types->of[x->from->tensor.i].dtype;
    int32_t n = clv_mesh_count(mesh, axes);
    int32_t *group = CLV_NEW_ARRAY(e->arena, int32_t, mesh->n_devices);
    clv_str *part = CLV_NEW_ARRAY(e->arena, clv_str, n);
    if (!group || !part)
        return clv_fail_nomem(err, WHAT);
    clv_mesh_groups(mesh, axes, group);
    for (int32_t g = 0; g < mesh->n_devices; g += n) {
        const clv_emit_scope scope = { e, x->to->name, group[g] };
        clv_str sum;
        for (int32_t k = 0; k < n; k++)
            part[k] = x->io[group[g + k]];
        CLV_TRY(clv_emit_reduce(&scope, (clv_names){ part, n }, reduce, dtype, &sum, err));
        for (int32_t k = 0; k < n; k++)
            x->io[group[g + k]] = sum;
    }
    return CLV_OK;
}

/* -- made partial -- */

/* All devices of an axis but the first get what changes nothing when it is added. */
static clv_status make_neutral(const stepping *x, uint32_t axes, clv_error *err)
{
    clv_emit *e = x->e;
    const clv_mesh *mesh = &e->s->mesh;
    clv_tensor t = x->from->tensor;
    for (int32_t p = 0; p < mesh->n_devices; p++) {
        const clv_emit_scope scope = { e, clv_tensor_at(e->s->model->main, t)->name, p };
        clv_reduce reduce = CLV_REDUCE_NONE;
        int64_t dims[CLV_RANK_MAX];
        const clv_emit_type part = { e->s->types->of[t.i].dtype, e->s->types->of[t.i].rank, dims };
        bool first = true;
        for (int32_t a = 0; a < mesh->n_axes; a++)
            if (axes >> a & 1) {
                reduce = (clv_reduce)x->to->layout.reduce[a];
                first = first && clv_mesh_coord(mesh, p, a) == 0;
            }
        bool keeps =
            reduce == CLV_REDUCE_MAX || reduce == CLV_REDUCE_MIN || reduce == CLV_REDUCE_MEAN;
        if (!clv_emit_active(e, p) || first || keeps)
            continue;
        clv_spmd_dims(e->s, t, &x->to->layout, p, dims);
        const clv_typed_name own = { x->io[p], part.dtype };
        CLV_TRY(clv_emit_filled_after(&scope, (clv_typed_names){ &own, 1 }, &part,
                                      clv_fill_neutral(reduce), &x->io[p], err));
    }
    return CLV_OK;
}

/* -- the step -- */

/* What is partial is reduced, what is split put together, each device takes its part. */
static clv_status walk(stepping *x, const clv_spmd_instr *step, clv_error *err)
{
    clv_emit *e = x->e;
    uint32_t partial =
        clv_layout_partial_axes(&x->layout) & step->axes & ~clv_layout_partial_axes(&x->to->layout);
    if (partial) {
        clv_reduce reduce = CLV_REDUCE_NONE;
        for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
            if (partial >> a & 1)
                reduce = (clv_reduce)x->layout.reduce[a];
        CLV_TRY(e->only < 0 ? reduce_plain(x, partial, reduce, err)
                            : reduce_by_node(x, partial, reduce, err));
        x->layout = clv_layout_without(&x->layout, partial);
    }
    const clv_layout split = x->layout;
    for (int32_t nest = CLV_MESH_AXES_MAX - 1; !step->is_local && nest >= 0; nest--)
        for (int32_t a = CLV_MESH_AXES_MAX - 1; a >= 0; a--)
            if (step->axes >> a & 1 && split.dim[a] >= 0 && split.nest[a] == nest)
                CLV_TRY(clv_emit_gather(e, x->from->tensor, &x->layout, a, x->io, err));
    for (int32_t p = 0; p < e->s->mesh.n_devices; p++)
        if (clv_emit_active(e, p))
            CLV_TRY(clv_emit_part(e, &x->layout, x->to, p, &x->io[p], err));
    return CLV_OK;
}

clv_status clv_emit_step(clv_emit *e, const clv_spmd_instr *step, clv_error *err)
{
    int32_t in = e->s->operands[step->first_in], out = e->s->operands[step->first_out];
    stepping x = { .e = e,
                   .from = &e->s->values[in],
                   .to = &e->s->values[out],
                   .layout = e->s->values[in].layout,
                   .io = e->io };
    bool done = false;
    for (int32_t p = 0; p < e->s->mesh.n_devices; p++)
        if (clv_emit_active(e, p))
            e->io[p] = *clv_emit_name(e, in, p);
    if (step->kind == CLV_STEP_NEUTRAL)
        CLV_TRY(make_neutral(&x, step->axes, err));
    else if (e->only >= 0)
        CLV_TRY(clv_emit_exchange(e, step, &e->io[e->only], &done, err));
    if (step->kind != CLV_STEP_NEUTRAL && !done)
        CLV_TRY(walk(&x, step, err));
    for (int32_t p = 0; p < e->s->mesh.n_devices; p++)
        if (clv_emit_active(e, p))
            *clv_emit_name(e, out, p) = e->io[p];
    return CLV_OK;
}
