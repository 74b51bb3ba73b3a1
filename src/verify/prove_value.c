#include "verify/prove_value.h"

#include <inttypes.h>
#include <stdio.h>

#define WHAT "a proof"

/* A dimension as its layout splits it. */
typedef struct {
    const clv_prover *p;
    const clv_layout *layout;
    int32_t dim;
    int64_t size;
    int32_t axis[CLV_MESH_AXES_MAX], n; /* that split it, by their nest */
} split_dim;

/* Refuted where nests are not 0, 1, ... */
static clv_status list_axes(split_dim *d, clv_error *err)
{
    const clv_layout *l = d->layout;
    for (int32_t nest = 0; nest < CLV_MESH_AXES_MAX; nest++)
        for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
            if (l->dim[a] == d->dim && l->nest[a] == nest) {
                if (d->n != nest)
                    return clv_refute(err, "axes of dimension %d do not nest from 0 on",
                                      (int)d->dim);
                d->axis[d->n++] = a;
            }
    return CLV_OK;
}

/* The factor that axes from *i on split; *outer: how many of it there are, and then with it. */
static clv_status read_factor(const split_dim *d, int32_t *i, int64_t *outer, clv_cut_factor *ret,
                              clv_error *err)
{
    const clv_layout *l = d->layout;
    int64_t own = l->outer[d->axis[*i]], parts = 1, next;
    if (own != *outer)
        return clv_refute(err, "outer factors are not in order");
    *ret = (clv_cut_factor){ .unit = l->unit[d->axis[*i]] };
    for (; *i < d->n && l->outer[d->axis[*i]] == own; (*i)++) {
        if (l->unit[d->axis[*i]] != ret->unit)
            return clv_refute(err, "axes that split one factor have other units");
        parts *= d->p->s->mesh.size[d->axis[*i]];
        ret->axis[ret->n_axes++] = d->axis[*i];
    }
    next = *i < d->n ? l->outer[d->axis[*i]] : d->size;
    if (own < 1 || next <= own * (*i < d->n) || (own && next % own != 0) || d->size % own != 0)
        return clv_refute(err, "outer %" PRId64 " does not fit a dimension of %" PRId64, own,
                          d->size);
    ret->size = next / own;
    if (ret->unit < 1 || ret->size % ret->unit != 0)
        return clv_refute(err, "units of %" PRId64 " do not fit a factor of %" PRId64, ret->unit,
                          ret->size);
    if (*i < d->n && (ret->unit != 1 || ret->size % parts != 0))
        return clv_refute(err, "an outer factor of %" PRId64 " is not split evenly", ret->size);
    *outer = next;
    return CLV_OK;
}

/* The factors of the dimension, outermost first. */
static clv_status read_factors(split_dim *d, clv_cut_factor *ret, int32_t *ret_n, clv_error *err)
{
    int32_t n = 0;
    CLV_TRY(list_axes(d, err));
    int64_t outer = d->n ? d->layout->outer[d->axis[0]] : d->size;
    if (outer != 1 || d->n == 0)
        ret[n++] = (clv_cut_factor){ .size = outer, .unit = 1 };
    for (int32_t i = 0; i < d->n;) {
        CLV_TRY(read_factor(d, &i, &outer, &ret[n], err));
        n++;
    }
    *ret_n = n;
    return CLV_OK;
}

/* What each axis does is one of three things, and nothing is said besides. */
static clv_status check_axes(clv_prover *p, const clv_layout *l, int32_t rank, clv_held *ret,
                             clv_error *err)
{
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++) {
        bool splits = l->dim[a] >= 0, is_partial = l->dim[a] == CLV_AXIS_PARTIAL;
        if (l->dim[a] < CLV_AXIS_PARTIAL || l->dim[a] >= (rank < 0 ? 0 : rank))
            return clv_refute(err, "axis %d splits dimension %d of %d", (int)a, (int)l->dim[a],
                              (int)rank);
        if (!clv_prover_is_long(p, a) && l->dim[a] != CLV_AXIS_COPY)
            return clv_refute(err, "axis %d has one device and splits something", (int)a);
        if (!splits && (l->outer[a] != 1 || l->unit[a] != 1 || l->nest[a] != 0))
            return clv_refute(err, "axis %d splits nothing and has a factor", (int)a);
        if (is_partial != (l->reduce[a] != CLV_REDUCE_NONE) || l->reduce[a] < 0 ||
            l->reduce[a] >= CLV_N_REDUCES)
            return clv_refute(err, "axis %d has reduction %d", (int)a, (int)l->reduce[a]);
        if (is_partial && ret->partial && ret->reduce != (clv_reduce)l->reduce[a])
            return clv_refute(err, "it is partial by %s and by %s", clv_reduce_name(ret->reduce),
                              clv_reduce_name((clv_reduce)l->reduce[a]));
        ret->split |= (uint32_t)splits << a;
        ret->partial |= (uint32_t)is_partial << a;
        if (is_partial)
            ret->reduce = (clv_reduce)l->reduce[a];
    }
    return CLV_OK;
}

/* The number of its dims, parts and partial axes. */
static clv_status intern_box(clv_prover *p, clv_held *h, clv_error *err)
{
    int32_t key[CLV_RANK_MAX + 3], n = 0;
    for (int32_t d = 0; d < h->rank; d++)
        key[n++] = h->dim[d];
    key[n++] = h->rank;
    key[n++] = (int32_t)h->partial;
    key[n++] = (int32_t)h->reduce;
    CLV_TRY(clv_map_put_key(&p->by_box, key, (size_t)n * sizeof *key, p->n_boxes, &h->box, err));
    if (h->box < p->n_boxes)
        return CLV_OK;
    if (!CLV_PUSH_ROOM(p->arena, p->box, p->n_boxes, p->cap_boxes))
        return clv_fail_nomem(err, WHAT);
    p->box[p->n_boxes] = 0;
    for (int32_t i = 0; i < p->s->mesh.n_devices; i++) {
        clv_int128 elems = 1;
        for (int32_t d = 0; d < h->rank; d++)
            elems *= clv_spread_at(p, h->dim[d], i)->count;
        p->box[p->n_boxes] += elems;
    }
    p->n_boxes++;
    return CLV_OK;
}

/* Each axis splits one dimension at most, so that parts are all combinations of what dimensions are
 * cut into; each dimension is covered along its own axes, and the same along all others. */
static clv_status check_dims(clv_prover *p, const clv_layout *l, const clv_type *type,
                             clv_held *ret, clv_error *err)
{
    clv_spread *dim = CLV_NEW_ARRAY(p->arena, clv_spread, type->rank);
    clv_cut_factor factor[CLV_MESH_AXES_MAX + 1];
    if (!dim)
        return clv_fail_nomem(err, WHAT);
    for (int32_t d = 0; d < type->rank; d++) {
        split_dim split = { .p = p, .layout = l, .dim = d, .size = type->dims[d] };
        uint32_t axes = 0;
        int32_t n = 0;
        char what[32];
        for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
            axes |= (uint32_t)(l->dim[a] == d) << a;
        snprintf(what, sizeof what, "dimension %d", (int)d);
        CLV_TRY(read_factors(&split, factor, &n, err));
        CLV_TRY(clv_spread_of(p, factor, n, &dim[d], err));
        CLV_TRY(clv_spread_cover(p, dim[d], type->dims[d], axes, what, err));
    }
    ret->dim = dim;
    ret->rank = type->rank;
    return CLV_OK;
}

static clv_status check_value(clv_prover *p, const clv_layout *l, const clv_type *type, clv_held *h,
                              clv_error *err)
{
    bool known = type->kind == CLV_TYPE_TENSOR && type->rank >= 0;
    clv_int128 elems = 1;
    for (int32_t d = 0; known && d < type->rank; d++) {
        known = clv_dim_is_number(type->dims[d]) && type->dims[d] >= 0;
        elems *= type->dims[d];
    }
    *h = (clv_held){ .rank = -1, .box = -1 };
    CLV_TRY(check_axes(p, l, known ? type->rank : -1, h, err));
    if (!known)
        return h->partial ? clv_refute(err, "it is no tensor of known size, and partial") : CLV_OK;
    CLV_TRY(check_dims(p, l, type, h, err));
    CLV_TRY(intern_box(p, h, err));
    p->proof->elems += elems;
    p->proof->parts += p->box[h->box];
    return CLV_OK;
}

clv_status clv_prove_value(clv_prover *p, int32_t v, clv_error *err)
{
    const clv_spmd_value *value = &p->s->values[v];
    clv_error own;
    if (value->tensor.i < 0 || value->tensor.i >= p->s->model->main->n_tensors)
        return clv_refute(err, "value %d is of tensor %d, which the model has not", (int)v,
                          (int)value->tensor.i);
    p->proof->n_tensors += !p->is_met[value->tensor.i];
    p->is_met[value->tensor.i] = true;
    clv_status status =
        check_value(p, &value->layout, &p->s->types->of[value->tensor.i], &p->held[v], &own);
    if (status == CLV_EFORMAT)
        return clv_refute(err, "tensor '%.*s' in stage %d: %s", CLV_STR_ARG(clv_prover_name(p, v)),
                          (int)p->s->phases[value->phase].stage, own.message);
    return status == CLV_OK ? CLV_OK : clv_fail(err, status, "%s", own.message);
}
