#include "lower/spmd_steps.h"

#include "sharding/spans.h"

/* -- nothing is sent -- */

clv_status clv_spmd_is_local(const clv_spmd *s, const clv_spmd_reshard *r, clv_arena *arena,
                             bool *ret, clv_error *err)
{
    clv_mark mark = clv_arena_mark(arena);
    clv_tensor_split split;
    clv_status status = CLV_OK;
    *ret = true;
    if (!clv_spmd_split(s, r->tensor, &split))
        return CLV_OK; /* it can only be copied */
    for (int32_t p = 0; *ret && status == CLV_OK && p < s->mesh.n_devices; p++) {
        for (int32_t d = 0; *ret && status == CLV_OK && d < split.rank; d++) {
            clv_spans have, need;
            status = clv_layout_spans(&(clv_laid_out){ r->from, &s->mesh, &split }, d, p, arena,
                                      &have, err);
            if (status == CLV_OK)
                status = clv_layout_spans(&(clv_laid_out){ r->to, &s->mesh, &split }, d, p, arena,
                                          &need, err);
            *ret = status == CLV_OK && clv_spans_has(&have, &need);
        }
        clv_arena_rewind(arena, mark);
    }
    return status;
}

/* -- the factors of an exchange -- */

typedef struct {
    const clv_spmd *s;
    clv_tensor tensor;
    const clv_layout *layout[2]; /* before and after */
    clv_layout common;           /* both without the axes of the step */
    uint32_t axes;
    int32_t position;
    clv_exchange_view *view;
} viewing;

/* A dimension as factors, those that come in more pieces further inside. */
static bool view_dim(const viewing *x, int32_t d, int64_t size)
{
    const clv_layout *last = NULL;
    int32_t *place[2] = { x->view->had, x->view->gets };
    int32_t axis[2][CLV_MESH_AXES_MAX], n[2] = { 0 }, at[2] = { 0 }, last_outer = 0;
    int64_t within = 1;               /* blocks so far */
    for (int32_t i = 0; i < 2; i++) { /* of the axes that split it those of the step */
        int32_t all[CLV_MESH_AXES_MAX], n_all = clv_layout_axes_of(x->layout[i], d, all);
        for (int32_t k = 0; k < n_all; k++)
            if (x->axes >> all[k] & 1)
                axis[i][n[i]++] = all[k];
    }
    while (at[0] < n[0] || at[1] < n[1]) {
        int64_t pieces[2] = { INT64_MAX, INT64_MAX };
        for (int32_t i = 0; i < 2; i++)
            if (at[i] < n[i])
                pieces[i] = clv_spmd_pieces(x->s, x->tensor, &x->common, d,
                                            x->layout[i]->outer[axis[i][at[i]]], x->position);
        int32_t which = pieces[1] < pieces[0];
        int32_t a = axis[which][at[which]++], outer = x->layout[which]->outer[a];
        if (last == x->layout[which] && last_outer == outer) /* one factor, one behind the other */
            pieces[which] = within;
        if (pieces[which] % within != 0)
            return false;
        if (pieces[which] > within)
            x->view->dims[x->view->rank++] = pieces[which] / within;
        place[which][a] = x->view->rank;
        x->view->dims[x->view->rank++] = x->s->mesh.size[a];
        within = pieces[which] * x->s->mesh.size[a];
        last = x->layout[which];
        last_outer = outer;
    }
    x->view->dims[x->view->rank++] = size / within;
    return true;
}

bool clv_spmd_exchange_view(const clv_spmd *s, const clv_spmd_reshard *r, int32_t position,
                            clv_exchange_view *ret)
{
    viewing x = { .s = s,
                  .tensor = r->tensor,
                  .layout = { r->from, r->to },
                  .common = clv_layout_without(r->to, r->axes),
                  .axes = r->axes,
                  .position = position,
                  .view = ret };
    int64_t dims[CLV_RANK_MAX];
    clv_spmd_dims(s, r->tensor, &x.common, position, dims);
    ret->rank = 0;
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        ret->had[a] = ret->gets[a] = -1;
    for (int32_t d = 0; d < s->types->of[r->tensor.i].rank; d++)
        if (!view_dim(&x, d, dims[d]))
            return false;
    return true;
}

/* -- is it one exchange? -- */

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

/* The parts into which the axes of the step split a dimension. */
static int64_t parts_of(const clv_spmd *s, const clv_layout *layout, uint32_t axes, int32_t d)
{
    int64_t n = 1;
    for (int32_t a = 0; a < s->mesh.n_axes; a++)
        if (axes >> a & 1 && layout->dim[a] == d)
            n *= s->mesh.size[a];
    return n;
}

/* At one position: nothing is empty, and parts of the group are equal. */
static bool is_even(const clv_spmd *s, const clv_spmd_reshard *r, int32_t position)
{
    int64_t all[CLV_RANK_MAX], before[CLV_RANK_MAX], after[CLV_RANK_MAX];
    clv_layout common = clv_layout_without(r->to, r->axes);
    clv_spmd_dims(s, r->tensor, &common, position, all);
    clv_spmd_dims(s, r->tensor, r->from, position, before);
    clv_spmd_dims(s, r->tensor, r->to, position, after);
    for (int32_t d = 0; d < s->types->of[r->tensor.i].rank; d++)
        if (all[d] <= 0 || before[d] * parts_of(s, r->from, r->axes, d) != all[d] ||
            after[d] * parts_of(s, r->to, r->axes, d) != all[d])
            return false;
    return true;
}

bool clv_spmd_is_exchange(const clv_spmd *s, const clv_spmd_reshard *r, bool local)
{
    uint32_t sums = clv_layout_partial_axes(r->from) & r->axes;
    clv_layout before = clv_layout_without(r->from, r->axes);
    clv_layout after = clv_layout_without(r->to, r->axes);
    clv_exchange_view view;
    clv_tensor_split split;
    if (r->axes == 0 || (sums ? sums != r->axes : local) || !clv_spmd_split(s, r->tensor, &split) ||
        !splits_inside(r->to, r->axes) || (!sums && !splits_inside(r->from, r->axes)) ||
        !clv_layout_equal(&before, &after))
        return false;
    for (int32_t p = 0; p < s->mesh.n_devices; p++)
        if (!is_even(s, r, p) || !clv_spmd_exchange_view(s, r, p, &view))
            return false;
    return true;
}
