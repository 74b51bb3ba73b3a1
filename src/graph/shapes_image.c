/* shapes_image.c - grids, patches and pictures. */
#include "graph/rules.h"
#include "graph/shape_tools.h"

/* x [N,C,(D,)H,W] and grid [N,(D',)H',W',2 or 3] give [N,C,(D',)H',W']. */
clv_status clv_shape_grid_sample(clv_rule *r)
{
    const clv_type *x = clv_rule_in(r, 0), *grid = clv_rule_in(r, 1);
    int32_t rank = clv_type_rank(x) >= 0 ? clv_type_rank(x) : clv_type_rank(grid);
    clv_dim dims[CLV_RANK_MAX];

    if (rank < 0)
        return clv_rule_set_rank(r, 0, x->dtype, CLV_RANK_UNKNOWN);
    if (rank < 3)
        return clv_rule_fail(r, "the input has rank %d, expected at least 3", rank);
    CLV_TRY(clv_rule_want_rank(r, 1, rank));
    CLV_TRY(clv_rule_same_dim(r, clv_type_dim(x, 0), clv_type_dim(grid, 0), "the batch", dims));
    dims[1] = clv_type_dim(x, 1);
    for (int32_t i = 2; i < rank; i++)
        dims[i] = clv_type_dim(grid, i - 1);
    return clv_rule_set(r, 0, x->dtype, rank, dims);
}

/* theta [N,2,3] and size (N,C,H,W) give [N,H,W,2]; theta [N,3,4] and (N,C,D,H,W) [N,D,H,W,3]. */
clv_status clv_shape_affine_grid(clv_rule *r)
{
    const clv_type *theta = clv_rule_in(r, 0);
    const clv_dim *size;
    clv_dim dims[5];
    int32_t n;

    if (!clv_rule_dims(r, 1, &size, &n))
        return clv_rule_set_rank(r, 0, theta->dtype, CLV_RANK_UNKNOWN);
    if (n != 4 && n != 5)
        return clv_rule_fail(r, "size has %d elements, expected 4 or 5", n);
    CLV_TRY(clv_rule_same_dim(r, clv_type_dim(theta, 0), size[0], "the batch", dims));
    clv_dims_copy(dims + 1, size + 2, n - 2);
    dims[n - 1] = n - 2;
    return clv_rule_set(r, 0, theta->dtype, n, dims);
}

clv_status clv_shape_image_decoder(clv_rule *r)
{
    clv_dim dims[3] = { CLV_DIM_UNKNOWN, CLV_DIM_UNKNOWN, 3 };

    if (clv_str_is(clv_rule_attr_str(r, "pixel_format", "RGB"), "Grayscale"))
        dims[2] = 1;
    return clv_rule_set(r, 0, CLV_DT_UINT8, 3, dims);
}

/* Columns [N, C * block elements, L] back to [N, C, image...]. */
clv_status clv_shape_col2im(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX], block_elems = CLV_DIM_UNKNOWN, columns = clv_type_dim(in, 1);
    const clv_dim *image, *block;
    int32_t n, n_block;

    CLV_TRY(clv_rule_want_rank(r, 0, 3));
    if (clv_rule_dims(r, 2, &block, &n_block))
        block_elems = clv_dim_product(block, n_block);
    if (!clv_rule_dims(r, 1, &image, &n) || n + 2 > CLV_RANK_MAX)
        return clv_rule_set_rank(r, 0, in->dtype, CLV_RANK_UNKNOWN);
    if (clv_dim_is_number(block_elems) && block_elems <= 0)
        return clv_rule_fail(r, "the block has %lld elements, expected at least 1",
                             (long long)block_elems);
    if (clv_dim_is_number(block_elems) && clv_dim_is_number(columns) && columns % block_elems != 0)
        return clv_rule_fail(r, "%lld rows of columns are no multiple of a block of %lld",
                             (long long)columns, (long long)block_elems);
    dims[0] = clv_type_dim(in, 0);
    dims[1] = clv_dim_is_number(block_elems) ? clv_dim_div(columns, block_elems) : CLV_DIM_UNKNOWN;
    clv_dims_copy(dims + 2, image, n);
    return clv_rule_set(r, 0, in->dtype, n + 2, dims);
}

/* X [N,C,H,W], rois [R,4], ..., crop size (h,w) give [R,C,h,w]. */
clv_status clv_shape_crop_and_resize(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[4] = { clv_type_dim(clv_rule_in(r, 1), 0), clv_type_dim(in, 1), CLV_DIM_UNKNOWN,
                        CLV_DIM_UNKNOWN };
    const clv_dim *size;
    int32_t n;

    CLV_TRY(clv_rule_want_rank(r, 0, 4));
    CLV_TRY(clv_rule_want_rank(r, 1, 2));
    if (clv_rule_dims(r, 3, &size, &n)) {
        if (n != 2)
            return clv_rule_fail(r, "the crop size has %d elements, expected 2", n);
        memcpy(dims + 2, size, 2 * sizeof *dims);
    }
    return clv_rule_set(r, 0, in->dtype, 4, dims);
}
