#include "graph/shapes_contraction.h"

#include <ctype.h>
#include <string.h>

#include "graph/shape_tools.h"

/* Output 0 is the product of inputs a and b. */
static clv_status set_product(clv_rule *r, int32_t a, int32_t b, clv_dtype dtype, clv_error *err)
{
    const clv_type *left = clv_rule_in(r, a), *right = clv_rule_in(r, b);
    clv_shape shape;
    if (!clv_type_ranked(left) || !clv_type_ranked(right))
        return clv_rule_set_unranked(r, 0, dtype, err);
    CLV_TRY(clv_rule_matmul(r, left, right, &shape, err));
    return clv_rule_set(r, 0, dtype, shape.rank, shape.dims, err);
}

/* The dtype of input k, or otherwise. */
static clv_dtype dtype_of(const clv_rule *r, int32_t k, clv_dtype otherwise)
{
    clv_dtype dtype = clv_rule_in(r, k)->dtype;
    return dtype == CLV_DT_UNDEFINED ? otherwise : dtype;
}

clv_status clv_shape_matmul(clv_rule *r, clv_error *err)
{
    return set_product(r, 0, 1, dtype_of(r, 0, clv_rule_in(r, 1)->dtype), err);
}

clv_status clv_shape_matmul_integer(clv_rule *r, clv_error *err)
{
    return set_product(r, 0, 1, CLV_DT_INT32, err);
}

clv_status clv_shape_matmul_integer16(clv_rule *r, clv_error *err)
{
    clv_dtype a = clv_rule_in(r, 0)->dtype;
    clv_dtype sum = a == CLV_DT_UINT16 ? CLV_DT_UINT32 : CLV_DT_INT32;
    return set_product(r, 0, 1, a == CLV_DT_UNDEFINED ? CLV_DT_UNDEFINED : sum, err);
}

clv_status clv_shape_matmul_integer_to_float(clv_rule *r, clv_error *err)
{
    return set_product(r, 0, 1, dtype_of(r, 2, CLV_DT_FLOAT), err);
}

clv_status clv_shape_dynamic_quantize_matmul(clv_rule *r, clv_error *err)
{
    return set_product(r, 0, 1, dtype_of(r, 0, CLV_DT_FLOAT), err);
}

/* a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point */
clv_status clv_shape_qlinear_matmul(clv_rule *r, clv_error *err)
{
    return set_product(r, 0, 3, clv_rule_in(r, 7)->dtype, err);
}

clv_status clv_shape_sparse_to_dense_matmul(clv_rule *r, clv_error *err)
{
    return set_product(r, 0, 1, dtype_of(r, 1, clv_rule_in(r, 0)->dtype), err);
}

/* The shape of `in` in dims: transBatch moves dimension 0 behind the other batch dimensions, trans
 * swaps the last two. */
static clv_type transposed(const clv_type *in, bool trans, bool trans_batch, clv_dim *dims)
{
    int32_t n = in->rank;
    clv_dims_copy(dims, in->dims, n);
    if (trans_batch && n > 2) {
        memmove(dims, dims + 1, sizeof *dims * (size_t)(n - 2));
        dims[n - 2] = in->dims[0];
    }
    if (trans && n > 1) {
        clv_dim last = dims[n - 1];
        dims[n - 1] = dims[n - 2];
        dims[n - 2] = last;
    }
    return (clv_type){ .rank = n, .dims = dims };
}

static bool flag(const clv_rule *r, const char *name) { return clv_rule_attr_int(r, name, 0) != 0; }

clv_status clv_shape_fused_matmul(clv_rule *r, clv_error *err)
{
    const clv_type *a = clv_rule_in(r, 0), *b = clv_rule_in(r, 1);
    clv_dim dims_a[CLV_RANK_MAX], dims_b[CLV_RANK_MAX];
    clv_shape shape;
    if (!clv_type_ranked(a) || !clv_type_ranked(b))
        return clv_rule_set_unranked(r, 0, a->dtype, err);
    clv_type left = transposed(a, flag(r, "transA"), flag(r, "transBatchA"), dims_a);
    clv_type right = transposed(b, flag(r, "transB"), flag(r, "transBatchB"), dims_b);
    CLV_TRY(clv_rule_matmul(r, &left, &right, &shape, err));
    return clv_rule_set(r, 0, a->dtype, shape.rank, shape.dims, err);
}

/* The attribute N has the number of columns. */
clv_status clv_shape_matmul_nbits(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    int64_t depth = clv_rule_attr_int(r, "K", CLV_DIM_UNKNOWN);
    bool transposed_b = clv_rule_attr_int(r, "transB", 1) != 0; /* MatMulBnb4: else K and N swap */
    clv_dim dims[CLV_RANK_MAX], inner, n = clv_rule_attr_int(r, "N", CLV_DIM_UNKNOWN);
    if (!clv_type_ranked(in) || in->rank == 0)
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    clv_dims_copy(dims, in->dims, in->rank);
    CLV_TRY(clv_rule_same_dim(r, dims[in->rank - 1], transposed_b ? depth : n,
                              "the summed dimension", &inner, err));
    dims[in->rank - 1] = transposed_b ? n : depth;
    return clv_rule_set(r, 0, in->dtype, in->rank, dims, err);
}

/* -- matrices -- */

static clv_status set_gemm(clv_rule *r, int32_t second, const char *summed, clv_dtype dtype,
                           clv_error *err)
{
    const clv_type *a = clv_rule_in(r, 0), *b = clv_rule_in(r, second);
    int32_t trans_a = flag(r, "transA"), trans_b = flag(r, "transB");
    clv_dim inner, dims[2] = { clv_type_dim(a, trans_a), clv_type_dim(b, 1 - trans_b) };
    CLV_TRY(clv_rule_want_rank(r, 0, 2, err));
    CLV_TRY(clv_rule_want_rank(r, second, 2, err));
    CLV_TRY(clv_rule_same_dim(r, clv_type_dim(a, 1 - trans_a), clv_type_dim(b, trans_b), summed,
                              &inner, err));
    return clv_rule_set(r, 0, dtype, 2, dims, err);
}

clv_status clv_shape_gemm(clv_rule *r, clv_error *err)
{
    return set_gemm(r, 1, "the dimension summed over", clv_rule_in(r, 0)->dtype, err);
}

/* A, B and C with scale and zero point, then the result's. */
clv_status clv_shape_qgemm(clv_rule *r, clv_error *err)
{
    return set_gemm(r, 3, "the summed dimension",
                    clv_rule_has_in(r, 8) ? clv_rule_in(r, 8)->dtype : CLV_DT_FLOAT, err);
}

clv_status clv_shape_cdist(clv_rule *r, clv_error *err)
{
    const clv_type *a = clv_rule_in(r, 0), *b = clv_rule_in(r, 1);
    clv_dim dims[2] = { clv_type_dim(a, 0), clv_type_dim(b, 0) }, inner;
    CLV_TRY(clv_rule_want_rank(r, 0, 2, err));
    CLV_TRY(clv_rule_want_rank(r, 1, 2, err));
    CLV_TRY(clv_rule_same_dim(r, clv_type_dim(a, 1), clv_type_dim(b, 1), "the width of the rows",
                              &inner, err));
    return clv_rule_set(r, 0, a->dtype, 2, dims, err);
}

clv_status clv_shape_det(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    if (!clv_type_ranked(in))
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    if (in->rank < 2)
        return clv_rule_fail(r, err, "its input has rank %d, must be at least 2", in->rank);
    clv_dim side;
    CLV_TRY(clv_rule_same_dim(r, in->dims[in->rank - 2], in->dims[in->rank - 1],
                              "the side of the matrix", &side, err));
    return clv_rule_set(r, 0, in->dtype, in->rank - 2, in->dims, err);
}

/* -- Einsum -- */

#define N_LABELS 128 /* ASCII */

typedef struct {
    clv_dim dim[N_LABELS];
    int32_t count[N_LABELS];
    clv_shape rest; /* of "..."; rank CLV_RANK_UNKNOWN: some operand's is */
    bool ellipsis;
} einsum;

/* One operand's or the output's letters, and where "..." stands among them. */
typedef struct {
    char label[CLV_RANK_MAX];
    int32_t n, rest_at; /* -1: no "..." */
} term;

static clv_status read_term(clv_rule *r, clv_str text, term *ret, clv_error *err)
{
    *ret = (term){ .rest_at = -1 };
    for (int32_t i = 0; i < text.n; i++) {
        char c = text.at[i];
        if (c == ' ')
            continue;
        if (c == '.' && i + 2 < text.n && text.at[i + 1] == '.' && text.at[i + 2] == '.' &&
            ret->rest_at < 0) {
            ret->rest_at = ret->n;
            i += 2;
        } else if (isascii(c) && isalpha((unsigned char)c) && ret->n < CLV_RANK_MAX) {
            ret->label[ret->n++] = c;
        } else {
            return clv_rule_fail(r, err, "equation term '%.*s' is not letters and one \"...\"",
                                 CLV_STR_ARG(text));
        }
    }
    return CLV_OK;
}

static clv_status join_operand(clv_rule *r, einsum *e, const term *t, int32_t k, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, k);
    bool ranked = clv_type_ranked(in);
    int32_t n_rest = ranked ? in->rank - t->n : 0;
    if (n_rest < 0 || (n_rest > 0 && t->rest_at < 0))
        return clv_rule_fail(r, err, "operand %d has rank %d, its term names %d dimensions", k,
                             in->rank, t->n);
    e->ellipsis |= t->rest_at >= 0;
    if (t->rest_at >= 0 && !ranked)
        e->rest.rank = CLV_RANK_UNKNOWN;
    if (t->rest_at >= 0 && e->rest.rank != CLV_RANK_UNKNOWN) {
        clv_type rest = { .rank = n_rest, .dims = n_rest ? in->dims + t->rest_at : NULL };
        CLV_TRY(clv_rule_broadcast(r, &e->rest, &rest, err));
    }
    for (int32_t i = 0; i < t->n; i++) {
        int32_t axis = i + (t->rest_at >= 0 && i >= t->rest_at ? n_rest : 0);
        int label = t->label[i];
        clv_dim dim = ranked ? in->dims[axis] : CLV_DIM_UNKNOWN;
        if (e->count[label]++ == 0)
            e->dim[label] = dim;
        CLV_TRY(clv_rule_broadcast_dim(r, e->dim[label], dim, &e->dim[label], err));
    }
    return CLV_OK;
}

static clv_status join_operands(clv_rule *r, einsum *e, clv_str left, clv_error *err)
{
    int32_t from = 0, k = 0;
    for (int32_t i = 0; i <= left.n; i++) {
        if (i < left.n && left.at[i] != ',')
            continue;
        term t;
        CLV_TRY(read_term(r, (clv_str){ left.at + from, i - from }, &t, err));
        CLV_TRY(join_operand(r, e, &t, k++, err));
        from = i + 1;
    }
    if (k != clv_rule_n_in(r))
        return clv_rule_fail(r, err, "its equation has %d operands, the node %d", k,
                             clv_rule_n_in(r));
    return CLV_OK;
}

static clv_status set_output(clv_rule *r, const einsum *e, const term *t, clv_error *err)
{
    clv_dtype dtype = clv_rule_in(r, 0)->dtype;
    clv_dim dims[2 * CLV_RANK_MAX];
    int32_t n = 0;
    if (t->rest_at >= 0 && e->rest.rank == CLV_RANK_UNKNOWN)
        return clv_rule_set_unranked(r, 0, dtype, err);
    for (int32_t i = 0; i <= t->n; i++) {
        for (int32_t j = 0; i == t->rest_at && j < e->rest.rank; j++)
            dims[n++] = e->rest.dims[j];
        if (i == t->n)
            break;
        if (e->count[(int)t->label[i]] == 0)
            return clv_rule_fail(r, err, "label '%c' of the output is in no operand", t->label[i]);
        dims[n++] = e->dim[(int)t->label[i]];
    }
    return clv_rule_set(r, 0, dtype, n, dims, err);
}

clv_status clv_shape_einsum(clv_rule *r, clv_error *err)
{
    clv_str equation = clv_rule_attr_str(r, "equation", ""), left = equation, right = { 0 };
    bool arrow = false;
    for (int32_t i = 0; i + 1 < equation.n && !arrow; i++) {
        arrow = equation.at[i] == '-' && equation.at[i + 1] == '>';
        if (arrow) {
            left.n = i;
            right = (clv_str){ equation.at + i + 2, equation.n - i - 2 };
        }
    }
    einsum e = { .ellipsis = false };
    term output;
    CLV_TRY(join_operands(r, &e, left, err));
    if (arrow) {
        CLV_TRY(read_term(r, right, &output, err));
    } else {
        output = (term){ .rest_at = e.ellipsis ? 0 : -1 };
        for (char c = 'A'; c <= 'z'; c++)
            if (e.count[(int)c] == 1 && output.n < CLV_RANK_MAX)
                output.label[output.n++] = c;
    }
    return set_output(r, &e, &output, err);
}
