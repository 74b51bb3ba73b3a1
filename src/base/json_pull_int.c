/* json_pull_int.c - a fast path for what files are full of, plain digits that lie in the buffer as
 * a whole, and a slow one for all that JSON allows. */
#include "base/json_pull_int.h"

#include <string.h>

#include "base/units.h"

/* 10^19 - 1 fits 64 bits without a sign, so so many digits need no check on the way. */
#define DIGITS_MAX 19
/* A number that begins so far before the end of the buffer lies in it, if it has DIGITS_MAX. */
#define FAST_ROOM (DIGITS_MAX + 1)
/* No exponent counts further; the text before it is much shorter. */
#define EXPONENT_MAX INT64_C(1000000000000000)

typedef struct {
    uint64_t digits;         /* without the zeros at the end */
    int32_t n_digits;        /* of digits */
    int64_t zeros;           /* behind digits, not yet part of them */
    int64_t exponent;        /* the number is digits * 10^(zeros + exponent) */
    bool negative, long_one; /* long_one: more digits than digits can have */
    char text[32];           /* for messages, cut */
    size_t n_text;
} number;

/* The character at j->at is part of the number: on to the next. */
static int next_char(clv_json_pull *j, number *v)
{
    if (v->n_text + 1 < sizeof v->text)
        v->text[v->n_text++] = (char)*j->at;
    j->at++;
    return clv_pull_char(j);
}

static void add_digit(number *v, int digit)
{
    if (digit == 0) {
        v->zeros += v->n_digits > 0;
        return;
    }
    v->long_one |= v->zeros >= DIGITS_MAX - v->n_digits;
    if (v->long_one) {
        v->zeros = 0;
        return;
    }
    for (; v->zeros >= 0; v->zeros--, v->n_digits++)
        v->digits *= 10;
    v->zeros = 0;
    v->digits += (uint64_t)digit;
}

static clv_status read_exponent(clv_json_pull *j, number *v, clv_error *err)
{
    int64_t exponent = 0;
    int c = next_char(j, v);
    bool negative = c == '-';
    if (c == '-' || c == '+')
        c = next_char(j, v);
    if (!clv_pull_is_digit(c))
        return clv_pull_syntax(j, "a digit", err);
    for (; clv_pull_is_digit(c); c = next_char(j, v))
        exponent = exponent < EXPONENT_MAX / 10 ? exponent * 10 + (c - '0') : EXPONENT_MAX;
    v->exponent += negative ? -exponent : exponent;
    return CLV_OK;
}

static clv_status read_number(clv_json_pull *j, number *v, clv_error *err)
{
    int c = clv_pull_peek(j);
    v->negative = c == '-';
    if (c == '-')
        c = next_char(j, v);
    if (!clv_pull_is_digit(c))
        return clv_pull_syntax(j, "a digit", err);
    if (c == '0') {
        c = next_char(j, v);
        if (clv_pull_is_digit(c))
            return clv_pull_syntax(j, "no digit after a leading 0", err);
    }
    for (; clv_pull_is_digit(c); c = next_char(j, v))
        add_digit(v, c - '0');
    if (c == '.') {
        c = next_char(j, v);
        if (!clv_pull_is_digit(c))
            return clv_pull_syntax(j, "a digit", err);
        for (; clv_pull_is_digit(c); c = next_char(j, v), v->exponent--)
            add_digit(v, c - '0');
    }
    return c == 'e' || c == 'E' ? read_exponent(j, v, err) : CLV_OK;
}

/* Is it whole, and within 64 bits? */
static bool value_of(const number *v, int64_t *ret)
{
    uint64_t size = v->digits, most = (uint64_t)INT64_MAX + v->negative;
    int64_t tens = v->zeros + v->exponent;
    if (size == 0) {
        *ret = 0;
        return true;
    }
    if (v->long_one || tens < 0 || tens >= DIGITS_MAX)
        return false;
    for (; tens > 0; tens--) {
        if (size > most / 10)
            return false;
        size *= 10;
    }
    if (size > most)
        return false;
    *ret = v->negative ? (int64_t)(0 - size) : (int64_t)size;
    return true;
}

clv_status clv_json_pull_int(clv_json_pull *j, int64_t low, int64_t high, int64_t *ret,
                             clv_error *err)
{
    number v = { 0 };
    char range[80];
    int64_t value;
    int c = clv_pull_peek(j);
    if (c != '-' && !clv_pull_is_digit(c))
        return clv_pull_wrong_kind(j, clv_show_range(range, low, high), err);
    CLV_TRY(read_number(j, &v, err));
    if (value_of(&v, &value) && value >= low && value <= high) {
        *ret = value;
        return CLV_OK;
    }
    if (v.n_text == sizeof v.text - 1)
        memcpy(v.text + sizeof v.text - 4, "...", 4);
    return clv_pull_wrong(j, v.text, clv_show_range(range, low, high), err);
}

/* The number at p, where FAST_ROOM bytes can be read: NULL if it is not plain digits and then a
 * comma, a bracket or a space; else what is behind it. */
static inline const unsigned char *read_plain_int(const unsigned char *p, int64_t *ret)
{
    const unsigned char *first = p;
    uint64_t value = 0;
    while (clv_pull_is_digit(*p) && p - first < DIGITS_MAX)
        value = value * 10 + (uint64_t)(*p++ - '0');
    bool plain = p > first && (*first != '0' || p - first == 1) && value <= INT64_MAX;
    if (!plain || (*p != ',' && *p != ']' && *p != ' ' && *p != '\n'))
        return NULL;
    *ret = (int64_t)value;
    return p;
}

/* Past the space at p. */
static inline const unsigned char *skip_space(clv_json_pull *j, const unsigned char *p)
{
    for (; p < j->end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'); p++) {
        if (*p != '\n')
            continue;
        j->line++;
        j->line_start = j->before + (p + 1 - j->start);
    }
    return p;
}

/* Elements with nothing but space and a comma between them, while they lie in the buffer and there
 * is room; stops in front of what is not so. The first is one that must come. */
static void pull_plain_ints(clv_json_pull *j, int64_t low, int64_t high, clv_json_ints *list)
{
    const unsigned char *at = j->at;
    int32_t n = list->n;
    while (n < list->cap && j->end - at >= 1 + FAST_ROOM) {
        int64_t value;
        const unsigned char *past = read_plain_int(at, &value);
        if (!past || *past != ',' || value < low || value > high)
            break;
        list->at[n++] = value;
        at = skip_space(j, past + 1);
    }
    j->level[j->depth - 1].index += n - list->n;
    list->n = n;
    j->at = at;
}

clv_status clv_json_pull_ints(clv_json_pull *j, int64_t low, int64_t high, clv_json_ints *list,
                              clv_error *err)
{
    bool more;
    list->n = 0;
    CLV_TRY(clv_json_pull_array(j, err));
    for (;;) {
        CLV_TRY(clv_json_pull_next(j, &more, err));
        if (!more)
            return CLV_OK;
        /* A comma that was eaten is followed by an element, which is read the slow way. */
        pull_plain_ints(j, low, high, list);
        if (!CLV_PUSH_ROOM(list->arena, list->at, list->n, list->cap))
            return clv_fail_nomem(err, "a row of numbers");
        CLV_TRY(clv_json_pull_int(j, low, high, &list->at[list->n], err));
        list->n++;
    }
}
