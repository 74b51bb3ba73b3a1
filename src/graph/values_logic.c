/* values_logic.c - comparisons, logic, choice and casts of known elements.
 *
 * A symbol stands for a dimension, so it is never negative: that settles what exporters write after
 * Shape, such as "is it -1?".
 */
#include <math.h>

#include "graph/rules.h"
#include "graph/shape_tools.h"
#include "graph/values.h"

typedef enum { NO, YES, MAYBE } truth;

static clv_dim truth_dim(truth t) { return t == MAYBE ? CLV_DIM_UNKNOWN : t == YES; }
static truth not(truth t) { return t == MAYBE ? MAYBE : t == YES ? NO : YES; }
static truth is_true(clv_dim d) { return !clv_dim_is_number(d) ? MAYBE : d ? YES : NO; }

static truth equal(clv_dim a, clv_dim b)
{
    if (clv_dim_is_number(a) && clv_dim_is_number(b))
        return a == b ? YES : NO;
    if (a == b && a != CLV_DIM_UNKNOWN)
        return YES;
    bool never = (clv_dim_is_symbol(a) && clv_dim_is_number(b) && b < 0) ||
                 (clv_dim_is_symbol(b) && clv_dim_is_number(a) && a < 0);
    return never ? NO : MAYBE;
}

static truth less(clv_dim a, clv_dim b)
{
    if (clv_dim_is_number(a) && clv_dim_is_number(b))
        return a < b ? YES : NO;
    if (a == b && a != CLV_DIM_UNKNOWN)
        return NO;
    if (clv_dim_is_symbol(a) && clv_dim_is_number(b) && b <= 0)
        return NO;
    return clv_dim_is_symbol(b) && clv_dim_is_number(a) && a < 0 ? YES : MAYBE;
}

static truth and (clv_dim a, clv_dim b)
{
    truth x = is_true(a), y = is_true(b);
    return x == NO || y == NO ? NO : x == YES && y == YES ? YES : MAYBE;
}

static truth or (clv_dim a, clv_dim b)
{
    truth x = is_true(a), y = is_true(b);
    return x == YES || y == YES ? YES : x == NO && y == NO ? NO : MAYBE;
}

static truth xor
    (clv_dim a, clv_dim b) {
        truth x = is_true(a), y = is_true(b);
        return x == MAYBE || y == MAYBE ? MAYBE : x != y ? YES : NO;
    }

    static truth less_or_equal(clv_dim a, clv_dim b)
{
    return not(less(b, a));
}
static truth greater(clv_dim a, clv_dim b) { return less(b, a); }
static truth greater_or_equal(clv_dim a, clv_dim b) { return not(less(a, b)); }

static bool float_equal(double a, double b) { return a == b; }
static bool float_less(double a, double b) { return a < b; }
static bool float_less_or_equal(double a, double b) { return a <= b; }
static bool float_greater(double a, double b) { return a > b; }
static bool float_greater_or_equal(double a, double b) { return a >= b; }

static clv_status fold_relation(clv_rule *r, truth (*i)(clv_dim, clv_dim),
                                bool (*f)(double, double))
{
    clv_elems a, b, to;
    clv_elems_out out = { .whole = true };
    bool plain = r->version >= 7 || clv_rule_attr_int(r, "broadcast", 0) == 0;
    if (!plain || !clv_elems_in(r, 0, &a) || !clv_elems_in(r, 1, &b) ||
        !clv_elems_shape_out(r, 0, &to) || !a.i != !b.i || (!a.i && !f))
        return CLV_OK;
    out.n = to.n;
    for (int32_t j = 0; j < to.n; j++) {
        int32_t x = clv_elems_broadcast(&a, &to, j), y = clv_elems_broadcast(&b, &to, j);
        out.i[j] = a.i ? truth_dim(i(a.i[x], b.i[y])) : f(a.f[x], b.f[y]);
    }
    return clv_elems_set(r, 0, &out);
}

clv_status clv_fold_equal(clv_rule *r) { return fold_relation(r, equal, float_equal); }
clv_status clv_fold_less(clv_rule *r) { return fold_relation(r, less, float_less); }
clv_status clv_fold_less_or_equal(clv_rule *r)
{
    return fold_relation(r, less_or_equal, float_less_or_equal);
}
clv_status clv_fold_greater(clv_rule *r) { return fold_relation(r, greater, float_greater); }
clv_status clv_fold_greater_or_equal(clv_rule *r)
{
    return fold_relation(r, greater_or_equal, float_greater_or_equal);
}
clv_status clv_fold_and(clv_rule *r) { return fold_relation(r, and, NULL); }
clv_status clv_fold_or(clv_rule *r) { return fold_relation(r, or, NULL); }
clv_status clv_fold_xor(clv_rule *r) { return fold_relation(r, xor, NULL); }

static clv_dim choose(clv_dim condition, clv_dim yes, clv_dim no)
{
    truth t = is_true(condition);
    return t == YES || yes == no ? yes : t == NO ? no : CLV_DIM_UNKNOWN;
}

clv_status clv_fold_where(clv_rule *r)
{
    clv_elems condition, yes, no, to;
    clv_elems_out out, room_yes, room_no;
    if (!clv_elems_in(r, 0, &condition) || !condition.i ||
        !clv_elems_in_or_open(r, 1, &room_yes, &yes) ||
        !clv_elems_in_or_open(r, 2, &room_no, &no) || !clv_elems_shape_out(r, 0, &to) ||
        !yes.i != !no.i)
        return CLV_OK;
    out.whole = yes.i != NULL;
    out.n = to.n;
    for (int32_t j = 0; j < to.n; j++) {
        clv_dim c = condition.i[clv_elems_broadcast(&condition, &to, j)];
        int32_t y = clv_elems_broadcast(&yes, &to, j), n = clv_elems_broadcast(&no, &to, j);
        if (yes.i)
            out.i[j] = choose(c, yes.i[y], no.i[n]);
        else if (is_true(c) == MAYBE)
            return CLV_OK;
        else
            out.f[j] = is_true(c) == YES ? yes.f[y] : no.f[n];
    }
    return clv_elems_set(r, 0, &out);
}

/* -- casts -- */

/* Towards zero; what does not fit is open. */
static clv_dim to_whole(clv_dtype dtype, double x)
{
    if (dtype == CLV_DT_BOOL)
        return x != 0;
    return fabs(x) < 0x1p62 ? clv_elem_fit(dtype, (clv_dim)x) : CLV_DIM_UNKNOWN;
}

/* A symbol cast to BOOL is not a dimension any more. */
static clv_dim whole_to_whole(clv_dtype dtype, clv_dim x)
{
    return dtype == CLV_DT_BOOL && !clv_dim_is_number(x) ? CLV_DIM_UNKNOWN : clv_elem_fit(dtype, x);
}

static bool is_whole(clv_dtype dtype)
{
    return clv_dtype_bits(dtype) > 0 && !clv_dtype_is_float(dtype) && dtype != CLV_DT_COMPLEX64 &&
           dtype != CLV_DT_COMPLEX128;
}

static bool all_numbers(const clv_elems *e)
{
    for (int32_t j = 0; j < e->n; j++)
        if (!clv_dim_is_number(e->i[j]))
            return false;
    return true;
}

clv_status clv_fold_cast(clv_rule *r)
{
    clv_elems in, to;
    clv_elems_out out;
    if (!clv_elems_in(r, 0, &in) || !clv_elems_shape_out(r, 0, &to))
        return CLV_OK;
    out.whole = is_whole(to.dtype);
    out.n = in.n;
    if (!out.whole && (!clv_dtype_is_float(to.dtype) || (in.i && !all_numbers(&in))))
        return CLV_OK;
    for (int32_t j = 0; j < in.n; j++) {
        if (out.whole)
            out.i[j] = in.i ? whole_to_whole(to.dtype, in.i[j]) : to_whole(to.dtype, in.f[j]);
        else
            out.f[j] = clv_elem_round(to.dtype, in.i ? (double)in.i[j] : in.f[j]);
    }
    return clv_elems_set(r, 0, &out);
}

clv_status clv_fold_cast_like(clv_rule *r) { return clv_fold_cast(r); }
