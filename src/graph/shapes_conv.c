/* shapes_conv.c - convolutions: batch from the input, channels from the weight, and a window slid
 * over the spatial dimensions. Layouts: input [N, C, d...], weight [M, C/group, k...].
 */
#include <inttypes.h>

#include "graph/rules.h"
#include "graph/shape_tools.h"
#include "graph/window.h"

/* Spatial axes of input k; CLV_RANK_UNKNOWN when its rank is. */
static clv_status spatial_axes(clv_rule *r, int32_t k, int32_t *ret)
{
    const clv_type *in = clv_rule_in(r, k);
    *ret = CLV_RANK_UNKNOWN;
    if (!clv_type_ranked(in))
        return CLV_OK;
    if (in->rank < 2)
        return clv_rule_fail(r, "input %d has rank %d, must be at least 2", k, in->rank);
    *ret = in->rank - 2;
    return CLV_OK;
}

static clv_status read_group(clv_rule *r, int64_t *ret)
{
    *ret = clv_rule_attr_int(r, "group", 1);
    return *ret >= 1 ? CLV_OK
                     : clv_rule_fail(r, "attribute group is %" PRId64 ", must be at least 1", *ret);
}

static clv_status slide_all(clv_rule *r, const clv_window *w, const clv_type *x, clv_dim *dims)
{
    for (int32_t i = 0; i < w->n; i++)
        CLV_TRY(clv_window_slide(r, w, i, clv_type_dim(x, i + 2), &dims[i + 2]));
    return CLV_OK;
}

/* x and weight are the numbers of those inputs. */
static clv_status set_conv(clv_rule *r, int32_t x, int32_t weight, clv_dtype dtype)
{
    const clv_type *in = clv_rule_in(r, x), *kernel = clv_rule_in(r, weight);
    int32_t n;
    int64_t group;
    clv_window w;
    clv_dim channels, dims[CLV_RANK_MAX] = { clv_type_dim(in, 0), clv_type_dim(kernel, 0) };
    CLV_TRY(spatial_axes(r, x, &n));
    CLV_TRY(read_group(r, &group));
    CLV_TRY(clv_window_read(r, n, kernel, 2, &w));
    CLV_TRY(clv_rule_same_dim(r, clv_type_dim(in, 1), clv_dim_mul(clv_type_dim(kernel, 1), group),
                              "the number of channels", &channels));
    if (w.n == CLV_RANK_UNKNOWN)
        return clv_rule_set(r, 0, dtype, CLV_RANK_UNKNOWN, NULL);
    CLV_TRY(slide_all(r, &w, in, dims));
    return clv_rule_set(r, 0, dtype, w.n + 2, dims);
}

clv_status clv_shape_conv(clv_rule *r) { return set_conv(r, 0, 1, clv_rule_in(r, 0)->dtype); }

clv_status clv_shape_conv_integer(clv_rule *r) { return set_conv(r, 0, 1, CLV_DT_INT32); }

/* x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B */
clv_status clv_shape_qlinear_conv(clv_rule *r)
{
    return set_conv(r, 0, 3, clv_rule_in(r, 7)->dtype);
}

/* Each output place has an offset, so input 2 knows the output's spatial dimensions too. */
clv_status clv_shape_deform_conv(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0), *kernel = clv_rule_in(r, 1),
                   *offset = clv_rule_in(r, 2);
    int32_t n;
    clv_window w;
    clv_dim dims[CLV_RANK_MAX] = { clv_type_dim(in, 0), clv_type_dim(kernel, 0) };
    CLV_TRY(spatial_axes(r, 0, &n));
    CLV_TRY(clv_window_read(r, n, kernel, 2, &w));
    if (w.n == CLV_RANK_UNKNOWN)
        return clv_rule_set(r, 0, in->dtype, CLV_RANK_UNKNOWN, NULL);
    CLV_TRY(slide_all(r, &w, in, dims));
    for (int32_t i = 0; i < w.n; i++)
        CLV_TRY(clv_rule_same_dim(r, dims[i + 2], clv_type_dim(offset, i + 2),
                                  "a spatial dimension of the output", &dims[i + 2]));
    return clv_rule_set(r, 0, in->dtype, w.n + 2, dims);
}

/* -- transposed -- */

/* The attribute output_shape gives the spatial dimensions, in old files the first two before. */
static bool given_shape(const clv_rule *r, int32_t n, clv_dim *dims)
{
    const int64_t *list;
    int32_t length;
    if (!clv_rule_attr_ints(r, "output_shape", &list, &length) || (length != n && length != n + 2))
        return false;
    for (int32_t i = 0; i < n; i++)
        dims[i + 2] = list[length - n + i];
    return true;
}

static int64_t output_padding(const clv_rule *r, int32_t i)
{
    const int64_t *list;
    int32_t length;
    bool given = clv_rule_attr_ints(r, "output_padding", &list, &length);
    return given && i < length && list[i] > 0 && list[i] < INT32_MAX ? list[i] : 0;
}

/* Here the weight is [C, M/group, k...]. */
clv_status clv_shape_conv_transpose(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0), *kernel = clv_rule_in(r, 1);
    int32_t n;
    int64_t group;
    clv_window w;
    clv_dim channels;
    CLV_TRY(spatial_axes(r, 0, &n));
    CLV_TRY(read_group(r, &group));
    CLV_TRY(clv_window_read(r, n, kernel, 2, &w));
    CLV_TRY(clv_rule_same_dim(r, clv_type_dim(in, 1), clv_type_dim(kernel, 0),
                              "the number of channels", &channels));
    if (w.n == CLV_RANK_UNKNOWN)
        return clv_rule_set(r, 0, in->dtype, CLV_RANK_UNKNOWN, NULL);
    clv_dim dims[CLV_RANK_MAX] = { clv_type_dim(in, 0),
                                   clv_dim_mul(clv_type_dim(kernel, 1), group) };
    bool given = given_shape(r, w.n, dims);
    for (int32_t i = 0; i < w.n && !given; i++)
        dims[i + 2] = clv_window_spread(&w, i, clv_type_dim(in, i + 2), output_padding(r, i));
    return clv_rule_set(r, 0, in->dtype, w.n + 2, dims);
}
