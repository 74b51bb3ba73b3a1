#include "graph/shapes_reduce.h"

#include "graph/shape_tools.h"

/* Output 0 from input 0 without the axes marked. */
static clv_status set_reduced(clv_rule *r, clv_dtype dtype, const bool *reduced, bool keep,
                              clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX];
    int32_t n = 0;
    for (int32_t i = 0; i < in->rank; i++) {
        if (!reduced[i])
            dims[n++] = in->dims[i];
        else if (keep)
            dims[n++] = 1;
    }
    return clv_rule_set(r, 0, dtype, n, dims, err);
}

/* Axes are given but not known: with keepdims each dim stays or becomes 1; without, only how many
 * axes go may be known. */
static clv_status set_unknown_axes(clv_rule *r, bool keep, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX];
    int32_t n_axes = clv_rule_length(r, 1);
    if (!keep) {
        int32_t rank = n_axes > 0 && n_axes <= in->rank ? in->rank - n_axes : CLV_RANK_UNKNOWN;
        return clv_rule_set_rank(r, 0, in->dtype, rank, err);
    }
    for (int32_t i = 0; i < in->rank; i++)
        dims[i] = in->dims[i] == 1 ? 1 : CLV_DIM_UNKNOWN;
    return clv_rule_set(r, 0, in->dtype, in->rank, dims, err);
}

clv_status clv_shape_reduce(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    bool keep = clv_rule_attr_int(r, "keepdims", 1) != 0;
    const int64_t *axes;
    int32_t n_axes;
    if (!clv_type_ranked(in))
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    if (!clv_rule_axes(r, "axes", 1, &axes, &n_axes)) {
        if (clv_rule_length(r, 1) != 0)
            return set_unknown_axes(r, keep, err);
        n_axes = 0;
    }
    if (n_axes <= 0 && clv_rule_attr_int(r, "noop_with_empty_axes", 0))
        return clv_rule_set_same(r, 0, 0, err);
    bool reduced[CLV_RANK_MAX] = { false };
    for (int32_t i = 0; n_axes <= 0 && i < in->rank; i++)
        reduced[i] = true;
    for (int32_t i = 0; i < n_axes; i++) {
        int32_t axis;
        CLV_TRY(clv_rule_axis(r, axes[i], in->rank, &axis, err));
        reduced[axis] = true;
    }
    return set_reduced(r, in->dtype, reduced, keep, err);
}

clv_status clv_shape_arg(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    bool reduced[CLV_RANK_MAX] = { false };
    if (!clv_type_ranked(in))
        return clv_rule_set_unranked(r, 0, CLV_DT_INT64, err);
    int32_t axis = 0;
    if (in->rank > 0)
        CLV_TRY(clv_rule_attr_axis(r, "axis", 0, in->rank, &axis, err));
    reduced[axis] = true;
    return set_reduced(r, CLV_DT_INT64, reduced, clv_rule_attr_int(r, "keepdims", 1) != 0, err);
}

clv_status clv_shape_qlinear_reduce_mean(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    bool reduced[CLV_RANK_MAX];
    const int64_t *axes;
    int32_t n, axis;
    bool some = clv_rule_attr_ints(r, "axes", &axes, &n) && n > 0;
    if (!clv_type_ranked(in))
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    for (int32_t i = 0; i < in->rank; i++)
        reduced[i] = !some;
    for (int32_t i = 0; some && i < n; i++) {
        CLV_TRY(clv_rule_axis(r, axes[i], in->rank, &axis, err));
        reduced[axis] = true;
    }
    return set_reduced(r, in->dtype, reduced, clv_rule_attr_int(r, "keepdims", 1) != 0, err);
}

/* -- normalisations -- */

clv_status clv_shape_batch_norm(clv_rule *r, clv_error *err)
{
    const clv_type *scale = clv_rule_in(r, 1), *mean = clv_rule_in(r, 3);
    clv_dim channels;
    CLV_TRY(clv_rule_set_same(r, 0, 0, err));
    CLV_TRY(clv_rule_same_dim(r, clv_type_dim(scale, 0), clv_type_dim(mean, 0),
                              "the number of channels", &channels, err));
    for (int32_t k = 1; k < clv_rule_n_out(r); k++)
        CLV_TRY(clv_rule_set(r, k, mean->dtype, 1, &channels, err));
    return CLV_OK;
}

/* Mean and deviation have the input's shape with 1 from the axis on. */
static clv_status set_statistics(clv_rule *r, int32_t out, int64_t along, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX];
    int32_t axis;
    if (!clv_rule_has_out(r, out) || !clv_type_ranked(in))
        return clv_rule_set_unranked(r, out, CLV_DT_FLOAT, err);
    CLV_TRY(clv_rule_axis(r, along, in->rank, &axis, err));
    for (int32_t i = 0; i < in->rank; i++)
        dims[i] = i < axis ? in->dims[i] : 1;
    return clv_rule_set(r, out, CLV_DT_FLOAT, in->rank, dims, err);
}

clv_status clv_shape_layer_norm(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dtype stash;
    CLV_TRY(clv_rule_attr_dtype(r, "stash_type", CLV_DT_FLOAT, &stash, err));
    CLV_TRY(clv_rule_set_same(r, 0, 0, err));
    clv_dim dims[CLV_RANK_MAX];
    int32_t rank = clv_type_rank(in), axis = 0;
    if (rank > 0)
        CLV_TRY(clv_rule_attr_axis(r, "axis", -1, rank, &axis, err));
    for (int32_t i = 0; i < rank; i++)
        dims[i] = i < axis ? in->dims[i] : 1;
    CLV_TRY(clv_rule_set(r, 1, stash, rank, dims, err));
    return clv_rule_set(r, 2, stash, rank, dims, err);
}

clv_status clv_shape_simplified_layer_norm(clv_rule *r, clv_error *err)
{
    clv_dtype scale = clv_rule_in(r, 1)->dtype, in = clv_rule_in(r, 0)->dtype;
    CLV_TRY(
        clv_rule_set_like(r, 0, scale == CLV_DT_UNDEFINED ? in : scale, clv_rule_in(r, 0), err));
    return set_statistics(r, 1, clv_rule_attr_int(r, "axis", -1), err);
}

clv_status clv_shape_skip_layer_norm(clv_rule *r, clv_error *err)
{
    CLV_TRY(clv_rule_set_same(r, 0, 0, err));
    CLV_TRY(set_statistics(r, 1, -1, err));
    CLV_TRY(set_statistics(r, 2, -1, err));
    return clv_rule_set_same(r, 3, 0, err);
}

clv_status clv_shape_skip_group_norm(clv_rule *r, clv_error *err)
{
    CLV_TRY(clv_rule_set_same(r, 0, 0, err));
    return clv_rule_set_same(r, 1, 0, err);
}

/* -- losses -- */

clv_status clv_shape_nll_loss(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0), *target = clv_rule_in(r, 1);
    if (!clv_str_is(clv_rule_attr_str(r, "reduction", "mean"), "none"))
        return clv_rule_set_scalar(r, 0, in->dtype, err);
    if (!clv_type_ranked(in) || in->rank < 2)
        return clv_rule_set_like(r, 0, in->dtype, target, err);
    if (clv_type_ranked(target) && target->rank != in->rank - 1)
        return clv_rule_fail(r, err, "its target has rank %d, must be %d", target->rank,
                             in->rank - 1);
    clv_dim dims[CLV_RANK_MAX];
    for (int32_t i = 0; i < in->rank - 1; i++)
        CLV_TRY(clv_rule_same_dim(r, in->dims[i ? i + 1 : 0], clv_type_dim(target, i),
                                  "a dimension", &dims[i], err));
    return clv_rule_set(r, 0, in->dtype, in->rank - 1, dims, err);
}

clv_status clv_shape_softmax_loss(clv_rule *r, clv_error *err)
{
    CLV_TRY(clv_shape_nll_loss(r, err));
    return clv_rule_set_same(r, 1, 0, err);
}
