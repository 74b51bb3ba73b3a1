/* describe.c - the factors that the text of a rule names, for whoever asks what is supported, and
 * the rule of one operator as a text.
 */
#include "sharding/rule_text.h"

#include "sharding/resolve.h"

static bool same_name(const clv_term *a, const clv_term *b)
{
    return a->run == b->run && clv_str_eq(a->name, b->name);
}

static void join_marks(clv_term *to, const clv_term *from)
{
    if (from->given) {
        to->given = true;
        to->kind = from->kind;
        to->reduce = from->reduce;
        to->before = from->before;
        to->after = from->after;
    }
    to->even |= from->even;
    to->by_index |= from->by_index;
    to->granule = from->granule > to->granule ? from->granule : to->granule;
}

static clv_term *find(clv_term *list, int32_t n, const clv_term *t)
{
    for (int32_t i = 0; i < n; i++)
        if (same_name(&list[i], t))
            return &list[i];
    return NULL;
}

static bool in_outputs(const clv_rule_text *text, const clv_term *t)
{
    for (int32_t k = text->n_in; k < text->n_in + text->n_out; k++) {
        const clv_operand_text *o = &text->operands[k];
        for (int32_t i = o->first; i < o->first + o->n; i++)
            for (int32_t j = 0; j < text->dims[i].n; j++)
                if (same_name(&text->terms[text->dims[i].first + j], t))
                    return true;
    }
    return false;
}

int32_t clv_rule_text_factors(const clv_rule_text *text, clv_term *ret)
{
    int32_t n = 0;
    for (int32_t i = 0; i < text->n_terms; i++) {
        const clv_term *t = &text->terms[i];
        clv_term *known = t->name.n > 0 ? find(ret, n, t) : NULL;
        if (known)
            join_marks(known, t);
        else if (t->name.n > 0)
            ret[n++] = *t;
    }
    for (int32_t i = 0; i < n; i++)
        if (!ret[i].given && !in_outputs(text, &ret[i])) {
            ret[i].kind = CLV_FACTOR_REDUCED;
            ret[i].reduce = CLV_REDUCE_SUM;
        }
    return n;
}

/* -- a resolved rule -- */

static void show_dim(clv_rule_writing *t, const clv_factors *f, const clv_dim_factors *d)
{
    for (int32_t i = 0; i < d->n; i++) {
        const clv_factor *one = &f->factors[d->at[i]];
        if (i > 0)
            clv_rule_write(t, "*");
        if (one->name[0] == '_') /* a number of the rule */
            clv_rule_write(t, "%lld", (long long)one->size);
        else
            clv_rule_write(t, "%s%s", one->name, one->kind == CLV_FACTOR_WHOLE ? "!" : "");
    }
    if (d->n == 0)
        clv_rule_write(t, "_");
}

static void show_operands(clv_rule_writing *t, const clv_factors *f, const clv_operand_factors *o,
                          int32_t n)
{
    for (int32_t k = 0; k < n; k++) {
        clv_rule_write(t, k ? ",(" : "(");
        for (int32_t i = 0; i < o[k].rank; i++) {
            if (i > 0)
                clv_rule_write(t, ",");
            show_dim(t, f, &o[k].dims[i]);
        }
        clv_rule_write(t, ")");
    }
}

const char *clv_factors_show(const clv_factors *f, clv_arena *arena)
{
    clv_rule_writing t = { .arena = arena };
    show_operands(&t, f, f->in, f->n_in);
    clv_rule_write(&t, "->");
    show_operands(&t, f, f->out, f->n_out);
    return t.failed ? NULL : t.at;
}
