#include "cost/flops_attention.h"

/* FLOPs a score, counted as ops.def counts them: scale or mask 1, softmax 5. */
#define SCORE_FLOPS 6

static bool is(const clv_sizing *s, const char *type) { return clv_str_is(s->rule.op->type, type); }

static int64_t attr(clv_sizing *s, const char *name)
{
    return clv_size_of_dim(s, clv_rule_attr_int(&s->rule, name, CLV_DIM_UNKNOWN));
}

static int64_t share(int64_t whole, int64_t heads) { return heads > 0 ? whole / heads : 0; }

static int32_t rank_of(const clv_sizing *s, int32_t k)
{
    return clv_type_rank(clv_rule_in(&s->rule, k));
}

/* Keys kept from before, at that axis of input k; 0 if there are none. */
static int64_t past_keys(clv_sizing *s, int32_t k, int32_t axis)
{
    return clv_rule_has_in(&s->rule, k) ? clv_size_in_dim(s, k, axis) : 0;
}

/* Where past and present share one buffer its length bounds what is looked at. */
static int64_t all_keys(clv_sizing *s, int64_t past, int64_t fresh, bool shared)
{
    return shared && past > 0 ? past : clv_size_add(s, past, fresh);
}

/* Standard Attention: 4-D [batch, heads, sequence, width], or 3-D with the heads in attributes. */
static clv_attention standard(clv_sizing *s)
{
    bool flat = rank_of(s, 0) == 3;
    clv_attention a = { .batch = clv_size_in_dim(s, 0, 0), .queries = clv_size_in_dim(s, 0, -2) };
    a.heads = flat ? attr(s, "q_num_heads") : clv_size_in_dim(s, 0, 1);
    a.width = flat ? share(clv_size_in_dim(s, 0, 2), a.heads) : clv_size_in_dim(s, 0, 3);
    a.value_width = clv_size_in_dim(s, 2, -1);
    if (rank_of(s, 2) == 3)
        a.value_width = share(a.value_width, attr(s, "kv_num_heads"));
    a.keys = clv_size_add(s, past_keys(s, 4, -2), clv_size_in_dim(s, 1, -2));
    return a;
}

/* GroupQueryAttention, SparseAttention: fewer heads of keys than of queries. */
static clv_attention grouped(clv_sizing *s)
{
    int64_t heads = attr(s, "num_heads"), kv_heads = attr(s, "kv_num_heads"), all = heads;
    clv_attention a = { clv_size_in_dim(s, 0, 0), heads, clv_size_in_dim(s, 0, 1), 0, 0, 0, 0 };
    clv_dim total = clv_rule_scalar(&s->rule, is(s, "SparseAttention") ? 7 : 6);
    if (!clv_rule_has_in(&s->rule, 1)) /* keys and values are packed into the queries */
        all = clv_size_add(s, heads, clv_size_mul(s, 2, kv_heads));
    a.width = a.value_width = share(clv_size_in_dim(s, 0, 2), all);
    if (clv_dim_is_number(total) && total > 0)
        a.keys = total;
    else
        a.keys = clv_size_add(s, past_keys(s, 3, 2), a.queries);
    return a;
}

/* MultiHeadAttention: the keys are [B,L,H*D], [B,H,L,D], [B,L,H,2,D] or packed with the queries. */
static clv_attention multi_head(clv_sizing *s, int32_t past_input, bool shared)
{
    int32_t rank = rank_of(s, 1);
    clv_attention a = { .batch = clv_size_in_dim(s, 0, 0), .queries = clv_size_in_dim(s, 0, 1) };
    int64_t fresh = a.queries, past = past_keys(s, past_input, 2);
    a.heads = attr(s, "num_heads");
    if (rank_of(s, 0) == 5)
        a.width = clv_size_in_dim(s, 0, 4);
    else
        a.width = share(clv_size_in_dim(s, 0, 2), a.heads);
    a.value_width = share(clv_size_of_dim(s, clv_type_dim(clv_size_out(s, 0), 2)), a.heads);
    if (clv_rule_has_in(&s->rule, 1))
        fresh = clv_size_in_dim(s, 1, rank == 4 ? 2 : 1);
    a.keys = all_keys(s, past, fresh, shared);
    return a;
}

/* Widths of all heads of queries and values of an operator that projects its input by input 1,
 * [in, queries + keys + values]. */
static void set_projected(clv_sizing *s, clv_attention *a, int64_t rows)
{
    const int64_t *sizes;
    int32_t n = 0;
    int64_t columns = clv_size_in_dim(s, 1, 1), queries = columns / 3, values = columns / 3;
    if (clv_rule_attr_ints(&s->rule, "qkv_hidden_sizes", &sizes, &n) && n == 3) {
        queries = clv_size_of_dim(s, sizes[0]);
        values = clv_size_of_dim(s, sizes[2]);
    }
    a->heads = attr(s, "num_heads");
    a->width = share(queries, a->heads);
    a->value_width = share(values, a->heads);
    a->projection = clv_size_mul(s, clv_size_in_dim(s, 1, 0), columns);
    a->projection = clv_size_mul(s, 2, clv_size_mul(s, a->projection, rows));
}

static clv_attention projected(clv_sizing *s)
{
    bool shared = clv_rule_attr_int(&s->rule, "past_present_share_buffer", 0) != 0;
    clv_attention a = { .batch = clv_size_in_dim(s, 0, 0), .queries = clv_size_in_dim(s, 0, 1) };
    int64_t past = past_keys(s, is(s, "QAttention") ? 8 : 4, 3);
    set_projected(s, &a, clv_size_mul(s, a.batch, a.queries));
    a.keys = all_keys(s, past, a.queries, shared);
    return a;
}

/* Each query sees a window to either side and itself. */
static clv_attention longformer(clv_sizing *s)
{
    int64_t window = attr(s, "window");
    clv_attention a = { .batch = clv_size_in_dim(s, 0, 0), .queries = clv_size_in_dim(s, 0, 1) };
    set_projected(s, &a, clv_size_mul(s, a.batch, a.queries));
    a.keys = clv_size_add(s, 1, clv_size_mul(s, 2, window));
    a.keys = a.keys < a.queries ? a.keys : a.queries;
    return a;
}

/* Packed operators: tokens of all sequences in one list; offsets [batch, longest] bound them. */
static clv_attention packed(clv_sizing *s, int32_t offsets)
{
    clv_attention a = { .batch = clv_size_in_dim(s, offsets, 0) };
    a.queries = a.keys = clv_size_in_dim(s, offsets, 1);
    if (is(s, "PackedAttention")) {
        set_projected(s, &a, clv_size_in_dim(s, 0, 0));
        return a;
    }
    a.heads = attr(s, "num_heads");
    a.width =
        rank_of(s, 0) == 4 ? clv_size_in_dim(s, 0, 3) : share(clv_size_in_dim(s, 0, 1), a.heads);
    a.value_width = share(clv_size_of_dim(s, clv_type_dim(clv_size_out(s, 0), 1)), a.heads);
    return a;
}

clv_attention clv_attention_shape(clv_sizing *s)
{
    if (s->rule.op->domain.n == 0)
        return standard(s);
    if (is(s, "GroupQueryAttention") || is(s, "SparseAttention"))
        return grouped(s);
    if (is(s, "MultiHeadAttention"))
        return multi_head(s, 6, clv_rule_has_in(&s->rule, 8));
    if (is(s, "DecoderMaskedMultiHeadAttention"))
        return multi_head(s, 5, clv_rule_attr_int(&s->rule, "past_present_share_buffer", 0) != 0);
    if (is(s, "LongformerAttention"))
        return longformer(s);
    if (is(s, "PackedAttention"))
        return packed(s, 3);
    if (is(s, "PackedMultiHeadAttention"))
        return packed(s, 4);
    return projected(s);
}

clv_work clv_flops_attention(clv_sizing *s)
{
    clv_attention a = clv_attention_shape(s);
    int64_t scores =
        clv_size_mul(s, clv_size_mul(s, a.batch, a.heads), clv_size_mul(s, a.queries, a.keys));
    int64_t widths = clv_size_mul(s, 2, clv_size_add(s, a.width, a.value_width));
    int64_t products = clv_size_mul(s, scores, widths);
    return (clv_work){ .matrix = clv_size_add(s, products, a.projection),
                       .vector = clv_size_mul(s, scores, SCORE_FLOPS) };
}

/* Each token adds key times value to the state of a head, and reads it by the query; a delta rule
 * first reads what stands there under the key. What a gate forgets is a product for each element.
 */
clv_work clv_flops_linear_attention(clv_sizing *s)
{
    clv_str rule = clv_rule_attr_str(&s->rule, "update_rule", "gated_delta");
    bool delta = clv_str_is(rule, "delta") || clv_str_is(rule, "gated_delta");
    bool gated = clv_str_is(rule, "gated") || clv_str_is(rule, "gated_delta");
    int64_t q_heads = attr(s, "q_num_heads"), heads = attr(s, "kv_num_heads");
    int64_t state = clv_size_mul(s, share(clv_size_in_dim(s, 0, 2), q_heads),
                                 share(clv_size_in_dim(s, 2, 2), heads));
    int64_t each =
        clv_size_mul(s, state, clv_size_mul(s, clv_size_in_dim(s, 0, 0), clv_size_in_dim(s, 0, 1)));
    int64_t products = clv_size_mul(s, heads, delta ? 2 : 1);
    products = clv_size_add(s, products, q_heads > heads ? q_heads : heads);
    return (clv_work){ .matrix = clv_size_mul(s, clv_size_mul(s, 2, each), products),
                       .vector = gated ? clv_size_mul(s, each, heads) : 0 };
}
