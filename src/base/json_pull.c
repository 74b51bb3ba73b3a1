/* json_pull.c - characters and their places, failures, strings, then the structure with its keys.
 */
#include "base/json_pull.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

/* Read at a time: small enough to stay in a processor's cache, large enough that calls are few. */
#define CHUNK ((size_t)256 << 10)

/* -- characters -- */

static void begin(clv_json_pull *j, int fd, const char *what)
{
    *j = (clv_json_pull){ .what = what, .fd = fd, .line = 1 };
}

/* A byte order mark says nothing in UTF-8. */
static void skip_mark(clv_json_pull *j)
{
    if (j->end - j->at >= 3 && memcmp(j->at, "\xef\xbb\xbf", 3) == 0)
        j->at += 3;
}

void clv_json_pull_text(clv_json_pull *j, const char *text, size_t n, const char *what)
{
    begin(j, -1, what);
    j->start = j->at = (const unsigned char *)text;
    j->end = j->at + n;
    skip_mark(j);
}

clv_status clv_json_pull_file(clv_json_pull *j, int fd, const char *what, clv_arena *arena,
                              clv_error *err)
{
    begin(j, fd, what);
    j->buf = clv_arena_take(arena, CHUNK);
    if (!j->buf)
        return clv_fail_nomem(err, what);
    j->start = j->at = j->end = j->buf;
    clv_pull_refill(j);
    skip_mark(j);
    return CLV_OK;
}

bool clv_pull_refill(clv_json_pull *j)
{
    size_t have = 0;
    if (j->fd < 0 || j->fault)
        return false;
    j->before += j->end - j->start;
    while (have < CHUNK) {
        ssize_t got = read(j->fd, j->buf + have, CHUNK - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            j->fault = errno;
        if (got <= 0)
            break;
        have += (size_t)got;
    }
    j->start = j->at = j->buf;
    j->end = j->buf + have;
    return have > 0;
}

int clv_pull_peek(clv_json_pull *j)
{
    for (;;) {
        int c = clv_pull_char(j);
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
            return c;
        j->at++;
        if (c == '\n') {
            j->line++;
            j->line_start = j->before + (j->at - j->start);
        }
    }
}

/* -- failures -- */

const char *clv_json_pull_path(const clv_json_pull *j, char *buf, size_t size)
{
    int n = snprintf(buf, size, "%.200s", j->what);
    for (int i = 0; i < j->depth && n >= 0 && (size_t)n < size; i++) {
        const clv_json_pull_level *l = &j->level[i];
        if (!l->begun)
            break;
        if (l->is_array)
            n += snprintf(buf + n, size - (size_t)n, "[%lld]", (long long)l->index);
        else
            n += snprintf(buf + n, size - (size_t)n, "%s%s", i ? "." : ": ", l->key);
    }
    return buf;
}

clv_status clv_pull_syntax(const clv_json_pull *j, const char *expected, clv_error *err)
{
    char found[16] = "the end";
    int c = j->at < j->end ? *j->at : EOF;
    if (j->fault)
        return clv_fail(err, CLV_EIO, "could not read %s: %s", j->what, strerror(j->fault));
    if (c != EOF && (c < 0x20 || c > 0x7e))
        snprintf(found, sizeof found, "byte 0x%02x", (unsigned)c);
    else if (c != EOF)
        snprintf(found, sizeof found, "'%c'", c);
    return clv_fail(err, CLV_EFORMAT, "%.200s: line %lld, byte %lld: not JSON: %s, expected %s",
                    j->what, (long long)j->line,
                    (long long)(j->before + (j->at - j->start) - j->line_start + 1), found,
                    expected);
}

clv_status clv_pull_wrong(const clv_json_pull *j, const char *is, const char *expected,
                          clv_error *err)
{
    char path[320];
    return clv_fail(err, CLV_EFORMAT, "%s is %s, expected %s",
                    clv_json_pull_path(j, path, sizeof path), is, expected);
}

clv_status clv_pull_wrong_kind(clv_json_pull *j, const char *expected, clv_error *err)
{
    int c = clv_pull_peek(j);
    switch (c) {
    case '{':
        return clv_pull_wrong(j, "an object", expected, err);
    case '[':
        return clv_pull_wrong(j, "an array", expected, err);
    case '"':
        return clv_pull_wrong(j, "a string", expected, err);
    case 't':
    case 'f':
        return clv_pull_wrong(j, "true or false", expected, err);
    case 'n':
        return clv_pull_wrong(j, "null", expected, err);
    default:
        break;
    }
    if (c == '-' || clv_pull_is_digit(c))
        return clv_pull_wrong(j, "a number", expected, err);
    return clv_pull_syntax(j, "a value", err);
}

/* -- strings -- */

typedef struct {
    char *buf;
    size_t n, size;
    bool full; /* a character did not fit: nothing behind it is kept */
} kept;

static void append_kept(kept *k, const unsigned char *c, size_t n)
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
        if (!clv_pull_is_digit(c) && (low < 'a' || low > 'f'))
            return clv_pull_syntax(j, "four hexadecimal digits", err);
        *ret = *ret * 16 + (uint32_t)(clv_pull_is_digit(c) ? c - '0' : low - 'a' + 10);
    }
    return CLV_OK;
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
    unsigned char c[4];
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = n; i-- > 1; code >>= 6)
        c[i] = (unsigned char)(0x80 | (code & 0x3f));
    c[0] = (unsigned char)(lead[n] | code);
    append_kept(k, c, n);
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
    append_kept(k, (const unsigned char *)&means[at - letter], 1);
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
    append_kept(k, c, n);
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

/* -- structure -- */

static clv_status go_in(clv_json_pull *j, char open, const char *expected, clv_error *err)
{
    if (clv_pull_peek(j) != open)
        return clv_pull_wrong_kind(j, expected, err);
    if (j->depth == CLV_JSON_PULL_DEPTH)
        return clv_fail(err, CLV_ELIMIT, "%.200s: nested more than %d deep", j->what,
                        CLV_JSON_PULL_DEPTH);
    j->at++;
    clv_json_pull_level *l = &j->level[j->depth++];
    l->is_array = open == '[';
    l->begun = false;
    l->index = -1;
    l->seen = 0;
    return CLV_OK;
}

clv_status clv_json_pull_object(clv_json_pull *j, clv_error *err)
{
    return go_in(j, '{', "an object", err);
}

clv_status clv_json_pull_array(clv_json_pull *j, clv_error *err)
{
    return go_in(j, '[', "an array", err);
}

/* Past a comma, if this is not the first part; *ret: another part follows. */
static clv_status next_part(clv_json_pull *j, bool *ret, clv_error *err)
{
    clv_json_pull_level *l = &j->level[j->depth - 1];
    int close = l->is_array ? ']' : '}', c = clv_pull_peek(j);
    *ret = c != close;
    if (c == close) {
        j->at++;
        return CLV_OK;
    }
    if (l->is_array ? !l->begun : !l->seen)
        return CLV_OK;
    if (c != ',')
        return clv_pull_syntax(j, l->is_array ? "',' or ']'" : "',' or '}'", err);
    j->at++;
    return clv_pull_peek(j) == close ? clv_pull_syntax(j, "a value after ','", err) : CLV_OK;
}

clv_status clv_json_pull_next(clv_json_pull *j, bool *ret, clv_error *err)
{
    clv_json_pull_level *l = &j->level[j->depth - 1];
    bool more;
    assert(j->depth > 0 && l->is_array);
    CLV_TRY(next_part(j, &more, err));
    l->begun = true;
    l->index++;
    j->depth -= !more;
    *ret = more;
    return CLV_OK;
}

static clv_status refuse_key(clv_json_pull *j, const char *const *keys, clv_error *err)
{
    char path[320], list[160] = "";
    size_t n = 0;
    const clv_json_pull_level *l = &j->level[--j->depth];
    for (int i = 0; keys[i] && n < sizeof list; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s'%s'", i ? ", " : "", keys[i]);
    return clv_fail(err, CLV_EFORMAT, "%s has the unknown key '%s', expected only %s",
                    clv_json_pull_path(j, path, sizeof path), l->key, list);
}

clv_status clv_json_pull_key(clv_json_pull *j, const char *const *keys, uint32_t required, int *ret,
                             clv_error *err)
{
    clv_json_pull_level *l = &j->level[j->depth - 1];
    char path[320];
    bool more;
    int key = 0;
    assert(j->depth > 0 && !l->is_array);
    CLV_TRY(next_part(j, &more, err));
    if (!more) {
        uint32_t missing = required & ~l->seen;
        *ret = -1;
        j->depth--;
        for (; missing && keys[key]; key++)
            if (missing >> key & 1)
                return clv_fail(err, CLV_EFORMAT, "%s has no key '%s', which is required",
                                clv_json_pull_path(j, path, sizeof path), keys[key]);
        return CLV_OK;
    }
    l->begun = false; /* the path ends before the key until it is known */
    if (clv_pull_peek(j) != '"')
        return clv_pull_syntax(j, "a key in quotes", err);
    CLV_TRY(clv_json_pull_string(j, l->key, sizeof l->key, err));
    if (clv_pull_peek(j) != ':')
        return clv_pull_syntax(j, "':'", err);
    j->at++;
    while (keys[key] && strcmp(keys[key], l->key) != 0)
        key++;
    if (!keys[key])
        return refuse_key(j, keys, err);
    if (l->seen >> key & 1)
        return clv_fail(err, CLV_EFORMAT, "%s has the key '%s' twice, expected once",
                        clv_json_pull_path(j, path, sizeof path), l->key);
    l->begun = true;
    l->seen |= UINT32_C(1) << key;
    *ret = key;
    return CLV_OK;
}

clv_status clv_json_pull_end(clv_json_pull *j, clv_error *err)
{
    assert(j->depth == 0);
    if (clv_pull_peek(j) != EOF || j->fault)
        return clv_pull_syntax(j, "nothing behind the value", err);
    return CLV_OK;
}
