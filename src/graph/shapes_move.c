/* shapes_move.c - operators that join, cut and repeat tensors along their axes. */
#include "graph/rules.h"
#include "graph/shape_tools.h"

static clv_dtype joined_dtype(const clv_rule *r)
{
    clv_dtype dtype = CLV_DT_UNDEFINED;

    for (int32_t k = 0; k < clv_rule_n_in(r) && dtype == CLV_DT_UNDEFINED; k++)
        dtype = clv_rule_in(r, k)->dtype;
    return dtype;
}

/* The rank that the inputs agree on, CLV_RANK_UNKNOWN when none is known. */
static clv_status joined_rank(clv_rule *r, int32_t *ret)
{
    int32_t rank = CLV_RANK_UNKNOWN;

    for (int32_t k = 0; k < clv_rule_n_in(r); k++) {
        int32_t rank_k = clv_type_rank(clv_rule_in(r, k));
        if (rank_k >= 0 && rank >= 0 && rank_k != rank)
            return clv_rule_fail(r, "input %d has rank %d, those before it have rank %d", k, rank_k,
                                 rank);
        rank = rank_k >= 0 ? rank_k : rank;
    }
    *ret = rank;
    return CLV_OK;
}

/* Joins input k to dims: adds along axis, agrees elsewhere. */
static clv_status join(clv_rule *r, int32_t k, int32_t axis, int32_t rank, clv_dim *dims)
{
    const clv_type *in = clv_rule_in(r, k);

    for (int32_t i = 0; i < rank; i++) {
        clv_dim d = clv_type_dim(in, i);
        if (i == axis)
            dims[i] = k == 0 ? d : clv_dim_add(dims[i], d);
        else if (k == 0)
            dims[i] = d;
        else
            CLV_TRY(clv_rule_same_dim(r, dims[i], d, "a dimension that is not joined", &dims[i]));
    }
    return CLV_OK;
}

clv_status clv_shape_concat(clv_rule *r)
{
    clv_dim dims[CLV_RANK_MAX];
    int32_t rank = 0, axis;

    CLV_TRY(joined_rank(r, &rank));
    if (rank < 0)
        return clv_rule_set_rank(r, 0, joined_dtype(r), CLV_RANK_UNKNOWN);
    CLV_TRY(clv_rule_axis(r, clv_rule_attr_int(r, "axis", 1), rank, &axis));
    for (int32_t k = 0; k < clv_rule_n_in(r); k++)
        CLV_TRY(join(r, k, axis, rank, dims));
    return clv_rule_set(r, 0, joined_dtype(r), rank, dims);
}

/* Sizes of n equal parts; the last ones are smaller where the operator allows it. */
static clv_status equal_parts(clv_rule *r, clv_dim whole, int32_t n, bool may_differ, clv_dim *part)
{
    int64_t chunk, left = whole;

    if (!clv_dim_is_number(whole)) {
        clv_dims_open(part, n);
        return CLV_OK;
    }
    if (whole % n != 0 && !may_differ)
        return clv_rule_fail(r, "%lld cannot be split into %d equal parts", (long long)whole, n);
    chunk = whole / n + (whole % n != 0);
    for (int32_t i = 0; i < n; i++) {
        part[i] = left < chunk ? left : chunk;
        left -= part[i];
    }
    return CLV_OK;
}

static clv_status check_parts(clv_rule *r, clv_dim whole, int32_t n, const clv_dim *part)
{
    clv_dim sum = 0;

    for (int32_t i = 0; i < n; i++) {
        if (clv_dim_is_number(part[i]) && part[i] < 0)
            return clv_rule_fail(r, "part %d of the split is %lld, expected 0 or more", i,
                                 (long long)part[i]);
        sum = clv_dim_add(sum, part[i]);
    }
    if (clv_dim_is_number(whole) && clv_dim_is_number(sum) && whole != sum)
        return clv_rule_fail(r, "the split sums to %lld, the dimension is %lld", (long long)sum,
                             (long long)whole);
    return CLV_OK;
}

/* Sizes of the parts: from the attribute, from input 1, or equal. */
static clv_status split_parts(clv_rule *r, clv_dim whole, int32_t n, clv_dim *part)
{
    const clv_dim *given;
    int32_t n_given;
    bool equal = !clv_rule_has_in(r, 1);

    if (!clv_rule_attr_ints(r, "split", &given, &n_given) || n_given == 0) {
        if (equal)
            return equal_parts(r, whole, n, clv_rule_attr(r, "num_outputs") != NULL, part);
        if (!clv_rule_dims(r, 1, &given, &n_given)) {
            clv_dims_open(part, n);
            return CLV_OK;
        }
    }
    if (n_given != n)
        return clv_rule_fail(r, "the split has %d parts, the node has %d outputs", n_given, n);
    clv_dims_copy(part, given, n);
    return check_parts(r, whole, n, part);
}

clv_status clv_shape_split(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    int32_t n = clv_rule_n_out(r), axis;
    clv_dim dims[CLV_RANK_MAX], *part = CLV_NEW_ARRAY(r->arena, clv_dim, n);

    if (!part)
        return clv_fail_nomem(r->err, "the parts of a split");
    if (!clv_type_ranked(in)) {
        for (int32_t k = 0; k < n; k++)
            CLV_TRY(clv_rule_set_rank(r, k, in->dtype, CLV_RANK_UNKNOWN));
        return CLV_OK;
    }
    CLV_TRY(clv_rule_axis(r, clv_rule_attr_int(r, "axis", 0), in->rank, &axis));
    CLV_TRY(split_parts(r, in->dims[axis], n, part));
    clv_dims_copy(dims, in->dims, in->rank);
    for (int32_t k = 0; k < n; k++) {
        dims[axis] = part[k];
        CLV_TRY(clv_rule_set(r, k, in->dtype, in->rank, dims));
    }
    return CLV_OK;
}

/* The repeats of Tile, one for each axis; in version 1 one axis is tiled. */
static clv_status tile_repeats(clv_rule *r, int32_t rank, clv_dim *repeat)
{
    const clv_dim *given;
    int32_t n, axis;

    clv_dims_open(repeat, rank);
    if (r->version >= 6) {
        if (!clv_rule_dims(r, 1, &given, &n))
            return CLV_OK;
        if (n != rank)
            return clv_rule_fail(r, "%d repeats for an input of rank %d", n, rank);
        clv_dims_copy(repeat, given, n);
    } else if (clv_dim_is_number(clv_rule_scalar(r, 2))) {
        CLV_TRY(clv_rule_axis(r, clv_rule_scalar(r, 2), rank, &axis));
        for (int32_t i = 0; i < rank; i++)
            repeat[i] = i == axis ? clv_rule_scalar(r, 1) : 1;
    }
    return CLV_OK;
}

clv_status clv_shape_tile(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX], repeat[CLV_RANK_MAX];

    if (!clv_type_ranked(in))
        return clv_rule_set_rank(r, 0, in->dtype, r->version >= 6 ? clv_rule_length(r, 1) : -1);
    CLV_TRY(tile_repeats(r, in->rank, repeat));
    for (int32_t i = 0; i < in->rank; i++) {
        if (clv_dim_is_number(repeat[i]) && repeat[i] < 0)
            return clv_rule_fail(r, "axis %d is repeated %lld times, expected 0 or more", i,
                                 (long long)repeat[i]);
        dims[i] = clv_dim_mul(in->dims[i], repeat[i]);
    }
    return clv_rule_set(r, 0, in->dtype, in->rank, dims);
}

clv_status clv_shape_expand(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX];
    const clv_dim *wanted;
    int32_t n, rank;

    if (!clv_type_ranked(in) || !clv_rule_dims(r, 1, &wanted, &n))
        return clv_rule_set_rank(r, 0, in->dtype, CLV_RANK_UNKNOWN);
    if (n > CLV_RANK_MAX)
        return clv_rule_fail(r, "the wanted shape has rank %d, at most %d is supported", n,
                             CLV_RANK_MAX);
    for (int32_t i = 0; i < n; i++)
        if (clv_dim_is_number(wanted[i]) && wanted[i] < 0)
            return clv_rule_fail(r, "the wanted shape has %lld, expected 0 or more",
                                 (long long)wanted[i]);
    CLV_TRY(clv_rule_broadcast(r, in->rank, in->dims, n, wanted, &rank, dims));
    return clv_rule_set(r, 0, in->dtype, rank, dims);
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

static clv_status pad_axis(clv_rule *r, int32_t axis, clv_dim before, clv_dim after, clv_dim *d)
{
    /* The sum of the pads first, so that -1 and 1 leave an open dimension alone. */
    clv_dim sum = clv_dim_add(*d, clv_dim_add(before, after));

    if (clv_dim_is_number(sum) && sum < 0)
        return clv_rule_fail(r, "pads %lld and %lld make axis %d of size %lld negative",
                             (long long)before, (long long)after, axis, (long long)*d);
    *d = sum;
    return CLV_OK;
}

static bool pad_amounts(clv_rule *r, const clv_dim **ret, int32_t *ret_n)
{
    return clv_rule_attr_ints(r, "pads", ret, ret_n) ||
           clv_rule_attr_ints(r, "paddings", ret, ret_n) || clv_rule_dims(r, 1, ret, ret_n);
}

clv_status clv_shape_pad(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX];
    const clv_dim *pads;
    const int64_t *axes;
    int32_t n_pads, n, axis;

    if (!clv_type_ranked(in))
        return clv_rule_set_rank(r, 0, in->dtype, CLV_RANK_UNKNOWN);
    if (!acted_axes(r, 3, in->rank, &axes, &n) || !pad_amounts(r, &pads, &n_pads))
        return clv_rule_set_rank(r, 0, in->dtype, in->rank);
    if (n_pads == 1 && n != 0 && !clv_rule_value(r, 1)) /* the 1 of com.microsoft's [1, 2*rank] */
        return clv_rule_set_rank(r, 0, in->dtype, in->rank);
    if (n_pads != 2 * n)
        return clv_rule_fail(r, "%d pads, expected two for each of %d axes", n_pads, n);
    clv_dims_copy(dims, in->dims, in->rank);
    for (int32_t i = 0; i < n; i++) {
        CLV_TRY(clv_rule_axis(r, axes ? axes[i] : i, in->rank, &axis));
        CLV_TRY(pad_axis(r, axis, pads[i], pads[n + i], &dims[axis]));
    }
    return clv_rule_set(r, 0, in->dtype, in->rank, dims);
}

clv_status clv_shape_center_crop_pad(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX];
    const clv_dim *sizes;
    const int64_t *axes;
    int32_t n_sizes, n, axis;

    if (!clv_type_ranked(in))
        return clv_rule_set_rank(r, 0, in->dtype, CLV_RANK_UNKNOWN);
    if (!acted_axes(r, INT32_MAX, in->rank, &axes, &n) || !clv_rule_dims(r, 1, &sizes, &n_sizes))
        return clv_rule_set_rank(r, 0, in->dtype, in->rank);
    if (n_sizes != n)
        return clv_rule_fail(r, "%d sizes for %d axes", n_sizes, n);
    clv_dims_copy(dims, in->dims, in->rank);
    for (int32_t i = 0; i < n; i++) {
        CLV_TRY(clv_rule_axis(r, axes ? axes[i] : i, in->rank, &axis));
        dims[axis] = sizes[i];
    }
    return clv_rule_set(r, 0, in->dtype, in->rank, dims);
}

/* Crop of the first versions: border is left, top, right, bottom; scale is height, width. */
clv_status clv_shape_crop(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    const int64_t *border, *scale;
    int32_t n_border, n_scale;
    clv_dim dims[4];

    CLV_TRY(clv_rule_want_rank(r, 0, 4));
    if (!clv_type_ranked(in))
        return clv_rule_set_rank(r, 0, in->dtype, 4);
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
    return clv_rule_set(r, 0, in->dtype, 4, dims);
}
