#include "verify/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"

static void count_beyond(clv_comparison *c, int64_t i, clv_difference what)
{
    c->n_beyond++;
    if (c->first >= 0)
        return;
    c->first = i;
    c->difference = what;
}

/* -- floats -- */

static int64_t n_numbers(const clv_compared *t)
{
    return clv_dtype_is_complex(t->dtype) ? 2 * t->elems : t->elems;
}

static double rms_of(const clv_compared *t)
{
    double sum = 0, n = 0, most = 0;
    for (int64_t i = 0; i < n_numbers(t); i++) {
        double x = fabs(clv_float_at(t->dtype, t->data, i));
        most = isfinite(x) && x > most ? x : most;
    }
    for (int64_t i = 0; most > 0 && i < n_numbers(t); i++) {
        double x = clv_float_at(t->dtype, t->data, i) / most; /* squares stay in range */
        sum += isfinite(x) ? x * x : 0;
        n += isfinite(x);
    }
    return n > 0 ? most * sqrt(sum / n) : 0;
}

/* Of two of which one at least is no number. */
static bool same_special(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    return isinf(a) && isinf(b) && signbit(a) == signbit(b);
}

static void compare_floats(const clv_compared *got, const clv_compared *want, double growth,
                           clv_comparison *c)
{
    double tiny = clv_dtype_smallest(got->dtype), most = -1;
    c->rms = rms_of(want);
    for (int64_t i = 0; i < n_numbers(want); i++) {
        double a = clv_float_at(got->dtype, got->data, i);
        double b = clv_float_at(want->dtype, want->data, i);
        if (!isfinite(a) || !isfinite(b)) {
            if (!same_special(a, b)) {
                c->n_inexact++;
                count_beyond(c, i, CLV_OTHER_NAN);
            }
            continue;
        }
        double error = fabs(a - b);
        double bound = growth * fmax(fabs(b), c->rms) + tiny;
        c->n_inexact += error > 0;
        if (error > bound)
            count_beyond(c, i, CLV_OTHER_NUMBERS);
        if (error > 0 && (bound > 0 ? error / bound : HUGE_VAL) > most) {
            most = bound > 0 ? error / bound : HUGE_VAL;
            c->worst = i;
            c->error = error;
            c->bound = bound;
            c->got = a;
            c->want = b;
        }
    }
}

/* -- all others -- */

static void compare_exactly(const clv_compared *got, const clv_compared *want, clv_comparison *c)
{
    int bits = clv_dtype_bits(want->dtype);
    const uint8_t *x = got->data, *y = want->data;
    for (int64_t i = 0; i < want->elems; i++) {
        int64_t at = i * bits; /* in bits */
        bool same;
        if (want->dtype == CLV_DT_STRING) {
            same = clv_str_eq(got->strings[i], want->strings[i]);
        } else if (bits < 8) {
            unsigned mask = (1u << bits) - 1;
            same = ((unsigned)x[at / 8] >> (at % 8) & mask) ==
                   ((unsigned)y[at / 8] >> (at % 8) & mask);
        } else {
            same = memcmp(x + at / 8, y + at / 8, (size_t)bits / 8) == 0;
        }
        if (same)
            continue;
        c->n_inexact++;
        count_beyond(c, i, CLV_OTHER_NUMBERS);
    }
}

void clv_compare(const clv_compared *got, const clv_compared *want, double growth,
                 clv_comparison *ret)
{
    bool same = got->dtype == want->dtype && got->rank == want->rank && got->elems == want->elems;
    for (int32_t d = 0; same && d < got->rank; d++)
        same = got->dims[d] == want->dims[d];
    *ret = (clv_comparison){ .difference = CLV_SAME, .first = -1, .worst = -1 };
    if (!same) {
        ret->difference = CLV_OTHER_TYPE;
        return;
    }
    if (clv_dtype_is_float(want->dtype) || clv_dtype_is_complex(want->dtype))
        compare_floats(got, want, growth, ret);
    else
        compare_exactly(got, want, ret);
}

/* -- words -- */

static size_t add_type(char *buf, size_t n, const clv_compared *t)
{
    n = clv_add_words(buf, CLV_COMPARE_TEXT, n, "%s[", clv_dtype_name(t->dtype));
    for (int32_t d = 0; d < t->rank && n < CLV_COMPARE_TEXT; d++)
        n = clv_add_words(buf, CLV_COMPARE_TEXT, n, "%s%" PRId64, d ? "," : "", t->dims[d]);
    return n < CLV_COMPARE_TEXT ? clv_add_words(buf, CLV_COMPARE_TEXT, n, "]") : n;
}

/* Integers up to 64 bits. */
static int64_t integer_at(const clv_compared *t, int64_t i)
{
    int bits = clv_dtype_bits(t->dtype);
    const uint8_t *at = t->data;
    uint64_t value = 0;
    if (bits < 8)
        return (unsigned)at[i * bits / 8] >> (i * bits % 8) & ((1u << bits) - 1);
    for (int b = 0; b < bits / 8 && b < 8; b++)
        value |= (uint64_t)at[i * (bits / 8) + b] << 8 * b;
    return (int64_t)value;
}

static void add_exact(char *buf, const clv_compared *got, const clv_compared *want, int64_t i)
{
    enum { SHOWN = 60 };
    if (want->dtype == CLV_DT_STRING) {
        clv_str a = got->strings[i], b = want->strings[i];
        clv_add_words(buf, CLV_COMPARE_TEXT, 0, "element %" PRId64 " is '%.*s', expected '%.*s'", i,
                      a.n < SHOWN ? (int)a.n : SHOWN, a.at, b.n < SHOWN ? (int)b.n : SHOWN, b.at);
        return;
    }
    clv_add_words(buf, CLV_COMPARE_TEXT, 0, "element %" PRId64 " is %" PRId64 ", expected %" PRId64,
                  i, integer_at(got, i), integer_at(want, i));
}

const char *clv_compare_words(char buf[static CLV_COMPARE_TEXT], const clv_compared *got,
                              const clv_compared *want, const clv_comparison *c)
{
    bool floats = clv_dtype_is_float(want->dtype) || clv_dtype_is_complex(want->dtype);
    buf[0] = '\0';
    if (c->difference == CLV_OTHER_TYPE) {
        size_t n = clv_add_words(buf, CLV_COMPARE_TEXT, 0, "it is ");
        n = add_type(buf, n, got);
        n = clv_add_words(buf, CLV_COMPARE_TEXT, n, ", expected ");
        (void)add_type(buf, n, want);
    } else if (c->difference != CLV_SAME && floats) {
        double a = clv_float_at(got->dtype, got->data, c->first);
        double b = clv_float_at(want->dtype, want->data, c->first);
        size_t n = clv_add_words(buf, CLV_COMPARE_TEXT, 0,
                                 "element %" PRId64 " is %.9g, expected %.9g", c->first, a, b);
        if (c->difference == CLV_OTHER_NUMBERS)
            n = clv_add_words(buf, CLV_COMPARE_TEXT, n, ", with an error of %.3g", fabs(a - b));
        if (c->worst >= 0)
            (void)clv_add_words(buf, CLV_COMPARE_TEXT, n,
                                "; at worst %.3g at element %" PRId64 ", where %.3g is allowed",
                                c->error, c->worst, c->bound);
    } else if (c->difference != CLV_SAME) {
        add_exact(buf, got, want, c->first);
    }
    return buf;
}
