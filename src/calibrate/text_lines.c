#include "calibrate/text_lines.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define SHOWN      200 /* characters of a sentence, before where it is from is put in front */
#define DIGITS_MAX 15  /* exact as a double */
#define EXP_MAX    300

bool clv_next_line(clv_lines *lines)
{
    const clv_file_text *t = lines->text;
    while (lines->next < t->n) {
        const char *at = t->text + lines->next, *end = memchr(at, '\n', t->n - lines->next);
        size_t n = end ? (size_t)(end - at) : t->n - lines->next;
        lines->next += n + (end ? 1 : 0);
        lines->number++;
        if (n > 0 && at[n - 1] == '\r')
            n--;
        if (n >= INT32_MAX)
            return false;
        lines->line = (clv_str){ at, (int32_t)n };
        if (n > 0)
            return true;
    }
    return false;
}

bool clv_next_field(clv_str *rest, char separator, clv_str *ret)
{
    while (separator == ' ' && rest->n > 0 && (*rest->at == ' ' || *rest->at == '\t'))
        *rest = (clv_str){ rest->at + 1, rest->n - 1 };
    if (!rest->at || (separator == ' ' && rest->n == 0))
        return false;
    int32_t n = 0;
    while (n < rest->n && rest->at[n] != separator && !(separator == ' ' && rest->at[n] == '\t'))
        n++;
    *ret = (clv_str){ rest->at, n };
    /* behind the last separator there is one more field, maybe empty; behind the last field none */
    *rest = n < rest->n ? (clv_str){ rest->at + n + 1, rest->n - n - 1 } : (clv_str){ NULL, 0 };
    return true;
}

clv_status clv_fail_line(const clv_lines *lines, clv_error *err, const char *fmt, ...)
{
    char sentence[SHOWN + 1];
    va_list args;
    va_start(args, fmt);
    clv_words(sentence, sizeof sentence, fmt, args);
    va_end(args);
    return clv_fail(err, CLV_EFORMAT, "%.200s:%d: %s", lines->text->what, (int)lines->number,
                    sentence);
}

/* Digits into *v, as many as are exact; the others only count. Returns how many there were. */
static int32_t digits(clv_str *rest, double *v, int32_t *dropped)
{
    int32_t n = 0;
    for (; rest->n > 0 && *rest->at >= '0' && *rest->at <= '9'; n++) {
        if (*v < 1e14)
            *v = *v * 10 + (*rest->at - '0');
        else
            (*dropped)++;
        *rest = (clv_str){ rest->at + 1, rest->n - 1 };
    }
    return n;
}

static bool is_next(clv_str *rest, char a, char b)
{
    if (rest->n == 0 || (*rest->at != a && *rest->at != b))
        return false;
    *rest = (clv_str){ rest->at + 1, rest->n - 1 };
    return true;
}

bool clv_scan_number(clv_str text, double *ret)
{
    double v = 0, exponent = 0;
    int32_t dropped = 0, behind = 0, ignored = 0, cut;
    if (digits(&text, &v, &dropped) == 0)
        return false;
    if (is_next(&text, '.', '.')) {
        cut = dropped;
        behind = digits(&text, &v, &dropped);
        if (behind == 0)
            return false;
        behind -= dropped - cut; /* digits that were not taken */
        dropped = cut;
    }
    bool down = false;
    if (is_next(&text, 'e', 'E')) {
        down = is_next(&text, '-', '-');
        if (!down)
            is_next(&text, '+', '+');
        if (digits(&text, &exponent, &ignored) == 0 || exponent > EXP_MAX)
            return false;
    }
    double power = (down ? -exponent : exponent) + dropped - behind;
    if (text.n > 0 || fabs(power) > EXP_MAX)
        return false;
    *ret = power >= 0 ? v * pow(10, power) : v / pow(10, -power);
    return isfinite(*ret);
}

bool clv_scan_int(clv_str text, int64_t *ret)
{
    int64_t v = 0;
    if (text.n == 0 || text.n > DIGITS_MAX)
        return false;
    for (int32_t i = 0; i < text.n; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        v = v * 10 + (text.at[i] - '0');
    }
    *ret = v;
    return v <= INT64_C(1) << 50;
}
