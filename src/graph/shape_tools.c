#include "graph/shape_tools.h"

#include <inttypes.h>
#include <string.h>

/* -- inputs -- */

clv_status clv_rule_want_rank(clv_rule *r, int32_t k, int32_t rank, clv_error *err)
{
    const clv_type *t = clv_rule_in(r, k);
    if (clv_type_ranked(t) && t->rank != rank)
        return clv_rule_fail(r, err, "input %d has rank %d, expected %d", k, t->rank, rank);
    return CLV_OK;
}

clv_dim clv_rule_scalar(const clv_rule *r, int32_t k)
{
    const clv_value *v = clv_rule_value(r, k);
    return v && v->i && v->n == 1 ? v->i[0] : CLV_DIM_UNKNOWN;
}

bool clv_rule_scalar_float(const clv_rule *r, int32_t k, double *ret)
{
    const clv_value *v = clv_rule_value(r, k);
    if (!v || v->n != 1)
        return false;
    if (v->i && !clv_dim_is_number(v->i[0]))
        return false;
    *ret = v->i ? (double)v->i[0] : v->f[0];
    return true;
}

int32_t clv_rule_length(const clv_rule *r, int32_t k)
{
    const clv_value *v = clv_rule_value(r, k);
    clv_dim d = clv_type_dim(clv_rule_in(r, k), 0);
    if (v)
        return v->n;
    return clv_dim_is_number(d) && d >= 0 && d <= CLV_VALUE_MAX ? (int32_t)d : -1;
}

bool clv_rule_dims(clv_rule *r, int32_t k, const clv_dim **ret, int32_t *ret_n)
{
    const clv_value *v = clv_rule_value(r, k);
    int32_t n = clv_rule_length(r, k);
    clv_dim *open;
    if (v && v->i) {
        *ret = v->i;
        *ret_n = v->n;
        return true;
    }
    if (n < 0 || !(open = CLV_NEW_ARRAY(r->arena, clv_dim, n)))
        return false;
    clv_dims_open(open, n);
    *ret = open;
    *ret_n = n;
    return true;
}

clv_status clv_rule_attr_dtype(clv_rule *r, const char *name, clv_dtype otherwise, clv_dtype *ret,
                               clv_error *err)
{
    int64_t number = clv_rule_attr_int(r, name, (int64_t)otherwise);
    if (number < 0 || number >= CLV_N_DTYPES)
        return clv_rule_fail(r, err,
                             "attribute '%s' is %lld, expected an element type from 1 to %d", name,
                             (long long)number, CLV_N_DTYPES - 1);
    *ret = number == 0 ? otherwise : (clv_dtype)number;
    return CLV_OK;
}

clv_status clv_rule_axis(clv_rule *r, int64_t axis, int32_t rank, int32_t *ret, clv_error *err)
{
    if (axis < -(int64_t)rank || axis >= rank)
        return clv_rule_fail(r, err, "axis %" PRId64 " of a tensor of rank %d", axis, rank);
    *ret = (int32_t)(axis < 0 ? axis + rank : axis);
    return CLV_OK;
}

clv_status clv_rule_attr_axis(clv_rule *r, const char *name, int64_t otherwise, int32_t rank,
                              int32_t *ret, clv_error *err)
{
    return clv_rule_axis(r, clv_rule_attr_int(r, name, otherwise), rank, ret, err);
}

/* -- shapes that meet -- */

clv_status clv_rule_same_dim(clv_rule *r, clv_dim a, clv_dim b, const char *what, clv_dim *ret,
                             clv_error *err)
{
    if (clv_dim_is_number(a) && clv_dim_is_number(b) && a != b)
        return clv_rule_fail(r, err, "%s is %" PRId64 " in one input and %" PRId64 " in another",
                             what, a, b);
    clv_rule_relate(r, a, b);
    if (clv_dim_is_number(a))
        *ret = a;
    else if (clv_dim_is_number(b) || a == CLV_DIM_UNKNOWN)
        *ret = b;
    else
        *ret = a;
    return CLV_OK;
}

clv_status clv_rule_broadcast_dim(clv_rule *r, clv_dim a, clv_dim b, clv_dim *ret, clv_error *err)
{
    bool number_a = clv_dim_is_number(a), number_b = clv_dim_is_number(b);
    if (a == 1 || a == b)
        *ret = b;
    else if (b == 1)
        *ret = a;
    else if (number_a && number_b)
        return clv_rule_fail(r, err, "dimensions %" PRId64 " and %" PRId64 " do not broadcast", a,
                             b);
    else if (number_a || number_b)
        *ret = number_a ? a : b; /* the open one is this or 1 */
    else
        *ret = CLV_DIM_UNKNOWN;
    return CLV_OK;
}

static clv_status fail_broadcast(clv_rule *r, const clv_type *a, const clv_type *b, clv_error *err)
{
    char one[160], other[160];
    clv_type_show(r->model, a, one, sizeof one);
    clv_type_show(r->model, b, other, sizeof other);
    return clv_rule_fail(r, err, "shapes %s and %s do not broadcast", strchr(one, '['),
                         strchr(other, '['));
}

clv_status clv_rule_broadcast(clv_rule *r, clv_shape *shape, const clv_type *by, clv_error *err)
{
    clv_dim dims[CLV_RANK_MAX];
    int32_t rank = shape->rank > by->rank ? shape->rank : by->rank;
    for (int32_t i = 0; i < rank; i++) { /* lined up from the right */
        int32_t at = i - (rank - shape->rank), at_by = i - (rank - by->rank);
        clv_dim x = at < 0 ? 1 : shape->dims[at], y = at_by < 0 ? 1 : by->dims[at_by];
        if (clv_dim_is_number(x) && clv_dim_is_number(y) && x != y && x != 1 && y != 1)
            return fail_broadcast(
                r, &(clv_type){ .kind = CLV_TYPE_TENSOR, .rank = shape->rank, .dims = shape->dims },
                &(clv_type){ .kind = CLV_TYPE_TENSOR, .rank = by->rank, .dims = by->dims }, err);
        CLV_TRY(clv_rule_broadcast_dim(r, x, y, &dims[i], err));
    }
    memcpy(shape->dims, dims, (size_t)rank * sizeof *dims);
    shape->rank = rank;
    return CLV_OK;
}

clv_status clv_rule_matmul(clv_rule *r, const clv_type *a, const clv_type *b, clv_shape *ret,
                           clv_error *err)
{
    int32_t rank_a = a->rank, rank_b = b->rank;
    if (rank_a < 1 || rank_b < 1)
        return clv_rule_fail(r, err,
                             "a product of shapes of rank %d and %d, expected at least 1 each",
                             rank_a, rank_b);
    clv_dim inner, summed_b = b->dims[rank_b > 1 ? rank_b - 2 : 0];
    CLV_TRY(
        clv_rule_same_dim(r, a->dims[rank_a - 1], summed_b, "the summed dimension", &inner, err));
    clv_type batch_b = { .rank = rank_b > 2 ? rank_b - 2 : 0, .dims = b->dims };
    ret->rank = rank_a > 2 ? rank_a - 2 : 0;
    clv_dims_copy(ret->dims, a->dims, ret->rank);
    CLV_TRY(clv_rule_broadcast(r, ret, &batch_b, err));
    if (rank_a > 1) /* a vector has no row, and none of the columns */
        ret->dims[ret->rank++] = a->dims[rank_a - 2];
    if (rank_b > 1)
        ret->dims[ret->rank++] = b->dims[rank_b - 1];
    return CLV_OK;
}

/* A dim that differs is open; whole shapes of different rank have no rank. */
static clv_status merge_dims(clv_rule *r, const clv_type *a, const clv_type *b, clv_type *ret,
                             clv_error *err)
{
    if (a->rank != b->rank || a->rank == CLV_RANK_UNKNOWN) {
        ret->rank = CLV_RANK_UNKNOWN;
        return CLV_OK;
    }
    ret->rank = a->rank;
    ret->dims = a->dims;
    if (a->rank == 0 || memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0)
        return CLV_OK;
    clv_dim *dims = CLV_NEW_ARRAY(r->arena, clv_dim, a->rank);
    if (!dims)
        return clv_fail_nomem(err, "a shape");
    for (int32_t i = 0; i < a->rank; i++)
        dims[i] = a->dims[i] == b->dims[i] ? a->dims[i] : CLV_DIM_UNKNOWN;
    ret->dims = dims;
    return CLV_OK;
}

clv_status clv_rule_merge(clv_rule *r, const clv_type *a, const clv_type *b, clv_type *ret,
                          clv_error *err)
{
    clv_type merged = { .rank = CLV_RANK_UNKNOWN };
    if (a->kind == b->kind) {
        merged.kind = a->kind;
        merged.dtype = a->dtype == b->dtype ? a->dtype : CLV_DT_UNDEFINED;
        if (a->kind == CLV_TYPE_TENSOR || a->kind == CLV_TYPE_SPARSE)
            CLV_TRY(merge_dims(r, a, b, &merged, err));
        if (a->elem && b->elem) {
            clv_type *elem = CLV_NEW(r->arena, clv_type);
            if (!elem)
                return clv_fail_nomem(err, "a type");
            CLV_TRY(clv_rule_merge(r, a->elem, b->elem, elem, err));
            merged.elem = elem;
        }
    }
    *ret = merged;
    return CLV_OK;
}

/* -- outputs -- */

clv_status clv_rule_set_like(clv_rule *r, int32_t out, clv_dtype dtype, const clv_type *like,
                             clv_error *err)
{
    return clv_rule_set(r, out, dtype, clv_type_rank(like), like->dims, err);
}

clv_status clv_rule_set_same(clv_rule *r, int32_t out, int32_t in, clv_error *err)
{
    const clv_type *t = clv_rule_in(r, in);
    return t->kind == CLV_TYPE_UNKNOWN ? CLV_OK : clv_rule_set_type(r, out, t, err);
}

clv_status clv_rule_set_rank(clv_rule *r, int32_t out, clv_dtype dtype, int32_t rank,
                             clv_error *err)
{
    clv_dim dims[CLV_RANK_MAX];
    clv_dims_open(dims, CLV_RANK_MAX);
    return clv_rule_set(r, out, dtype, rank, dims, err);
}

clv_status clv_rule_set_wrapped(clv_rule *r, int32_t out, clv_type_kind kind, const clv_type *elem,
                                clv_error *err)
{
    clv_type *copy = CLV_NEW(r->arena, clv_type);
    if (!copy)
        return clv_fail_nomem(err, "a sequence type");
    *copy = *elem;
    clv_type wrapped = { .kind = kind, .rank = CLV_RANK_UNKNOWN, .elem = copy };
    return clv_rule_set_type(r, out, &wrapped, err);
}
