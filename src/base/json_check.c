#include "base/json_check.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Recursive descent, one function a rule of the grammar. A rule that fails leaves `at` on the first
 * character that cannot be, and in `expected` what could have been there.
 */
typedef struct {
    const unsigned char *start, *at, *end;
    const char *expected;
    int depth;
    bool too_deep;
} scanner;

#define NUMBER_MAX 63 /* cJSON copies a number into 64 characters and would cut a longer one */

static bool fail(scanner *s, const char *expected)
{
    s->expected = expected;
    return false;
}

static int peek(const scanner *s) { return s->at < s->end ? *s->at : -1; }

static bool is_digit(int c) { return c >= '0' && c <= '9'; }

static bool accept(scanner *s, int c)
{
    bool yes = peek(s) == c;
    s->at += yes;
    return yes;
}

static void skip_space(scanner *s)
{
    while (peek(s) == ' ' || peek(s) == '\t' || peek(s) == '\n' || peek(s) == '\r')
        s->at++;
}

/* The four digits of \uXXXX, or -1. */
static int hex4(scanner *s)
{
    int v = 0;
    for (int i = 0; i < 4; i++, s->at++) {
        int c = peek(s);
        if (is_digit(c))
            v = v * 16 + c - '0';
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            v = v * 16 + (c | 0x20) - 'a' + 10;
        else
            return -1;
    }
    return v;
}

/* Behind \u. Characters over 16 bits come as two, the high half first. */
static bool unicode_escape(scanner *s)
{
    int v = hex4(s);
    if (v < 0)
        return fail(s, "four hexadecimal digits");
    if (v == 0)
        return fail(s, "a string without \\u0000");
    if (v >= 0xdc00 && v <= 0xdfff)
        return fail(s, "the high half of a surrogate pair before the low one");
    if (v < 0xd800 || v > 0xdbff)
        return true;
    if (!accept(s, '\\') || !accept(s, 'u'))
        return fail(s, "the low half of a surrogate pair");
    v = hex4(s);
    return (v >= 0xdc00 && v <= 0xdfff) || fail(s, "the low half of a surrogate pair");
}

static bool string(scanner *s)
{
    if (!accept(s, '"'))
        return fail(s, "a string in double quotes");
    while (!accept(s, '"')) {
        int c = peek(s);
        if (c < 0)
            return fail(s, "the closing quote of a string");
        if (c < 0x20)
            return fail(s, "no control character in a string, \\n or \\t instead");
        int size = c < 0x80 ? 1 : clv_utf8_char(s->at, (size_t)(s->end - s->at));
        if (size == 0)
            return fail(s, "a string in UTF-8");
        s->at += size;
        if (c != '\\')
            continue;
        c = peek(s);
        if (c <= 0 || !strchr("\"\\/bfnrtu", c))
            return fail(s, "one of \" \\ / b f n r t u behind a backslash");
        s->at++;
        if (c == 'u' && !unicode_escape(s))
            return false;
    }
    return true;
}

static bool digits(scanner *s)
{
    if (!is_digit(peek(s)))
        return fail(s, "a digit");
    while (is_digit(peek(s)))
        s->at++;
    return true;
}

static bool number(scanner *s)
{
    const unsigned char *from = s->at;
    accept(s, '-');
    if (!accept(s, '0') && !digits(s))
        return false;
    if (is_digit(peek(s)))
        return fail(s, "no digit behind a leading 0");
    if (accept(s, '.') && !digits(s))
        return false;
    if (accept(s, 'e') || accept(s, 'E')) {
        if (!accept(s, '+'))
            accept(s, '-');
        if (!digits(s))
            return false;
    }
    return s->at - from <= NUMBER_MAX || fail(s, "a number of at most 63 characters");
}

static bool literal(scanner *s, const char *word)
{
    for (const char *p = word; *p; p++)
        if (!accept(s, *p))
            return fail(s, "a value: true, false, null, a number, a string, an array or an object");
    return true;
}

static bool value(scanner *s);

static bool members(scanner *s, int close)
{
    skip_space(s);
    if (accept(s, close))
        return true;
    for (;;) {
        if (close == '}') {
            skip_space(s);
            if (!string(s))
                return false;
            skip_space(s);
            if (!accept(s, ':'))
                return fail(s, "':' behind a key");
        }
        if (!value(s))
            return false;
        skip_space(s);
        if (accept(s, close))
            return true;
        if (!accept(s, ','))
            return fail(s, close == '}' ? "',' or '}'" : "',' or ']'");
    }
}

static bool value(scanner *s)
{
    skip_space(s);
    int c = peek(s);
    if (c == '"')
        return string(s);
    if (c == '-' || is_digit(c))
        return number(s);
    if (c != '{' && c != '[')
        return literal(s, c == 't' ? "true" : c == 'f' ? "false" : "null");
    if (s->depth == CLV_JSON_DEPTH_MAX) {
        s->too_deep = true;
        return false;
    }
    s->at++;
    s->depth++;
    bool ok = members(s, c == '{' ? '}' : ']');
    s->depth--;
    return ok;
}

static clv_status report(const scanner *s, const char *what, bool is_line, clv_error *err)
{
    char in_line[40] = "", found[16] = "the end";
    long line = 1, column = 1;
    for (const unsigned char *p = s->start; p < s->at; p++) {
        column = *p == '\n' ? 1 : column + ((*p & 0xc0) != 0x80);
        line += *p == '\n';
    }
    if (!is_line)
        snprintf(in_line, sizeof in_line, ": line %ld", line);
    if (s->too_deep)
        return clv_fail(err, CLV_ELIMIT, "%.200s%s, column %ld: nested more than %d deep", what,
                        in_line, column, CLV_JSON_DEPTH_MAX);
    int size = clv_utf8_char(s->at, (size_t)(s->end - s->at));
    if (s->at < s->end && (size == 0 || *s->at < 0x20))
        snprintf(found, sizeof found, "byte 0x%02x", *s->at);
    else if (s->at < s->end)
        snprintf(found, sizeof found, "'%.*s'", size, (const char *)s->at);
    return clv_fail(err, CLV_EFORMAT, "%.200s%s, column %ld: not JSON: %s, expected %s", what,
                    in_line, column, found, s->expected);
}

clv_status clv_json_check(const char *text, size_t n, const char *what, bool is_line,
                          clv_error *err)
{
    scanner s = { .start = (const unsigned char *)text };
    if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        s.start += 3; /* a byte order mark says nothing in UTF-8 */
    s.at = s.start;
    s.end = (const unsigned char *)text + n;
    skip_space(&s);
    if (s.at == s.end)
        return clv_fail(err, CLV_EFORMAT, "%.200s is empty, expected a JSON value", what);
    if (!value(&s))
        return report(&s, what, is_line, err);
    skip_space(&s);
    if (s.at < s.end) {
        s.expected = "nothing behind the value";
        return report(&s, what, is_line, err);
    }
    return CLV_OK;
}
