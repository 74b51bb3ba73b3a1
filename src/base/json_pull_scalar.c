/* json_pull_scalar.c - numbers and strings. Whole numbers have a fast way for what files are full
 * of, digits that lie in the buffer as a whole, and a slow one for all that JSON allows. */
#include <assert.h>
#include <string.h>

#include "base/json_check.h"
#include "base/json_pull_part.h"
#include "base/units.h"

/* -- whole numbers -- */

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

static bool is_digit(int c) { return c >= '0' && c <= '9'; }

/* The character at j->at is part of the number: on to the next. */
static int eat(clv_json_pull *j, number *v)
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
    int c = eat(j, v);
    bool negative = c == '-';
    if (c == '-' || c == '+')
        c = eat(j, v);
    if (!is_digit(c))
        return clv_pull_syntax(j, "a digit", err);
    for (; is_digit(c); c = eat(j, v))
        exponent = exponent < EXPONENT_MAX / 10 ? exponent * 10 + (c - '0') : EXPONENT_MAX;
    v->exponent += negative ? -exponent : exponent;
    return CLV_OK;
}

static clv_status read_number(clv_json_pull *j, number *v, clv_error *err)
{
    int c = clv_pull_peek(j);
    v->negative = c == '-';
    if (c == '-')
        c = eat(j, v);
    if (!is_digit(c))
        return clv_pull_syntax(j, "a digit", err);
    if (c == '0') {
        c = eat(j, v);
        if (is_digit(c))
            return clv_pull_syntax(j, "no digit after a leading 0", err);
    }
    for (; is_digit(c); c = eat(j, v))
        add_digit(v, c - '0');
    if (c == '.') {
        c = eat(j, v);
        if (!is_digit(c))
            return clv_pull_syntax(j, "a digit", err);
        for (; is_digit(c); c = eat(j, v), v->exponent--)
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
    if (c != '-' && !is_digit(c))
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

/* The number at p, with at least FAST_ROOM bytes there: NULL if it is not plain digits and then a
 * comma, a bracket or a space; else what is behind it. */
static inline const unsigned char *fast_int(const unsigned char *p, int64_t *ret)
{
    const unsigned char *first = p;
    uint64_t value = 0;
    while (is_digit(*p) && p - first < DIGITS_MAX)
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
static void pull_fast(clv_json_pull *j, int64_t low, int64_t high, clv_json_ints *list)
{
    const unsigned char *at = j->at;
    int32_t n = list->n;
    while (n < list->cap && j->end - at >= 1 + FAST_ROOM) {
        int64_t value;
        const unsigned char *past = fast_int(at, &value);
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
        pull_fast(j, low, high, list);
        if (!CLV_PUSH_ROOM(list->arena, list->at, list->n, list->cap))
            return clv_fail_nomem(err, "a row of numbers");
        CLV_TRY(clv_json_pull_int(j, low, high, &list->at[list->n], err));
        list->n++;
    }
}

/* -- strings -- */

typedef struct {
    char *buf;
    size_t n, size;
    bool full; /* a character did not fit: nothing behind it is kept */
} kept;

static void keep(kept *k, const unsigned char *c, size_t n)
{
    k->full |= n >= k->size - k->n;
    if (k->full)
        return;
    memcpy(k->buf + k->n, c, n);
    k->n += n;
}

static clv_status read_hex(clv_json_pull *j, uint32_t *ret, clv_error *err)
{
    *ret = 0;
    for (int i = 0; i < 4; i++, j->at++) {
        int c = clv_pull_char(j), low = c | 0x20;
        if (!is_digit(c) && (low < 'a' || low > 'f'))
            return clv_pull_syntax(j, "four hexadecimal digits", err);
        *ret = *ret * 16 + (uint32_t)(is_digit(c) ? c - '0' : low - 'a' + 10);
    }
    return CLV_OK;
}

static void keep_code(kept *k, uint32_t code)
{
    unsigned char c[4];
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = n; i-- > 1; code >>= 6)
        c[i] = (unsigned char)(0x80 | (code & 0x3f));
    c[0] = (unsigned char)(lead[n] | code);
    keep(k, c, n);
}

/* Behind \u: one code, or the second half of a pair too. */
static clv_status read_code(clv_json_pull *j, kept *k, clv_error *err)
{
    uint32_t code, second;
    CLV_TRY(read_hex(j, &code, err));
    if (code == 0)
        return clv_pull_syntax(j, "no \\u0000 in a text", err);
    if (code >= 0xdc00 && code < 0xe000)
        return clv_pull_syntax(j, "the first half of a pair of codes before the second", err);
    if (code >= 0xd800 && code < 0xdc00) {
        for (const char *p = "\\u"; *p; p++, j->at++)
            if (clv_pull_char(j) != *p)
                return clv_pull_syntax(j, "the second half of a pair of codes", err);
        CLV_TRY(read_hex(j, &second, err));
        if (second < 0xdc00 || second >= 0xe000)
            return clv_pull_syntax(j, "the second half of a pair of codes", err);
        code = 0x10000 + ((code - 0xd800) << 10) + (second - 0xdc00);
    }
    keep_code(k, code);
    return CLV_OK;
}

static clv_status read_escape(clv_json_pull *j, kept *k, clv_error *err)
{
    static const char letter[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    int c = clv_pull_char(j);
    const char *at = c > 0 ? strchr(letter, c) : NULL;
    if (!at && c != 'u')
        return clv_pull_syntax(j, "an escape that JSON has", err);
    j->at++;
    if (!at)
        return read_code(j, k, err);
    keep(k, (const unsigned char *)&means[at - letter], 1);
    return CLV_OK;
}

/* One character of UTF-8, which may lie on both sides of a buffer's end. */
static clv_status read_char(clv_json_pull *j, kept *k, clv_error *err)
{
    unsigned char c[4];
    size_t n = 0;
    int size = 0;
    while (size == 0) {
        int byte = n < sizeof c ? clv_pull_char(j) : EOF;
        if (byte == EOF || (n > 0 && (byte & 0xc0) != 0x80))
            return clv_pull_syntax(j, "UTF-8", err);
        c[n++] = (unsigned char)byte;
        j->at++;
        size = clv_utf8_char(c, n);
    }
    keep(k, c, n);
    return CLV_OK;
}

clv_status clv_json_pull_string(clv_json_pull *j, char *buf, size_t size, clv_error *err)
{
    kept k = { .buf = buf, .size = size };
    assert(size > 4);
    if (clv_pull_peek(j) != '"')
        return clv_pull_wrong_kind(j, "a string", err);
    j->at++;
    for (int c; (c = clv_pull_char(j)) != '"';) {
        if (c == EOF || c < 0x20)
            return clv_pull_syntax(j, "'\"' or a character of a string", err);
        j->at += c == '\\';
        CLV_TRY(c == '\\' ? read_escape(j, &k, err) : read_char(j, &k, err));
    }
    j->at++;
    buf[k.n] = '\0';
    return CLV_OK;
}
