/* shapes_index.c - operators that pick elements by index, or give indices. */
#include "graph/rules.h"
#include "graph/shape_tools.h"

/* data's shape with the axis replaced by the shape of the indices. */
static clv_status gather_dims(clv_rule *r, const clv_type *data, const clv_type *indices,
                              int32_t axis, int32_t *ret_rank, clv_dim *ret)
{
    int32_t rank = data->rank - 1 + indices->rank, after = data->rank - axis - 1;

    if (rank > CLV_RANK_MAX)
        return clv_rule_fail(r, "the output would have rank %d, at most %d is supported", rank,
                             CLV_RANK_MAX);
    clv_dims_copy(ret, data->dims, axis);
    clv_dims_copy(ret + axis, indices->dims, indices->rank);
    clv_dims_copy(ret + axis + indices->rank, data->dims + axis + 1, after);
    *ret_rank = rank;
    return CLV_OK;
}

/* Gather along that axis of input 0, whose dims are `data`'s; output 0 has dtype. */
static clv_status gather(clv_rule *r, const clv_type *data, int64_t along, clv_dtype dtype)
{
    const clv_type *indices = clv_rule_in(r, 1);
    clv_dim dims[CLV_RANK_MAX];
    int32_t axis, rank = 0;

    if (!clv_type_ranked(data))
        return clv_rule_set_rank(r, 0, dtype, CLV_RANK_UNKNOWN);
    CLV_TRY(clv_rule_axis(r, along, data->rank, &axis));
    if (!clv_type_ranked(indices))
        return clv_rule_set_rank(r, 0, dtype, CLV_RANK_UNKNOWN);
    CLV_TRY(gather_dims(r, data, indices, axis, &rank, dims));
    return clv_rule_set(r, 0, dtype, rank, dims);
}

clv_status clv_shape_gather(clv_rule *r)
{
    const clv_type *data = clv_rule_in(r, 0);

    return gather(r, data, clv_rule_attr_int(r, "axis", 0), data->dtype);
}

clv_status clv_shape_torch_embedding(clv_rule *r)
{
    const clv_type *table = clv_rule_in(r, 0);

    return gather(r, table, 0, table->dtype);
}

/* Two 4-bit elements in a byte: the quantised axis of a uint8 table counts bytes. */
clv_status clv_shape_gather_block_quantized(clv_rule *r)
{
    clv_type data = *clv_rule_in(r, 0);
    int64_t bits = clv_rule_attr_int(r, "bits", 4);
    clv_dim dims[CLV_RANK_MAX];
    int32_t axis;

    if (clv_type_ranked(&data) && data.dtype == CLV_DT_UINT8 && bits > 0 && bits < 8) {
        CLV_TRY(clv_rule_axis(r, clv_rule_attr_int(r, "quantize_axis", 1), data.rank, &axis));
        memcpy(dims, data.dims, sizeof *dims * (size_t)data.rank);
        dims[axis] = clv_dim_mul(dims[axis], 8 / bits);
        data.dims = dims;
    }
    return gather(r, &data, clv_rule_attr_int(r, "gather_axis", 0), clv_rule_in(r, 2)->dtype);
}

clv_status clv_shape_gather_elements(clv_rule *r)
{
    return clv_rule_set_like(r, 0, clv_rule_in(r, 0)->dtype, clv_rule_in(r, 1));
}

clv_status clv_shape_gather_nd(clv_rule *r)
{
    const clv_type *data = clv_rule_in(r, 0), *indices = clv_rule_in(r, 1);
    clv_dim depth = clv_type_dim(indices, -1), dims[2 * CLV_RANK_MAX];
    int64_t batch = clv_rule_attr_int(r, "batch_dims", 0);
    int32_t from, rest;

    if (!clv_type_ranked(data) || !clv_dim_is_number(depth))
        return clv_rule_set_rank(r, 0, data->dtype, CLV_RANK_UNKNOWN);
    if (batch < 0 || batch > data->rank || depth < 0 || depth > data->rank - batch)
        return clv_rule_fail(r, "indices of depth %lld after %lld batch dimensions into rank %d",
                             (long long)depth, (long long)batch, data->rank);
    from = (int32_t)(batch + depth);
    rest = data->rank - from;
    clv_dims_copy(dims, indices->dims, indices->rank - 1);
    if (rest > 0)
        clv_dims_copy(dims + indices->rank - 1, data->dims + from, rest);
    if (indices->rank - 1 + rest > CLV_RANK_MAX)
        return clv_rule_fail(r, "the output would have rank %d, at most %d is supported",
                             indices->rank - 1 + rest, CLV_RANK_MAX);
    return clv_rule_set(r, 0, data->dtype, indices->rank - 1 + rest, dims);
}

clv_status clv_shape_one_hot(clv_rule *r)
{
    const clv_type *indices = clv_rule_in(r, 0);
    clv_dtype dtype = clv_rule_in(r, 2)->dtype;
    clv_dim dims[CLV_RANK_MAX], depth = clv_rule_scalar(r, 1);
    double real;
    int32_t axis, from = 0;

    if (!clv_type_ranked(indices) || indices->rank >= CLV_RANK_MAX)
        return clv_rule_set_rank(r, 0, dtype, CLV_RANK_UNKNOWN);
    if (depth == CLV_DIM_UNKNOWN && clv_rule_scalar_float(r, 1, &real) && real >= 0 && real < 1e15)
        depth = (clv_dim)real;
    if (clv_dim_is_number(depth) && depth < 0)
        return clv_rule_fail(r, "depth is %lld, expected 0 or more", (long long)depth);
    CLV_TRY(clv_rule_axis(r, clv_rule_attr_int(r, "axis", -1), indices->rank + 1, &axis));
    for (int32_t i = 0; i <= indices->rank; i++)
        dims[i] = i == axis ? depth : indices->dims[from++];
    return clv_rule_set(r, 0, dtype, indices->rank + 1, dims);
}

static clv_dim topk_k(const clv_rule *r)
{
    return r->version < 10 ? clv_rule_attr_int(r, "k", CLV_DIM_UNKNOWN) : clv_rule_scalar(r, 1);
}

clv_status clv_shape_topk(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX], k = topk_k(r);
    int32_t axis, rank = clv_type_rank(in);

    if (clv_dim_is_number(k) && k < 0)
        return clv_rule_fail(r, "k is %lld, expected 0 or more", (long long)k);
    if (rank >= 0) {
        CLV_TRY(clv_rule_axis(r, clv_rule_attr_int(r, "axis", -1), rank, &axis));
        clv_dims_copy(dims, in->dims, rank);
        if (clv_dim_is_number(k) && clv_dim_is_number(dims[axis]) && k > dims[axis])
            return clv_rule_fail(r, "k is %lld, axis %d has only %lld elements", (long long)k, axis,
                                 (long long)dims[axis]);
        dims[axis] = k;
    }
    CLV_TRY(clv_rule_set(r, 0, in->dtype, rank, dims));
    return clv_rule_set(r, 1, CLV_DT_INT64, rank, dims);
}

clv_status clv_shape_unique(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX], open = CLV_DIM_UNKNOWN, all = CLV_DIM_UNKNOWN;
    bool along_axis = clv_rule_attr(r, "axis") != NULL;
    int32_t axis;

    if (!clv_type_ranked(in)) {
        CLV_TRY(clv_rule_set_rank(r, 0, in->dtype, along_axis ? CLV_RANK_UNKNOWN : 1));
    } else if (along_axis) {
        CLV_TRY(clv_rule_axis(r, clv_rule_attr_int(r, "axis", 0), in->rank, &axis));
        clv_dims_copy(dims, in->dims, in->rank);
        all = dims[axis];
        dims[axis] = CLV_DIM_UNKNOWN;
        CLV_TRY(clv_rule_set(r, 0, in->dtype, in->rank, dims));
    } else {
        all = clv_dim_product(in->dims, in->rank);
        CLV_TRY(clv_rule_set(r, 0, in->dtype, 1, &open));
    }
    CLV_TRY(clv_rule_set(r, 1, CLV_DT_INT64, 1, &open));
    CLV_TRY(clv_rule_set(r, 2, CLV_DT_INT64, 1, &all)); /* one for each slice of the input */
    return clv_rule_set(r, 3, CLV_DT_INT64, 1, &open);
}

/* com.microsoft's: of a list only, and its outputs are values, inverse, counts. */
clv_status clv_shape_ms_unique(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim open = CLV_DIM_UNKNOWN, all = clv_type_dim(in, 0);

    CLV_TRY(clv_rule_set(r, 0, in->dtype, 1, &open));
    CLV_TRY(clv_rule_set(r, 1, CLV_DT_INT64, 1, &all));
    return clv_rule_set(r, 2, CLV_DT_INT64, 1, &open);
}

clv_status clv_shape_nonzero(clv_rule *r)
{
    int32_t rank = clv_type_rank(clv_rule_in(r, 0));
    clv_dim dims[2] = { rank > 0 ? rank : CLV_DIM_UNKNOWN, CLV_DIM_UNKNOWN };

    return clv_rule_set(r, 0, CLV_DT_INT64, 2, dims);
}

/* How many of the condition are true; unknown where one is. */
static clv_dim count_true(const clv_rule *r, int32_t k)
{
    const int64_t *flags;
    int32_t n;
    clv_dim count = 0;

    if (!clv_rule_ints(r, k, &flags, &n))
        return CLV_DIM_UNKNOWN;
    for (int32_t i = 0; i < n; i++)
        count += flags[i] != 0;
    return count;
}

clv_status clv_shape_compress(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX], kept = count_true(r, 1);
    int32_t axis;

    if (!clv_rule_attr(r, "axis"))
        return clv_rule_set(r, 0, in->dtype, 1, &kept);
    if (!clv_type_ranked(in))
        return clv_rule_set_rank(r, 0, in->dtype, CLV_RANK_UNKNOWN);
    CLV_TRY(clv_rule_axis(r, clv_rule_attr_int(r, "axis", 0), in->rank, &axis));
    clv_dims_copy(dims, in->dims, in->rank);
    dims[axis] = kept;
    return clv_rule_set(r, 0, in->dtype, in->rank, dims);
}

clv_status clv_shape_non_max_suppression(clv_rule *r)
{
    clv_dim dims[2] = { CLV_DIM_UNKNOWN, 3 }; /* batch, class, box */

    return clv_rule_set(r, 0, CLV_DT_INT64, 2, dims);
}

/* Columns of the last axis; a vector counts as one row. */
clv_status clv_shape_array_feature_extractor(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0), *columns = clv_rule_in(r, 1);
    clv_dim dims[CLV_RANK_MAX];

    if (!clv_type_ranked(in) || in->rank == 0)
        return clv_rule_set_rank(r, 0, in->dtype, CLV_RANK_UNKNOWN);
    int32_t rank = in->rank == 1 ? 2 : in->rank;
    dims[0] = 1;
    clv_dims_copy(dims, in->dims, in->rank - 1);
    dims[rank - 1] =
        clv_type_ranked(columns) ? clv_dim_product(columns->dims, columns->rank) : CLV_DIM_UNKNOWN;
    return clv_rule_set(r, 0, in->dtype, rank, dims);
}
