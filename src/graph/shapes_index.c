#include "graph/shapes_index.h"

#include <string.h>

#include "graph/shape_tools.h"

/* Gather along that axis of input 0, whose dims are `data`'s; output 0 has dtype. */
static clv_status gather(clv_rule *r, const clv_type *data, int64_t along, clv_dtype dtype,
                         clv_error *err)
{
    const clv_type *indices = clv_rule_in(r, 1);
    clv_dim dims[CLV_RANK_MAX];
    int32_t axis;
    if (!clv_type_ranked(data))
        return clv_rule_set_unranked(r, 0, dtype, err);
    CLV_TRY(clv_rule_axis(r, along, data->rank, &axis, err));
    if (!clv_type_ranked(indices))
        return clv_rule_set_unranked(r, 0, dtype, err);
    int32_t rank = data->rank - 1 + indices->rank, after = data->rank - axis - 1;
    if (rank > CLV_RANK_MAX)
        return clv_rule_fail(r, err, "the output would have rank %d, at most %d is supported", rank,
                             CLV_RANK_MAX);
    clv_dims_copy(dims, data->dims, axis);
    clv_dims_copy(dims + axis, indices->dims, indices->rank);
    clv_dims_copy(dims + axis + indices->rank, data->dims + axis + 1, after);
    return clv_rule_set(r, 0, dtype, rank, dims, err);
}

clv_status clv_shape_gather(clv_rule *r, clv_error *err)
{
    const clv_type *data = clv_rule_in(r, 0);
    return gather(r, data, clv_rule_attr_int(r, "axis", 0), data->dtype, err);
}

clv_status clv_shape_torch_embedding(clv_rule *r, clv_error *err)
{
    const clv_type *table = clv_rule_in(r, 0);
    return gather(r, table, 0, table->dtype, err);
}

/* Two 4-bit elements in a byte: the quantised axis of a uint8 table counts bytes. */
clv_status clv_shape_gather_block_quantized(clv_rule *r, clv_error *err)
{
    clv_type data = *clv_rule_in(r, 0);
    int64_t bits = clv_rule_attr_int(r, "bits", 4);
    clv_dim dims[CLV_RANK_MAX];
    int32_t axis;
    if (clv_type_ranked(&data) && data.dtype == CLV_DT_UINT8 && bits > 0 && bits < 8) {
        CLV_TRY(clv_rule_attr_axis(r, "quantize_axis", 1, data.rank, &axis, err));
        memcpy(dims, data.dims, sizeof *dims * (size_t)data.rank);
        dims[axis] = clv_dim_mul(dims[axis], 8 / bits);
        data.dims = dims;
    }
    return gather(r, &data, clv_rule_attr_int(r, "gather_axis", 0), clv_rule_in(r, 2)->dtype, err);
}

clv_status clv_shape_gather_elements(clv_rule *r, clv_error *err)
{
    return clv_rule_set_like(r, 0, clv_rule_in(r, 0)->dtype, clv_rule_in(r, 1), err);
}

clv_status clv_shape_gather_nd(clv_rule *r, clv_error *err)
{
    const clv_type *data = clv_rule_in(r, 0), *indices = clv_rule_in(r, 1);
    clv_dim depth = clv_type_dim(indices, -1), dims[2 * CLV_RANK_MAX];
    int64_t batch = clv_rule_attr_int(r, "batch_dims", 0);
    int32_t from, rest;
    if (!clv_type_ranked(data) || !clv_dim_is_number(depth))
        return clv_rule_set_unranked(r, 0, data->dtype, err);
    if (batch < 0 || batch > data->rank || depth < 0 || depth > data->rank - batch)
        return clv_rule_fail(r, err,
                             "indices of depth %lld after %lld batch dimensions into rank %d",
                             (long long)depth, (long long)batch, data->rank);
    from = (int32_t)(batch + depth);
    rest = data->rank - from;
    clv_dims_copy(dims, indices->dims, indices->rank - 1);
    if (rest > 0)
        clv_dims_copy(dims + indices->rank - 1, data->dims + from, rest);
    if (indices->rank - 1 + rest > CLV_RANK_MAX)
        return clv_rule_fail(r, err, "the output would have rank %d, at most %d is supported",
                             indices->rank - 1 + rest, CLV_RANK_MAX);
    return clv_rule_set(r, 0, data->dtype, indices->rank - 1 + rest, dims, err);
}

clv_status clv_shape_array_feature_extractor(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0), *columns = clv_rule_in(r, 1);
    clv_dim dims[CLV_RANK_MAX];
    if (!clv_type_ranked(in) || in->rank == 0)
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    int32_t rank = in->rank == 1 ? 2 : in->rank;
    dims[0] = 1;
    clv_dims_copy(dims, in->dims, in->rank - 1);
    dims[rank - 1] =
        clv_type_ranked(columns) ? clv_dim_product(columns->dims, columns->rank) : CLV_DIM_UNKNOWN;
    return clv_rule_set(r, 0, in->dtype, rank, dims, err);
}

clv_status clv_shape_embed_layer_norm(clv_rule *r, clv_error *err)
{
    const clv_type *ids = clv_rule_in(r, 0), *words = clv_rule_in(r, 2);
    clv_dim dims[3] = { clv_type_dim(ids, 0), clv_type_dim(ids, 1), clv_type_dim(words, 1) };
    CLV_TRY(clv_rule_want_rank(r, 0, 2, err));
    CLV_TRY(clv_rule_want_rank(r, 2, 2, err));
    /* Quantised tables give floats, of the type of their scales, which are not looked at. */
    clv_dtype dtype = clv_dtype_is_float(words->dtype) ? words->dtype : CLV_DT_FLOAT;
    dtype = words->dtype == CLV_DT_UNDEFINED ? CLV_DT_UNDEFINED : dtype;
    CLV_TRY(clv_rule_set(r, 0, dtype, 3, dims, err));
    CLV_TRY(clv_rule_set(r, 1, CLV_DT_INT32, 1, dims, err));
    return clv_rule_set(r, 2, dtype, 3, dims, err);
}

clv_status clv_shape_qembed_layer_norm(clv_rule *r, clv_error *err)
{
    return clv_shape_embed_layer_norm(r, err);
}

clv_status clv_shape_one_hot(clv_rule *r, clv_error *err)
{
    const clv_type *indices = clv_rule_in(r, 0);
    clv_dtype dtype = clv_rule_in(r, 2)->dtype;
    clv_dim dims[CLV_RANK_MAX], depth = clv_rule_scalar(r, 1);
    double real;
    int32_t axis, from = 0;
    if (!clv_type_ranked(indices) || indices->rank >= CLV_RANK_MAX)
        return clv_rule_set_unranked(r, 0, dtype, err);
    if (depth == CLV_DIM_UNKNOWN && clv_rule_scalar_float(r, 1, &real) && real >= 0 && real < 1e15)
        depth = (clv_dim)real;
    if (clv_dim_is_number(depth) && depth < 0)
        return clv_rule_fail(r, err, "depth is %lld, expected 0 or more", (long long)depth);
    CLV_TRY(clv_rule_attr_axis(r, "axis", -1, indices->rank + 1, &axis, err));
    for (int32_t i = 0; i <= indices->rank; i++)
        dims[i] = i == axis ? depth : indices->dims[from++];
    return clv_rule_set(r, 0, dtype, indices->rank + 1, dims, err);
}

clv_status clv_shape_topk(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX], k;
    int32_t axis, rank = clv_type_rank(in);
    k = r->version < 10 ? clv_rule_attr_int(r, "k", CLV_DIM_UNKNOWN) : clv_rule_scalar(r, 1);
    if (clv_dim_is_number(k) && k < 0)
        return clv_rule_fail(r, err, "k is %lld, expected 0 or more", (long long)k);
    if (rank >= 0) {
        CLV_TRY(clv_rule_attr_axis(r, "axis", -1, rank, &axis, err));
        clv_dims_copy(dims, in->dims, rank);
        if (clv_dim_is_number(k) && clv_dim_is_number(dims[axis]) && k > dims[axis])
            return clv_rule_fail(r, err, "k is %lld, axis %d has only %lld elements", (long long)k,
                                 axis, (long long)dims[axis]);
        dims[axis] = k;
    }
    CLV_TRY(clv_rule_set(r, 0, in->dtype, rank, dims, err));
    return clv_rule_set(r, 1, CLV_DT_INT64, rank, dims, err);
}

clv_status clv_shape_unique(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX], open = CLV_DIM_UNKNOWN, all = CLV_DIM_UNKNOWN;
    bool along_axis = clv_rule_attr(r, "axis") != NULL;
    int32_t axis;
    if (!clv_type_ranked(in)) {
        CLV_TRY(clv_rule_set_rank(r, 0, in->dtype, along_axis ? CLV_RANK_UNKNOWN : 1, err));
    } else if (along_axis) {
        CLV_TRY(clv_rule_attr_axis(r, "axis", 0, in->rank, &axis, err));
        clv_dims_copy(dims, in->dims, in->rank);
        all = dims[axis];
        dims[axis] = CLV_DIM_UNKNOWN;
        CLV_TRY(clv_rule_set(r, 0, in->dtype, in->rank, dims, err));
    } else {
        all = clv_dim_product(in->dims, in->rank);
        CLV_TRY(clv_rule_set(r, 0, in->dtype, 1, &open, err));
    }
    CLV_TRY(clv_rule_set(r, 1, CLV_DT_INT64, 1, &open, err));
    CLV_TRY(clv_rule_set(r, 2, CLV_DT_INT64, 1, &all, err)); /* one for each slice of the input */
    return clv_rule_set(r, 3, CLV_DT_INT64, 1, &open, err);
}

clv_status clv_shape_ms_unique(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim open = CLV_DIM_UNKNOWN, all = clv_type_dim(in, 0);
    CLV_TRY(clv_rule_set(r, 0, in->dtype, 1, &open, err));
    CLV_TRY(clv_rule_set(r, 1, CLV_DT_INT64, 1, &all, err));
    return clv_rule_set(r, 2, CLV_DT_INT64, 1, &open, err);
}

clv_status clv_shape_nonzero(clv_rule *r, clv_error *err)
{
    int32_t rank = clv_type_rank(clv_rule_in(r, 0));
    clv_dim dims[2] = { rank > 0 ? rank : CLV_DIM_UNKNOWN, CLV_DIM_UNKNOWN };
    return clv_rule_set(r, 0, CLV_DT_INT64, 2, dims, err);
}

clv_status clv_shape_compress(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX], kept = CLV_DIM_UNKNOWN;
    const int64_t *flags;
    int32_t axis, n;
    if (clv_rule_ints(r, 1, &flags, &n)) {
        kept = 0;
        for (int32_t i = 0; i < n; i++)
            kept += flags[i] != 0;
    }
    if (!clv_rule_attr(r, "axis"))
        return clv_rule_set(r, 0, in->dtype, 1, &kept, err);
    if (!clv_type_ranked(in))
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    CLV_TRY(clv_rule_attr_axis(r, "axis", 0, in->rank, &axis, err));
    clv_dims_copy(dims, in->dims, in->rank);
    dims[axis] = kept;
    return clv_rule_set(r, 0, in->dtype, in->rank, dims, err);
}

clv_status clv_shape_non_max_suppression(clv_rule *r, clv_error *err)
{
    clv_dim dims[2] = { CLV_DIM_UNKNOWN, 3 }; /* batch, class, box */
    return clv_rule_set(r, 0, CLV_DT_INT64, 2, dims, err);
}

clv_status clv_shape_dynamic_time_warping(clv_rule *r, clv_error *err)
{
    clv_dim dims[2] = { 2, CLV_DIM_UNKNOWN };
    return clv_rule_set(r, 0, CLV_DT_INT32, 2, dims, err);
}

clv_status clv_shape_bifurcation_detector(clv_rule *r, clv_error *err)
{
    clv_dim one = 1;
    CLV_TRY(clv_rule_set_rank(r, 0, CLV_DT_INT64, 1, err));
    return clv_rule_set(r, 1, CLV_DT_INT64, 1, &one, err);
}
