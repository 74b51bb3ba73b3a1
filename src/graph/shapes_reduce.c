/* shapes_reduce.c - reductions: axes become 1, or go. */
#include "graph/rules.h"
#include "graph/shape_tools.h"

/* Output 0 from input 0 without the axes marked. */
static clv_status set_reduced(clv_rule *r, clv_dtype dtype, const bool *reduced, bool keep)
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
    return clv_rule_set(r, 0, dtype, n, dims);
}

/* Axes are given but not known: with keepdims each dim stays or becomes 1; without, only how many
 * axes go may be known. */
static clv_status set_unknown_axes(clv_rule *r, bool keep)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX];
    int32_t n_axes = clv_rule_length(r, 1);
    if (!keep) {
        int32_t rank = n_axes > 0 && n_axes <= in->rank ? in->rank - n_axes : CLV_RANK_UNKNOWN;
        return clv_rule_set_rank(r, 0, in->dtype, rank);
    }
    for (int32_t i = 0; i < in->rank; i++)
        dims[i] = in->dims[i] == 1 ? 1 : CLV_DIM_UNKNOWN;
    return clv_rule_set(r, 0, in->dtype, in->rank, dims);
}

clv_status clv_shape_reduce(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    bool keep = clv_rule_attr_int(r, "keepdims", 1) != 0;
    const int64_t *axes;
    int32_t n_axes;
    if (!clv_type_ranked(in))
        return clv_rule_set(r, 0, in->dtype, CLV_RANK_UNKNOWN, NULL);
    if (!clv_rule_axes(r, "axes", 1, &axes, &n_axes)) {
        if (clv_rule_length(r, 1) != 0)
            return set_unknown_axes(r, keep);
        n_axes = 0;
    }
    if (n_axes <= 0 && clv_rule_attr_int(r, "noop_with_empty_axes", 0))
        return clv_rule_set_same(r, 0, 0);
    bool reduced[CLV_RANK_MAX] = { false };
    for (int32_t i = 0; n_axes <= 0 && i < in->rank; i++)
        reduced[i] = true;
    for (int32_t i = 0; i < n_axes; i++) {
        int32_t axis;
        CLV_TRY(clv_rule_axis(r, axes[i], in->rank, &axis));
        reduced[axis] = true;
    }
    return set_reduced(r, in->dtype, reduced, keep);
}

/* ArgMax and ArgMin */
clv_status clv_shape_arg(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    bool reduced[CLV_RANK_MAX] = { false };
    if (!clv_type_ranked(in))
        return clv_rule_set(r, 0, CLV_DT_INT64, CLV_RANK_UNKNOWN, NULL);
    int32_t axis = 0;
    if (in->rank > 0)
        CLV_TRY(clv_rule_axis(r, clv_rule_attr_int(r, "axis", 0), in->rank, &axis));
    reduced[axis] = true;
    return set_reduced(r, CLV_DT_INT64, reduced, clv_rule_attr_int(r, "keepdims", 1) != 0);
}
