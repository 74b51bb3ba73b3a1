/* shapes_ms_attention.c - the attention operators of com.microsoft.
 *
 * Letters: B batch, S length of the queries, L length of the keys, P length of the past, H heads,
 * D width of a head. Queries may hold keys and values too (packed). The present is the past and the
 * new keys; where past and present share one buffer it is as long as that buffer.
 */
#include "graph/rules.h"
#include "graph/shape_tools.h"

/* Width of one head when `whole` is shared by that many; fails when it does not divide. */
static clv_status head_width(clv_rule *r, clv_dim whole, clv_dim heads, clv_dim *ret)
{
    *ret = CLV_DIM_UNKNOWN;
    if (!clv_dim_is_number(whole) || !clv_dim_is_number(heads))
        return CLV_OK;
    if (heads < 1 || whole % heads != 0)
        return clv_rule_fail(r, "a width of %lld cannot be shared by %lld heads", (long long)whole,
                             (long long)heads);
    *ret = whole / heads;
    return CLV_OK;
}

static clv_dim attr_dim(const clv_rule *r, const char *name)
{
    return clv_rule_attr_int(r, name, CLV_DIM_UNKNOWN);
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

static clv_status set_present(clv_rule *r, int32_t out, int32_t in, const clv_dim dims[4])
{
    clv_dtype dtype = clv_rule_in(r, clv_rule_has_in(r, in) ? in : 0)->dtype;

    return clv_rule_set(r, out, dtype, 4, dims);
}

clv_status clv_shape_group_query_attention(clv_rule *r)
{
    const clv_type *query = clv_rule_in(r, 0), *past = clv_rule_in(r, 3);
    bool sparse = clv_str_is(r->op->type, "SparseAttention"), packed = !clv_rule_has_in(r, 1);
    clv_dim heads = attr_dim(r, "num_heads"), kv_heads = attr_dim(r, "kv_num_heads");
    clv_dim all = packed ? clv_dim_add(heads, clv_dim_mul(kv_heads, 2)) : heads, width;
    clv_dim total = clv_rule_scalar(r, sparse ? 7 : 6);

    CLV_TRY(clv_rule_want_rank(r, 0, 3));
    CLV_TRY(head_width(r, clv_type_dim(query, 2), all, &width));
    clv_dim kept = clv_type_dim(past, 3); /* a quantised cache packs its elements */
    kept = clv_dim_is_number(kept) ? kept : width;
    clv_dim out[3] = { clv_type_dim(query, 0), clv_type_dim(query, 1),
                       packed ? clv_dim_mul(heads, width) : clv_type_dim(query, 2) };
    clv_dim present[4] = { out[0], kv_heads,
                           longest(clv_type_dim(past, 2), total, clv_rule_has_in(r, 3)), kept };
    CLV_TRY(clv_rule_set(r, 0, query->dtype, 3, out));
    CLV_TRY(set_present(r, 1, 3, present));
    CLV_TRY(set_present(r, 2, 4, present));
    clv_dim qk[4] = { out[0], heads, out[1], total }; /* the buffer's rest is not looked at */
    return clv_rule_set(r, 3, query->dtype, 4, qk);
}

/* -- MultiHeadAttention -- */

typedef struct {
    clv_dim batch, queries, keys, heads, width, value_width; /* widths are of one head */
} heads_shape;

static clv_status read_query(clv_rule *r, heads_shape *h)
{
    const clv_type *query = clv_rule_in(r, 0);
    bool packed = clv_type_rank(query) == 5; /* [B, S, H, 3, D] */

    h->width = h->value_width = CLV_DIM_UNKNOWN;
    h->heads = attr_dim(r, "num_heads");
    h->batch = clv_type_dim(query, 0);
    h->queries = clv_type_dim(query, 1);
    if (!packed)
        CLV_TRY(clv_rule_want_rank(r, 0, 3));
    else
        h->width = h->value_width = clv_type_dim(query, 4);
    h->keys = packed ? h->queries : CLV_DIM_UNKNOWN;
    return packed ? CLV_OK : head_width(r, clv_type_dim(query, 2), h->heads, &h->width);
}

/* Keys are [B,L,H*D], [B,H,L,D] or, with the values, [B,L,H,2,D]; left out when packed. */
static clv_status read_keys(clv_rule *r, heads_shape *h)
{
    const clv_type *key = clv_rule_in(r, 1), *value = clv_rule_in(r, 2);

    if (clv_type_rank(clv_rule_in(r, 0)) == 5)
        return CLV_OK;
    if (clv_type_rank(key) == 4 || clv_type_rank(key) == 5 || clv_type_rank(key) == 3)
        h->keys = clv_type_dim(key, clv_type_rank(key) == 4 ? 2 : 1);
    if (clv_type_rank(key) == 5)
        h->value_width = clv_type_dim(key, 4);
    else if (clv_type_rank(value) == 4)
        h->value_width = clv_type_dim(value, 3);
    else if (clv_type_rank(value) == 3)
        return head_width(r, clv_type_dim(value, 2), h->heads, &h->value_width);
    return CLV_OK;
}

static clv_status set_presents(clv_rule *r, const heads_shape *h, int32_t first_past, bool shared)
{
    clv_dtype dtype = clv_rule_in(r, 0)->dtype;

    for (int32_t i = 0; i < 2; i++) {
        const clv_type *past = clv_rule_in(r, first_past + i);
        bool has_past = clv_rule_has_in(r, first_past + i);
        clv_dim before = has_past ? clv_type_dim(past, 2) : 0;
        clv_dim dims[4] = { h->batch, h->heads,
                            shared && has_past ? before : clv_dim_add(before, h->keys),
                            i == 0 ? h->width : h->value_width };
        CLV_TRY(clv_rule_set(r, 1 + i, dtype, 4, dims));
    }
    return CLV_OK;
}

/* Width of all heads of the result. */
static clv_dim value_hidden(const clv_rule *r, const heads_shape *h)
{
    const clv_type *value = clv_rule_in(r, 2);

    if (clv_type_rank(value) == 3)
        return clv_type_dim(value, 2);
    return clv_dim_mul(h->heads, h->value_width);
}

/* A decoder's query [B,1,2*H*D+H*E] may hold keys and values too; the past tells the widths. */
static void split_packed(const clv_rule *r, int32_t first_past, heads_shape *h)
{
    h->keys = h->queries;
    h->width = clv_type_dim(clv_rule_in(r, first_past), 3);
    h->value_width = clv_type_dim(clv_rule_in(r, first_past + 1), 3);
}

/* used: the input that tells how much of a shared buffer is filled. */
static clv_status multi_head(clv_rule *r, int32_t first_past, int32_t used, bool shared)
{
    heads_shape h;

    CLV_TRY(read_query(r, &h));
    CLV_TRY(read_keys(r, &h));
    if (!clv_rule_has_in(r, 1) && clv_type_rank(clv_rule_in(r, 0)) == 3)
        split_packed(r, first_past, &h);
    clv_dim out[3] = { h.batch, h.queries, value_hidden(r, &h) };
    CLV_TRY(clv_rule_set(r, 0, clv_rule_in(r, 0)->dtype, 3, out));
    CLV_TRY(set_presents(r, &h, first_past, shared));
    clv_dim past = clv_rule_has_in(r, first_past) ? clv_type_dim(clv_rule_in(r, first_past), 2) : 0;
    past = shared ? clv_rule_scalar(r, used) : past;
    clv_dim qk[4] = { h.batch, h.heads, h.queries, clv_dim_add(past, h.keys) };
    return clv_rule_set(r, 3, CLV_DT_UNDEFINED, 4, qk);
}

clv_status clv_shape_multi_head_attention(clv_rule *r)
{
    return multi_head(r, 6, 8, clv_rule_has_in(r, 8));
}

clv_status clv_shape_decoder_masked_mha(clv_rule *r)
{
    return multi_head(r, 5, 7, clv_rule_attr_int(r, "past_present_share_buffer", 0) != 0);
}

/* -- Attention, whose weights project the input: [in, hidden + hidden + v_hidden] -- */

/* Widths of queries, keys, values: of the attribute, or a third each of the columns. */
static clv_status qkv_widths(clv_rule *r, clv_dim columns, clv_dim width[3])
{
    const int64_t *sizes;
    int32_t n;

    if (clv_rule_attr_ints(r, "qkv_hidden_sizes", &sizes, &n) && n > 0) {
        if (n != 3)
            return clv_rule_fail(r, "qkv_hidden_sizes has %d numbers, expected 3", n);
        memcpy(width, sizes, 3 * sizeof *width);
        return CLV_OK;
    }
    if (clv_dim_is_number(columns) && columns % 3 != 0)
        return clv_rule_fail(r, "%lld columns of weights, expected a multiple of 3",
                             (long long)columns);
    width[0] = width[1] = width[2] = clv_dim_div(columns, 3);
    return CLV_OK;
}

/* past and present are [2, B, H, P, D]. */
static clv_status projected(clv_rule *r, clv_dtype dtype, int32_t past_input, bool shared)
{
    const clv_type *in = clv_rule_in(r, 0), *weights = clv_rule_in(r, 1);
    const clv_type *past = clv_rule_in(r, past_input);
    bool has_past = clv_rule_has_in(r, past_input);
    clv_dim heads = attr_dim(r, "num_heads"), width[3], head, before;

    CLV_TRY(clv_rule_want_rank(r, 0, 3));
    CLV_TRY(clv_rule_want_rank(r, 1, 2));
    CLV_TRY(qkv_widths(r, clv_type_dim(weights, 1), width));
    CLV_TRY(head_width(r, width[1], heads, &head));
    clv_dim out[3] = { clv_type_dim(in, 0), clv_type_dim(in, 1), width[2] };
    before = has_past ? clv_type_dim(past, 3) : 0;
    clv_dim present[5] = { 2, out[0], heads,
                           shared && has_past ? before : clv_dim_add(before, out[1]), head };
    CLV_TRY(clv_rule_set(r, 0, dtype, 3, out));
    return clv_rule_set(r, 1, dtype, 5, present);
}

clv_status clv_shape_ms_attention(clv_rule *r)
{
    return projected(r, clv_rule_in(r, 0)->dtype, 4,
                     clv_rule_attr_int(r, "past_present_share_buffer", 0) != 0);
}

/* Its input and weights are integers; the bias and the scales are what comes out. */
clv_status clv_shape_qattention(clv_rule *r)
{
    clv_dtype bias = clv_rule_in(r, 2)->dtype;

    return projected(r, bias == CLV_DT_UNDEFINED ? clv_rule_in(r, 3)->dtype : bias, 8,
                     clv_rule_attr_int(r, "past_present_share_buffer", 0) != 0);
}

/* -- without padding: the tokens of all sequences in one list -- */

clv_status clv_shape_packed_attention(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim width[3], out[2] = { clv_type_dim(in, 0), CLV_DIM_UNKNOWN };

    CLV_TRY(clv_rule_want_rank(r, 0, 2));
    CLV_TRY(clv_rule_want_rank(r, 1, 2));
    CLV_TRY(qkv_widths(r, clv_type_dim(clv_rule_in(r, 1), 1), width));
    out[1] = width[2];
    return clv_rule_set(r, 0, in->dtype, 2, out);
}

/* Queries [tokens, hidden] with values [tokens, v_hidden], or all packed [tokens, H, 3, D]. */
clv_status clv_shape_packed_mha(clv_rule *r)
{
    const clv_type *query = clv_rule_in(r, 0), *value = clv_rule_in(r, 2);
    bool packed = clv_type_rank(query) == 4;
    clv_dim out[2] = { clv_type_dim(query, 0), clv_type_dim(value, 1) };

    if (packed)
        out[1] = clv_dim_mul(clv_type_dim(query, 1), clv_type_dim(query, 3));
    return clv_rule_set(r, 0, query->dtype, 2, out);
}

/* input [B,S,H], counts [B]: tokens [?,H], offsets [B,S], ends [B+1], longest [1]. */
clv_status clv_shape_remove_padding(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim batch = clv_type_dim(in, 0);
    clv_dim tokens[2] = { CLV_DIM_UNKNOWN, clv_type_dim(in, 2) };
    clv_dim offsets[2] = { batch, clv_type_dim(in, 1) }, ends = clv_dim_add(batch, 1), one = 1;

    CLV_TRY(clv_rule_want_rank(r, 0, 3));
    CLV_TRY(clv_rule_set(r, 0, in->dtype, 2, tokens));
    CLV_TRY(clv_rule_set(r, 1, CLV_DT_INT32, 2, offsets));
    CLV_TRY(clv_rule_set(r, 2, CLV_DT_INT32, 1, &ends));
    return clv_rule_set(r, 3, CLV_DT_INT32, 1, &one);
}

clv_status clv_shape_restore_padding(clv_rule *r)
{
    const clv_type *tokens = clv_rule_in(r, 0), *offsets = clv_rule_in(r, 1);
    clv_dim dims[3] = { clv_type_dim(offsets, 0), clv_type_dim(offsets, 1),
                        clv_type_dim(tokens, 1) };

    CLV_TRY(clv_rule_want_rank(r, 0, 2));
    CLV_TRY(clv_rule_want_rank(r, 1, 2));
    return clv_rule_set(r, 0, tokens->dtype, 3, dims);
}

/* -- position biases -- */

/* Table [buckets, H] and two lengths give [1, H, queries, keys]. */
clv_status clv_shape_relative_position_bias(clv_rule *r)
{
    const clv_type *table = clv_rule_in(r, 0);
    clv_dim dims[4] = { 1, clv_type_dim(table, 1), clv_rule_scalar(r, 1), clv_rule_scalar(r, 2) };

    CLV_TRY(clv_rule_want_rank(r, 0, 2));
    return clv_rule_set(r, 0, table->dtype, 4, dims);
}

/* Queries [B,S,H*D] give [B,H,S,S]; queries without padding take B and S from the offsets. */
clv_status clv_shape_gated_relative_position_bias(clv_rule *r)
{
    const clv_type *query = clv_rule_in(r, 0),
                   *from = clv_rule_in(r, clv_rule_has_in(r, 6) ? 6 : 0);
    clv_dim length = clv_type_dim(from, 1);
    clv_dim dims[4] = { clv_type_dim(from, 0), attr_dim(r, "num_heads"), length, length };

    return clv_rule_set(r, 0, query->dtype, 4, dims);
}
