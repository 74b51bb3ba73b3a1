#include "base/json_out.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* Text is appended piece by piece. `comma` says whether something stands before in the innermost
 * object or array; that a value has just been closed means yes, so no stack is needed. After a lack
 * of memory all calls do nothing, and the end reports it.
 */

static void append(clv_json_out *out, const char *at, size_t n)
{
    if (out->failed)
        return;
    if (out->cap - out->n <= n) { /* one byte is kept for the NUL */
        size_t cap = out->cap ? out->cap : 256;
        while (cap - out->n <= n && cap <= SIZE_MAX / 4)
            cap *= 2;
        char *text =
            cap - out->n > n ? clv_arena_grow(out->arena, out->text, out->cap, cap, 1) : NULL;
        if (!text) {
            out->failed = true;
            return;
        }
        out->text = text;
        out->cap = cap;
    }
    memcpy(out->text + out->n, at, n);
    out->n += n;
}

static void append_text(clv_json_out *out, const char *z) { append(out, z, strlen(z)); }

static void new_line(clv_json_out *out)
{
    static const char line[] = "\n                                "; /* of 16 levels */
    enum { LEVELS = (sizeof line - 2) / 2 };
    if (!out->pretty)
        return;
    int depth = out->depth < LEVELS ? out->depth : LEVELS;
    append(out, line, 1 + 2 * (size_t)depth);
    for (; depth < out->depth; depth++)
        append(out, "  ", 2);
}

#define INT_TEXT 20 /* the digits of 2^63 and a sign */

static void append_int(clv_json_out *out, int64_t value)
{
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    char buf[INT_TEXT], *at = buf + INT_TEXT;
    do
        *--at = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0)
        *--at = '-';
    append(out, at, (size_t)(buf + INT_TEXT - at));
}

static void append_escaped(clv_json_out *out, unsigned char c)
{
    static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* the character, then its letter */
    char buf[8];
    for (const char *p = letters; *p; p += 2)
        if ((unsigned char)*p == c) {
            snprintf(buf, sizeof buf, "\\%c", p[1]);
            append_text(out, buf);
            return;
        }
    snprintf(buf, sizeof buf, "\\u%04x", c);
    append_text(out, buf);
}

/* Plain characters are copied in runs. A NUL counts as invalid: readers in C would stop at it.
 * Control characters are escaped, those of 8 bits too (U+0080 to U+009F, of two bytes): JSON may be
 * printed on a terminal. */
static void append_string(clv_json_out *out, clv_str s)
{
    const unsigned char *p = (const unsigned char *)s.at;
    size_t n = (size_t)s.n, run = 0, i = 0;
    append(out, "\"", 1);
    while (i < n) {
        while (i < n && p[i] >= 0x20 && p[i] < 0x7f && p[i] != '"' && p[i] != '\\')
            i++;
        if (i == n)
            break;
        int size = clv_utf8_char(p + i, n - i);
        bool wide_control = size == 2 && p[i] == 0xc2 && p[i + 1] < 0xa0;
        bool plain = size > 0 && p[i] >= 0x20 && p[i] != 0x7f && p[i] != '"' && p[i] != '\\' &&
                     !wide_control;
        if (!plain) {
            if (i > run)
                append(out, s.at + run, i - run);
            if (size == 0 || p[i] == 0)
                append(out, "\xef\xbf\xbd", 3);
            else
                append_escaped(out, p[i + (wide_control ? 1 : 0)]);
            run = i + (wide_control ? 2 : 1);
        }
        i += size > 0 ? (size_t)size : 1;
    }
    if (i > run)
        append(out, s.at + run, i - run);
    append(out, "\"", 1);
}

static void begin_value(clv_json_out *out, const char *key)
{
    if (out->comma)
        append(out, ",", 1);
    if (out->depth > 0)
        new_line(out);
    if (key) {
        append_string(out, clv_str_of(key));
        append(out, ": ", out->pretty ? 2 : 1);
    }
    out->comma = true;
}

static void put_text(clv_json_out *out, const char *key, const char *text)
{
    begin_value(out, key);
    append_text(out, text);
}

static void open(clv_json_out *out, const char *key, const char *bracket)
{
    put_text(out, key, bracket);
    out->depth++;
    out->comma = false;
}

static void close(clv_json_out *out, const char *bracket)
{
    assert(out->depth > 0);
    out->depth--;
    if (out->comma)
        new_line(out);
    append_text(out, bracket);
    out->comma = true;
}

const char *clv_json_number_text(char buf[static 32], double value)
{
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(buf, 32, "%.*g", precision, value);
        if (strtod(buf, NULL) == value)
            break;
    }
    /* The host's locale may write the point as a comma, or as several bytes. */
    char *to = buf;
    bool point = false;
    for (const char *p = buf; *p; p++) {
        bool ours = (*p >= '0' && *p <= '9') || *p == '-' || *p == '+' || *p == 'e';
        if (ours)
            *to++ = *p;
        else if (!point)
            *to++ = '.';
        point = !ours;
    }
    *to = 0;
    return buf;
}

void clv_json_begin(clv_json_out *out, clv_arena *arena, bool pretty)
{
    *out = (clv_json_out){ .arena = arena, .pretty = pretty };
}

void clv_json_open_object(clv_json_out *out, const char *key) { open(out, key, "{"); }
void clv_json_close_object(clv_json_out *out) { close(out, "}"); }
void clv_json_open_array(clv_json_out *out, const char *key) { open(out, key, "["); }
void clv_json_close_array(clv_json_out *out) { close(out, "]"); }

void clv_json_put_str(clv_json_out *out, const char *key, clv_str value)
{
    begin_value(out, key);
    append_string(out, value);
}

void clv_json_put_string(clv_json_out *out, const char *key, const char *value)
{
    if (value)
        clv_json_put_str(out, key, clv_str_of(value));
    else
        clv_json_put_null(out, key);
}

void clv_json_put_int(clv_json_out *out, const char *key, int64_t value)
{
    begin_value(out, key);
    append_int(out, value);
}

void clv_json_put_ints(clv_json_out *out, const char *key, const int32_t *value, int32_t n)
{
    put_text(out, key, "[");
    for (int32_t i = 0; i < n; i++) {
        append(out, ", ", i ? 2 : 0);
        append_int(out, value[i]);
    }
    append_text(out, "]");
}

void clv_json_put_number(clv_json_out *out, const char *key, double value)
{
    char buf[32];
    put_text(out, key, isfinite(value) ? clv_json_number_text(buf, value) : "null");
}

void clv_json_put_bool(clv_json_out *out, const char *key, bool value)
{
    put_text(out, key, value ? "true" : "false");
}

void clv_json_put_null(clv_json_out *out, const char *key) { put_text(out, key, "null"); }

clv_status clv_json_end(clv_json_out *out, clv_error *err)
{
    assert(out->depth == 0);
    append(out, "\n", 1);
    if (out->failed)
        return clv_fail_nomem(err, "JSON text");
    out->text[out->n] = 0;
    return CLV_OK;
}
