/* shapes_quant.c - quantised operators: the standard ones, and those of com.microsoft.
 *
 * A quantised tensor comes with a scale and a zero point as further inputs, so the second operand
 * of a product or sum is input 3.
 */
#include "graph/rules.h"
#include "graph/shape_tools.h"

/* The dtype of input k, or otherwise. */
static clv_dtype dtype_of(const clv_rule *r, int32_t k, clv_dtype otherwise)
{
    clv_dtype dtype = clv_rule_in(r, k)->dtype;

    return dtype == CLV_DT_UNDEFINED ? otherwise : dtype;
}

/* The zero point has the type of the result; without one the attribute says it, or it is uint8. */
clv_status clv_shape_quantize_linear(clv_rule *r)
{
    clv_dtype dtype;

    CLV_TRY(clv_rule_attr_dtype(r, "output_dtype", CLV_DT_UINT8, &dtype));
    if (clv_rule_has_in(r, 2))
        dtype = clv_rule_in(r, 2)->dtype;
    return clv_rule_set_like(r, 0, dtype, clv_rule_in(r, 0));
}

/* The scale has the type of the result; before version 19 and in its absence it is float. */
clv_status clv_shape_dequantize_linear(clv_rule *r)
{
    clv_dtype scale = clv_rule_in(r, 1)->dtype, dtype;
    bool always_float = scale == CLV_DT_UNDEFINED && r->version >= 10 && r->version < 19;

    CLV_TRY(clv_rule_attr_dtype(r, "output_dtype", always_float ? CLV_DT_FLOAT : scale, &dtype));
    return clv_rule_set_like(r, 0, dtype, clv_rule_in(r, 0));
}

clv_status clv_shape_dynamic_quantize_linear(clv_rule *r)
{
    CLV_TRY(clv_rule_set_like(r, 0, CLV_DT_UINT8, clv_rule_in(r, 0)));
    CLV_TRY(clv_rule_set_scalar(r, 1, CLV_DT_FLOAT));
    return clv_rule_set_scalar(r, 2, CLV_DT_UINT8);
}

static clv_status set_broadcast(clv_rule *r, const clv_type *a, const clv_type *b)
{
    clv_dim dims[CLV_RANK_MAX];
    int32_t rank;

    if (!clv_type_ranked(a) || !clv_type_ranked(b))
        return clv_rule_set_rank(r, 0, a->dtype, CLV_RANK_UNKNOWN);
    CLV_TRY(clv_rule_broadcast(r, a->rank, a->dims, b->rank, b->dims, &rank, dims));
    return clv_rule_set(r, 0, a->dtype, rank, dims);
}

clv_status clv_shape_qlinear_binary(clv_rule *r)
{
    return set_broadcast(r, clv_rule_in(r, 0), clv_rule_in(r, 3));
}

/* condition, then X and Y with scale and zero point each. */
clv_status clv_shape_qlinear_where(clv_rule *r)
{
    const clv_type *condition = clv_rule_in(r, 0), *x = clv_rule_in(r, 1), *y = clv_rule_in(r, 4);
    clv_dim values[CLV_RANK_MAX], dims[CLV_RANK_MAX];
    int32_t rank;

    if (!clv_type_ranked(condition) || !clv_type_ranked(x) || !clv_type_ranked(y))
        return clv_rule_set_rank(r, 0, x->dtype, CLV_RANK_UNKNOWN);
    CLV_TRY(clv_rule_broadcast(r, x->rank, x->dims, y->rank, y->dims, &rank, values));
    CLV_TRY(clv_rule_broadcast(r, condition->rank, condition->dims, rank, values, &rank, dims));
    return clv_rule_set(r, 0, x->dtype, rank, dims);
}

/* Output scale and zero point, then tensor, scale, zero point each. */
clv_status clv_shape_qlinear_concat(clv_rule *r)
{
    clv_dim dims[CLV_RANK_MAX];
    const clv_type *first = clv_rule_in(r, 2);
    int32_t axis;

    if (!clv_type_ranked(first))
        return clv_rule_set_rank(r, 0, first->dtype, CLV_RANK_UNKNOWN);
    CLV_TRY(clv_rule_axis(r, clv_rule_attr_int(r, "axis", 0), first->rank, &axis));
    clv_dims_copy(dims, first->dims, first->rank);
    for (int32_t k = 5; k < clv_rule_n_in(r); k += 3) {
        const clv_type *in = clv_rule_in(r, k);
        CLV_TRY(clv_rule_want_rank(r, k, first->rank));
        for (int32_t i = 0; i < first->rank; i++) {
            clv_dim d = clv_type_dim(in, i);
            if (i == axis)
                dims[i] = clv_dim_add(dims[i], d);
            else
                CLV_TRY(
                    clv_rule_same_dim(r, dims[i], d, "a dimension that is not joined", &dims[i]));
        }
    }
    return clv_rule_set(r, 0, first->dtype, first->rank, dims);
}

/* A mean over all but the batch and the channels. */
clv_status clv_shape_qlinear_global_average_pool(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    bool channels_last = clv_rule_attr_int(r, "channels_last", 0) != 0;
    clv_dim dims[CLV_RANK_MAX];

    if (!clv_type_ranked(in))
        return clv_rule_set_rank(r, 0, in->dtype, CLV_RANK_UNKNOWN);
    if (in->rank < 2)
        return clv_rule_fail(r, "the input has rank %d, expected at least 2", in->rank);
    for (int32_t i = 0; i < in->rank; i++)
        dims[i] = i == 0 || i == (channels_last ? in->rank - 1 : 1) ? in->dims[i] : 1;
    return clv_rule_set(r, 0, in->dtype, in->rank, dims);
}

clv_status clv_shape_qlinear_reduce_mean(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    bool keep = clv_rule_attr_int(r, "keepdims", 1) != 0, gone[CLV_RANK_MAX] = { false };
    clv_dim dims[CLV_RANK_MAX];
    const int64_t *axes;
    int32_t n, axis, rank = 0;
    bool some = clv_rule_attr_ints(r, "axes", &axes, &n) && n > 0;

    if (!clv_type_ranked(in))
        return clv_rule_set_rank(r, 0, in->dtype, CLV_RANK_UNKNOWN);
    for (int32_t i = 0; some && i < n; i++) {
        CLV_TRY(clv_rule_axis(r, axes[i], in->rank, &axis));
        gone[axis] = true;
    }
    for (int32_t i = 0; i < in->rank; i++) {
        bool reduced = gone[i] || !some;
        if (!reduced || keep)
            dims[rank++] = reduced ? 1 : in->dims[i];
    }
    return clv_rule_set(r, 0, in->dtype, rank, dims);
}

/* Output 0 is the product of inputs a and b. */
static clv_status set_product(clv_rule *r, int32_t a, int32_t b, clv_dtype dtype)
{
    const clv_type *left = clv_rule_in(r, a), *right = clv_rule_in(r, b);
    clv_dim dims[2 * CLV_RANK_MAX];
    int32_t rank;

    if (!clv_type_ranked(left) || !clv_type_ranked(right))
        return clv_rule_set_rank(r, 0, dtype, CLV_RANK_UNKNOWN);
    CLV_TRY(clv_rule_matmul_dims(r, left->rank, left->dims, right->rank, right->dims, &rank, dims));
    return clv_rule_set(r, 0, dtype, rank, dims);
}

clv_status clv_shape_dynamic_quantize_matmul(clv_rule *r)
{
    return set_product(r, 0, 1, dtype_of(r, 0, CLV_DT_FLOAT));
}

clv_status clv_shape_matmul_integer_to_float(clv_rule *r)
{
    return set_product(r, 0, 1, dtype_of(r, 2, CLV_DT_FLOAT));
}

clv_status clv_shape_matmul_integer16(clv_rule *r)
{
    clv_dtype a = clv_rule_in(r, 0)->dtype;
    clv_dtype sum = a == CLV_DT_UINT16 ? CLV_DT_UINT32 : CLV_DT_INT32;

    return set_product(r, 0, 1, a == CLV_DT_UNDEFINED ? CLV_DT_UNDEFINED : sum);
}

clv_status clv_shape_sparse_to_dense_matmul(clv_rule *r)
{
    return set_product(r, 0, 1, dtype_of(r, 1, clv_rule_in(r, 0)->dtype));
}

/* Quantised Gemm: A, B and C with scale and zero point, then the result's; float without those. */
clv_status clv_shape_qgemm(clv_rule *r)
{
    bool trans_a = clv_rule_attr_int(r, "transA", 0) != 0;
    bool trans_b = clv_rule_attr_int(r, "transB", 0) != 0;
    const clv_type *a = clv_rule_in(r, 0), *b = clv_rule_in(r, 3);
    clv_dim dims[2] = { clv_type_dim(a, trans_a ? 1 : 0), clv_type_dim(b, trans_b ? 0 : 1) }, inner;

    CLV_TRY(clv_rule_want_rank(r, 0, 2));
    CLV_TRY(clv_rule_want_rank(r, 3, 2));
    CLV_TRY(clv_rule_same_dim(r, clv_type_dim(a, trans_a ? 0 : 1), clv_type_dim(b, trans_b ? 1 : 0),
                              "the summed dimension", &inner));
    return clv_rule_set(r, 0, clv_rule_has_in(r, 8) ? clv_rule_in(r, 8)->dtype : CLV_DT_FLOAT, 2,
                        dims);
}
