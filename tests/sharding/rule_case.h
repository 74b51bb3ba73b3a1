/* rule_case.h - the rule of one operator, resolved and written as one line.
 *
 *     rule(13, "MatMul", "float[4,8] float[8,6]", "", "o", "(m,k),(k,n)->(m,n); m=4 k=8:sum n=6");
 *
 * Marks are those of the rules: "!" whole, "~1+1" halo, ":sum" reduced; "+" behind an operand that
 * is added once. Where the operator stays whole the line is the reason.
 */
#ifndef CLV_TESTS_SHARDING_RULE_TEXT_H
#define CLV_TESTS_SHARDING_RULE_TEXT_H

#include "graph/op_case.h"
#include "sharding/factors.h"
#include "support/resolve_one.h"

static const char *const reduce_words[] = { "",     ":sum",  ":mean", ":max",
                                            ":min", ":prod", ":l2",   ":log" };

typedef struct {
    char at[4096];
    size_t n;
} text_buffer;

__attribute__((format(printf, 2, 3))) static void add(text_buffer *b, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    b->n += (size_t)vsnprintf(b->at + b->n, sizeof b->at - b->n, fmt, args);
    va_end(args);
    cr_assert(b->n < sizeof b->at);
}

static void add_product(text_buffer *b, const clv_factors *f, const clv_dim_factors *d)
{
    for (int32_t i = 0; i < d->n; i++) {
        const clv_factor *one = &f->factors[d->at[i]];
        if (one->name[0] == '_') /* a number of the rule */
            add(b, "%s%lld", i ? "*" : "", (long long)one->size);
        else
            add(b, "%s%s", i ? "*" : "", one->name);
    }
    add(b, "%s", d->n ? "" : "_");
}

static void add_operands(text_buffer *b, const clv_factors *f, const clv_operand_factors *o,
                         int32_t n)
{
    for (int32_t k = 0; k < n; k++) {
        add(b, "%s(", k ? "," : "");
        for (int32_t i = 0; i < o[k].rank; i++) {
            add(b, "%s", i ? "," : "");
            add_product(b, f, &o[k].dims[i]);
        }
        add(b, ")%s", o[k].once ? "+" : "");
    }
}

static void add_factors(text_buffer *b, const clv_factors *f)
{
    const char *before = "; ";
    for (int32_t i = 0; i < f->n_factors; i++) {
        const clv_factor *one = &f->factors[i];
        if (one->name[0] == '_')
            continue;
        add(b, "%s%s=%lld%s%s", before, one->name, (long long)one->size,
            one->kind == CLV_FACTOR_WHOLE ? "!" : "",
            one->kind == CLV_FACTOR_REDUCED ? reduce_words[one->reduce] : "");
        if (one->kind == CLV_FACTOR_HALO)
            add(b, "~%lld+%lld", (long long)one->before, (long long)one->after);
        if (one->granule > 1)
            add(b, "%%%d", (int)one->granule);
        add(b, "%s%s", one->by_index ? ":index" : "", one->even ? ":even" : "");
        before = " ";
    }
    for (int32_t i = 0; i < f->n_local; i++) {
        const clv_local *l = &f->local[i];
        add(b, "; ");
        if (l->attr)
            add(b, "%s", l->attr);
        else
            add(b, "#%d", l->in);
        if (l->at >= 0)
            add(b, "[%d]", l->at);
        add(b, "=%s", l->zero ? "pad " : "");
        add_product(b, f, &l->of);
    }
}

/* Resolves the one operator of an inferred case. */
static clv_status resolve_case(const clv_inference *found, clv_arena *arena, clv_factors *f,
                               clv_error *err)
{
    return resolve_one(found->main, (clv_op){ 0 }, arena, f, err);
}

static void show_rule(const clv_factors *f, text_buffer *b)
{
    b->n = 0;
    if (f->why_whole) {
        add(b, "%s", f->why_whole);
        return;
    }
    add_operands(b, f, f->in, f->n_in);
    add(b, "->");
    add_operands(b, f, f->out, f->n_out);
    add_factors(b, f);
}

__attribute__((unused)) static void rule_in(const char *domain, int opset, const char *type,
                                            const char *inputs, const char *attrs,
                                            const char *outputs, const char *expected)
{
    op_case c;
    clv_factors f;
    text_buffer b;
    clv_error err = { .status = CLV_OK };
    clv_inference *found = NULL;
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_status status =
        case_run(&c, arena, domain, opset, type, inputs, attrs, outputs, &found, &err);
    cr_assert_eq(status, CLV_OK, "%s(%s) %s: %s", type, inputs, attrs, err.message);
    cr_assert_eq(resolve_case(found, arena, &f, &err), CLV_OK, "%s: %s", type, err.message);
    show_rule(&f, &b);
    cr_expect_str_eq(b.at, expected, "%s(%s) %s: got\n    %s, expected\n    %s", type, inputs,
                     attrs, b.at, expected);
    clv_arena_free(arena);
}

__attribute__((unused)) static void rule(int opset, const char *type, const char *inputs,
                                         const char *attrs, const char *outputs,
                                         const char *expected)
{
    rule_in("", opset, type, inputs, attrs, outputs, expected);
}

#endif
