/* write_weights.c - operators whose weights have a layout of their own: experts, packed bits. */
#include <inttypes.h>

#include "graph/shape_tools.h"
#include "sharding/writers.h"

/* Axes that a normalisation goes over stay whole. */
clv_status clv_write_norm_axes(clv_rule_context *w, clv_str param, const char **ret)
{
    static const int64_t channels_kept[] = { 0, 2, 3 };
    clv_rule_writing t = { .arena = w->r->arena };
    int32_t rank = clv_type_rank(clv_rule_in(w->r, 0)), n = 3;
    const int64_t *axes = channels_kept;
    bool whole[CLV_RANK_MAX] = { false };
    (void)param;
    if (rank < 0)
        return clv_rule_keep_whole(w, "has an input of open shape: it is not split");
    (void)clv_rule_attr_ints(w->r, "axes", &axes, &n);
    for (int32_t i = 0; i < n; i++)
        if (axes[i] >= -(int64_t)rank && axes[i] < rank)
            whole[axes[i] < 0 ? axes[i] + rank : axes[i]] = true;
    for (int32_t side = 0; side < 2; side++) {
        clv_rule_write(&t, side ? "->(" : "(");
        for (int32_t i = 0; i < rank; i++)
            clv_rule_write(&t, "%sa%d%s", i ? "," : "", i, whole[i] ? "!" : "");
        clv_rule_write(&t, ")");
    }
    return clv_writer_done(w, &t, ret);
}

/* MatMulNBits: A [..., K], B [N, blocks, bytes], scales and zero points by block, in a matrix or in
 * one list. Zero points of several blocks share a byte, so blocks are only split without them. */
clv_status clv_write_nbits(clv_rule_context *w, clv_str param, const char **ret)
{
    clv_rule_writing t = { .arena = w->r->arena };
    int64_t depth = clv_rule_attr_int(w->r, "K", 0),
            block = clv_rule_attr_int(w->r, "block_size", 0);
    bool whole_blocks = block > 0 && depth % block == 0;
    const char *q = clv_rule_has_in(w->r, 3) || clv_rule_has_in(w->r, 4) ? "q!" : "q";
    (void)param;
    if (!whole_blocks)
        q = "_";
    clv_rule_write(&t, whole_blocks ? "(...,%s*b!),(n,%s,_)" : "(...,%s),(n,%s,_)", q, q);
    clv_rule_write(&t, clv_type_rank(clv_rule_in(w->r, 2)) == 1 ? ",(n*%s)" : ",(n,%s)", q);
    clv_rule_write(&t, clv_type_rank(clv_rule_in(w->r, 3)) == 1 ? ",(n*_)" : ",(n,_)");
    clv_rule_write(&t, ",-,(n):once->(...,n); N=n");
    if (whole_blocks)
        clv_rule_write(&t, "; K=q*b; block_size=b");
    return clv_writer_done(w, &t, ret);
}

/* MoE: e experts; weights [e, f*i, hidden] and [e, hidden, i], f 2 where gate and value stand in
 * one matrix, by turns or one after the other. In old files their last two dimensions are swapped.
 * The router's answer is whole on every device: an expert is chosen among all. */
clv_status clv_write_moe(clv_rule_context *w, clv_str param, const char **ret)
{
    clv_rule_writing t = { .arena = w->r->arena };
    const clv_type *in = clv_rule_in(w->r, 0), *first = clv_rule_in(w->r, 2),
                   *second = clv_rule_in(w->r, 4);
    bool flat = clv_type_rank(in) == 2, turned = clv_type_dim(first, 2) != clv_type_dim(in, -1);
    clv_dim rows = clv_type_dim(first, turned ? 2 : 1),
            inner = clv_type_dim(second, turned ? 1 : 2);
    (void)param;
    if (!clv_type_ranked(in) || !clv_dim_is_number(rows) || !clv_dim_is_number(inner) || inner < 1)
        return clv_rule_keep_whole(w, "has an open shape: it is not split");
    bool turns = clv_rule_attr_int(w->r, "swiglu_fusion", 0) == 1;
    bool twice = rows == clv_dim_mul(inner, 2);
    const char *i = rows == inner ? "i" : !twice ? "_" : turns ? "i*2" : "2*i";
    const char *j = rows == inner || twice ? "i" : "_";
    clv_rule_write(&t, flat ? "(t,h!),(t,_)" : "(b,s,h!),(b*s,_)");
    clv_rule_write(&t, turned ? ",(e:index,h!,%s),(e:index,%s)" : ",(e:index,%s,h!),(e:index,%s)",
                   i, i);
    clv_rule_write(
        &t, turned ? ",(e:index,%s,h!),(e:index,h!):once" : ",(e:index,h!,%s),(e:index,h!):once",
        j);
    clv_rule_write(&t, turned ? ",(e:index,h!,%s),(e:index,%s)" : ",(e:index,%s,h!),(e:index,%s)",
                   j, j);
    clv_rule_write(&t, flat ? "->(t,h!)" : "->(b,s,h!)");
    return clv_writer_done(w, &t, ret);
}
