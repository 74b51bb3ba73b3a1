#include "graph/shapes_move.h"

#include <string.h>

#include "graph/shape_tools.h"

/* The rank that the inputs agree on, CLV_RANK_UNKNOWN when none is known. */
static clv_status joined_rank(clv_rule *r, int32_t *ret, clv_error *err)
{
    int32_t rank = CLV_RANK_UNKNOWN;
    for (int32_t k = 0; k < clv_rule_n_in(r); k++) {
        int32_t rank_k = clv_type_rank(clv_rule_in(r, k));
        if (rank_k >= 0 && rank >= 0 && rank_k != rank)
            return clv_rule_fail(r, err, "input %d has rank %d, those before it have rank %d", k,
                                 rank_k, rank);
        rank = rank_k >= 0 ? rank_k : rank;
    }
    *ret = rank;
    return CLV_OK;
}

/* Joins a further input to dims: adds along axis, agrees elsewhere. */
static clv_status join(clv_rule *r, const clv_type *in, int32_t axis, clv_shape *shape,
                       clv_error *err)
{
    for (int32_t i = 0; i < shape->rank; i++) {
        clv_dim d = clv_type_dim(in, i), *sum = &shape->dims[i];
        if (i == axis)
            *sum = clv_rule_add(r, *sum, d);
        else
            CLV_TRY(clv_rule_same_dim(r, *sum, d, "a dimension that is not joined", sum, err));
    }
    return CLV_OK;
}

clv_status clv_shape_concat(clv_rule *r, clv_error *err)
{
    clv_dtype dtype = CLV_DT_UNDEFINED;
    clv_shape shape;
    int32_t axis;
    for (int32_t k = 0; k < clv_rule_n_in(r) && dtype == CLV_DT_UNDEFINED; k++)
        dtype = clv_rule_in(r, k)->dtype;
    CLV_TRY(joined_rank(r, &shape.rank, err));
    if (shape.rank < 0)
        return clv_rule_set_unranked(r, 0, dtype, err);
    CLV_TRY(clv_rule_attr_axis(r, "axis", 1, shape.rank, &axis, err));
    for (int32_t i = 0; i < shape.rank; i++)
        shape.dims[i] = clv_type_dim(clv_rule_in(r, 0), i);
    for (int32_t k = 1; k < clv_rule_n_in(r); k++)
        CLV_TRY(join(r, clv_rule_in(r, k), axis, &shape, err));
    return clv_rule_set(r, 0, dtype, shape.rank, shape.dims, err);
}

clv_status clv_shape_qlinear_concat(clv_rule *r, clv_error *err)
{
    const clv_type *first = clv_rule_in(r, 2);
    clv_shape shape;
    int32_t axis;
    if (!clv_type_ranked(first))
        return clv_rule_set_unranked(r, 0, first->dtype, err);
    CLV_TRY(clv_rule_attr_axis(r, "axis", 0, first->rank, &axis, err));
    clv_shape_copy(&shape, first);
    for (int32_t k = 5; k < clv_rule_n_in(r); k += 3) {
        CLV_TRY(clv_rule_want_rank(r, k, first->rank, err));
        CLV_TRY(join(r, clv_rule_in(r, k), axis, &shape, err));
    }
    return clv_rule_set(r, 0, first->dtype, shape.rank, shape.dims, err);
}

/* Sizes of n equal parts; the last ones are smaller where the operator allows it. */
static clv_status equal_parts(clv_rule *r, clv_dim whole, int32_t n, bool may_differ, clv_dim *part,
                              clv_error *err)
{
    int64_t chunk, left = whole;
    if (!clv_dim_is_number(whole)) {
        clv_dims_open(part, n);
        return CLV_OK;
    }
    if (whole % n != 0 && !may_differ)
        return clv_rule_fail(r, err, "%lld cannot be split into %d equal parts", (long long)whole,
                             n);
    chunk = whole / n + (whole % n != 0);
    for (int32_t i = 0; i < n; i++) {
        part[i] = left < chunk ? left : chunk;
        left -= part[i];
    }
    return CLV_OK;
}

static clv_status check_parts(clv_rule *r, clv_dim whole, int32_t n, const clv_dim *part,
                              clv_error *err)
{
    clv_dim sum = 0;
    for (int32_t i = 0; i < n; i++) {
        if (clv_dim_is_number(part[i]) && part[i] < 0)
            return clv_rule_fail(r, err, "part %d of the split is %lld, expected 0 or more", i,
                                 (long long)part[i]);
        sum = clv_dim_add(sum, part[i]);
    }
    if (clv_dim_is_number(whole) && clv_dim_is_number(sum) && whole != sum)
        return clv_rule_fail(r, err, "the split sums to %lld, the dimension is %lld",
                             (long long)sum, (long long)whole);
    return CLV_OK;
}

/* Sizes of the parts: from the attribute, from input 1, or equal. */
static clv_status split_parts(clv_rule *r, clv_dim whole, int32_t n, clv_dim *part, clv_error *err)
{
    const clv_dim *given;
    int32_t n_given;
    bool equal = !clv_rule_has_in(r, 1);
    if (!clv_rule_attr_ints(r, "split", &given, &n_given) || n_given == 0) {
        if (equal)
            return equal_parts(r, whole, n, clv_rule_attr(r, "num_outputs") != NULL, part, err);
        if (!clv_rule_dims(r, 1, &given, &n_given)) {
            clv_dims_open(part, n);
            return CLV_OK;
        }
    }
    if (n_given != n)
        return clv_rule_fail(r, err, "the split has %d parts, the node has %d outputs", n_given, n);
    clv_dims_copy(part, given, n);
    return check_parts(r, whole, n, part, err);
}

clv_status clv_shape_split(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    int32_t n = clv_rule_n_out(r), axis;
    clv_dim dims[CLV_RANK_MAX], *part = CLV_NEW_ARRAY(r->arena, clv_dim, n);
    if (!part)
        return clv_fail_nomem(err, "the parts of a split");
    if (!clv_type_ranked(in)) {
        for (int32_t k = 0; k < n; k++)
            CLV_TRY(clv_rule_set_unranked(r, k, in->dtype, err));
        return CLV_OK;
    }
    CLV_TRY(clv_rule_attr_axis(r, "axis", 0, in->rank, &axis, err));
    CLV_TRY(split_parts(r, in->dims[axis], n, part, err));
    clv_dims_copy(dims, in->dims, in->rank);
    for (int32_t k = 0; k < n; k++) {
        dims[axis] = part[k];
        CLV_TRY(clv_rule_set(r, k, in->dtype, in->rank, dims, err));
    }
    return CLV_OK;
}

/* The repeats of Tile, one for each axis; in version 1 one axis is tiled. */
static clv_status tile_repeats(clv_rule *r, int32_t rank, clv_dim *repeat, clv_error *err)
{
    const clv_dim *given;
    int32_t n, axis;
    clv_dims_open(repeat, rank);
    if (r->version >= 6) {
        if (!clv_rule_dims(r, 1, &given, &n))
            return CLV_OK;
        if (n != rank)
            return clv_rule_fail(r, err, "%d repeats for an input of rank %d", n, rank);
        clv_dims_copy(repeat, given, n);
    } else if (clv_dim_is_number(clv_rule_scalar(r, 2))) {
        CLV_TRY(clv_rule_axis(r, clv_rule_scalar(r, 2), rank, &axis, err));
        for (int32_t i = 0; i < rank; i++)
            repeat[i] = i == axis ? clv_rule_scalar(r, 1) : 1;
    }
    return CLV_OK;
}

clv_status clv_shape_tile(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX], repeat[CLV_RANK_MAX];
    if (!clv_type_ranked(in))
        return clv_rule_set_rank(r, 0, in->dtype, r->version >= 6 ? clv_rule_length(r, 1) : -1,
                                 err);
    CLV_TRY(tile_repeats(r, in->rank, repeat, err));
    for (int32_t i = 0; i < in->rank; i++) {
        if (clv_dim_is_number(repeat[i]) && repeat[i] < 0)
            return clv_rule_fail(r, err, "axis %d is repeated %lld times, expected 0 or more", i,
                                 (long long)repeat[i]);
        dims[i] = clv_dim_mul(in->dims[i], repeat[i]);
    }
    return clv_rule_set(r, 0, in->dtype, in->rank, dims, err);
}

clv_status clv_shape_expand(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    const clv_dim *wanted;
    clv_shape shape;
    int32_t n;
    if (!clv_type_ranked(in) || !clv_rule_dims(r, 1, &wanted, &n))
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    if (n > CLV_RANK_MAX)
        return clv_rule_fail(r, err, "the wanted shape has rank %d, at most %d is supported", n,
                             CLV_RANK_MAX);
    for (int32_t i = 0; i < n; i++)
        if (clv_dim_is_number(wanted[i]) && wanted[i] < 0)
            return clv_rule_fail(r, err, "the wanted shape has %lld, expected 0 or more",
                                 (long long)wanted[i]);
    clv_shape_copy(&shape, in);
    clv_type by = { .rank = n, .dims = wanted };
    CLV_TRY(clv_rule_broadcast(r, &shape, &by, err));
    return clv_rule_set(r, 0, in->dtype, shape.rank, shape.dims, err);
}

/* Which axes Pad and CenterCropPad act on: those given, or all. False: given but not known. */
static bool acted_axes(const clv_rule *r, int32_t k, int32_t rank, const int64_t **ret,
                       int32_t *ret_n)
{
    if (!clv_rule_axes(r, "axes", k, ret, ret_n))
        return false;
    if (*ret_n < 0) {
        *ret = NULL;
        *ret_n = rank;
    }
    return true;
}

clv_status clv_shape_pad(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX];
    const clv_dim *pads;
    const int64_t *axes;
    int32_t n_pads, n, axis;
    if (!clv_type_ranked(in))
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    if (!acted_axes(r, 3, in->rank, &axes, &n) ||
        (!clv_rule_attr_ints(r, "pads", &pads, &n_pads) &&
         !clv_rule_attr_ints(r, "paddings", &pads, &n_pads) &&
         !clv_rule_dims(r, 1, &pads, &n_pads)))
        return clv_rule_set_rank(r, 0, in->dtype, in->rank, err);
    if (n_pads == 1 && n != 0 && !clv_rule_value(r, 1)) /* the 1 of com.microsoft's [1, 2*rank] */
        return clv_rule_set_rank(r, 0, in->dtype, in->rank, err);
    if (n_pads != 2 * n)
        return clv_rule_fail(r, err, "%d pads, expected two for each of %d axes", n_pads, n);
    clv_dims_copy(dims, in->dims, in->rank);
    for (int32_t i = 0; i < n; i++) {
        CLV_TRY(clv_rule_axis(r, axes ? axes[i] : i, in->rank, &axis, err));
        /* The sum of the pads first, so that -1 and 1 leave an open dimension alone. */
        clv_dim sum = clv_rule_add(r, dims[axis], clv_dim_add(pads[i], pads[n + i]));
        if (clv_dim_is_number(sum) && sum < 0)
            return clv_rule_fail(r, err, "pads %lld and %lld make axis %d of size %lld negative",
                                 (long long)pads[i], (long long)pads[n + i], axis,
                                 (long long)dims[axis]);
        dims[axis] = sum;
    }
    return clv_rule_set(r, 0, in->dtype, in->rank, dims, err);
}

clv_status clv_shape_center_crop_pad(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX];
    const clv_dim *sizes;
    const int64_t *axes;
    int32_t n_sizes, n, axis;
    if (!clv_type_ranked(in))
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    if (!acted_axes(r, INT32_MAX, in->rank, &axes, &n) || !clv_rule_dims(r, 1, &sizes, &n_sizes))
        return clv_rule_set_rank(r, 0, in->dtype, in->rank, err);
    if (n_sizes != n)
        return clv_rule_fail(r, err, "%d sizes for %d axes", n_sizes, n);
    clv_dims_copy(dims, in->dims, in->rank);
    for (int32_t i = 0; i < n; i++) {
        CLV_TRY(clv_rule_axis(r, axes ? axes[i] : i, in->rank, &axis, err));
        dims[axis] = sizes[i];
    }
    return clv_rule_set(r, 0, in->dtype, in->rank, dims, err);
}

clv_status clv_shape_crop(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    const int64_t *border, *scale;
    int32_t n_border, n_scale;
    clv_dim dims[4];
    CLV_TRY(clv_rule_want_rank(r, 0, 4, err));
    if (!clv_type_ranked(in))
        return clv_rule_set_rank(r, 0, in->dtype, 4, err);
    memcpy(dims, in->dims, sizeof dims);
    if (clv_rule_attr_ints(r, "scale", &scale, &n_scale) && n_scale == 2) {
        dims[2] = scale[0];
        dims[3] = scale[1];
    } else if (clv_rule_attr_ints(r, "border", &border, &n_border) && n_border == 4) {
        dims[2] = clv_dim_sub(clv_dim_sub(dims[2], border[1]), border[3]);
        dims[3] = clv_dim_sub(clv_dim_sub(dims[3], border[0]), border[2]);
    } else {
        clv_dims_open(dims + 2, 2);
    }
    return clv_rule_set(r, 0, in->dtype, 4, dims, err);
}

clv_status clv_shape_unfold_tensor(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    int64_t size = clv_rule_attr_int(r, "size", 1), step = clv_rule_attr_int(r, "step", 1);
    clv_dim dims[CLV_RANK_MAX];
    int32_t axis;
    if (!clv_type_ranked(in) || in->rank >= CLV_RANK_MAX)
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    CLV_TRY(clv_rule_attr_axis(r, "dim", -1, in->rank, &axis, err));
    if (size < 1 || step < 1)
        return clv_rule_fail(r, err, "size %lld and step %lld, expected at least 1",
                             (long long)size, (long long)step);
    clv_dims_copy(dims, in->dims, in->rank);
    if (clv_dim_is_number(dims[axis]) && dims[axis] < size)
        return clv_rule_fail(r, err, "a window of %lld on a dimension of %lld", (long long)size,
                             (long long)dims[axis]);
    dims[axis] = clv_dim_add(clv_dim_div(clv_dim_sub(dims[axis], size), step), 1);
    dims[in->rank] = size;
    return clv_rule_set(r, 0, in->dtype, in->rank + 1, dims, err);
}
