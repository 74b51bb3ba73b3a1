#include "graph/shapes_conv.h"

#include <inttypes.h>

#include "graph/shape_tools.h"
#include "graph/window.h"

/* Spatial axes of input k; CLV_RANK_UNKNOWN when its rank is. */
static clv_status spatial_axes(clv_rule *r, int32_t k, int32_t *ret, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, k);
    *ret = CLV_RANK_UNKNOWN;
    if (!clv_type_ranked(in))
        return CLV_OK;
    if (in->rank < 2)
        return clv_rule_fail(r, err, "input %d has rank %d, must be at least 2", k, in->rank);
    *ret = in->rank - 2;
    return CLV_OK;
}

static clv_status read_group(clv_rule *r, int64_t *ret, clv_error *err)
{
    *ret = clv_rule_attr_int(r, "group", 1);
    if (*ret >= 1)
        return CLV_OK;
    return clv_rule_fail(r, err, "attribute group is %" PRId64 ", must be at least 1", *ret);
}

/* The lengths of the output along the spatial axes, which begin at `first`. */
static clv_status slide(clv_rule *r, const clv_window *w, const clv_type *x, int32_t first,
                        clv_dim *dims, clv_error *err)
{
    for (int32_t i = 0; i < w->n; i++)
        CLV_TRY(clv_window_slide(r, w, i, clv_type_dim(x, first + i), &dims[first + i], err));
    return CLV_OK;
}

/* x and weight are the numbers of those inputs. */
static clv_status set_conv(clv_rule *r, int32_t x, int32_t weight, clv_dtype dtype, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, x), *kernel = clv_rule_in(r, weight);
    int32_t n;
    int64_t group;
    clv_window w;
    clv_dim channels, dims[CLV_RANK_MAX] = { clv_type_dim(in, 0), clv_type_dim(kernel, 0) };
    CLV_TRY(spatial_axes(r, x, &n, err));
    CLV_TRY(read_group(r, &group, err));
    CLV_TRY(clv_window_read(r, n, kernel, 2, &w, err));
    CLV_TRY(clv_rule_same_dim(r, clv_type_dim(in, 1), clv_dim_mul(clv_type_dim(kernel, 1), group),
                              "the number of channels", &channels, err));
    if (w.n == CLV_RANK_UNKNOWN)
        return clv_rule_set_unranked(r, 0, dtype, err);
    CLV_TRY(slide(r, &w, in, 2, dims, err));
    return clv_rule_set(r, 0, dtype, w.n + 2, dims, err);
}

clv_status clv_shape_conv(clv_rule *r, clv_error *err)
{
    return set_conv(r, 0, 1, clv_rule_in(r, 0)->dtype, err);
}

clv_status clv_shape_conv_integer(clv_rule *r, clv_error *err)
{
    return set_conv(r, 0, 1, CLV_DT_INT32, err);
}

/* x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B */
clv_status clv_shape_qlinear_conv(clv_rule *r, clv_error *err)
{
    return set_conv(r, 0, 3, clv_rule_in(r, 7)->dtype, err);
}

clv_status clv_shape_deform_conv(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0), *kernel = clv_rule_in(r, 1),
                   *offset = clv_rule_in(r, 2);
    int32_t n;
    clv_window w;
    clv_dim dims[CLV_RANK_MAX] = { clv_type_dim(in, 0), clv_type_dim(kernel, 0) };
    CLV_TRY(spatial_axes(r, 0, &n, err));
    CLV_TRY(clv_window_read(r, n, kernel, 2, &w, err));
    if (w.n == CLV_RANK_UNKNOWN)
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    CLV_TRY(slide(r, &w, in, 2, dims, err));
    for (int32_t i = 0; i < w.n; i++)
        CLV_TRY(clv_rule_same_dim(r, dims[i + 2], clv_type_dim(offset, i + 2),
                                  "a spatial dimension of the output", &dims[i + 2], err));
    return clv_rule_set(r, 0, in->dtype, w.n + 2, dims, err);
}

/* -- transposed -- */

/* The attribute output_shape has the spatial dimensions, in old files the first two before. */
static bool read_output_shape(const clv_rule *r, int32_t n, clv_dim *dims)
{
    const int64_t *list;
    int32_t length;
    if (!clv_rule_attr_ints(r, "output_shape", &list, &length) || (length != n && length != n + 2))
        return false;
    for (int32_t i = 0; i < n; i++)
        dims[i + 2] = list[length - n + i];
    return true;
}

clv_status clv_shape_conv_transpose(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0), *kernel = clv_rule_in(r, 1);
    int32_t n;
    int64_t group;
    clv_window w;
    clv_dim channels;
    const int64_t *extra = NULL;
    int32_t n_extra = 0;
    CLV_TRY(spatial_axes(r, 0, &n, err));
    CLV_TRY(read_group(r, &group, err));
    CLV_TRY(clv_window_read(r, n, kernel, 2, &w, err));
    CLV_TRY(clv_rule_same_dim(r, clv_type_dim(in, 1), clv_type_dim(kernel, 0),
                              "the number of channels", &channels, err));
    if (w.n == CLV_RANK_UNKNOWN)
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    clv_dim dims[CLV_RANK_MAX] = { clv_type_dim(in, 0),
                                   clv_dim_mul(clv_type_dim(kernel, 1), group) };
    clv_rule_attr_ints(r, "output_padding", &extra, &n_extra);
    bool given = read_output_shape(r, w.n, dims);
    for (int32_t i = 0; i < w.n && !given; i++) {
        bool padded = n_extra > i && extra[i] > 0 && extra[i] < INT32_MAX;
        dims[i + 2] = clv_window_spread(&w, i, clv_type_dim(in, i + 2), padded ? extra[i] : 0);
    }
    return clv_rule_set(r, 0, in->dtype, w.n + 2, dims, err);
}

/* -- channels last -- */

/* X [N, d..., C] and W [M, k..., C / group], or W [M, C / group, k...] as elsewhere. */
static clv_status set_channels_last_conv(clv_rule *r, int32_t weights, bool weights_too,
                                         clv_dtype dtype, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0), *weight = clv_rule_in(r, weights);
    int32_t rank = clv_type_rank(in) >= 0 ? clv_type_rank(in) : clv_type_rank(weight);
    clv_dim dims[CLV_RANK_MAX];
    clv_type kernel = *weight;
    clv_window w;
    if (rank < 0)
        return clv_rule_set_unranked(r, 0, dtype, err);
    if (rank < 3)
        return clv_rule_fail(r, err, "the input has rank %d, expected at least 3", rank);
    CLV_TRY(clv_rule_want_rank(r, weights, rank, err));
    kernel.rank -= weights_too && clv_type_ranked(weight); /* the last dimension is the channels */
    CLV_TRY(clv_window_read(r, rank - 2, &kernel, weights_too ? 1 : 2, &w, err));
    dims[0] = clv_type_dim(in, 0);
    CLV_TRY(slide(r, &w, in, 1, dims, err));
    dims[rank - 1] = clv_type_dim(weight, 0);
    return clv_rule_set(r, 0, dtype, rank, dims, err);
}

clv_status clv_shape_nhwc_conv(clv_rule *r, clv_error *err)
{
    return set_channels_last_conv(r, 1, true, clv_rule_in(r, 0)->dtype, err);
}

clv_status clv_shape_ms_qlinear_conv(clv_rule *r, clv_error *err)
{
    if (clv_rule_attr_int(r, "channels_last", 0) == 0)
        return clv_shape_qlinear_conv(r, err);
    return set_channels_last_conv(r, 3, false, clv_rule_in(r, 7)->dtype, err);
}

/* -- pooling -- */

/* The window over input 0, and the first two dims of the output. */
static clv_status read_pool(clv_rule *r, clv_window *w, clv_dim *dims, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    int32_t rank = clv_type_rank(in);
    if (rank >= 0 && rank < 2)
        return clv_rule_fail(r, err, "its input has rank %d, must be at least 2", rank);
    dims[0] = clv_type_dim(in, 0);
    dims[1] = clv_type_dim(in, 1);
    return clv_window_read(r, rank >= 0 ? rank - 2 : CLV_RANK_UNKNOWN, NULL, 0, w, err);
}

clv_status clv_shape_max_pool(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_window w;
    clv_dim dims[CLV_RANK_MAX];
    CLV_TRY(read_pool(r, &w, dims, err));
    CLV_TRY(slide(r, &w, in, 2, dims, err));
    int32_t rank = w.n == CLV_RANK_UNKNOWN ? CLV_RANK_UNKNOWN : w.n + 2;
    CLV_TRY(clv_rule_set(r, 0, in->dtype, rank, dims, err));
    return clv_rule_set(r, 1, CLV_DT_INT64, rank, dims, err);
}

clv_status clv_shape_pool(clv_rule *r, clv_error *err) { return clv_shape_max_pool(r, err); }

static clv_status set_qlinear_pool(clv_rule *r, bool channels_last, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX];
    clv_window w;
    if (!clv_type_ranked(in))
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    if (in->rank < 3)
        return clv_rule_fail(r, err, "the input has rank %d, expected at least 3", in->rank);
    CLV_TRY(clv_window_read(r, in->rank - 2, NULL, 0, &w, err));
    clv_dims_copy(dims, in->dims, in->rank);
    CLV_TRY(slide(r, &w, in, channels_last ? 1 : 2, dims, err));
    return clv_rule_set(r, 0, in->dtype, in->rank, dims, err);
}

clv_status clv_shape_qlinear_average_pool(clv_rule *r, clv_error *err)
{
    return set_qlinear_pool(r, clv_rule_attr_int(r, "channels_last", 0) != 0, err);
}

clv_status clv_shape_nhwc_max_pool(clv_rule *r, clv_error *err)
{
    return set_qlinear_pool(r, true, err);
}

clv_status clv_shape_global_pool(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX];
    int32_t rank = clv_type_rank(in);
    for (int32_t i = 0; i < rank; i++)
        dims[i] = i < 2 ? in->dims[i] : 1;
    return clv_rule_set(r, 0, in->dtype, rank, dims, err);
}

clv_status clv_shape_qlinear_global_average_pool(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    bool channels_last = clv_rule_attr_int(r, "channels_last", 0) != 0;
    clv_dim dims[CLV_RANK_MAX];
    if (!clv_type_ranked(in))
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    if (in->rank < 2)
        return clv_rule_fail(r, err, "the input has rank %d, expected at least 2", in->rank);
    for (int32_t i = 0; i < in->rank; i++)
        dims[i] = i == 0 || i == (channels_last ? in->rank - 1 : 1) ? in->dims[i] : 1;
    return clv_rule_set(r, 0, in->dtype, in->rank, dims, err);
}

clv_status clv_shape_max_unpool(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_window w;
    clv_dim dims[CLV_RANK_MAX];
    const clv_dim *given;
    int32_t n_given;
    if (clv_rule_has_in(r, 2)) {
        if (!clv_rule_dims(r, 2, &given, &n_given))
            return clv_rule_set_rank(r, 0, in->dtype, clv_type_rank(in), err);
        return clv_rule_set(r, 0, in->dtype, n_given, given, err);
    }
    CLV_TRY(read_pool(r, &w, dims, err));
    if (w.n == CLV_RANK_UNKNOWN)
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    for (int32_t i = 0; i < w.n; i++)
        dims[i + 2] = clv_window_spread(&w, i, clv_type_dim(in, i + 2), 0);
    return clv_rule_set(r, 0, in->dtype, w.n + 2, dims, err);
}

static clv_status set_regions(clv_rule *r, clv_dim height, clv_dim width, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[4] = { clv_type_dim(clv_rule_in(r, 1), 0), clv_type_dim(in, 1), height, width };
    return clv_rule_set(r, 0, in->dtype, 4, dims, err);
}

clv_status clv_shape_max_roi_pool(clv_rule *r, clv_error *err)
{
    const int64_t *shape;
    int32_t n;
    if (!clv_rule_attr_ints(r, "pooled_shape", &shape, &n) || n != 2)
        return clv_rule_fail(r, err, "attribute pooled_shape must be two numbers");
    return set_regions(r, shape[0], shape[1], err);
}

clv_status clv_shape_roi_align(clv_rule *r, clv_error *err)
{
    return set_regions(r, clv_rule_attr_int(r, "output_height", 1),
                       clv_rule_attr_int(r, "output_width", 1), err);
}
