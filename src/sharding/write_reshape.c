/* write_reshape.c - Reshape and its like: the same elements in the same order, other dimensions.
 *
 * Both shapes are read from the outermost dimension on, and what they have in common becomes a
 * factor: (6,4) -> (2,3,4) is (f0*f1,f2)->(f0,f1,f2). Where two dimensions share no divisor, as in
 * (3,4) -> (4,3), everything stays whole until both sides have gone through as many elements.
 */
#include "sharding/write_reshape.h"

#include <inttypes.h>

#include "graph/shape_tools.h"

/* Each dimension ends once; each factor ends one on at least one side. */
#define TERMS_MAX (4 * CLV_RANK_MAX)

typedef struct {
    const clv_dim *dims;
    int32_t n, at; /* at: the dimension that is being taken apart */
    int64_t left;  /* of it, not yet in factors */
    struct {
        int32_t dim, factor; /* factor -1: whole, of that size; 0 for unknown */
        int64_t size;
    } terms[TERMS_MAX];
    int32_t n_terms;
} side;

static void find_next_dim(side *s)
{
    while (s->at < s->n && s->dims[s->at] == 1)
        s->at++;
    s->left = s->at < s->n ? s->dims[s->at] : 1;
}

static void add_term(side *s, int32_t factor, int64_t size)
{
    s->terms[s->n_terms].dim = s->at;
    s->terms[s->n_terms].factor = factor;
    s->terms[s->n_terms++].size = size;
    s->left /= size;
    if (s->left == 1) {
        s->at++;
        find_next_dim(s);
    }
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* What is left of this dimension, and further ones, whole; false: no more dimensions. */
static bool add_whole_term(side *s, int64_t *product)
{
    if (s->at >= s->n || !clv_dim_is_number(s->dims[s->at]) ||
        __builtin_mul_overflow(*product, s->left, product))
        return false;
    add_term(s, -1, s->left);
    return true;
}

/* False: from here on nothing can be said. */
static bool match_next(side *a, side *b, int32_t *n_factors)
{
    clv_dim da = a->dims[a->at], db = b->dims[b->at];
    if (!clv_dim_is_number(da) || !clv_dim_is_number(db)) {
        if (da != db || !clv_dim_is_symbol(da) || a->left != da || b->left != db)
            return false;
        add_term(a, *n_factors, da);
        add_term(b, (*n_factors)++, db);
        return true;
    }
    int64_t common = common_divisor(a->left, b->left);
    if (common > 1) {
        add_term(a, *n_factors, common);
        add_term(b, (*n_factors)++, common);
        return true;
    }
    int64_t through_a = 1, through_b = 1;
    do
        if (!(through_a <= through_b ? add_whole_term(a, &through_a)
                                     : add_whole_term(b, &through_b)))
            return false;
    while (through_a != through_b);
    return true;
}

static bool has_zero(const clv_type *t)
{
    for (int32_t i = 0; i < t->rank; i++)
        if (t->dims[i] == 0)
            return true;
    return false;
}

static void write_side(clv_rule_writing *t, const side *s, const char *mark)
{
    int32_t term = 0;
    clv_rule_write(t, "(");
    for (int32_t i = 0; i < s->n; i++) {
        int32_t n = 0;
        clv_rule_write(t, i ? "," : "");
        for (; term < s->n_terms && s->terms[term].dim == i; term++, n++)
            if (s->terms[term].factor >= 0)
                clv_rule_write(t, "%sf%d%s", n ? "*" : "", s->terms[term].factor, mark);
            else
                clv_rule_write(t, "%s%" PRId64, n ? "*" : "", s->terms[term].size);
        bool rest = s->at == i && s->left != 1;
        clv_rule_write(t, rest && n ? "*_" : !n ? "_" : "");
    }
    clv_rule_write(t, ")");
}

/* param: the input that is the wanted shape, "#1"; or "ones": each dimension of 1 goes, so a part
 * must not be 1 and is a multiple of 2. */
clv_status clv_write_reshape(clv_rule_context *w, clv_str param, const char **ret, clv_error *err)
{
    const clv_type *in = clv_rule_in(w->r, 0), *out = clv_rule_out_type(w, 0);
    clv_rule_writing t = { .arena = w->r->arena };
    bool ones = clv_str_is(param, "ones");
    int32_t n_factors = 0;
    if (!clv_type_ranked(in) || !clv_type_ranked(out))
        return clv_rule_keep_whole(w, "has an open shape: it is not split", err);
    side a = { .dims = in->dims, .n = in->rank }, b = { .dims = out->dims, .n = out->rank };
    if (has_zero(in) || has_zero(out))
        return clv_rule_keep_whole(w, "has no elements: there is nothing to split", err);
    find_next_dim(&a);
    find_next_dim(&b);
    while (a.at < a.n && b.at < b.n && match_next(&a, &b, &n_factors))
        continue;
    write_side(&t, &a, ones ? "%2" : "");
    clv_writer_other_inputs(&t, w);
    clv_rule_write(&t, "->");
    write_side(&t, &b, "");
    for (int32_t i = 0; i < a.n_terms; i++)
        if (a.terms[i].factor >= 0 && clv_dim_is_number(a.terms[i].size))
            clv_rule_write(&t, "; %" PRId64 "=f%d", a.terms[i].size, a.terms[i].factor);
    if (param.n > 0 && !ones)
        clv_rule_write(&t, "; %.*s=shape; shape=shape", CLV_STR_ARG(param));
    return clv_writer_done(&t, ret, err);
}
