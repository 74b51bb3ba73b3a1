#include "base/status.h"

#include <stdio.h>
#include <string.h>

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

void clv_words(char *buf, size_t size, const char *fmt, va_list args)
{
    int n = vsnprintf(buf, size, fmt, args);
    if (n >= 0 && (size_t)n >= size)
        mark_cut(buf, size);
    /* Names come from files: control characters must not reach a terminal. */
    for (char *p = buf; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = '?';
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
