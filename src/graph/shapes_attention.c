#include "graph/shapes_attention.h"

#include <string.h>

#include "graph/shape_tools.h"

/* Width of one head when `whole` is shared by that many; fails when it does not divide. */
static clv_status head_width(clv_rule *r, clv_dim whole, clv_dim heads, clv_dim *ret,
                             clv_error *err)
{
    *ret = CLV_DIM_UNKNOWN;
    if (!clv_dim_is_number(whole) || !clv_dim_is_number(heads))
        return CLV_OK;
    if (heads < 1 || whole % heads != 0)
        return clv_rule_fail(r, err, "a width of %lld cannot be shared by %lld heads",
                             (long long)whole, (long long)heads);
    *ret = whole / heads;
    return CLV_OK;
}

static clv_dim attr_dim(const clv_rule *r, const char *name)
{
    return clv_rule_attr_int(r, name, CLV_DIM_UNKNOWN);
}

/* -- Attention of the standard -- */

typedef struct {
    clv_dim batch, heads, length, width;
} head_shape;

/* Four dimensions are all of these; of three, the last is heads * width, and heads is an attribute.
 */
static clv_status read_heads(clv_rule *r, int32_t k, const char *attr, head_shape *ret,
                             clv_error *err)
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
        return clv_rule_fail(r, err, "input %d has rank %d, must be 3 or 4", k, in->rank);
    int64_t heads = clv_rule_attr_int(r, attr, 0);
    if (heads < 1)
        return clv_rule_fail(r, err, "input %d has rank 3, which needs the attribute %s", k, attr);
    clv_dim all = in->dims[2];
    if (clv_dim_is_number(all) && all % heads != 0)
        return clv_rule_fail(r, err,
                             "the last dimension of input %d is %lld, not a multiple of %s %lld", k,
                             (long long)all, attr, (long long)heads);
    *ret = (head_shape){ in->dims[0], heads, in->dims[1], clv_dim_div(all, heads) };
    return CLV_OK;
}

/* Length of the past in input k, which is a cache; 0 without one. */
static clv_dim past_length(const clv_rule *r, int32_t k)
{
    return clv_rule_has_in(r, k) ? clv_type_dim(clv_rule_in(r, k), 2) : 0;
}

clv_status clv_shape_attention(clv_rule *r, clv_error *err)
{
    head_shape q, k, v;
    CLV_TRY(read_heads(r, 0, "q_num_heads", &q, err));
    CLV_TRY(read_heads(r, 1, "kv_num_heads", &k, err));
    CLV_TRY(read_heads(r, 2, "kv_num_heads", &v, err));
    CLV_TRY(clv_rule_same_dim(r, q.batch, k.batch, "the batch", &q.batch, err));
    CLV_TRY(clv_rule_same_dim(r, q.batch, v.batch, "the batch", &q.batch, err));
    CLV_TRY(clv_rule_same_dim(r, q.width, k.width, "the width of a head", &q.width, err));
    CLV_TRY(
        clv_rule_same_dim(r, k.length, v.length, "the length of keys and values", &k.length, err));
    clv_dtype dtype = clv_rule_in(r, 0)->dtype;
    clv_dim all = clv_rule_add(r, past_length(r, 4), k.length);
    clv_dim all_v = clv_rule_add(r, past_length(r, 5), k.length);
    clv_dim four[4] = { q.batch, q.heads, q.length, v.width };
    clv_dim three[3] = { q.batch, q.length, clv_dim_mul(q.heads, v.width) };
    clv_dim present_k[4] = { q.batch, k.heads, all, q.width };
    clv_dim present_v[4] = { q.batch, v.heads, all_v, v.width };
    clv_dim scores[4] = { q.batch, q.heads, q.length, all };
    int32_t rank = clv_type_rank(clv_rule_in(r, 0));
    CLV_TRY(clv_rule_set(r, 0, dtype, rank, rank == 4 ? four : three, err));
    CLV_TRY(clv_rule_set(r, 1, clv_rule_in(r, 1)->dtype, 4, present_k, err));
    CLV_TRY(clv_rule_set(r, 2, clv_rule_in(r, 2)->dtype, 4, present_v, err));
    return clv_rule_set(r, 3, dtype, 4, scores, err);
}

/* -- GroupQueryAttention, SparseAttention -- */

/* Length of the present: the larger of buffer and total. */
static clv_dim longest(clv_dim past, clv_dim total, bool has_past)
{
    if (!has_past || past == total || past == 0)
        return total;
    if (clv_dim_is_number(past) && clv_dim_is_number(total))
        return past > total ? past : total;
    return CLV_DIM_UNKNOWN;
}

/* Does the file call the length of the present what it calls that of the past? Then both are one
 * buffer. */
static bool is_declared_shared(const clv_rule *r, clv_dim past)
{
    const clv_type *declared =
        clv_rule_has_out(r, 1)
            ? clv_tensor_at(r->graph, clv_op_output(r->graph, r->op, 1))->declared
            : NULL;
    return declared && clv_dim_is_symbol(past) && clv_type_dim(declared, 2) == past;
}

/* What is attended to is the past and the new keys, or lies in a buffer with room for both. */
static void relate_total(const clv_rule *r, clv_dim total, clv_dim past, clv_dim added)
{
    if (!clv_rule_has_in(r, 3)) /* no past */
        clv_rule_relate(r, total, added);
    else if (r->always && !is_declared_shared(r, past))
        clv_relate_cache(r->relations, total, past, added);
}

clv_status clv_shape_group_query_attention(clv_rule *r, clv_error *err)
{
    const clv_type *query = clv_rule_in(r, 0), *past = clv_rule_in(r, 3);
    bool sparse = clv_str_is(r->op->type, "SparseAttention"), packed = !clv_rule_has_in(r, 1);
    clv_dim heads = attr_dim(r, "num_heads"), kv_heads = attr_dim(r, "kv_num_heads");
    clv_dim all = packed ? clv_dim_add(heads, clv_dim_mul(kv_heads, 2)) : heads, width;
    clv_dim total = clv_rule_scalar(r, sparse ? 7 : 6);

    CLV_TRY(clv_rule_want_rank(r, 0, 3, err));
    CLV_TRY(head_width(r, clv_type_dim(query, 2), all, &width, err));
    clv_dim kept = clv_type_dim(past, 3); /* a quantised cache packs its elements */
    kept = clv_dim_is_number(kept) ? kept : width;
    clv_dim out[3] = { clv_type_dim(query, 0), clv_type_dim(query, 1),
                       packed ? clv_dim_mul(heads, width) : clv_type_dim(query, 2) };
    clv_dim present[4] = { out[0], kv_heads,
                           longest(clv_type_dim(past, 2), total, clv_rule_has_in(r, 3)), kept };
    if (!sparse) /* whose past is always such a buffer */
        relate_total(r, total, clv_type_dim(past, 2), out[1]);
    CLV_TRY(clv_rule_set(r, 0, query->dtype, 3, out, err));
    for (int32_t i = 0; i < 2; i++) { /* keys, values */
        int32_t cache = clv_rule_has_in(r, 3 + i) ? 3 + i : 0;
        CLV_TRY(clv_rule_set(r, 1 + i, clv_rule_in(r, cache)->dtype, 4, present, err));
    }
    clv_dim qk[4] = { out[0], heads, out[1], total }; /* the buffer's rest is not looked at */
    return clv_rule_set(r, 3, query->dtype, 4, qk, err);
}

/* -- MultiHeadAttention -- */

typedef struct {
    clv_dim batch, queries, keys, heads, width, value_width; /* widths are of one head */
} heads_shape;

/* Keys are [B,L,H*D], [B,H,L,D] or, with the values, [B,L,H,2,D]. The query may hold keys and
 * values too: as [B,S,H,3,D], or a decoder's as [B,1,2*H*D+H*E], whose widths the past has. */
static clv_status read_multi_head(clv_rule *r, int32_t first_past, heads_shape *h, clv_error *err)
{
    const clv_type *query = clv_rule_in(r, 0), *key = clv_rule_in(r, 1), *value = clv_rule_in(r, 2);
    int32_t rank = clv_type_rank(key);
    *h = (heads_shape){ .heads = attr_dim(r, "num_heads"),
                        .batch = clv_type_dim(query, 0),
                        .queries = clv_type_dim(query, 1),
                        .keys = CLV_DIM_UNKNOWN,
                        .width = CLV_DIM_UNKNOWN,
                        .value_width = CLV_DIM_UNKNOWN };
    if (clv_type_rank(query) == 5) {
        h->keys = h->queries;
        h->width = h->value_width = clv_type_dim(query, 4);
        return CLV_OK;
    }
    CLV_TRY(clv_rule_want_rank(r, 0, 3, err));
    CLV_TRY(head_width(r, clv_type_dim(query, 2), h->heads, &h->width, err));
    if (rank >= 3 && rank <= 5)
        h->keys = clv_type_dim(key, rank == 4 ? 2 : 1);
    if (rank == 5)
        h->value_width = clv_type_dim(key, 4);
    else if (clv_type_rank(value) == 4)
        h->value_width = clv_type_dim(value, 3);
    else if (clv_type_rank(value) == 3)
        CLV_TRY(head_width(r, clv_type_dim(value, 2), h->heads, &h->value_width, err));
    if (!clv_rule_has_in(r, 1) && clv_type_rank(query) == 3) {
        h->keys = h->queries;
        h->width = clv_type_dim(clv_rule_in(r, first_past), 3);
        h->value_width = clv_type_dim(clv_rule_in(r, first_past + 1), 3);
    }
    return CLV_OK;
}

/* What attention needs to be of one length with what it attends to. A mask of rank 2 may leave out
 * the past. */
static void relate_masks(const clv_rule *r, int32_t mask, clv_dim queries, clv_dim all)
{
    const clv_type *padding = clv_rule_in(r, mask), *bias = clv_rule_in(r, mask + 1);
    if (clv_type_rank(padding) == 3) {
        clv_rule_relate(r, padding->dims[1], queries);
        clv_rule_relate(r, padding->dims[2], all);
    }
    if (clv_type_rank(bias) == 4) {
        clv_rule_relate(r, bias->dims[2], queries);
        clv_rule_relate(r, bias->dims[3], all);
    }
}

/* shared: past and present are one buffer; input `used` has how much of it is filled. */
static clv_status set_multi_head(clv_rule *r, int32_t first_past, int32_t used, bool shared,
                                 clv_error *err)
{
    clv_dtype dtype = clv_rule_in(r, 0)->dtype;
    const clv_type *value = clv_rule_in(r, 2);
    heads_shape h;
    CLV_TRY(read_multi_head(r, first_past, &h, err));
    clv_dim hidden =
        clv_type_rank(value) == 3 ? clv_type_dim(value, 2) : clv_dim_mul(h.heads, h.value_width);
    CLV_TRY(clv_rule_set(r, 0, dtype, 3, (clv_dim[]){ h.batch, h.queries, hidden }, err));
    for (int32_t i = 0; i < 2; i++) { /* keys, values */
        clv_dim before = past_length(r, first_past + i);
        bool buffer = shared && clv_rule_has_in(r, first_past + i);
        clv_dim present[4] = { h.batch, h.heads, buffer ? before : clv_rule_add(r, before, h.keys),
                               i == 0 ? h.width : h.value_width };
        CLV_TRY(clv_rule_set(r, 1 + i, dtype, 4, present, err));
    }
    clv_dim filled = shared ? clv_rule_scalar(r, used) : past_length(r, first_past);
    clv_dim scores[4] = { h.batch, h.heads, h.queries, clv_rule_add(r, filled, h.keys) };
    relate_masks(r, first_past - 2, h.queries, scores[3]);
    return clv_rule_set(r, 3, CLV_DT_UNDEFINED, 4, scores, err);
}

clv_status clv_shape_multi_head_attention(clv_rule *r, clv_error *err)
{
    return set_multi_head(r, 6, 8, clv_rule_has_in(r, 8), err);
}

clv_status clv_shape_decoder_masked_mha(clv_rule *r, clv_error *err)
{
    return set_multi_head(r, 5, 7, clv_rule_attr_int(r, "past_present_share_buffer", 0) != 0, err);
}

/* -- Attention, whose weights project the input: [in, hidden + hidden + v_hidden] -- */

/* Widths of queries, keys, values: of the attribute, or a third each of the columns. */
static clv_status qkv_widths(clv_rule *r, clv_dim columns, clv_dim width[3], clv_error *err)
{
    const int64_t *sizes;
    int32_t n;

    if (clv_rule_attr_ints(r, "qkv_hidden_sizes", &sizes, &n) && n > 0) {
        if (n != 3)
            return clv_rule_fail(r, err, "qkv_hidden_sizes has %d numbers, expected 3", n);
        memcpy(width, sizes, 3 * sizeof *width);
        return CLV_OK;
    }
    if (clv_dim_is_number(columns) && columns % 3 != 0)
        return clv_rule_fail(r, err, "%lld columns of weights, expected a multiple of 3",
                             (long long)columns);
    width[0] = width[1] = width[2] = clv_dim_div(columns, 3);
    return CLV_OK;
}

/* A mask of rank 2 is [B, all], of rank 3 [B, S, all]; input `bias` [B or 1, H or 1, S, all]. */
static void relate_projected_masks(const clv_rule *r, int32_t mask, int32_t bias, clv_dim queries,
                                   clv_dim all)
{
    int32_t rank = clv_type_rank(clv_rule_in(r, mask));
    if (rank == 2 || rank == 3)
        clv_rule_relate(r, clv_type_dim(clv_rule_in(r, mask), -1), all);
    if (rank == 3)
        clv_rule_relate(r, clv_type_dim(clv_rule_in(r, mask), 1), queries);
    if (clv_type_rank(clv_rule_in(r, bias)) == 4) {
        clv_rule_relate(r, clv_type_dim(clv_rule_in(r, bias), 2), queries);
        clv_rule_relate(r, clv_type_dim(clv_rule_in(r, bias), 3), all);
    }
}

/* past and present are [2, B, H, P, D]. */
static clv_status set_projected(clv_rule *r, clv_dtype dtype, int32_t past_input, bool shared,
                                clv_error *err)
{
    bool quantised = past_input == 8; /* its mask is input 5, and it has no bias of scores */
    const clv_type *in = clv_rule_in(r, 0), *weights = clv_rule_in(r, 1);
    clv_dim heads = attr_dim(r, "num_heads"), width[3], head, before = 0;
    bool has_past = clv_rule_has_in(r, past_input);

    CLV_TRY(clv_rule_want_rank(r, 0, 3, err));
    CLV_TRY(clv_rule_want_rank(r, 1, 2, err));
    CLV_TRY(qkv_widths(r, clv_type_dim(weights, 1), width, err));
    CLV_TRY(head_width(r, width[1], heads, &head, err));
    clv_dim out[3] = { clv_type_dim(in, 0), clv_type_dim(in, 1), width[2] };
    if (has_past)
        before = clv_type_dim(clv_rule_in(r, past_input), 3);
    clv_dim present[5] = { 2, out[0], heads,
                           shared && has_past ? before : clv_rule_add(r, before, out[1]), head };
    if (!shared)
        relate_projected_masks(r, quantised ? 5 : 3, quantised ? -1 : 5, out[1], present[3]);
    CLV_TRY(clv_rule_set(r, 0, dtype, 3, out, err));
    return clv_rule_set(r, 1, dtype, 5, present, err);
}

clv_status clv_shape_ms_attention(clv_rule *r, clv_error *err)
{
    return set_projected(r, clv_rule_in(r, 0)->dtype, 4,
                         clv_rule_attr_int(r, "past_present_share_buffer", 0) != 0, err);
}

/* Its input and weights are integers; the bias and the scales are what comes out. */
clv_status clv_shape_qattention(clv_rule *r, clv_error *err)
{
    clv_dtype bias = clv_rule_in(r, 2)->dtype;

    return set_projected(r, bias == CLV_DT_UNDEFINED ? clv_rule_in(r, 3)->dtype : bias, 8,
                         clv_rule_attr_int(r, "past_present_share_buffer", 0) != 0, err);
}

/* -- without padding: the tokens of all sequences in one list -- */

clv_status clv_shape_packed_attention(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim width[3], out[2] = { clv_type_dim(in, 0), CLV_DIM_UNKNOWN };

    CLV_TRY(clv_rule_want_rank(r, 0, 2, err));
    CLV_TRY(clv_rule_want_rank(r, 1, 2, err));
    CLV_TRY(qkv_widths(r, clv_type_dim(clv_rule_in(r, 1), 1), width, err));
    out[1] = width[2];
    return clv_rule_set(r, 0, in->dtype, 2, out, err);
}

/* Queries [tokens, hidden] with values [tokens, v_hidden], or all packed [tokens, H, 3, D]. */
clv_status clv_shape_packed_mha(clv_rule *r, clv_error *err)
{
    const clv_type *query = clv_rule_in(r, 0), *value = clv_rule_in(r, 2);
    bool packed = clv_type_rank(query) == 4;
    clv_dim out[2] = { clv_type_dim(query, 0), clv_type_dim(value, 1) };

    if (packed)
        out[1] = clv_dim_mul(clv_type_dim(query, 1), clv_type_dim(query, 3));
    return clv_rule_set(r, 0, query->dtype, 2, out, err);
}

/* input [B,S,H], counts [B]: tokens [?,H], offsets [B,S], ends [B+1], longest [1]. */
clv_status clv_shape_remove_padding(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim batch = clv_type_dim(in, 0);
    clv_dim tokens[2] = { CLV_DIM_UNKNOWN, clv_type_dim(in, 2) };
    clv_dim offsets[2] = { batch, clv_type_dim(in, 1) }, ends = clv_dim_add(batch, 1), one = 1;

    CLV_TRY(clv_rule_want_rank(r, 0, 3, err));
    CLV_TRY(clv_rule_set(r, 0, in->dtype, 2, tokens, err));
    CLV_TRY(clv_rule_set(r, 1, CLV_DT_INT32, 2, offsets, err));
    CLV_TRY(clv_rule_set(r, 2, CLV_DT_INT32, 1, &ends, err));
    return clv_rule_set(r, 3, CLV_DT_INT32, 1, &one, err);
}

clv_status clv_shape_restore_padding(clv_rule *r, clv_error *err)
{
    const clv_type *tokens = clv_rule_in(r, 0), *offsets = clv_rule_in(r, 1);
    clv_dim dims[3] = { clv_type_dim(offsets, 0), clv_type_dim(offsets, 1),
                        clv_type_dim(tokens, 1) };

    CLV_TRY(clv_rule_want_rank(r, 0, 2, err));
    CLV_TRY(clv_rule_want_rank(r, 1, 2, err));
    return clv_rule_set(r, 0, tokens->dtype, 3, dims, err);
}

/* -- position biases -- */

/* Table [buckets, H] and two lengths give [1, H, queries, keys]. */
clv_status clv_shape_relative_position_bias(clv_rule *r, clv_error *err)
{
    const clv_type *table = clv_rule_in(r, 0);
    clv_dim dims[4] = { 1, clv_type_dim(table, 1), clv_rule_scalar(r, 1), clv_rule_scalar(r, 2) };

    CLV_TRY(clv_rule_want_rank(r, 0, 2, err));
    return clv_rule_set(r, 0, table->dtype, 4, dims, err);
}

/* Queries [B,S,H*D] give [B,H,S,S]; queries without padding take B and S from the offsets. */
clv_status clv_shape_gated_relative_position_bias(clv_rule *r, clv_error *err)
{
    const clv_type *query = clv_rule_in(r, 0),
                   *from = clv_rule_in(r, clv_rule_has_in(r, 6) ? 6 : 0);
    clv_dim length = clv_type_dim(from, 1);
    clv_dim dims[4] = { clv_type_dim(from, 0), attr_dim(r, "num_heads"), length, length };

    return clv_rule_set(r, 0, query->dtype, 4, dims, err);
}
