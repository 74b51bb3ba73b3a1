/* rule_dims.c - arithmetic on dims and types of which some may be open.
 *
 * A number is known more exactly than a symbol, and a symbol more exactly than nothing. Where two
 * must agree, the more exact one is kept; only two different numbers contradict each other.
 */
#include <inttypes.h>
#include <string.h>

#include "graph/rule.h"

clv_status clv_rule_same_dim(clv_rule *r, clv_dim a, clv_dim b, const char *what, clv_dim *ret)
{
    if (clv_dim_is_number(a) && clv_dim_is_number(b) && a != b)
        return clv_rule_fail(r, "%s is %" PRId64 " in one input and %" PRId64 " in another", what,
                             a, b);
    if (clv_dim_is_number(a))
        *ret = a;
    else if (clv_dim_is_number(b) || a == CLV_DIM_UNKNOWN)
        *ret = b;
    else
        *ret = a;
    return CLV_OK;
}

clv_status clv_rule_broadcast_dim(clv_rule *r, clv_dim a, clv_dim b, clv_dim *ret)
{
    bool number_a = clv_dim_is_number(a), number_b = clv_dim_is_number(b);
    if (a == 1 || a == b)
        *ret = b;
    else if (b == 1)
        *ret = a;
    else if (number_a && number_b)
        return clv_rule_fail(r, "dimensions %" PRId64 " and %" PRId64 " do not broadcast", a, b);
    else if (number_a || number_b)
        *ret = number_a ? a : b; /* the open one is this or 1 */
    else
        *ret = CLV_DIM_UNKNOWN;
    return CLV_OK;
}

/* dims of a shape lined up from the right to a longer rank */
static clv_dim from_right(int32_t rank, const clv_dim *dims, int32_t to_rank, int32_t i)
{
    int32_t at = i - (to_rank - rank);
    return at < 0 ? 1 : dims[at];
}

static clv_status fail_shapes(clv_rule *r, int32_t rank_a, const clv_dim *a, int32_t rank_b,
                              const clv_dim *b)
{
    char one[160], other[160];
    clv_type type_a = { .kind = CLV_TYPE_TENSOR, .rank = rank_a, .dims = a };
    clv_type type_b = { .kind = CLV_TYPE_TENSOR, .rank = rank_b, .dims = b };
    clv_type_show(r->model, &type_a, one, sizeof one);
    clv_type_show(r->model, &type_b, other, sizeof other);
    return clv_rule_fail(r, "shapes %s and %s do not broadcast", strchr(one, '['),
                         strchr(other, '['));
}

clv_status clv_rule_broadcast(clv_rule *r, int32_t rank_a, const clv_dim *a, int32_t rank_b,
                              const clv_dim *b, int32_t *ret_rank, clv_dim *ret_dims)
{
    clv_dim dims[CLV_RANK_MAX]; /* a or b may be where the result goes */
    int32_t rank = rank_a > rank_b ? rank_a : rank_b;
    for (int32_t i = 0; i < rank; i++) {
        clv_dim x = from_right(rank_a, a, rank, i), y = from_right(rank_b, b, rank, i);
        bool clash = clv_dim_is_number(x) && clv_dim_is_number(y) && x != y && x != 1 && y != 1;
        if (clash)
            return fail_shapes(r, rank_a, a, rank_b, b);
        CLV_TRY(clv_rule_broadcast_dim(r, x, y, &dims[i]));
    }
    memcpy(ret_dims, dims, (size_t)rank * sizeof *dims);
    *ret_rank = rank;
    return CLV_OK;
}

clv_dim clv_dim_add(clv_dim a, clv_dim b)
{
    if (a == 0)
        return b;
    if (b == 0)
        return a;
    clv_dim sum;
    if (!clv_dim_is_number(a) || !clv_dim_is_number(b) || __builtin_add_overflow(a, b, &sum))
        return CLV_DIM_UNKNOWN;
    return clv_dim_is_number(sum) ? sum : CLV_DIM_UNKNOWN;
}

clv_dim clv_dim_mul(clv_dim a, clv_dim b)
{
    if (a == 0 || b == 1)
        return a;
    if (b == 0 || a == 1)
        return b;
    clv_dim product;
    if (!clv_dim_is_number(a) || !clv_dim_is_number(b) || __builtin_mul_overflow(a, b, &product))
        return CLV_DIM_UNKNOWN;
    return clv_dim_is_number(product) ? product : CLV_DIM_UNKNOWN;
}

clv_status clv_rule_axis(clv_rule *r, int64_t axis, int32_t rank, int32_t *ret)
{
    if (axis < -(int64_t)rank || axis >= rank)
        return clv_rule_fail(r, "axis %" PRId64 " of a tensor of rank %d", axis, rank);
    *ret = (int32_t)(axis < 0 ? axis + rank : axis);
    return CLV_OK;
}

static bool has_dims(const clv_type *type)
{
    return type->kind == CLV_TYPE_TENSOR || type->kind == CLV_TYPE_SPARSE;
}

/* A dim that differs is open; whole shapes of different rank have no rank. */
static clv_status merge_dims(clv_rule *r, const clv_type *a, const clv_type *b, clv_type *ret)
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
        return clv_fail_nomem(r->err, "a shape");
    for (int32_t i = 0; i < a->rank; i++)
        dims[i] = a->dims[i] == b->dims[i] ? a->dims[i] : CLV_DIM_UNKNOWN;
    ret->dims = dims;
    return CLV_OK;
}

clv_status clv_rule_merge(clv_rule *r, const clv_type *a, const clv_type *b, clv_type *ret)
{
    clv_type merged = { .rank = CLV_RANK_UNKNOWN };
    if (a->kind == b->kind) {
        merged.kind = a->kind;
        merged.dtype = a->dtype == b->dtype ? a->dtype : CLV_DT_UNDEFINED;
        if (has_dims(a))
            CLV_TRY(merge_dims(r, a, b, &merged));
        if (a->elem && b->elem) {
            clv_type *elem = CLV_NEW(r->arena, clv_type);
            if (!elem)
                return clv_fail_nomem(r->err, "a type");
            CLV_TRY(clv_rule_merge(r, a->elem, b->elem, elem));
            merged.elem = elem;
        }
    }
    *ret = merged;
    return CLV_OK;
}
