#include "lower/spmd_exchange.h"

/* -- how it is seen -- */

/* The axes of the step that split a dimension, the outermost first. */
static int32_t axes_on(const clv_layout *layout, uint32_t axes, int32_t d, int32_t *ret)
{
    int32_t all[CLV_MESH_AXES_MAX], n_all = clv_layout_axes_of(layout, d, all), n = 0;
    for (int32_t i = 0; i < n_all; i++)
        if (axes >> all[i] & 1)
            ret[n++] = all[i];
    return n;
}

typedef struct {
    const clv_spmd *s;
    clv_tensor t;
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
    int32_t axis[2][CLV_MESH_AXES_MAX], n[2], at[2] = { 0 }, last_outer = 0;
    int64_t within = 1; /* blocks so far */
    for (int32_t i = 0; i < 2; i++)
        n[i] = axes_on(x->layout[i], x->axes, d, axis[i]);
    while (at[0] < n[0] || at[1] < n[1]) {
        int64_t pieces[2] = { INT64_MAX, INT64_MAX };
        for (int32_t i = 0; i < 2; i++)
            if (at[i] < n[i])
                pieces[i] = clv_spmd_pieces(x->s, x->t, &x->common, d,
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

bool clv_spmd_exchange_view(const clv_spmd *s, clv_tensor t, const clv_layout *from,
                            const clv_layout *to, uint32_t axes, int32_t position,
                            clv_exchange_view *ret)
{
    viewing x = { .s = s,
                  .t = t,
                  .layout = { from, to },
                  .common = clv_layout_without(to, axes),
                  .axes = axes,
                  .position = position,
                  .view = ret };
    int64_t dims[CLV_RANK_MAX];
    clv_spmd_dims(s, t, &x.common, position, dims);
    ret->rank = 0;
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        ret->had[a] = ret->gets[a] = -1;
    for (int32_t d = 0; d < s->types->of[t.i].rank; d++)
        if (!view_dim(&x, d, dims[d]))
            return false;
    return true;
}

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
static bool is_even(const clv_spmd *s, clv_tensor t, const clv_layout *from, const clv_layout *to,
                    uint32_t axes, int32_t position)
{
    int64_t all[CLV_RANK_MAX], before[CLV_RANK_MAX], after[CLV_RANK_MAX];
    clv_layout common = clv_layout_without(to, axes);
    clv_spmd_dims(s, t, &common, position, all);
    clv_spmd_dims(s, t, from, position, before);
    clv_spmd_dims(s, t, to, position, after);
    for (int32_t d = 0; d < s->types->of[t.i].rank; d++)
        if (all[d] <= 0 || before[d] * parts_of(s, from, axes, d) != all[d] ||
            after[d] * parts_of(s, to, axes, d) != all[d])
            return false;
    return true;
}

bool clv_spmd_is_exchange(const clv_spmd *s, const clv_spmd_instr *step, clv_tensor t,
                          const clv_layout *from, const clv_layout *to)
{
    uint32_t axes = step->axes, sums = clv_layout_partial_axes(from) & axes;
    clv_layout before = clv_layout_without(from, axes), after = clv_layout_without(to, axes);
    clv_exchange_view view;
    clv_tensor_split split;
    if (axes == 0 || (sums ? sums != axes : step->local) || !clv_spmd_split(s, t, &split) ||
        !splits_inside(to, axes) || (!sums && !splits_inside(from, axes)) ||
        !clv_layout_equal(&before, &after))
        return false;
    for (int32_t p = 0; p < s->mesh.n_devices; p++)
        if (!is_even(s, t, from, to, axes, p) ||
            !clv_spmd_exchange_view(s, t, from, to, axes, p, &view))
            return false;
    return true;
}
