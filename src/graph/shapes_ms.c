/* shapes_ms.c - fused operators of com.microsoft other than attention: products, normalisations,
 * embeddings, and search.
 */
#include "graph/rules.h"
#include "graph/shape_tools.h"
#include "graph/window.h"

/* -- products -- */

/* 4-bit weights: their shape is packed, so the attribute N has the number of columns. */
clv_status clv_shape_matmul_nbits(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    int64_t depth = clv_rule_attr_int(r, "K", CLV_DIM_UNKNOWN);
    bool transposed = clv_rule_attr_int(r, "transB", 1) != 0; /* MatMulBnb4: else K and N swap */
    clv_dim dims[CLV_RANK_MAX], inner, n = clv_rule_attr_int(r, "N", CLV_DIM_UNKNOWN);

    if (!clv_type_ranked(in) || in->rank == 0)
        return clv_rule_set_rank(r, 0, in->dtype, CLV_RANK_UNKNOWN);
    clv_dims_copy(dims, in->dims, in->rank);
    CLV_TRY(clv_rule_same_dim(r, dims[in->rank - 1], transposed ? depth : n, "the summed dimension",
                              &inner));
    dims[in->rank - 1] = transposed ? n : depth;
    return clv_rule_set(r, 0, in->dtype, in->rank, dims);
}

/* transBatch moves dimension 0 behind the other batch dimensions, trans swaps the last two. */
static void turn(const clv_type *in, bool trans, bool trans_batch, clv_dim *dims)
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
}

clv_status clv_shape_fused_matmul(clv_rule *r)
{
    const clv_type *a = clv_rule_in(r, 0), *b = clv_rule_in(r, 1);
    clv_dim left[CLV_RANK_MAX], right[CLV_RANK_MAX], dims[CLV_RANK_MAX];
    int32_t rank;

    if (!clv_type_ranked(a) || !clv_type_ranked(b))
        return clv_rule_set_rank(r, 0, a->dtype, CLV_RANK_UNKNOWN);
    turn(a, clv_rule_attr_int(r, "transA", 0) != 0, clv_rule_attr_int(r, "transBatchA", 0) != 0,
         left);
    turn(b, clv_rule_attr_int(r, "transB", 0) != 0, clv_rule_attr_int(r, "transBatchB", 0) != 0,
         right);
    CLV_TRY(clv_rule_matmul_dims(r, a->rank, left, b->rank, right, &rank, dims));
    return clv_rule_set(r, 0, a->dtype, rank, dims);
}

/* -- convolution and pooling with the channels last -- */

static clv_status slide_middle(clv_rule *r, const clv_window *w, int32_t first, clv_dim *dims)
{
    const clv_type *in = clv_rule_in(r, 0);

    for (int32_t i = 0; i < w->n; i++)
        CLV_TRY(clv_window_slide(r, w, i, clv_type_dim(in, first + i), &dims[first + i]));
    return CLV_OK;
}

/* X [N, d..., C] and W [M, k..., C / group], or W [M, C / group, k...] as elsewhere. */
static clv_status channels_last_conv(clv_rule *r, int32_t weights, bool weights_too,
                                     clv_dtype dtype)
{
    const clv_type *in = clv_rule_in(r, 0), *weight = clv_rule_in(r, weights);
    int32_t rank = clv_type_rank(in) >= 0 ? clv_type_rank(in) : clv_type_rank(weight);
    clv_dim dims[CLV_RANK_MAX];
    clv_type kernel = *weight;
    clv_window w;

    if (rank < 0)
        return clv_rule_set_rank(r, 0, dtype, CLV_RANK_UNKNOWN);
    if (rank < 3)
        return clv_rule_fail(r, "the input has rank %d, expected at least 3", rank);
    CLV_TRY(clv_rule_want_rank(r, weights, rank));
    kernel.rank -= weights_too && clv_type_ranked(weight); /* the last dimension is the channels */
    CLV_TRY(clv_window_read(r, rank - 2, &kernel, weights_too ? 1 : 2, &w));
    dims[0] = clv_type_dim(in, 0);
    CLV_TRY(slide_middle(r, &w, 1, dims));
    dims[rank - 1] = clv_type_dim(weight, 0);
    return clv_rule_set(r, 0, dtype, rank, dims);
}

clv_status clv_shape_nhwc_conv(clv_rule *r)
{
    return channels_last_conv(r, 1, true, clv_rule_in(r, 0)->dtype);
}

/* As the standard one, but the input may have its channels last. */
clv_status clv_shape_ms_qlinear_conv(clv_rule *r)
{
    if (clv_rule_attr_int(r, "channels_last", 0) == 0)
        return clv_shape_qlinear_conv(r);
    return channels_last_conv(r, 3, false, clv_rule_in(r, 7)->dtype);
}

static clv_status slide_pool(clv_rule *r, bool channels_last)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX];
    clv_window w;

    if (!clv_type_ranked(in))
        return clv_rule_set_rank(r, 0, in->dtype, CLV_RANK_UNKNOWN);
    if (in->rank < 3)
        return clv_rule_fail(r, "the input has rank %d, expected at least 3", in->rank);
    CLV_TRY(clv_window_read(r, in->rank - 2, NULL, 0, &w));
    clv_dims_copy(dims, in->dims, in->rank);
    CLV_TRY(slide_middle(r, &w, channels_last ? 1 : 2, dims));
    return clv_rule_set(r, 0, in->dtype, in->rank, dims);
}

clv_status clv_shape_qlinear_average_pool(clv_rule *r)
{
    return slide_pool(r, clv_rule_attr_int(r, "channels_last", 0) != 0);
}

clv_status clv_shape_nhwc_max_pool(clv_rule *r) { return slide_pool(r, true); }

/* -- normalisation and activation -- */

/* Mean and deviation have the input's shape with 1 from the axis on. */
static clv_status set_statistics(clv_rule *r, int32_t out, int64_t along)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX];
    int32_t axis;

    if (!clv_rule_has_out(r, out) || !clv_type_ranked(in))
        return clv_rule_set_rank(r, out, CLV_DT_FLOAT, CLV_RANK_UNKNOWN);
    CLV_TRY(clv_rule_axis(r, along, in->rank, &axis));
    for (int32_t i = 0; i < in->rank; i++)
        dims[i] = i < axis ? in->dims[i] : 1;
    return clv_rule_set(r, out, CLV_DT_FLOAT, in->rank, dims);
}

/* The result has the type of the scale. */
clv_status clv_shape_simplified_layer_norm(clv_rule *r)
{
    clv_dtype scale = clv_rule_in(r, 1)->dtype, in = clv_rule_in(r, 0)->dtype;

    CLV_TRY(clv_rule_set_like(r, 0, scale == CLV_DT_UNDEFINED ? in : scale, clv_rule_in(r, 0)));
    return set_statistics(r, 1, clv_rule_attr_int(r, "axis", -1));
}

/* Output 3 is the sum of input, skip and bias, which the next layer skips from. */
clv_status clv_shape_skip_layer_norm(clv_rule *r)
{
    CLV_TRY(clv_rule_set_same(r, 0, 0));
    CLV_TRY(set_statistics(r, 1, -1));
    CLV_TRY(set_statistics(r, 2, -1));
    return clv_rule_set_same(r, 3, 0);
}

clv_status clv_shape_skip_group_norm(clv_rule *r)
{
    CLV_TRY(clv_rule_set_same(r, 0, 0));
    return clv_rule_set_same(r, 1, 0);
}

clv_status clv_shape_bias_split_gelu(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX], last = clv_type_dim(in, -1);

    if (!clv_type_ranked(in) || in->rank == 0)
        return clv_rule_set_rank(r, 0, in->dtype, CLV_RANK_UNKNOWN);
    if (clv_dim_is_number(last) && last % 2 != 0)
        return clv_rule_fail(r, "the last dimension is %lld, expected an even number",
                             (long long)last);
    clv_dims_copy(dims, in->dims, in->rank);
    dims[in->rank - 1] = clv_dim_div(last, 2);
    return clv_rule_set(r, 0, in->dtype, in->rank, dims);
}

clv_status clv_shape_bias_dropout(clv_rule *r)
{
    CLV_TRY(clv_rule_set_same(r, 0, 0));
    return clv_rule_set_like(r, 1, CLV_DT_BOOL, clv_rule_in(r, 0));
}

/* -- embeddings -- */

/* ids [B,S] and table [V,H]: output [B,S,H], mask index [B], and the sum before normalising. */
static clv_status embed(clv_rule *r, int32_t table)
{
    const clv_type *ids = clv_rule_in(r, 0), *words = clv_rule_in(r, table);
    clv_dim dims[3] = { clv_type_dim(ids, 0), clv_type_dim(ids, 1), clv_type_dim(words, 1) };

    CLV_TRY(clv_rule_want_rank(r, 0, 2));
    CLV_TRY(clv_rule_want_rank(r, table, 2));
    /* Quantised tables give floats, of the type of their scales, which are not looked at. */
    clv_dtype dtype = clv_dtype_is_float(words->dtype) ? words->dtype : CLV_DT_FLOAT;
    dtype = words->dtype == CLV_DT_UNDEFINED ? CLV_DT_UNDEFINED : dtype;
    CLV_TRY(clv_rule_set(r, 0, dtype, 3, dims));
    CLV_TRY(clv_rule_set(r, 1, CLV_DT_INT32, 1, dims));
    return clv_rule_set(r, 2, dtype, 3, dims);
}

clv_status clv_shape_embed_layer_norm(clv_rule *r) { return embed(r, 2); }
clv_status clv_shape_qembed_layer_norm(clv_rule *r) { return embed(r, 2); }

/* -- text -- */

clv_status clv_shape_murmur_hash3(clv_rule *r)
{
    bool positive = clv_rule_attr_int(r, "positive", 1) != 0;

    return clv_rule_set_like(r, 0, positive ? CLV_DT_UINT32 : CLV_DT_INT32, clv_rule_in(r, 0));
}

/* The tokens of each text, as many as the longest has. */
clv_status clv_shape_tokenizer(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX];

    if (!clv_type_ranked(in) || in->rank >= CLV_RANK_MAX)
        return clv_rule_set_rank(r, 0, CLV_DT_STRING, CLV_RANK_UNKNOWN);
    clv_dims_copy(dims, in->dims, in->rank);
    dims[in->rank] = CLV_DIM_UNKNOWN;
    return clv_rule_set(r, 0, CLV_DT_STRING, in->rank + 1, dims);
}

/* -- sequences -- */

/* Windows along dim, each `size` long, which becomes the last dimension. */
clv_status clv_shape_unfold_tensor(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    int64_t size = clv_rule_attr_int(r, "size", 1), step = clv_rule_attr_int(r, "step", 1);
    clv_dim dims[CLV_RANK_MAX];
    int32_t axis;

    if (!clv_type_ranked(in) || in->rank >= CLV_RANK_MAX)
        return clv_rule_set_rank(r, 0, in->dtype, CLV_RANK_UNKNOWN);
    CLV_TRY(clv_rule_axis(r, clv_rule_attr_int(r, "dim", -1), in->rank, &axis));
    if (size < 1 || step < 1)
        return clv_rule_fail(r, "size %lld and step %lld, expected at least 1", (long long)size,
                             (long long)step);
    clv_dims_copy(dims, in->dims, in->rank);
    if (clv_dim_is_number(dims[axis]) && dims[axis] < size)
        return clv_rule_fail(r, "a window of %lld on a dimension of %lld", (long long)size,
                             (long long)dims[axis]);
    dims[axis] = clv_dim_add(clv_dim_div(clv_dim_sub(dims[axis], size), step), 1);
    dims[in->rank] = size;
    return clv_rule_set(r, 0, in->dtype, in->rank + 1, dims);
}

/* The places of a path through a matrix of distances. */
clv_status clv_shape_dynamic_time_warping(clv_rule *r)
{
    clv_dim dims[2] = { 2, CLV_DIM_UNKNOWN };

    return clv_rule_set(r, 0, CLV_DT_INT32, 2, dims);
}

/* The tokens taken over, and where they were found. */
clv_status clv_shape_bifurcation_detector(clv_rule *r)
{
    clv_dim one = 1;

    CLV_TRY(clv_rule_set_rank(r, 0, CLV_DT_INT64, 1));
    return clv_rule_set(r, 1, CLV_DT_INT64, 1, &one);
}

/* -- distance -- */

clv_status clv_shape_cdist(clv_rule *r)
{
    const clv_type *a = clv_rule_in(r, 0), *b = clv_rule_in(r, 1);
    clv_dim dims[2] = { clv_type_dim(a, 0), clv_type_dim(b, 0) }, inner;

    CLV_TRY(clv_rule_want_rank(r, 0, 2));
    CLV_TRY(clv_rule_want_rank(r, 1, 2));
    CLV_TRY(clv_rule_same_dim(r, clv_type_dim(a, 1), clv_type_dim(b, 1), "the width of the rows",
                              &inner));
    return clv_rule_set(r, 0, a->dtype, 2, dims);
}

/* -- search: whole generation loops in one operator -- */

/* The bodies are inferred with what the file declares of their inputs. */
static clv_status infer_bodies(clv_rule *r)
{
    const clv_types *body;
    int32_t index = 0;

    for (int32_t i = 0; i < r->op->n_attr; i++) {
        const clv_attr *a = &r->graph->attrs[r->op->first_attr + i];
        if (a->ref.n > 0 || (a->kind != CLV_ATTR_GRAPH && a->kind != CLV_ATTR_GRAPHS))
            continue;
        for (int32_t k = 0; k < a->n; k++)
            CLV_TRY(clv_rule_body(r, index++, 0, NULL, NULL, &body));
    }
    return CLV_OK;
}

/* Inputs: ids, longest length, shortest, beams, sequences to return. */
clv_status clv_shape_beam_search(clv_rule *r)
{
    clv_dim batch = clv_type_dim(clv_rule_in(r, 0), 0), max_length = clv_rule_scalar(r, 1);
    clv_dim beams = clv_rule_scalar(r, 3), returned = clv_rule_scalar(r, 4);
    clv_dim sequences[3] = { batch, returned, max_length };
    clv_dim scores[4] = { CLV_DIM_UNKNOWN, batch, beams, CLV_DIM_UNKNOWN };

    CLV_TRY(infer_bodies(r));
    CLV_TRY(clv_rule_set(r, 0, CLV_DT_INT32, 3, sequences));
    CLV_TRY(clv_rule_set(r, 1, CLV_DT_UNDEFINED, 2, sequences));
    return clv_rule_set(r, 2, CLV_DT_UNDEFINED, 4, scores);
}

clv_status clv_shape_greedy_search(clv_rule *r)
{
    clv_dim sequences[2] = { clv_type_dim(clv_rule_in(r, 0), 0), clv_rule_scalar(r, 1) };

    CLV_TRY(infer_bodies(r));
    return clv_rule_set(r, 0, CLV_DT_INT32, 2, sequences);
}

clv_status clv_shape_ngram_repeat_block(clv_rule *r) { return clv_rule_set_same(r, 0, 1); }
