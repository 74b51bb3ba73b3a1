/* rule_text.c - a recursive-descent reader over the text of a rule, in which blanks count for
 * nothing; and rules written down.
 */
#include "sharding/rule_text.h"

#include <ctype.h>

#include "sharding/rule_writer.h"

typedef struct {
    clv_str text;
    int32_t at;
    bool failed;
    clv_rule_text *rule;
} reader;

/* -- characters -- */

static void skip_blanks(reader *r)
{
    while (r->at < r->text.n && r->text.at[r->at] == ' ')
        r->at++;
}

static char peek(reader *r)
{
    skip_blanks(r);
    return r->at < r->text.n ? r->text.at[r->at] : '\0';
}

static bool skip(reader *r, const char *word)
{
    int32_t n = (int32_t)strlen(word);
    skip_blanks(r);
    if (r->text.n - r->at < n || memcmp(r->text.at + r->at, word, (size_t)n) != 0)
        return false;
    r->at += n;
    return true;
}

static void expect(reader *r, const char *word)
{
    if (!skip(r, word))
        r->failed = true;
}

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

static clv_str read_name(reader *r)
{
    skip_blanks(r);
    clv_str s = { r->text.at + r->at, 0 };
    while (r->at < r->text.n && is_name(r->text.at[r->at]))
        r->at++, s.n++;
    return s;
}

static int64_t read_number(reader *r)
{
    bool minus = skip(r, "-");
    int64_t n = 0;
    if (!isdigit((unsigned char)peek(r)))
        r->failed = true;
    while (r->at < r->text.n && isdigit((unsigned char)r->text.at[r->at])) {
        if (__builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, r->text.at[r->at] - '0', &n))
            n = 0, r->failed = true;
        r->at++;
    }
    return minus ? -n : n;
}

static int32_t read_small(reader *r)
{
    int64_t n = read_number(r);
    if (n < 0 || n > INT16_MAX)
        r->failed = true;
    return r->failed ? 0 : (int32_t)n;
}

/* -- terms -- */

static const struct {
    const char *name;
    clv_reduce reduce;
} reductions[] = {
    { ":sum", CLV_REDUCE_SUM },     { ":mean", CLV_REDUCE_MEAN }, { ":max", CLV_REDUCE_MAX },
    { ":min", CLV_REDUCE_MIN },     { ":prod", CLV_REDUCE_PROD }, { ":l2", CLV_REDUCE_L2 },
    { ":log", CLV_REDUCE_LOG_SUM },
};
enum { N_REDUCTIONS = (int)(sizeof reductions / sizeof reductions[0]) };

static void set_kind(clv_term *t, clv_factor_kind kind, clv_reduce reduce)
{
    t->given = true;
    t->kind = kind;
    t->reduce = reduce;
}

static void read_marks(reader *r, clv_term *t)
{
    while (!r->failed) {
        int i = 0;
        while (i < N_REDUCTIONS && !skip(r, reductions[i].name))
            i++;
        if (i < N_REDUCTIONS) {
            set_kind(t, CLV_FACTOR_REDUCED, reductions[i].reduce);
            t->even |= reductions[i].reduce == CLV_REDUCE_MEAN;
        } else if (skip(r, "!")) {
            set_kind(t, CLV_FACTOR_WHOLE, CLV_REDUCE_NONE);
        } else if (skip(r, "~")) {
            set_kind(t, CLV_FACTOR_HALO, CLV_REDUCE_NONE);
            t->before = read_number(r);
            expect(r, "+");
            t->after = read_number(r);
        } else if (skip(r, "%")) {
            t->granule = read_number(r);
            r->failed |= t->granule < 1;
        } else if (skip(r, ":index")) {
            set_kind(t, CLV_FACTOR_REDUCED, CLV_REDUCE_SUM);
            t->by_index = true;
        } else if (skip(r, ":any")) {
            set_kind(t, CLV_FACTOR_PARALLEL, CLV_REDUCE_NONE);
        } else if (skip(r, ":even")) {
            t->even = true;
        } else {
            return;
        }
    }
}

static void read_term(reader *r)
{
    clv_term *t = &r->rule->terms[r->rule->n_terms++];
    *t = (clv_term){ .granule = 1 };
    if (skip(r, "...")) {
        t->name = (clv_str){ ".", 1 };
        t->run = true;
    } else if (isdigit((unsigned char)peek(r))) {
        t->number = read_number(r);
        t->run = skip(r, "..");
    } else {
        t->name = read_name(r);
        r->failed |= t->name.n == 0 || t->name.n >= (int32_t)sizeof((clv_factor *)0)->name - 2;
        if (clv_str_is(t->name, "_"))
            t->name = (clv_str){ NULL, 0 };
        t->run = skip(r, "..");
    }
    read_marks(r, t);
}

static void read_product(reader *r, int32_t *ret_first, int32_t *ret_n)
{
    *ret_first = r->rule->n_terms;
    do
        read_term(r);
    while (!r->failed && skip(r, "*"));
    *ret_n = r->rule->n_terms - *ret_first;
    for (int32_t i = *ret_first; *ret_n > 1 && i < r->rule->n_terms; i++)
        r->failed |= r->rule->terms[i].run;
}

/* -- operands -- */

static void read_operand(reader *r, clv_operand_text *o)
{
    *o = (clv_operand_text){ 0 };
    if (peek(r) == '-') {
        r->at++;
        o->whole = true;
        return;
    }
    o->first = r->rule->n_dims;
    expect(r, "(");
    while (!r->failed && !skip(r, ")")) {
        clv_dim_text *d = &r->rule->dims[r->rule->n_dims++];
        read_product(r, &d->first, &d->n);
        if (peek(r) != ')')
            expect(r, ",");
    }
    o->n = r->rule->n_dims - o->first;
    while (!r->failed) {
        if (skip(r, "^")) {
            o->transposed = read_name(r);
            r->failed |= o->n < 2;
        } else if (skip(r, ":once")) {
            o->once = true;
        } else if (skip(r, ":broadcast")) {
            o->broadcast = true;
        } else {
            return;
        }
    }
}

/* "*" after the last: it repeats; "*3": the last three do. */
static int32_t read_operands(reader *r, int32_t *ret_n)
{
    int32_t first = r->rule->n_in, n = 0;
    bool arrow = r->text.n - r->at >= 2 && r->text.at[r->at] == '-' && r->text.at[r->at + 1] == '>';
    *ret_n = 0;
    if (arrow)
        return 0;
    do {
        read_operand(r, &r->rule->operands[first + n++]);
        if (!r->failed && skip(r, "*")) {
            int32_t repeat = isdigit((unsigned char)peek(r)) ? read_small(r) : 1;
            r->failed |= repeat < 1 || repeat > n;
            *ret_n = n;
            return repeat;
        }
    } while (!r->failed && skip(r, ","));
    *ret_n = n;
    return 0;
}

/* -- notes -- */

static clv_source read_source(reader *r)
{
    clv_source s = { .at = -1, .in = -1 };
    if (skip(r, "#")) {
        s.kind = CLV_FROM_INPUT;
        s.in = read_small(r);
        if (skip(r, "[")) {
            s.at = read_small(r);
            expect(r, "]");
        }
    } else if (skip(r, "last#")) {
        s.kind = CLV_FROM_LAST_DIM;
        s.in = read_small(r);
    } else if (isdigit((unsigned char)peek(r)) || peek(r) == '-') {
        s.kind = CLV_FROM_NUMBER;
        s.number = read_number(r);
    } else {
        s.kind = CLV_FROM_ATTR;
        s.attr = read_name(r);
        r->failed |= s.attr.n == 0;
        if (skip(r, "[")) {
            s.at = read_small(r);
            expect(r, "]");
        }
    }
    if (skip(r, "?")) {
        s.otherwise = true;
        s.number = read_number(r);
    }
    return s;
}

static bool read_run_note(reader *r, clv_note *note)
{
    int32_t before = r->at;
    note->run = read_name(r);
    if (!skip(r, "..")) {
        r->at = before;
        return false;
    }
    note->kind = CLV_NOTE_RUN;
    expect(r, "=");
    note->from = read_source(r);
    note->of_output = skip(r, "@out");
    return true;
}

static void read_note(reader *r)
{
    if (skip(r, "constant")) {
        r->rule->by_shape = true;
        return;
    }
    clv_note *note = &r->rule->notes[r->rule->n_notes++];
    *note = (clv_note){ 0 };
    if (read_run_note(r, note))
        return;
    note->from = read_source(r);
    expect(r, "=");
    if (skip(r, "shape")) {
        note->kind = CLV_NOTE_SHAPE;
        r->failed |= note->from.kind != CLV_FROM_INPUT && note->from.kind != CLV_FROM_ATTR;
    } else if (skip(r, "pad ")) {
        note->kind = CLV_NOTE_NO_PAD;
        read_product(r, &note->first, &note->n);
    } else {
        note->kind = CLV_NOTE_SIZE;
        read_product(r, &note->first, &note->n);
    }
}

static size_t count(clv_str s, const char *of)
{
    size_t n = 0;
    for (int32_t i = 0; i < s.n; i++)
        n += strchr(of, s.at[i]) != NULL;
    return n;
}

clv_status clv_rule_text_read(clv_str body, clv_arena *arena, clv_rule_text *ret, clv_error *err)
{
    /* What a thing begins with or ends in, so that there is room for all of them. */
    size_t terms = count(body, "(,*=") + 1, dims = count(body, "(,") + 1;
    size_t operands = count(body, ")-") + 2, notes = count(body, ";") + 1;
    reader r = { .text = body, .rule = ret };
    *ret = (clv_rule_text){ .terms = CLV_NEW_ARRAY(arena, clv_term, terms),
                            .dims = CLV_NEW_ARRAY(arena, clv_dim_text, dims),
                            .operands = CLV_NEW_ARRAY(arena, clv_operand_text, operands),
                            .notes = CLV_NEW_ARRAY(arena, clv_note, notes) };
    if (!ret->terms || !ret->dims || !ret->operands || !ret->notes)
        return clv_fail_nomem(err, "a sharding rule");
    int32_t n = 0;
    skip_blanks(&r);
    ret->repeat_in = read_operands(&r, &n);
    ret->n_in = n;
    expect(&r, "->");
    if (!r.failed)
        ret->repeat_out = read_operands(&r, &ret->n_out);
    while (!r.failed && skip(&r, ";"))
        read_note(&r);
    if (!r.failed && peek(&r) == '\0')
        return CLV_OK;
    return clv_fail(err, CLV_EINTERNAL, "sharding rule '%.*s' cannot be read from '%.*s' on",
                    CLV_STR_ARG(body), (int)(body.n - r.at), body.at + r.at);
}

/* -- cases -- */

static clv_str trimmed(const char *at, int32_t n)
{
    while (n > 0 && *at == ' ')
        at++, n--;
    while (n > 0 && at[n - 1] == ' ')
        n--;
    return (clv_str){ at, n };
}

static int32_t find(clv_str s, char c)
{
    for (int32_t i = 0; i < s.n; i++)
        if (s.at[i] == c)
            return i;
    return -1;
}

bool clv_case_next(clv_str *rest, clv_str *ret_when, clv_str *ret_body)
{
    if (rest->n == 0)
        return false;
    int32_t bar = find(*rest, '|');
    clv_str one = trimmed(rest->at, bar < 0 ? rest->n : bar);
    *ret_when = (clv_str){ NULL, 0 };
    if (one.n > 0 && one.at[0] == '[') {
        int32_t close = find(one, ']');
        if (close < 0)
            return false;
        *ret_when = trimmed(one.at + 1, close - 1);
        one = trimmed(one.at + close + 1, one.n - close - 1);
    }
    *ret_body = one;
    *rest = bar < 0 ? (clv_str){ NULL, 0 } : (clv_str){ rest->at + bar + 1, rest->n - bar - 1 };
    return true;
}

bool clv_case_is_whole(clv_str *body)
{
    static const char whole[] = "whole: ";
    const int32_t n = (int32_t)sizeof whole - 1;
    if (body->n < n || memcmp(body->at, whole, (size_t)n) != 0)
        return false;
    *body = (clv_str){ body->at + n, body->n - n };
    return true;
}

bool clv_case_is_written(clv_str body, clv_str *ret_name, clv_str *ret_param)
{
    if (body.n == 0 || body.at[0] != '=')
        return false;
    int32_t colon = find(body, ':'), end = colon < 0 ? body.n : colon;
    *ret_name = (clv_str){ body.at + 1, end - 1 };
    *ret_param =
        colon < 0 ? (clv_str){ NULL, 0 } : (clv_str){ body.at + colon + 1, body.n - colon - 1 };
    return true;
}

static void read_compared(reader *r, clv_when *w)
{
    w->below = skip(r, "<");
    w->compares = w->below || skip(r, "=");
    if (!w->compares)
        return;
    char c = peek(r);
    w->is_number = isdigit((unsigned char)c) || c == '-';
    if (w->is_number)
        w->number = read_number(r);
    else
        w->word = read_name(r);
    r->failed |= !w->is_number && (w->word.n == 0 || w->below);
}

/* "r0", "out1": a letter or word and a number; else it is an attribute's name. */
static bool read_numbered(reader *r, const char *word, int32_t *ret)
{
    int32_t before = r->at;
    if (skip(r, word) && isdigit((unsigned char)peek(r))) {
        *ret = read_small(r);
        if (r->at >= r->text.n || !is_name(r->text.at[r->at]))
            return true;
    }
    r->at = before;
    return false;
}

bool clv_when_next(clv_str *rest, clv_when *ret, bool *ret_ok)
{
    if (rest->n == 0)
        return false;
    int32_t comma = find(*rest, ',');
    reader r = { .text = { rest->at, comma < 0 ? rest->n : comma } };
    *rest =
        comma < 0 ? (clv_str){ NULL, 0 } : (clv_str){ rest->at + comma + 1, rest->n - comma - 1 };
    *ret = (clv_when){ .negated = skip(&r, "!") };
    if (skip(&r, "v<")) {
        ret->kind = CLV_WHEN_VERSION;
        ret->number = read_number(&r);
    } else if (skip(&r, "#")) {
        ret->kind = CLV_WHEN_IN;
        ret->in = read_small(&r);
    } else if (read_numbered(&r, "out", &ret->in)) {
        ret->kind = CLV_WHEN_OUT;
    } else if (read_numbered(&r, "r", &ret->in)) {
        ret->kind = CLV_WHEN_RANK;
        expect(&r, "=");
        ret->number = read_number(&r);
    } else {
        ret->kind = CLV_WHEN_ATTR;
        ret->attr = read_name(&r);
        r.failed |= ret->attr.n == 0;
        ret->has_otherwise = skip(&r, "?");
        if (ret->has_otherwise)
            ret->otherwise = read_number(&r);
        read_compared(&r, ret);
    }
    *ret_ok = !r.failed && peek(&r) == '\0';
    return true;
}

/* -- the factors that a text names -- */

static bool same_name(const clv_term *a, const clv_term *b)
{
    return a->run == b->run && clv_str_eq(a->name, b->name);
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
        int32_t k = 0;
        while (k < n && !same_name(&ret[k], t))
            k++;
        if (t->name.n == 0)
            continue;
        if (k == n) {
            ret[n++] = *t;
            continue;
        }
        if (t->given) {
            ret[k].given = true;
            ret[k].kind = t->kind;
            ret[k].reduce = t->reduce;
            ret[k].before = t->before;
            ret[k].after = t->after;
        }
        ret[k].even |= t->even;
        ret[k].by_index |= t->by_index;
        ret[k].granule = t->granule > ret[k].granule ? t->granule : ret[k].granule;
    }
    for (int32_t i = 0; i < n; i++)
        if (!ret[i].given && !in_outputs(text, &ret[i])) {
            ret[i].kind = CLV_FACTOR_REDUCED;
            ret[i].reduce = CLV_REDUCE_SUM;
        }
    return n;
}

/* -- a resolved rule -- */

static void show_operands(clv_rule_writing *t, const clv_factors *f, const clv_operand_factors *o,
                          int32_t n)
{
    for (int32_t k = 0; k < n; k++) {
        clv_rule_write(t, k ? ",(" : "(");
        for (int32_t i = 0; i < o[k].rank; i++) {
            const clv_dim_factors *d = &o[k].dims[i];
            clv_rule_write(t, i ? "," : "");
            for (int32_t j = 0; j < d->n; j++) {
                const clv_factor *one = &f->factors[d->at[j]];
                clv_rule_write(t, j ? "*" : "");
                if (one->name[0] == '_') /* a number of the rule */
                    clv_rule_write(t, "%lld", (long long)one->size);
                else
                    clv_rule_write(t, "%s%s", one->name, one->kind == CLV_FACTOR_WHOLE ? "!" : "");
            }
            clv_rule_write(t, d->n ? "" : "_");
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
