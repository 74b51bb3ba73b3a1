/* shapes_resize.c - Resize and Upsample.
 *
 * The size of an axis is the one wanted, or the old one times a scale, rounded down in 32-bit
 * floats as the scales are. Axes that are not named stay. With an aspect ratio to keep, one scale
 * serves all axes: the smallest or largest that the wanted sizes ask for.
 */
#include <math.h>

#include "graph/rules.h"
#include "graph/shape_tools.h"

/* Sizes above this are not worked out: floats no longer tell neighbours apart far below it. */
#define SIZE_MAX_SCALED 9e15F

static clv_dim scaled(clv_dim d, double scale)
{
    float size;

    if (scale == 1)
        return d;
    if (!clv_dim_is_number(d))
        return CLV_DIM_UNKNOWN;
    size = floorf((float)d * (float)scale);
    return size >= 0 && size < SIZE_MAX_SCALED ? (clv_dim)size : CLV_DIM_UNKNOWN;
}

static clv_status check_scale(clv_rule *r, double scale)
{
    if (!(scale > 0))
        return clv_rule_fail(r, "a scale is %g, expected above 0", scale);
    return CLV_OK;
}

typedef struct {
    const int64_t *axes; /* NULL: all in order */
    int32_t n;
    clv_dim *dims;
    int32_t rank;
} resized;

static clv_status axis_at(clv_rule *r, const resized *z, int32_t i, int32_t *ret)
{
    return clv_rule_axis(r, z->axes ? z->axes[i] : i, z->rank, ret);
}

/* The scales stretch the part of the axis that roi keeps, where there is one: first starts, then
 * ends, in parts of the axis. NaN when not known. */
static double roi_part(const clv_rule *r, const resized *z, int32_t i)
{
    const clv_value *roi = clv_rule_value(r, 1);
    clv_str mode = clv_rule_attr_str(r, "coordinate_transformation_mode", "half_pixel");

    if (!clv_str_is(mode, "tf_crop_and_resize"))
        return 1;
    return roi && roi->f && roi->n == 2 * z->n ? roi->f[z->n + i] - roi->f[i] : NAN;
}

static clv_status by_scales(clv_rule *r, resized *z, const clv_value *scales)
{
    int32_t axis;

    if (scales->n != z->n)
        return clv_rule_fail(r, "%d scales for %d axes", scales->n, z->n);
    for (int32_t i = 0; i < z->n; i++) {
        double part = roi_part(r, z, i);
        CLV_TRY(axis_at(r, z, i, &axis));
        CLV_TRY(check_scale(r, scales->f[i]));
        z->dims[axis] = part == 1 ? scaled(z->dims[axis], scales->f[i])
                                  : scaled(z->dims[axis], part * scales->f[i]);
    }
    return CLV_OK;
}

/* One scale for all axes. Open when any size or dimension is. */
static clv_status by_aspect(clv_rule *r, resized *z, const clv_dim *sizes, bool larger)
{
    float best = larger ? 0 : INFINITY;
    bool known = true;
    int32_t axis;

    for (int32_t i = 0; i < z->n; i++) {
        CLV_TRY(axis_at(r, z, i, &axis));
        known &=
            clv_dim_is_number(sizes[i]) && clv_dim_is_number(z->dims[axis]) && z->dims[axis] > 0;
        if (!known)
            continue;
        float scale = (float)sizes[i] / (float)z->dims[axis];
        best = larger ? fmaxf(best, scale) : fminf(best, scale);
    }
    for (int32_t i = 0; i < z->n; i++) {
        CLV_TRY(axis_at(r, z, i, &axis));
        float size = known ? floorf(best * (float)z->dims[axis] + 0.5F) : SIZE_MAX_SCALED;
        z->dims[axis] = size < SIZE_MAX_SCALED ? (clv_dim)size : CLV_DIM_UNKNOWN;
    }
    return CLV_OK;
}

static clv_status by_sizes(clv_rule *r, resized *z, const clv_dim *sizes, int32_t n)
{
    clv_str policy = clv_rule_attr_str(r, "keep_aspect_ratio_policy", "stretch");
    int32_t axis;

    if (n != z->n)
        return clv_rule_fail(r, "%d sizes for %d axes", n, z->n);
    for (int32_t i = 0; i < n; i++)
        if (clv_dim_is_number(sizes[i]) && sizes[i] < 0)
            return clv_rule_fail(r, "a size is %lld, expected 0 or more", (long long)sizes[i]);
    if (!clv_str_is(policy, "stretch"))
        return by_aspect(r, z, sizes, clv_str_is(policy, "not_smaller"));
    for (int32_t i = 0; i < n; i++) {
        CLV_TRY(axis_at(r, z, i, &axis));
        z->dims[axis] = sizes[i];
    }
    return CLV_OK;
}

static clv_status open_axes(clv_rule *r, resized *z)
{
    int32_t axis;

    for (int32_t i = 0; i < z->n; i++) {
        CLV_TRY(axis_at(r, z, i, &axis));
        z->dims[axis] = CLV_DIM_UNKNOWN;
    }
    return CLV_OK;
}

/* An empty list of scales or sizes stands for none. */
static bool is_given(const clv_rule *r, int32_t k)
{
    return clv_rule_has_in(r, k) && clv_rule_length(r, k) != 0;
}

static clv_status resize_dims(clv_rule *r, resized *z)
{
    int32_t at_scales = r->version < 11 ? 1 : 2, n;
    const clv_value *scales = clv_rule_value(r, at_scales);
    const clv_dim *sizes;

    if (r->version >= 11 && is_given(r, 3)) {
        if (clv_rule_dims(r, 3, &sizes, &n))
            return by_sizes(r, z, sizes, n);
    } else if (is_given(r, at_scales) && scales && scales->f) {
        return by_scales(r, z, scales);
    }
    return open_axes(r, z);
}

clv_status clv_shape_resize(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX];
    resized z = { .dims = dims };

    if (!clv_type_ranked(in))
        return clv_rule_set_rank(r, 0, in->dtype, CLV_RANK_UNKNOWN);
    z.rank = z.n = in->rank;
    clv_rule_attr_ints(r, "axes", &z.axes, &z.n);
    clv_dims_copy(dims, in->dims, in->rank);
    CLV_TRY(resize_dims(r, &z));
    return clv_rule_set(r, 0, in->dtype, in->rank, dims);
}

/* Version 1 has two scales as attributes, version 7 a list, version 9 an input. */
static clv_status upsample_1(clv_rule *r, clv_dim *dims)
{
    double width = (double)clv_rule_attr_float(r, "width_scale", 1);
    double height = (double)clv_rule_attr_float(r, "height_scale", 1);

    CLV_TRY(clv_rule_want_rank(r, 0, 4));
    CLV_TRY(check_scale(r, width));
    CLV_TRY(check_scale(r, height));
    dims[2] = scaled(dims[2], height);
    dims[3] = scaled(dims[3], width);
    return CLV_OK;
}

static clv_status upsample_by_list(clv_rule *r, const clv_attr *scales, int32_t rank, clv_dim *dims)
{
    if (scales->n != rank)
        return clv_rule_fail(r, "%d scales for an input of rank %d", scales->n, rank);
    for (int32_t i = 0; i < rank; i++) {
        CLV_TRY(check_scale(r, (double)scales->floats[i]));
        dims[i] = scaled(dims[i], (double)scales->floats[i]);
    }
    return CLV_OK;
}

clv_status clv_shape_upsample(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    const clv_attr *list = clv_rule_attr(r, "scales");
    const clv_value *scales = clv_rule_value(r, 1);
    clv_dim dims[CLV_RANK_MAX];
    resized z = { .dims = dims, .rank = in->rank, .n = in->rank };

    if (!clv_type_ranked(in))
        return clv_rule_set_rank(r, 0, in->dtype, CLV_RANK_UNKNOWN);
    clv_dims_copy(dims, in->dims, in->rank);
    if (list && list->kind == CLV_ATTR_FLOATS)
        CLV_TRY(upsample_by_list(r, list, in->rank, dims));
    else if (r->version < 7)
        CLV_TRY(upsample_1(r, dims));
    else if (scales && scales->f)
        CLV_TRY(by_scales(r, &z, scales));
    else
        clv_dims_open(dims, in->rank);
    return clv_rule_set(r, 0, in->dtype, in->rank, dims);
}
