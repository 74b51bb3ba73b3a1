/* shapes_pool.c - poolings: batch and channels stay, a window is slid over the spatial dimensions.
 */
#include "graph/rules.h"
#include "graph/shape_tools.h"
#include "graph/window.h"

/* The window over input 0, and the first two dims of the output. */
static clv_status read_pool(clv_rule *r, clv_window *w, clv_dim *dims)
{
    const clv_type *in = clv_rule_in(r, 0);
    int32_t rank = clv_type_rank(in);
    if (rank >= 0 && rank < 2)
        return clv_rule_fail(r, "its input has rank %d, must be at least 2", rank);
    dims[0] = clv_type_dim(in, 0);
    dims[1] = clv_type_dim(in, 1);
    return clv_window_read(r, rank >= 0 ? rank - 2 : CLV_RANK_UNKNOWN, NULL, 0, w);
}

/* MaxPool may give the place of each maximum, too. */
clv_status clv_shape_max_pool(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_window w;
    clv_dim dims[CLV_RANK_MAX];
    CLV_TRY(read_pool(r, &w, dims));
    for (int32_t i = 0; i < w.n; i++)
        CLV_TRY(clv_window_slide(r, &w, i, clv_type_dim(in, i + 2), &dims[i + 2]));
    int32_t rank = w.n == CLV_RANK_UNKNOWN ? CLV_RANK_UNKNOWN : w.n + 2;
    CLV_TRY(clv_rule_set(r, 0, in->dtype, rank, dims));
    return clv_rule_set(r, 1, CLV_DT_INT64, rank, dims);
}

clv_status clv_shape_pool(clv_rule *r) { return clv_shape_max_pool(r); }

clv_status clv_shape_global_pool(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX];
    int32_t rank = clv_type_rank(in);
    for (int32_t i = 0; i < rank; i++)
        dims[i] = i < 2 ? in->dims[i] : 1;
    return clv_rule_set(r, 0, in->dtype, rank, dims);
}

/* Input 2, where given, is the whole output shape. */
clv_status clv_shape_max_unpool(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_window w;
    clv_dim dims[CLV_RANK_MAX];
    const clv_dim *given;
    int32_t n_given;
    if (clv_rule_has_in(r, 2)) {
        if (!clv_rule_dims(r, 2, &given, &n_given))
            return clv_rule_set_rank(r, 0, in->dtype, clv_type_rank(in));
        return clv_rule_set(r, 0, in->dtype, n_given, given);
    }
    CLV_TRY(read_pool(r, &w, dims));
    if (w.n == CLV_RANK_UNKNOWN)
        return clv_rule_set(r, 0, in->dtype, CLV_RANK_UNKNOWN, NULL);
    for (int32_t i = 0; i < w.n; i++)
        dims[i + 2] = clv_window_spread(&w, i, clv_type_dim(in, i + 2), 0);
    return clv_rule_set(r, 0, in->dtype, w.n + 2, dims);
}

/* One result for each row of input 1, with the channels of input 0. */
static clv_status set_regions(clv_rule *r, clv_dim height, clv_dim width)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[4] = { clv_type_dim(clv_rule_in(r, 1), 0), clv_type_dim(in, 1), height, width };
    return clv_rule_set(r, 0, in->dtype, 4, dims);
}

clv_status clv_shape_max_roi_pool(clv_rule *r)
{
    const int64_t *shape;
    int32_t n;
    if (!clv_rule_attr_ints(r, "pooled_shape", &shape, &n) || n != 2)
        return clv_rule_fail(r, "attribute pooled_shape must be two numbers");
    return set_regions(r, shape[0], shape[1]);
}

clv_status clv_shape_roi_align(clv_rule *r)
{
    return set_regions(r, clv_rule_attr_int(r, "output_height", 1),
                       clv_rule_attr_int(r, "output_width", 1));
}
