/* proof_value.c - a tensor in a layout: what each device has of it, and that this is all of it. */
#include <inttypes.h>
#include <stdio.h>

#include "verify/prover.h"

#define WHAT "a proof"

/* The axes of a dimension by their nest; refuted where nests are not 0, 1, ... */
static clv_status axes_of(const clv_prover *p, const clv_layout *l, int32_t dim, int32_t *ret,
                          int32_t *ret_n)
{
    int32_t n = 0;
    for (int32_t nest = 0; nest < CLV_MESH_AXES_MAX; nest++)
        for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
            if (l->dim[a] == dim && l->nest[a] == nest) {
                if (n != nest)
                    return clv_refute(p, "axes of dimension %d do not nest from 0 on", (int)dim);
                ret[n++] = a;
            }
    *ret_n = n;
    return CLV_OK;
}

/* Axes that split one factor of the dimension, from *i on; the dimension from this factor on. */
static clv_status take_factor(const clv_prover *p, const clv_layout *l, const int32_t *axis,
                              int32_t n, int32_t *i, int64_t size, int64_t *outer,
                              clv_cut_factor *ret)
{
    int64_t own = l->outer[axis[*i]], parts = 1, next;
    *ret = (clv_cut_factor){ .unit = l->unit[axis[*i]] };
    for (; *i < n && l->outer[axis[*i]] == own; (*i)++) {
        if (l->unit[axis[*i]] != ret->unit)
            return clv_refute(p, "axes that split one factor have other units");
        parts *= p->s->mesh.size[axis[*i]];
        ret->axis[ret->n_axes++] = axis[*i];
    }
    next = *i < n ? l->outer[axis[*i]] : size;
    if (own < 1 || next <= own * (*i < n) || (own && next % own != 0) || size % own != 0)
        return clv_refute(p, "outer %" PRId64 " does not fit a dimension of %" PRId64, own, size);
    ret->size = next / own;
    if (ret->unit < 1 || ret->size % ret->unit != 0)
        return clv_refute(p, "units of %" PRId64 " do not fit a factor of %" PRId64, ret->unit,
                          ret->size);
    if (*i < n && (ret->unit != 1 || ret->size % parts != 0))
        return clv_refute(p, "an outer factor of %" PRId64 " is not split evenly", ret->size);
    *outer = next;
    return CLV_OK;
}

/* The factors of a dimension as its layout splits it. */
static clv_status factors_of(const clv_prover *p, const clv_layout *l, int32_t dim, int64_t size,
                             clv_cut_factor *ret, int32_t *ret_n)
{
    int32_t axis[CLV_MESH_AXES_MAX], n_axes = 0, n = 0;
    int64_t outer;
    CLV_TRY(axes_of(p, l, dim, axis, &n_axes));
    outer = n_axes ? l->outer[axis[0]] : size;
    if (outer != 1 || n_axes == 0)
        ret[n++] = (clv_cut_factor){ .size = outer, .unit = 1 };
    for (int32_t i = 0; i < n_axes;) {
        if (l->outer[axis[i]] != outer)
            return clv_refute(p, "outer factors are not in order");
        CLV_TRY(take_factor(p, l, axis, n_axes, &i, size, &outer, &ret[n]));
        n++;
    }
    *ret_n = n;
    return CLV_OK;
}

/* What each axis does is one of three things, and nothing is said besides. */
static clv_status look_at_axes(clv_prover *p, const clv_layout *l, int32_t rank, clv_held *ret)
{
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++) {
        bool splits = l->dim[a] >= 0, is_partial = l->dim[a] == CLV_AXIS_PARTIAL;
        if (l->dim[a] < CLV_AXIS_PARTIAL || l->dim[a] >= (rank < 0 ? 0 : rank))
            return clv_refute(p, "axis %d splits dimension %d of %d", (int)a, (int)l->dim[a],
                              (int)rank);
        if (!clv_long(p, a) && l->dim[a] != CLV_AXIS_COPY)
            return clv_refute(p, "axis %d has one device and splits something", (int)a);
        if (!splits && (l->outer[a] != 1 || l->unit[a] != 1 || l->nest[a] != 0))
            return clv_refute(p, "axis %d splits nothing and has a factor", (int)a);
        if (is_partial != (l->reduce[a] != CLV_REDUCE_NONE) || l->reduce[a] < 0 ||
            l->reduce[a] >= CLV_N_REDUCES)
            return clv_refute(p, "axis %d has reduction %d", (int)a, (int)l->reduce[a]);
        if (is_partial && ret->partial && ret->reduce != (clv_reduce)l->reduce[a])
            return clv_refute(p, "it is partial by %s and by %s", clv_reduce_name(ret->reduce),
                              clv_reduce_name((clv_reduce)l->reduce[a]));
        ret->split |= (uint32_t)splits << a;
        ret->partial |= (uint32_t)is_partial << a;
        if (is_partial)
            ret->reduce = (clv_reduce)l->reduce[a];
    }
    return CLV_OK;
}

static clv_status count_parts(clv_prover *p, const clv_held *h, clv_int128 *ret)
{
    *ret = 0;
    for (int32_t i = 0; i < p->s->mesh.n_devices; i++) {
        clv_int128 elems = 1;
        for (int32_t d = 0; d < h->rank; d++)
            elems *= clv_set_of(p, h->dim[d], i)->count;
        *ret += elems;
    }
    return CLV_OK;
}

/* The number of its dims, parts and partial axes. */
static clv_status number_box(clv_prover *p, clv_held *h)
{
    int32_t key[CLV_RANK_MAX + 3], n = 0;
    for (int32_t d = 0; d < h->rank; d++)
        key[n++] = h->dim[d];
    key[n++] = h->rank;
    key[n++] = (int32_t)h->partial;
    key[n++] = (int32_t)h->reduce;
    CLV_TRY(clv_map_put_key(&p->by_box, key, (size_t)n * sizeof *key, p->n_boxes, &h->box, p->err));
    if (h->box < p->n_boxes)
        return CLV_OK;
    if (!CLV_PUSH_ROOM(p->arena, p->box, p->n_boxes, p->cap_boxes))
        return clv_fail_nomem(p->err, WHAT);
    p->n_boxes++;
    return count_parts(p, h, &p->box[h->box]);
}

/* Each axis splits one dimension at most, so that parts are all combinations of what dimensions are
 * cut into; each dimension is covered along its own axes, and the same along all others. */
static clv_status look_at_dims(clv_prover *p, const clv_layout *l, const clv_type *type,
                               clv_held *ret)
{
    clv_spread *dim = CLV_NEW_ARRAY(p->arena, clv_spread, type->rank);
    clv_cut_factor factor[CLV_MESH_AXES_MAX + 1];
    if (!dim)
        return clv_fail_nomem(p->err, WHAT);
    for (int32_t d = 0; d < type->rank; d++) {
        uint32_t axes = 0;
        int32_t n = 0;
        char what[32];
        for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
            axes |= (uint32_t)(l->dim[a] == d) << a;
        snprintf(what, sizeof what, "dimension %d", (int)d);
        CLV_TRY(factors_of(p, l, d, type->dims[d], factor, &n));
        CLV_TRY(clv_spread_of(p, factor, n, &dim[d]));
        CLV_TRY(clv_spread_cover(p, dim[d], type->dims[d], axes, what));
    }
    ret->dim = dim;
    ret->rank = type->rank;
    return CLV_OK;
}

static bool is_static(const clv_type *type)
{
    bool known = type->kind == CLV_TYPE_TENSOR && type->rank >= 0;
    for (int32_t d = 0; known && d < type->rank; d++)
        known = clv_dim_is_number(type->dims[d]) && type->dims[d] >= 0;
    return known;
}

static clv_int128 elems_of(const clv_type *type)
{
    clv_int128 elems = 1;
    for (int32_t d = 0; d < type->rank; d++)
        elems *= type->dims[d];
    return elems;
}

static clv_status look(clv_prover *p, const clv_layout *l, const clv_type *type, clv_held *h)
{
    bool known = is_static(type);
    *h = (clv_held){ .rank = -1, .box = -1 };
    CLV_TRY(look_at_axes(p, l, known ? type->rank : -1, h));
    if (!known)
        return h->partial ? clv_refute(p, "it is no tensor of known size, and partial") : CLV_OK;
    CLV_TRY(look_at_dims(p, l, type, h));
    CLV_TRY(number_box(p, h));
    p->proof->elems += elems_of(type);
    p->proof->parts += p->box[h->box];
    return CLV_OK;
}

clv_status clv_prove_value(clv_prover *p, int32_t v)
{
    const clv_spmd_value *value = &p->s->values[v];
    char why[CLV_MESSAGE_SIZE];
    if (value->tensor.i < 0 || value->tensor.i >= p->s->model->main->n_tensors)
        return clv_refute(p, "value %d is of tensor %d, which the model has not", (int)v,
                          (int)value->tensor.i);
    p->proof->n_tensors += !p->met[value->tensor.i];
    p->met[value->tensor.i] = true;
    clv_status status = look(p, &value->layout, &p->s->types->of[value->tensor.i], &p->held[v]);
    if (status != CLV_EFORMAT)
        return status;
    snprintf(why, sizeof why, "%s", p->err->message);
    return clv_refute(p, "tensor '%.*s' in stage %d: %s", CLV_STR_ARG(clv_name_of(p, v)),
                      (int)p->s->phases[value->phase].stage, why);
}
