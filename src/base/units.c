#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A unit is mul * 10^exp10, both whole, so that "3.35TB/s" is 335 * 10^10 and nothing is rounded.
 */
typedef struct {
    const char *unit;
    double mul;
    int exp10;
} unit;

#define KI 1024.0
#define MI (KI * KI)
#define GI (KI * MI)
#define TI (KI * GI)

static const unit bytes_units[] = {
    /* the first is the byte itself */
    { "B", 1, 0 },    { "KB", 1, 3 },   { "kB", 1, 3 },   { "MB", 1, 6 },
    { "GB", 1, 9 },   { "TB", 1, 12 },  { "KiB", KI, 0 }, { "MiB", MI, 0 },
    { "GiB", GI, 0 }, { "TiB", TI, 0 }, { NULL, 0, 0 },
};
static const unit bandwidth_units[] = {
    { "B/s", 1, 0 },    { "KB/s", 1, 3 },   { "kB/s", 1, 3 },   { "MB/s", 1, 6 },
    { "GB/s", 1, 9 },   { "TB/s", 1, 12 },  { "KiB/s", KI, 0 }, { "MiB/s", MI, 0 },
    { "GiB/s", GI, 0 }, { "TiB/s", TI, 0 }, { "Mb/s", 125, 3 }, { "Gb/s", 125, 6 },
    { "Tb/s", 125, 9 }, { NULL, 0, 0 },
};
static const unit rate_units[] = {
    { "FLOP/s", 1, 0 },   { "MFLOP/s", 1, 6 }, { "GFLOP/s", 1, 9 }, { "TFLOP/s", 1, 12 },
    { "PFLOP/s", 1, 15 }, { "OP/s", 1, 0 },    { "GOP/s", 1, 9 },   { "TOP/s", 1, 12 },
    { "POP/s", 1, 15 },   { NULL, 0, 0 },
};
static const unit time_units[] = {
    { "ns", 1, 0 }, { "us", 1, 3 }, { "ms", 1, 6 }, { "s", 1, 9 }, { NULL, 0, 0 },
};

/* A decimal number as it is written: mantissa * 10^exp10. */
typedef struct {
    double mantissa;
    int exp10;
} decimal;

#define EXP10_MAX                                                                                  \
    100000000 /* more than any text has digits, and no sum of three overflows an int */

#define SIZE_BELOW 9e18 /* fits 63 bits, whatever a double makes of it */

/* Digits beyond what a double holds only move the exponent. Returns how many there were. */
static int scan_digits(const char **p, decimal *d, bool behind_point)
{
    int n = 0;
    for (; isdigit((unsigned char)**p); (*p)++, n++) {
        bool full = d->mantissa > 9e14; /* ten times that is still exact */
        if (!full)
            d->mantissa = d->mantissa * 10 + (**p - '0');
        if (full != behind_point && abs(d->exp10) < EXP10_MAX)
            d->exp10 += full ? 1 : -1;
    }
    return n;
}

/* Digits, a point with digits on both sides, e with a whole number. strtod would also take hex,
 * inf, nan and the locale's comma; a description may use none of them. NULL: not a number.
 */
static const char *scan_number(const char *p, decimal *ret)
{
    decimal d = { 0, 0 };
    if (!scan_digits(&p, &d, false))
        return NULL;
    if (*p == '.') {
        p++;
        if (!scan_digits(&p, &d, true))
            return NULL;
    }
    const char *e = p + 1 + (p[0] == 'e' && (p[1] == '-' || p[1] == '+'));
    if (*p == 'e' && isdigit((unsigned char)*e)) {
        char *end;
        long exp = strtol(p + 1, &end, 10);
        d.exp10 += exp > EXP10_MAX ? EXP10_MAX : exp < -EXP10_MAX ? -EXP10_MAX : (int)exp;
        p = end;
    }
    *ret = d;
    return p;
}

/* *ret_unit: the unit it was written with. */
static clv_status parse(const char *text, const char *what, const unit *units, double *ret,
                        const unit **ret_unit, clv_error *err)
{
    char list[160] = ""; /* for messages: "B, KB, ..." */
    size_t n = 0;
    for (const unit *u = units; u->unit && n < sizeof list; u++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "", u->unit);
    if (text[0] == '-')
        return clv_fail(err, CLV_EFORMAT, "%.200s is '%.60s': must not be negative", what, text);
    decimal d;
    const char *p = scan_number(text, &d);
    if (!p)
        return clv_fail(err, CLV_EFORMAT,
                        "%.200s is '%.60s': expected a number such as 1.5 with one of the units %s",
                        what, text, list);
    p += *p == ' ';
    for (const unit *u = units; u->unit; u++)
        if (strcmp(p, u->unit) == 0) {
            /* Powers of ten up to 10^22 are exact: one rounding for what people write. */
            int exp10 = d.exp10 + u->exp10;
            double v = d.mantissa * u->mul;
            *ret = v == 0 ? 0 : exp10 < 0 ? v / pow(10, -exp10) : v * pow(10, exp10);
            *ret_unit = u;
            return CLV_OK;
        }
    if (!*p)
        return clv_fail(err, CLV_EFORMAT, "%.200s is '%.60s': has no unit, expected one of %s",
                        what, text, list);
    return clv_fail(err, CLV_EFORMAT, "%.200s is '%.60s': unknown unit '%.20s', expected one of %s",
                    what, text, p, list);
}

clv_status clv_parse_bytes(const char *text, const char *what, int64_t *ret_bytes, clv_error *err)
{
    const unit *u;
    double v = 0;
    CLV_TRY(parse(text, what, bytes_units, &v, &u, err));
    if (!(v < SIZE_BELOW))
        return clv_fail(err, CLV_EFORMAT, "%.200s is '%.60s': expected less than 9e18 bytes", what,
                        text);
    /* A part of a byte is a slip; a part of a GiB that is no whole number of bytes is rounding. */
    if (u == bytes_units && v != floor(v))
        return clv_fail(err, CLV_EFORMAT, "%.200s is '%.60s': expected a whole number of bytes",
                        what, text);
    *ret_bytes = (int64_t)llround(v);
    return CLV_OK;
}

clv_status clv_parse_portion(const char *text, const char *what, clv_portion *ret, clv_error *err)
{
    static const unit percent[] = { { "%", 1, -2 }, { NULL, 0, 0 } };
    size_t n = strlen(text);
    bool is_part = n > 0 && text[n - 1] == '%';
    clv_portion made = { 0 };
    const unit *u;
    clv_status status = CLV_OK;
    if (is_part)
        status = parse(text, what, percent, &made.part, &u, NULL);
    else if (strcmp(text, "0") != 0)
        status = clv_parse_bytes(text, what, &made.bytes, NULL);
    if (status != CLV_OK || !(made.part < 1))
        return clv_fail(err, CLV_EFORMAT,
                        "%.200s is '%.60s': expected a part from 0%% to below 100%%, or a size "
                        "such as 8GiB",
                        what, text);
    *ret = made;
    return CLV_OK;
}

static clv_status parse_positive(const char *text, const char *what, const unit *units, double *ret,
                                 clv_error *err)
{
    const unit *u;
    double v = 0;
    CLV_TRY(parse(text, what, units, &v, &u, err));
    if (!(v > 0) || !isfinite(v))
        return clv_fail(err, CLV_EFORMAT, "%.200s is '%.60s': must be above 0 and finite", what,
                        text);
    *ret = v;
    return CLV_OK;
}

clv_status clv_parse_bandwidth(const char *text, const char *what, double *ret, clv_error *err)
{
    return parse_positive(text, what, bandwidth_units, ret, err);
}

clv_status clv_parse_rate(const char *text, const char *what, double *ret, clv_error *err)
{
    return parse_positive(text, what, rate_units, ret, err);
}

clv_status clv_parse_time(const char *text, const char *what, int64_t *ret_ns, clv_error *err)
{
    const unit *u;
    double v = 0;
    CLV_TRY(parse(text, what, time_units, &v, &u, err));
    if (!(v < SIZE_BELOW))
        return clv_fail(err, CLV_EFORMAT, "%.200s is '%.60s': expected less than 9e18 ns", what,
                        text);
    *ret_ns = (int64_t)llround(v);
    return CLV_OK;
}

clv_status clv_parse_int(const char *text, const char *what, int64_t min, int64_t max, int64_t *ret,
                         clv_error *err)
{
    char *end = NULL;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    bool starts =
        isdigit((unsigned char)text[0]) || (text[0] == '-' && isdigit((unsigned char)text[1]));
    if (!starts || *end || errno == ERANGE || v < min || v > max) {
        char expected[80];
        return clv_fail(err, CLV_EUSAGE, "%.200s is '%.60s': expected %s", what, text,
                        clv_show_range(expected, min, max));
    }
    *ret = v;
    return CLV_OK;
}

const char *clv_show_range(char buf[static 80], int64_t min, int64_t max)
{
    if (min == max)
        snprintf(buf, 80, "the whole number %lld", (long long)min);
    else
        snprintf(buf, 80, "a whole number from %lld to %lld", (long long)min, (long long)max);
    return buf;
}

#define DIGITS           4 /* of counts, which are exact */
#define DIGITS_PREDICTED 3 /* of times, rates and memory, which are not */

/* How many digits behind the point make so many in all, after rounding. */
static int decimals_of(double v, int digits)
{
    int decimals = digits - 1;
    for (double limit = 10; decimals > 0 && fabs(v) >= limit - 0.5 * pow(10, -decimals);
         limit *= 10)
        decimals--;
    return decimals;
}

/* Picks the largest prefix that leaves at least 1 after rounding. */
static const char *show(char *buf, double v, double step, const char *const *units, int n,
                        int digits)
{
    double rounds_up = step - (step == 1000 ? 0.5 * pow(10, 3 - digits) : 0.5);
    int i = 0;
    while (i + 1 < n && fabs(v) >= (i == 0 && v == floor(v) ? step : rounds_up)) {
        v /= step;
        i++;
    }
    int decimals = i == 0 && v == floor(v) ? 0 : decimals_of(v, digits);
    snprintf(buf, 32, fabs(v) < 1e6 ? "%.*f %s" : "%.*e %s", decimals, v, units[i]);
    return buf;
}

static const char *show_bytes(char *buf, int64_t bytes, int digits)
{
    static const char *const u[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    return show(buf, (double)bytes, 1024, u, 7, digits);
}

const char *clv_show_bytes(char buf[static 32], int64_t bytes)
{
    return show_bytes(buf, bytes, DIGITS);
}

const char *clv_show_memory(char buf[static 32], int64_t bytes)
{
    return show_bytes(buf, bytes, DIGITS_PREDICTED);
}

const char *clv_show_flops(char buf[static 32], double flops)
{
    static const char *const u[] = { "FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP" };
    return show(buf, flops, 1000, u, 7, DIGITS);
}

const char *clv_show_time(char buf[static 32], int64_t ns)
{
    static const char *const u[] = { "ns", "us", "ms", "s" };
    return show(buf, (double)ns, 1000, u, 4, DIGITS_PREDICTED);
}

const char *clv_show_number(char buf[static 32], double v)
{
    int decimals = decimals_of(v, DIGITS_PREDICTED);
    for (double a = fabs(v); a > 0 && a < 1 - 0.5 * pow(10, -DIGITS_PREDICTED) && decimals < 12;
         a *= 10)
        decimals++;
    snprintf(buf, 32, fabs(v) < 1e15 ? "%.*f" : "%.*e", decimals, v);
    return buf;
}

const char *clv_show_percent(char buf[static 32], double part)
{
    double p = 100 * part;
    snprintf(buf, 32, p >= 9.5 ? "%.0f %%" : p >= 0.095 ? "%.1f %%" : "%.2f %%", p);
    return buf;
}
