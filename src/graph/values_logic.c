#include "graph/values_logic.h"

#include <math.h>

#include "graph/shape_tools.h"
#include "graph/values.h"

typedef enum { NO, YES, MAYBE } truth;

static clv_dim truth_dim(truth t) { return t == MAYBE ? CLV_DIM_UNKNOWN : t == YES; }
static truth logical_not(truth t) { return t == MAYBE ? MAYBE : t == YES ? NO : YES; }
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

static truth logical_and(clv_dim a, clv_dim b)
{
    truth x = is_true(a), y = is_true(b);
    return x == NO || y == NO ? NO : x == YES && y == YES ? YES : MAYBE;
}

static truth logical_or(clv_dim a, clv_dim b)
{
    truth x = is_true(a), y = is_true(b);
    return x == YES || y == YES ? YES : x == NO && y == NO ? NO : MAYBE;
}

static truth logical_xor(clv_dim a, clv_dim b)
{
    truth x = is_true(a), y = is_true(b);
    return x == MAYBE || y == MAYBE ? MAYBE : x != y ? YES : NO;
}

static truth less_or_equal(clv_dim a, clv_dim b) { return logical_not(less(b, a)); }
static truth greater(clv_dim a, clv_dim b) { return less(b, a); }
static truth greater_or_equal(clv_dim a, clv_dim b) { return logical_not(less(a, b)); }

static bool float_equal(double a, double b) { return a == b; }
static bool float_less(double a, double b) { return a < b; }
static bool float_less_or_equal(double a, double b) { return a <= b; }
static bool float_greater(double a, double b) { return a > b; }
static bool float_greater_or_equal(double a, double b) { return a >= b; }

static clv_status fold_relation(clv_rule *r, truth (*i)(clv_dim, clv_dim),
                                bool (*f)(double, double), clv_error *err)
{
    clv_literal a, b, to;
    clv_literal_out out = { .whole = true };
    if (!clv_rule_broadcasts_plainly(r) || !clv_literal_in(r, 0, &a) || !clv_literal_in(r, 1, &b) ||
        !clv_literal_out_shape(r, 0, &to) || !a.i != !b.i || (!a.i && !f))
        return CLV_OK;
    out.n = to.n;
    for (int32_t j = 0; j < to.n; j++) {
        int32_t x = clv_literal_broadcast(&a, &to, j), y = clv_literal_broadcast(&b, &to, j);
        out.i[j] = a.i ? truth_dim(i(a.i[x], b.i[y])) : f(a.f[x], b.f[y]);
    }
    return clv_literal_set(r, 0, &out, err);
}

clv_status clv_fold_equal(clv_rule *r, clv_error *err)
{
    return fold_relation(r, equal, float_equal, err);
}
clv_status clv_fold_less(clv_rule *r, clv_error *err)
{
    return fold_relation(r, less, float_less, err);
}
clv_status clv_fold_less_or_equal(clv_rule *r, clv_error *err)
{
    return fold_relation(r, less_or_equal, float_less_or_equal, err);
}
clv_status clv_fold_greater(clv_rule *r, clv_error *err)
{
    return fold_relation(r, greater, float_greater, err);
}
clv_status clv_fold_greater_or_equal(clv_rule *r, clv_error *err)
{
    return fold_relation(r, greater_or_equal, float_greater_or_equal, err);
}
clv_status clv_fold_and(clv_rule *r, clv_error *err)
{
    return fold_relation(r, logical_and, NULL, err);
}
clv_status clv_fold_or(clv_rule *r, clv_error *err)
{
    return fold_relation(r, logical_or, NULL, err);
}
clv_status clv_fold_xor(clv_rule *r, clv_error *err)
{
    return fold_relation(r, logical_xor, NULL, err);
}

clv_status clv_fold_where(clv_rule *r, clv_error *err)
{
    clv_literal condition, yes, no, to;
    clv_literal_out out, room_yes, room_no;
    if (!clv_literal_in(r, 0, &condition) || !condition.i ||
        !clv_literal_in_or_open(r, 1, &room_yes, &yes) ||
        !clv_literal_in_or_open(r, 2, &room_no, &no) || !clv_literal_out_shape(r, 0, &to) ||
        !yes.i != !no.i)
        return CLV_OK;
    out.whole = yes.i != NULL;
    out.n = to.n;
    for (int32_t j = 0; j < to.n; j++) {
        truth c = is_true(condition.i[clv_literal_broadcast(&condition, &to, j)]);
        int32_t y = clv_literal_broadcast(&yes, &to, j), n = clv_literal_broadcast(&no, &to, j);
        if (c != MAYBE)
            clv_literal_copy(&out, j, c == YES ? &yes : &no, c == YES ? y : n);
        else if (!yes.i)
            return CLV_OK;
        else
            out.i[j] = yes.i[y] == no.i[n] ? yes.i[y] : CLV_DIM_UNKNOWN;
    }
    return clv_literal_set(r, 0, &out, err);
}

/* -- casts -- */

static clv_dim cast_to_whole(clv_dtype dtype, const clv_literal *in, int32_t j)
{
    if (!in->i && dtype == CLV_DT_BOOL)
        return in->f[j] != 0;
    if (!in->i)
        return fabs(in->f[j]) < 0x1p62 ? clv_elem_fit(dtype, (clv_dim)in->f[j]) : CLV_DIM_UNKNOWN;
    /* a symbol cast to BOOL is not a dimension any more */
    bool lost = dtype == CLV_DT_BOOL && !clv_dim_is_number(in->i[j]);
    return lost ? CLV_DIM_UNKNOWN : clv_elem_fit(dtype, in->i[j]);
}

clv_status clv_fold_cast(clv_rule *r, clv_error *err)
{
    clv_literal in, to;
    clv_literal_out out;
    if (!clv_literal_in(r, 0, &in) || !clv_literal_out_shape(r, 0, &to))
        return CLV_OK;
    bool is_float = clv_dtype_is_float(to.dtype);
    out.whole = clv_dtype_bits(to.dtype) > 0 && !is_float && to.dtype != CLV_DT_COMPLEX64 &&
                to.dtype != CLV_DT_COMPLEX128;
    out.n = in.n;
    if (!out.whole && (!is_float || !clv_literal_has_only_numbers(&in)))
        return CLV_OK;
    for (int32_t j = 0; j < in.n; j++) {
        if (out.whole)
            out.i[j] = cast_to_whole(to.dtype, &in, j);
        else
            out.f[j] = clv_elem_round(to.dtype, in.i ? (double)in.i[j] : in.f[j]);
    }
    return clv_literal_set(r, 0, &out, err);
}

clv_status clv_fold_cast_like(clv_rule *r, clv_error *err) { return clv_fold_cast(r, err); }
