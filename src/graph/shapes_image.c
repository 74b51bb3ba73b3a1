#include "graph/shapes_image.h"

#include <math.h>
#include <string.h>

#include "graph/shape_tools.h"

/* -- Resize and Upsample -- */

/* Sizes above this are not worked out: far below it floats no longer hold every whole number. */
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

static clv_status check_scale(clv_rule *r, double scale, clv_error *err)
{
    if (!(scale > 0))
        return clv_rule_fail(r, err, "a scale is %g, expected above 0", scale);
    return CLV_OK;
}

typedef struct {
    const int64_t *axes; /* NULL: all in order */
    int32_t n;
    clv_dim *dims;
    int32_t rank;
} resized;

static clv_status axis_at(clv_rule *r, const resized *z, int32_t i, int32_t *ret, clv_error *err)
{
    return clv_rule_axis(r, z->axes ? z->axes[i] : i, z->rank, ret, err);
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

static clv_status resize_by_scales(clv_rule *r, resized *z, const clv_value *scales, clv_error *err)
{
    int32_t axis;
    if (scales->n != z->n)
        return clv_rule_fail(r, err, "%d scales for %d axes", scales->n, z->n);
    for (int32_t i = 0; i < z->n; i++) {
        double part = roi_part(r, z, i);
        CLV_TRY(axis_at(r, z, i, &axis, err));
        CLV_TRY(check_scale(r, scales->f[i], err));
        z->dims[axis] = part == 1 ? scaled(z->dims[axis], scales->f[i])
                                  : scaled(z->dims[axis], part * scales->f[i]);
    }
    return CLV_OK;
}

/* One scale for all axes. Open when any size or dimension is. */
static clv_status resize_by_aspect(clv_rule *r, resized *z, const clv_dim *sizes, bool larger,
                                   clv_error *err)
{
    float best = larger ? 0 : INFINITY;
    bool known = true;
    int32_t axis;
    for (int32_t i = 0; i < z->n; i++) {
        CLV_TRY(axis_at(r, z, i, &axis, err));
        known &=
            clv_dim_is_number(sizes[i]) && clv_dim_is_number(z->dims[axis]) && z->dims[axis] > 0;
        if (!known)
            continue;
        float scale = (float)sizes[i] / (float)z->dims[axis];
        best = larger ? fmaxf(best, scale) : fminf(best, scale);
    }
    for (int32_t i = 0; i < z->n; i++) {
        CLV_TRY(axis_at(r, z, i, &axis, err));
        float size = known ? floorf(best * (float)z->dims[axis] + 0.5F) : SIZE_MAX_SCALED;
        z->dims[axis] = size < SIZE_MAX_SCALED ? (clv_dim)size : CLV_DIM_UNKNOWN;
    }
    return CLV_OK;
}

static clv_status resize_by_sizes(clv_rule *r, resized *z, const clv_dim *sizes, int32_t n,
                                  clv_error *err)
{
    clv_str policy = clv_rule_attr_str(r, "keep_aspect_ratio_policy", "stretch");
    int32_t axis;
    if (n != z->n)
        return clv_rule_fail(r, err, "%d sizes for %d axes", n, z->n);
    for (int32_t i = 0; i < n; i++)
        if (clv_dim_is_number(sizes[i]) && sizes[i] < 0)
            return clv_rule_fail(r, err, "a size is %lld, expected 0 or more", (long long)sizes[i]);
    if (!clv_str_is(policy, "stretch"))
        return resize_by_aspect(r, z, sizes, clv_str_is(policy, "not_smaller"), err);
    for (int32_t i = 0; i < n; i++) {
        CLV_TRY(axis_at(r, z, i, &axis, err));
        z->dims[axis] = sizes[i];
    }
    return CLV_OK;
}

/* An empty list of scales or sizes stands for none. */
static bool is_given(const clv_rule *r, int32_t k)
{
    return clv_rule_has_in(r, k) && clv_rule_length(r, k) != 0;
}

static clv_status resize_dims(clv_rule *r, resized *z, clv_error *err)
{
    int32_t at_scales = r->version < 11 ? 1 : 2, n, axis;
    const clv_value *scales = clv_rule_value(r, at_scales);
    const clv_dim *sizes;
    if (r->version >= 11 && is_given(r, 3)) {
        if (clv_rule_dims(r, 3, &sizes, &n))
            return resize_by_sizes(r, z, sizes, n, err);
    } else if (is_given(r, at_scales) && scales && scales->f) {
        return resize_by_scales(r, z, scales, err);
    }
    for (int32_t i = 0; i < z->n; i++) {
        CLV_TRY(axis_at(r, z, i, &axis, err));
        z->dims[axis] = CLV_DIM_UNKNOWN;
    }
    return CLV_OK;
}

clv_status clv_shape_resize(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX];
    resized z = { .dims = dims };
    if (!clv_type_ranked(in))
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    z.rank = z.n = in->rank;
    clv_rule_attr_ints(r, "axes", &z.axes, &z.n);
    clv_dims_copy(dims, in->dims, in->rank);
    CLV_TRY(resize_dims(r, &z, err));
    return clv_rule_set(r, 0, in->dtype, in->rank, dims, err);
}

clv_status clv_shape_upsample(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    const clv_attr *list = clv_rule_attr(r, "scales");
    const clv_value *scales = clv_rule_value(r, 1);
    clv_dim dims[CLV_RANK_MAX];
    resized z = { .dims = dims, .rank = in->rank, .n = in->rank };
    if (!clv_type_ranked(in))
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    clv_dims_copy(dims, in->dims, in->rank);
    if (list && list->kind == CLV_ATTR_FLOATS) {
        if (list->n != in->rank)
            return clv_rule_fail(r, err, "%d scales for an input of rank %d", list->n, in->rank);
        for (int32_t i = 0; i < in->rank; i++) {
            CLV_TRY(check_scale(r, (double)list->floats[i], err));
            dims[i] = scaled(dims[i], (double)list->floats[i]);
        }
    } else if (r->version < 7) {
        double width = (double)clv_rule_attr_float(r, "width_scale", 1);
        double height = (double)clv_rule_attr_float(r, "height_scale", 1);
        CLV_TRY(clv_rule_want_rank(r, 0, 4, err));
        CLV_TRY(check_scale(r, width, err));
        CLV_TRY(check_scale(r, height, err));
        dims[2] = scaled(dims[2], height);
        dims[3] = scaled(dims[3], width);
    } else if (scales && scales->f) {
        CLV_TRY(resize_by_scales(r, &z, scales, err));
    } else {
        clv_dims_open(dims, in->rank);
    }
    return clv_rule_set(r, 0, in->dtype, in->rank, dims, err);
}

/* -- grids and patches -- */

clv_status clv_shape_grid_sample(clv_rule *r, clv_error *err)
{
    const clv_type *x = clv_rule_in(r, 0), *grid = clv_rule_in(r, 1);
    int32_t rank = clv_type_rank(x) >= 0 ? clv_type_rank(x) : clv_type_rank(grid);
    clv_dim dims[CLV_RANK_MAX];
    if (rank < 0)
        return clv_rule_set_unranked(r, 0, x->dtype, err);
    if (rank < 3)
        return clv_rule_fail(r, err, "the input has rank %d, expected at least 3", rank);
    CLV_TRY(clv_rule_want_rank(r, 1, rank, err));
    CLV_TRY(
        clv_rule_same_dim(r, clv_type_dim(x, 0), clv_type_dim(grid, 0), "the batch", dims, err));
    dims[1] = clv_type_dim(x, 1);
    for (int32_t i = 2; i < rank; i++)
        dims[i] = clv_type_dim(grid, i - 1);
    return clv_rule_set(r, 0, x->dtype, rank, dims, err);
}

clv_status clv_shape_affine_grid(clv_rule *r, clv_error *err)
{
    const clv_type *theta = clv_rule_in(r, 0);
    const clv_dim *size;
    clv_dim dims[5];
    int32_t n;
    if (!clv_rule_dims(r, 1, &size, &n))
        return clv_rule_set_unranked(r, 0, theta->dtype, err);
    if (n != 4 && n != 5)
        return clv_rule_fail(r, err, "size has %d elements, expected 4 or 5", n);
    CLV_TRY(clv_rule_same_dim(r, clv_type_dim(theta, 0), size[0], "the batch", dims, err));
    clv_dims_copy(dims + 1, size + 2, n - 2);
    dims[n - 1] = n - 2;
    return clv_rule_set(r, 0, theta->dtype, n, dims, err);
}

clv_status clv_shape_image_decoder(clv_rule *r, clv_error *err)
{
    clv_dim dims[3] = { CLV_DIM_UNKNOWN, CLV_DIM_UNKNOWN, 3 };
    if (clv_str_is(clv_rule_attr_str(r, "pixel_format", "RGB"), "Grayscale"))
        dims[2] = 1;
    return clv_rule_set(r, 0, CLV_DT_UINT8, 3, dims, err);
}

clv_status clv_shape_col2im(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX], block_elems = CLV_DIM_UNKNOWN, columns = clv_type_dim(in, 1);
    const clv_dim *image, *block;
    int32_t n, n_block;
    CLV_TRY(clv_rule_want_rank(r, 0, 3, err));
    if (clv_rule_dims(r, 2, &block, &n_block))
        block_elems = clv_dim_product(block, n_block);
    if (!clv_rule_dims(r, 1, &image, &n) || n + 2 > CLV_RANK_MAX)
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    if (clv_dim_is_number(block_elems) && block_elems <= 0)
        return clv_rule_fail(r, err, "the block has %lld elements, expected at least 1",
                             (long long)block_elems);
    if (clv_dim_is_number(block_elems) && clv_dim_is_number(columns) && columns % block_elems != 0)
        return clv_rule_fail(r, err, "%lld rows of columns are no multiple of a block of %lld",
                             (long long)columns, (long long)block_elems);
    dims[0] = clv_type_dim(in, 0);
    dims[1] = clv_dim_is_number(block_elems) ? clv_dim_div(columns, block_elems) : CLV_DIM_UNKNOWN;
    clv_dims_copy(dims + 2, image, n);
    return clv_rule_set(r, 0, in->dtype, n + 2, dims, err);
}

clv_status clv_shape_crop_and_resize(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[4] = { clv_type_dim(clv_rule_in(r, 1), 0), clv_type_dim(in, 1), CLV_DIM_UNKNOWN,
                        CLV_DIM_UNKNOWN };
    const clv_dim *size;
    int32_t n;
    CLV_TRY(clv_rule_want_rank(r, 0, 4, err));
    CLV_TRY(clv_rule_want_rank(r, 1, 2, err));
    if (clv_rule_dims(r, 3, &size, &n)) {
        if (n != 2)
            return clv_rule_fail(r, err, "the crop size has %d elements, expected 2", n);
        memcpy(dims + 2, size, 2 * sizeof *dims);
    }
    return clv_rule_set(r, 0, in->dtype, 4, dims, err);
}
