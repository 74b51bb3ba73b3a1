#include "verify/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

/* -- what the model differs by from itself -- */

static bool same_type(const clv_compared *a, const clv_compared *b)
{
    bool same = a->dtype == b->dtype && a->rank == b->rank && a->elems == b->elems;
    for (int32_t d = 0; same && d < a->rank; d++)
        same = a->dims[d] == b->dims[d];
    return same;
}

/* What an error stands beside; where all is expected to be 0, it stands for itself. */
static double size_beside(double want, double rms) { return rms > 0 ? fmax(fabs(want), rms) : 1; }

static double own_difference(const clv_compared *want, const clv_allowance *allowed, double rms)
{
    double most = 0;
    for (int32_t k = 0; k < allowed->n_others; k++) {
        const clv_compared *o = &allowed->others[k];
        for (int64_t i = 0; same_type(o, want) && i < n_numbers(want); i++) {
            double a = clv_float_at(o->dtype, o->data, i);
            double b = clv_float_at(want->dtype, want->data, i);
            if (isfinite(a) && isfinite(b))
                most = fmax(most, fabs(a - b) / size_beside(b, rms));
        }
    }
    return most;
}

/* Is there NaN or an infinity at i in one run of the model and not in another? */
static bool special_is_unsettled(const clv_compared *want, const clv_allowance *allowed, int64_t i)
{
    double b = clv_float_at(want->dtype, want->data, i);
    for (int32_t k = 0; k < allowed->n_others; k++) {
        const clv_compared *o = &allowed->others[k];
        double a = same_type(o, want) ? clv_float_at(o->dtype, o->data, i) : b;
        if ((!isfinite(a) || !isfinite(b)) && !same_special(a, b))
            return true;
    }
    return false;
}

static void compare_special(double a, double b, bool is_unsettled, int64_t i, clv_comparison *c)
{
    if (same_special(a, b))
        return;
    c->n_inexact++;
    c->n_unsettled += is_unsettled;
    if (!is_unsettled)
        count_beyond(c, i, CLV_OTHER_NAN);
}

static void compare_floats(const clv_compared *got, const clv_compared *want,
                           const clv_allowance *allowed, clv_comparison *c)
{
    double tiny = clv_dtype_smallest(got->dtype) + allowed->absolute, most = -1;
    c->rms = rms_of(want);
    c->own = own_difference(want, allowed, c->rms);
    c->is_blind = c->rms > 0 || c->own > 0;
    double growth = c->rms > 0 ? allowed->growth : 0;
    growth = fmax(growth, CLV_OWN_DIFFERENCE_FACTOR * c->own);
    for (int64_t i = 0; i < n_numbers(want); i++) {
        double a = clv_float_at(got->dtype, got->data, i);
        double b = clv_float_at(want->dtype, want->data, i);
        if (!isfinite(a) || !isfinite(b)) {
            compare_special(a, b, special_is_unsettled(want, allowed, i), i, c);
            continue;
        }
        double error = fabs(a - b);
        double bound = growth * size_beside(b, c->rms) + tiny;
        c->n_inexact += error > 0;
        c->is_blind = c->is_blind && fabs(b) <= bound;
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
    c->is_blind = c->is_blind && c->n_inexact > 0; /* the same bits show much */
}

/* -- all others -- */

static bool has_sign(clv_dtype dtype)
{
    return dtype == CLV_DT_INT2 || dtype == CLV_DT_INT4 || dtype == CLV_DT_INT8 ||
           dtype == CLV_DT_INT16 || dtype == CLV_DT_INT32;
}

/* Of integers up to 64 bits. */
static int64_t integer_at(const clv_compared *t, int64_t i)
{
    int bits = clv_dtype_bits(t->dtype);
    const uint8_t *at = t->data;
    uint64_t value = 0;
    if (bits < 8)
        value = (unsigned)at[i * bits / 8] >> (i * bits % 8) & ((1u << bits) - 1);
    for (int b = 0; b < bits / 8 && b < 8; b++)
        value |= (uint64_t)at[i * (bits / 8) + b] << 8 * b;
    bool is_negative = has_sign(t->dtype) && value >> (bits - 1) != 0;
    return is_negative ? (int64_t)value - (INT64_C(1) << bits) : (int64_t)value;
}

static bool same_element(const clv_compared *a, const clv_compared *b, int64_t i)
{
    int bits = clv_dtype_bits(b->dtype);
    if (b->dtype == CLV_DT_STRING)
        return clv_str_eq(a->strings[i], b->strings[i]);
    if (bits <= 64)
        return integer_at(a, i) == integer_at(b, i);
    return memcmp((const uint8_t *)a->data + i * (bits / 8),
                  (const uint8_t *)b->data + i * (bits / 8), (size_t)bits / 8) == 0;
}

/* How far apart small integers, which stand for rounded floats, are in runs of the model. */
static int64_t own_steps(const clv_compared *want, const clv_allowance *allowed)
{
    int64_t most = 0;
    bool is_rounded =
        allowed->growth > 0 && want->dtype != CLV_DT_STRING && clv_dtype_rounding(want->dtype) > 0;
    for (int32_t k = 0; is_rounded && k < allowed->n_others; k++) {
        const clv_compared *o = &allowed->others[k];
        for (int64_t i = 0; same_type(o, want) && i < want->elems; i++) {
            int64_t apart = llabs(integer_at(o, i) - integer_at(want, i));
            most = apart > most ? apart : most;
        }
    }
    return most;
}

static bool element_is_unsettled(const clv_compared *want, const clv_allowance *allowed, int64_t i)
{
    for (int32_t k = 0; k < allowed->n_others; k++)
        if (same_type(&allowed->others[k], want) && !same_element(&allowed->others[k], want, i))
            return true;
    return false;
}

static void compare_exactly(const clv_compared *got, const clv_compared *want,
                            const clv_allowance *allowed, clv_comparison *c)
{
    int64_t steps = own_steps(want, allowed);
    for (int64_t i = 0; i < want->elems; i++) {
        if (same_element(got, want, i))
            continue;
        c->n_inexact++;
        if (steps > 0 && llabs(integer_at(got, i) - integer_at(want, i)) <= steps)
            continue;
        if (steps == 0 && element_is_unsettled(want, allowed, i))
            c->n_unsettled++;
        else
            count_beyond(c, i, CLV_OTHER_NUMBERS);
    }
}

void clv_compare(const clv_compared *got, const clv_compared *want, const clv_allowance *allowed,
                 clv_comparison *ret)
{
    *ret = (clv_comparison){ .difference = CLV_SAME, .first = -1, .worst = -1 };
    if (!same_type(got, want)) {
        ret->difference = CLV_OTHER_TYPE;
        return;
    }
    if (clv_dtype_is_float(want->dtype) || clv_dtype_is_complex(want->dtype))
        compare_floats(got, want, allowed, ret);
    else
        compare_exactly(got, want, allowed, ret);
}

/* -- words -- */

static size_t add_type(char *buf, size_t n, const clv_compared *t)
{
    n = clv_add_words(buf, CLV_COMPARE_TEXT, n, "%s[", clv_dtype_name(t->dtype));
    for (int32_t d = 0; d < t->rank && n < CLV_COMPARE_TEXT; d++)
        n = clv_add_words(buf, CLV_COMPARE_TEXT, n, "%s%" PRId64, d ? "," : "", t->dims[d]);
    return n < CLV_COMPARE_TEXT ? clv_add_words(buf, CLV_COMPARE_TEXT, n, "]") : n;
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
        /* a NaN without its sign, which is nobody's matter */
        size_t n =
            clv_add_words(buf, CLV_COMPARE_TEXT, 0, "element %" PRId64 " is %.9g, expected %.9g",
                          c->first, isnan(a) ? (double)NAN : a, isnan(b) ? (double)NAN : b);
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
