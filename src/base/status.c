#include "base/status.h"

#include <stdio.h>
#include <string.h>

#include "base/show.h"

#define CLV_WORDS_MAX 2048 /* bytes before control characters are replaced */

static void mark_cut(char *buf, size_t size)
{
    static const char cut[] = "...";
    if (size <= sizeof cut)
        return;
    size_t end = size - sizeof cut;
    while (end > 0 && ((unsigned char)buf[end] & 0xc0) == 0x80) /* whole characters only */
        end--;
    memcpy(buf + end, cut, sizeof cut);
}

size_t clv_add_words(char *buf, size_t size, size_t n, const char *fmt, ...)
{
    va_list args;
    if (n >= size)
        return n;
    va_start(args, fmt);
    int more = vsnprintf(buf + n, size - n, fmt, args);
    va_end(args);
    n += more > 0 ? (size_t)more : 0;
    if (n >= size)
        mark_cut(buf, size);
    return n;
}

/* Names come from files: what they have in them must not reach a terminal. */
void clv_words(char *buf, size_t size, const char *fmt, va_list args)
{
    static const char cut[] = "...";
    char raw[CLV_WORDS_MAX];
    int n = vsnprintf(raw, sizeof raw, fmt, args);
    size_t length = n < 0 ? 0 : (size_t)n < sizeof raw ? (size_t)n : sizeof raw - 1;
    size_t shown = clv_show(buf, size, raw, length);

    if (n < 0 || shown == (size_t)n || size <= sizeof cut)
        return;
    clv_show(buf, size - (sizeof cut - 1), raw, length);
    strcat(buf, cut);
}

clv_status clv_fail(clv_error *err, clv_status status, const char *fmt, ...)
{
    if (err) {
        va_list ap;
        err->status = status;
        va_start(ap, fmt);
        clv_words(err->message, sizeof err->message, fmt, ap);
        va_end(ap);
    }
    return status;
}

clv_status clv_fail_nomem(clv_error *err, const char *what)
{
    return clv_fail(err, CLV_ENOMEM, "out of memory: no room for %s", what);
}
