/* shapes_contraction.c - sums of products: MatMul, Gemm, attention, and the determinant. */
#include "graph/rules.h"
#include "graph/shape_tools.h"

static clv_status set_product(clv_rule *r, int32_t a, int32_t b, clv_dtype dtype)
{
    const clv_type *left = clv_rule_in(r, a), *right = clv_rule_in(r, b);
    clv_dim dims[CLV_RANK_MAX];
    int32_t rank;
    if (!clv_type_ranked(left) || !clv_type_ranked(right))
        return clv_rule_set(r, 0, dtype, CLV_RANK_UNKNOWN, NULL);
    CLV_TRY(clv_rule_matmul_dims(r, left->rank, left->dims, right->rank, right->dims, &rank, dims));
    return clv_rule_set(r, 0, dtype, rank, dims);
}

clv_status clv_shape_matmul(clv_rule *r)
{
    clv_dtype dtype = clv_rule_in(r, 0)->dtype;
    return set_product(r, 0, 1, dtype != CLV_DT_UNDEFINED ? dtype : clv_rule_in(r, 1)->dtype);
}

clv_status clv_shape_matmul_integer(clv_rule *r) { return set_product(r, 0, 1, CLV_DT_INT32); }

/* a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point */
clv_status clv_shape_qlinear_matmul(clv_rule *r)
{
    return set_product(r, 0, 3, clv_rule_in(r, 7)->dtype);
}

clv_status clv_shape_gemm(clv_rule *r)
{
    const clv_type *a = clv_rule_in(r, 0), *b = clv_rule_in(r, 1);
    int32_t trans_a = clv_rule_attr_int(r, "transA", 0) != 0;
    int32_t trans_b = clv_rule_attr_int(r, "transB", 0) != 0;
    CLV_TRY(clv_rule_want_rank(r, 0, 2));
    CLV_TRY(clv_rule_want_rank(r, 1, 2));
    clv_dim inner, dims[2] = { clv_type_dim(a, trans_a), clv_type_dim(b, 1 - trans_b) };
    CLV_TRY(clv_rule_same_dim(r, clv_type_dim(a, 1 - trans_a), clv_type_dim(b, trans_b),
                              "the dimension summed over", &inner));
    return clv_rule_set(r, 0, a->dtype, 2, dims);
}

/* The last two dimensions are the matrices. */
clv_status clv_shape_det(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    if (!clv_type_ranked(in))
        return clv_rule_set(r, 0, in->dtype, CLV_RANK_UNKNOWN, NULL);
    if (in->rank < 2)
        return clv_rule_fail(r, "its input has rank %d, must be at least 2", in->rank);
    clv_dim side;
    CLV_TRY(clv_rule_same_dim(r, in->dims[in->rank - 2], in->dims[in->rank - 1],
                              "the side of the matrix", &side));
    return clv_rule_set(r, 0, in->dtype, in->rank - 2, in->dims);
}

/* -- attention -- */

typedef struct {
    clv_dim batch, heads, length, width;
} head_shape;

/* Four dimensions say it all; of three, the last is heads * width, and heads is an attribute. */
static clv_status read_heads(clv_rule *r, int32_t k, const char *attr, head_shape *ret)
{
    const clv_type *in = clv_rule_in(r, k);
    *ret = (head_shape){ CLV_DIM_UNKNOWN, CLV_DIM_UNKNOWN, CLV_DIM_UNKNOWN, CLV_DIM_UNKNOWN };
    if (!clv_type_ranked(in))
        return CLV_OK;
    if (in->rank == 4) {
        *ret = (head_shape){ in->dims[0], in->dims[1], in->dims[2], in->dims[3] };
        return CLV_OK;
    }
    if (in->rank != 3)
        return clv_rule_fail(r, "input %d has rank %d, must be 3 or 4", k, in->rank);
    int64_t heads = clv_rule_attr_int(r, attr, 0);
    if (heads < 1)
        return clv_rule_fail(r, "input %d has rank 3, which needs the attribute %s", k, attr);
    clv_dim all = in->dims[2];
    if (clv_dim_is_number(all) && all % heads != 0)
        return clv_rule_fail(r, "the last dimension of input %d is %lld, not a multiple of %s %lld",
                             k, (long long)all, attr, (long long)heads);
    *ret = (head_shape){ in->dims[0], heads, in->dims[1], clv_dim_div(all, heads) };
    return CLV_OK;
}

static clv_dim past_length(const clv_rule *r, int32_t k)
{
    return clv_rule_has_in(r, k) ? clv_type_dim(clv_rule_in(r, k), 2) : 0;
}

static clv_status set_attention(clv_rule *r, const head_shape *q, const head_shape *k,
                                const head_shape *v)
{
    clv_dtype dtype = clv_rule_in(r, 0)->dtype;
    clv_dtype dtype_v = clv_rule_in(r, 2)->dtype;
    clv_dim all = clv_dim_add(past_length(r, 4), k->length);
    clv_dim all_v = clv_dim_add(past_length(r, 5), v->length);
    clv_dim four[4] = { q->batch, q->heads, q->length, v->width };
    clv_dim three[3] = { q->batch, q->length, clv_dim_mul(q->heads, v->width) };
    clv_dim present_k[4] = { k->batch, k->heads, all, k->width };
    clv_dim present_v[4] = { v->batch, v->heads, all_v, v->width };
    clv_dim scores[4] = { q->batch, q->heads, q->length, all };
    int32_t rank = clv_type_rank(clv_rule_in(r, 0));
    CLV_TRY(clv_rule_set(r, 0, dtype, rank, rank == 4 ? four : three));
    CLV_TRY(clv_rule_set(r, 1, clv_rule_in(r, 1)->dtype, 4, present_k));
    CLV_TRY(clv_rule_set(r, 2, dtype_v, 4, present_v));
    return clv_rule_set(r, 3, dtype, 4, scores);
}

/* Q, K, V, attn_mask, past_key, past_value -> Y, present_key, present_value, scores */
clv_status clv_shape_attention(clv_rule *r)
{
    head_shape q, k, v;
    CLV_TRY(read_heads(r, 0, "q_num_heads", &q));
    CLV_TRY(read_heads(r, 1, "kv_num_heads", &k));
    CLV_TRY(read_heads(r, 2, "kv_num_heads", &v));
    CLV_TRY(clv_rule_same_dim(r, q.batch, k.batch, "the batch", &q.batch));
    CLV_TRY(clv_rule_same_dim(r, q.batch, v.batch, "the batch", &q.batch));
    CLV_TRY(clv_rule_same_dim(r, q.width, k.width, "the width of a head", &q.width));
    CLV_TRY(clv_rule_same_dim(r, k.length, v.length, "the length of keys and values", &k.length));
    k.batch = v.batch = q.batch;
    k.width = q.width;
    v.length = k.length;
    return set_attention(r, &q, &k, &v);
}
