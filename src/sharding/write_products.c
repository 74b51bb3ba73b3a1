/* write_products.c - products: Einsum; MatMulNBits, whose weights are packed bits; experts. */
#include "sharding/write_products.h"

#include <ctype.h>

#include "graph/shape_tools.h"

/* -- Einsum: an equation is a rule already: ij,jk->ik is (i,j),(j,k)->(i,k). A label that one
 * operand has twice is its diagonal, and stays whole. -- */

#define N_LABELS 128 /* ASCII */

typedef struct {
    int32_t count[N_LABELS]; /* in all operands together */
    bool twice[N_LABELS];    /* in one */
    bool ellipsis;
} labels;

static bool is_label(char c) { return isascii(c) && isalpha((unsigned char)c); }

static void count_labels(clv_str inputs, labels *l)
{
    bool seen[N_LABELS] = { false };
    for (int32_t i = 0; i < inputs.n; i++) {
        char c = inputs.at[i];
        if (c == ',')
            memset(seen, 0, sizeof seen);
        l->ellipsis |= c == '.';
        if (!is_label(c))
            continue;
        l->count[(int)c]++;
        l->twice[(int)c] |= seen[(int)c];
        seen[(int)c] = true;
    }
}

/* "(i,...,k)" of one term; upper and lower case are different factors. */
static bool print_term(clv_rule_writing *t, clv_str term, const labels *l)
{
    int32_t n = 0;
    clv_rule_write(t, "(");
    for (int32_t i = 0; i < term.n; i++) {
        char c = term.at[i];
        if (c == ' ')
            continue;
        clv_rule_write(t, n++ ? "," : "");
        if (is_label(c)) {
            clv_rule_write(t, "%c%s", c, l->twice[(int)c] ? "!" : "");
        } else if (c == '.' && i + 2 < term.n && term.at[i + 1] == '.' && term.at[i + 2] == '.') {
            clv_rule_write(t, "...");
            i += 2;
        } else {
            return false;
        }
    }
    clv_rule_write(t, ")");
    return true;
}

static bool print_inputs(clv_rule_writing *t, clv_str inputs, const labels *l)
{
    int32_t from = 0;
    for (int32_t i = 0; i <= inputs.n; i++) {
        if (i < inputs.n && inputs.at[i] != ',')
            continue;
        clv_rule_write(t, from ? "," : "");
        if (!print_term(t, (clv_str){ inputs.at + from, i - from }, l))
            return false;
        from = i + 1;
    }
    clv_rule_write(t, "->");
    return true;
}

clv_status clv_write_einsum(clv_rule_context *w, clv_str param, const char **ret, clv_error *err)
{
    clv_str equation = clv_rule_attr_str(w->r, "equation", "");
    clv_rule_writing t = { .arena = w->r->arena };
    labels l = { .ellipsis = false };
    int32_t arrow = -1;
    (void)param;
    for (int32_t i = 0; i + 1 < equation.n && arrow < 0; i++)
        if (equation.at[i] == '-' && equation.at[i + 1] == '>')
            arrow = i;
    clv_str inputs = { equation.at, arrow < 0 ? equation.n : arrow };
    count_labels(inputs, &l);
    bool ok = equation.n > 0 && print_inputs(&t, inputs, &l);
    if (ok && arrow < 0) { /* the "...", then by letter those that occur once */
        int32_t n = 0;
        clv_rule_write(&t, "(");
        if (l.ellipsis)
            clv_rule_write(&t, "%s", n++ ? "," : "...");
        for (char c = 'A'; c <= 'z'; c++)
            if (l.count[(int)c] == 1)
                clv_rule_write(&t, "%s%c", n++ ? "," : "", c);
        clv_rule_write(&t, ")");
    } else if (ok)
        ok = print_term(&t, (clv_str){ equation.at + arrow + 2, equation.n - arrow - 2 }, &l);
    if (!ok)
        return clv_rule_keep_whole(w, "has an equation that is not letters and \"...\"", err);
    return clv_writer_done(&t, ret, err);
}

/* -- operators whose weights have a layout of their own -- */

/* MatMulNBits: A [..., K], B [N, blocks, bytes], scales and zero points by block, in a matrix or in
 * one list. Zero points of several blocks share a byte, so blocks are only split without them. */
clv_status clv_write_nbits(clv_rule_context *w, clv_str param, const char **ret, clv_error *err)
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
    return clv_writer_done(&t, ret, err);
}

/* MoE: e experts; weights [e, f*i, hidden] and [e, hidden, i], f 2 where gate and value stand in
 * one matrix, by turns or one after the other. In old files their last two dimensions are swapped.
 * The router's answer is whole on every device: an expert is chosen among all. */
clv_status clv_write_moe(clv_rule_context *w, clv_str param, const char **ret, clv_error *err)
{
    clv_rule_writing t = { .arena = w->r->arena };
    const clv_type *in = clv_rule_in(w->r, 0), *first = clv_rule_in(w->r, 2),
                   *second = clv_rule_in(w->r, 4);
    bool flat = clv_type_rank(in) == 2, turned = clv_type_dim(first, 2) != clv_type_dim(in, -1);
    clv_dim rows = clv_type_dim(first, turned ? 2 : 1),
            inner = clv_type_dim(second, turned ? 1 : 2);
    (void)param;
    if (!clv_type_ranked(in) || !clv_dim_is_number(rows) || !clv_dim_is_number(inner) || inner < 1)
        return clv_rule_keep_whole(w, "has an open shape: it is not split", err);
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
    return clv_writer_done(&t, ret, err);
}
