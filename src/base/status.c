#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

clv_status clv_fail(clv_error *err, clv_status status, const char *fmt, ...)
{
    if (err) {
        va_list ap;
        err->status = status;
        va_start(ap, fmt);
        vsnprintf(err->message, sizeof err->message, fmt, ap);
        va_end(ap);
        /* Names come from files: control characters must not reach a terminal. */
        for (char *p = err->message; *p; p++)
            if ((unsigned char)*p < 0x20 || *p == 0x7f)
                *p = '?';
    }
    return status;
}

clv_status clv_fail_nomem(clv_error *err, const char *what)
{
    return clv_fail(err, CLV_ENOMEM, "out of memory: no room for %s", what);
}

const char *clv_status_text(clv_status status)
{
    switch (status) {
#define X(name, text)                                                                              \
    case CLV_##name:                                                                               \
        return text;
        CLV_STATUS_MAP(X)
#undef X
    }
    return "unknown status";
}
