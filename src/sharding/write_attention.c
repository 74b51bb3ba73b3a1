/* write_attention.c - attention: the batch and the heads may be split, and the caches with them.
 *
 * Letters: b batch, s queries, h heads, or g groups of r heads that share keys and values, d and e
 * widths of a head. To split r copies keys and values to the parts, which is what to do where there
 * are more devices than key heads.
 */
#include "sharding/write_attention.h"

#include "graph/shape_tools.h"

static int32_t rank_in(const clv_rule_context *w, int32_t k)
{
    return clv_type_rank(clv_rule_in(w->r, k));
}

static clv_dim dim_in(const clv_rule_context *w, int32_t k, int32_t axis)
{
    return clv_type_dim(clv_rule_in(w->r, k), axis);
}

/* -- Attention of the standard -- */

clv_status clv_write_attention(clv_rule_context *w, clv_str param, const char **ret, clv_error *err)
{
    clv_rule_writing t = { .arena = w->r->arena };
    bool packed = rank_in(w, 0) == 3;
    const char *s = clv_rule_attr_int(w->r, "is_causal", 0) ? "s!" : "s";
    const char *const mask[4] = { "b", "g*r", s, "_" }; /* its rank may be less: the last of them */
    int32_t n_mask = clv_rule_has_in(w->r, 3) ? rank_in(w, 3) : 4;
    (void)param;
    n_mask = n_mask > 4 || n_mask < 0 ? 4 : n_mask;
    if (packed)
        clv_rule_write(&t, "(b,%s,g*r*d!),(b,_,g*d!),(b,_,g*e!)", s);
    else
        clv_rule_write(&t, "(b,g*r,%s,_),(b,g,_,_),(b,g,_,_)", s);
    clv_rule_write(&t, ",(");
    for (int32_t i = 4 - n_mask; i < 4; i++)
        clv_rule_write(&t, "%s%s", i > 4 - n_mask ? "," : "", mask[i]);
    clv_rule_write(&t, "),(b,g,_,_),(b,g,_,_),(b)->");
    if (packed)
        clv_rule_write(&t, "(b,%s,g*r*e!)", s);
    else
        clv_rule_write(&t, "(b,g*r,%s,_)", s);
    clv_rule_write(&t, ",(b,g,_,_),(b,g,_,_),(b,g*r,%s,_)", s);
    if (packed || clv_rule_attr(w->r, "q_num_heads"))
        clv_rule_write(&t, "; q_num_heads=g*r");
    if (packed || clv_rule_attr(w->r, "kv_num_heads"))
        clv_rule_write(&t, "; kv_num_heads=g");
    return clv_writer_done(&t, ret, err);
}

/* -- com.microsoft -- */

/* A mask of one dimension has a length for each sequence, or several lists of them in one. */
static bool lengths_in_one(const clv_rule_context *w, int32_t k)
{
    return clv_rule_has_in(w->r, k) && rank_in(w, k) == 1 && dim_in(w, k, 0) != dim_in(w, 0, 0);
}

/* (b), (b,_), (b,s,_), ... */
static void add_batched(clv_rule_writing *t, int32_t rank, bool whole)
{
    if (whole || rank < 1) {
        clv_rule_write(t, ",-");
        return;
    }
    clv_rule_write(t, ",(b");
    for (int32_t i = 1; i < rank; i++)
        clv_rule_write(t, ",_");
    clv_rule_write(t, ")");
}

/* Keys or values: with the other in one tensor, by head, or all heads in a row. */
static void add_heads_input(clv_rule_writing *t, int32_t rank, char width)
{
    if (rank == 5)
        clv_rule_write(t, ",(b,_,h,_,_)");
    else if (rank == 4)
        clv_rule_write(t, ",(b,h,_,_)");
    else
        clv_rule_write(t, ",(b,_,h*%c!)", width);
}

/* query, key, value, bias, lengths, attention bias, past key, past value, length, beams */
clv_status clv_write_mha(clv_rule_context *w, clv_str param, const char **ret, clv_error *err)
{
    clv_rule_writing t = { .arena = w->r->arena };
    bool lengths = lengths_in_one(w, 4), bias = clv_rule_has_in(w->r, 3);
    /* The bias has three parts in one list, which can only be cut alike when they are alike. */
    bool alike = rank_in(w, 0) == 3 && rank_in(w, 2) == 3 && dim_in(w, 0, 2) == dim_in(w, 2, 2) &&
                 clv_dim_is_number(dim_in(w, 0, 2));
    const char *b = lengths ? "b!" : "b", *h = bias && !alike ? "h!" : "h";
    (void)param;
    clv_rule_write(&t, rank_in(w, 0) == 5 ? "(%s,_,%s,_,_)" : "(%s,_,%s*d!)", b, h);
    add_heads_input(&t, rank_in(w, 1), 'd');
    add_heads_input(&t, rank_in(w, 2), 'e');
    clv_rule_write(&t, alike ? ",(3*h*d!)" : ",-");
    add_batched(&t, rank_in(w, 4), lengths);
    clv_rule_write(&t, ",(b,h,_,_),(b,h,_,_),(b,h,_,_),-,(b,_..)");
    clv_rule_write(&t, "->(b,_,h*e!),(b,h,_,_),(b,h,_,_),(b,h,_,_); num_heads=h");
    return clv_writer_done(&t, ret, err);
}

/* query, key, value, past key, past value, lengths, total length, cos, sin, positions, attention
 * bias, sinks, scales of a quantised cache */
clv_status clv_write_gqa(clv_rule_context *w, clv_str param, const char **ret, clv_error *err)
{
    clv_rule_writing t = { .arena = w->r->arena };
    bool packed = !clv_rule_has_in(w->r, 1);
    bool scales = clv_rule_has_in(w->r, 12) || clv_rule_has_in(w->r, 13);
    (void)param;
    if (packed) /* queries, keys and values in one list: no contiguous part of it is some heads */
        clv_rule_write(&t, "(b,_,_),-,-,(b,_,_,_),(b,_,_,_)");
    else
        clv_rule_write(&t, "(b,_,g*r%s*d!),(b,_,g%s*d!),(b,_,g*d!),(b,g,_,_),(b,g,_,_)",
                       scales ? "!" : "", scales ? "!" : "");
    add_batched(&t, rank_in(w, 5), false);
    clv_rule_write(&t, ",-,-,-,(b,_)");
    if (packed)
        clv_rule_write(&t, ",(b,_,_,_),-,-,-->(b,_,_),(b,_,_,_),(b,_,_,_),(b,_,_,_)");
    else
        clv_rule_write(&t, ",(b,g*r,_,_),(g*r),-,-->(b,_,g*r*d!),(b,g,_,_),(b,g,_,_),(b,g*r,_,_)"
                           "; kv_num_heads=g; num_heads=g*r");
    return clv_writer_done(&t, ret, err);
}

/* input, weights, bias, mask, past, attention bias, length, beams, indirection */
clv_status clv_write_ms_attention(clv_rule_context *w, clv_str param, const char **ret,
                                  clv_error *err)
{
    clv_rule_writing t = { .arena = w->r->arena };
    const int64_t *sizes;
    int32_t n;
    bool lengths = lengths_in_one(w, 3);
    bool given = clv_rule_attr_ints(w->r, "qkv_hidden_sizes", &sizes, &n) && n > 0;
    /* of equal size, or not given: then each column of heads can be cut alike */
    bool alike = !given || (n == 3 && sizes[0] == sizes[1] && sizes[1] == sizes[2]);
    const char *b = lengths ? "b!" : "b";
    (void)param;
    clv_rule_write(&t, alike ? "(%s,_,_),(_,3*h*d!),(3*h*d!)" : "(%s,_,_),-,-", b);
    add_batched(&t, rank_in(w, 3), lengths);
    clv_rule_write(&t, alike ? ",(_,b,h,_,_),(b,h,_,_),-,-,(b,_..)->(b,_,h*d!),(_,b,h,_,_)"
                               "; num_heads=h"
                             : ",(_,b,_,_,_),(b,_,_,_),-,-,(b,_..)->(b,_,_),(_,b,_,_,_)");
    for (int32_t i = 0; alike && given && i < 3; i++)
        clv_rule_write(&t, "; qkv_hidden_sizes[%d]=h*d", i);
    return clv_writer_done(&t, ret, err);
}
