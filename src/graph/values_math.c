/* values_math.c - arithmetic on known elements, one by one. Whole numbers that their type cannot
 * hold become unknown; so does a quotient by zero.
 */
#include <math.h>

#include "graph/rules.h"
#include "graph/shape_tools.h"
#include "graph/values.h"

/* -- one input -- */

typedef double (*float_function)(double);
typedef clv_dim (*int_function)(clv_dim); /* of a number */

static clv_status fold_unary(clv_rule *r, float_function f, int_function i)
{
    clv_elems in;
    clv_elems_out out;
    if (!clv_elems_in(r, 0, &in) || (in.i ? !i : !f))
        return CLV_OK;
    out.whole = in.i != NULL;
    out.n = in.n;
    for (int32_t j = 0; j < in.n; j++) {
        if (in.i)
            out.i[j] =
                clv_dim_is_number(in.i[j]) ? clv_elem_fit(in.dtype, i(in.i[j])) : CLV_DIM_UNKNOWN;
        else
            out.f[j] = clv_elem_round(in.dtype, f(in.f[j]));
    }
    return clv_elems_set(r, 0, &out);
}

/* The smallest numbers of all are codes, so a number can be negated. */
static clv_dim int_neg(clv_dim x) { return -x; }
static clv_dim int_abs(clv_dim x) { return x < 0 ? -x : x; }
static clv_dim int_sign(clv_dim x) { return (x > 0) - (x < 0); }
static clv_dim int_not(clv_dim x) { return !x; }
static double float_neg(double x) { return -x; }
static double float_sign(double x) { return (double)((x > 0) - (x < 0)); }
static double float_reciprocal(double x) { return 1 / x; }

clv_status clv_fold_neg(clv_rule *r) { return fold_unary(r, float_neg, int_neg); }
clv_status clv_fold_abs(clv_rule *r) { return fold_unary(r, fabs, int_abs); }
clv_status clv_fold_sign(clv_rule *r) { return fold_unary(r, float_sign, int_sign); }
clv_status clv_fold_not(clv_rule *r) { return fold_unary(r, NULL, int_not); }
clv_status clv_fold_floor(clv_rule *r) { return fold_unary(r, floor, NULL); }
clv_status clv_fold_ceil(clv_rule *r) { return fold_unary(r, ceil, NULL); }
clv_status clv_fold_round(clv_rule *r) { return fold_unary(r, rint, NULL); } /* halves to even */
clv_status clv_fold_sqrt(clv_rule *r) { return fold_unary(r, sqrt, NULL); }
clv_status clv_fold_exp(clv_rule *r) { return fold_unary(r, exp, NULL); }
clv_status clv_fold_log(clv_rule *r) { return fold_unary(r, log, NULL); }
clv_status clv_fold_reciprocal(clv_rule *r) { return fold_unary(r, float_reciprocal, NULL); }

/* -- two inputs or more, broadcast -- */

typedef struct {
    double (*f)(double, double);
    clv_dim (*i)(clv_dim, clv_dim); /* of numbers or open dims */
} binary;

/* The old attribute `axis` lines shapes up differently; that is not folded. */
static bool plain_broadcast(const clv_rule *r)
{
    return r->version >= 7 || clv_rule_attr_int(r, "broadcast", 0) == 0;
}

/* acc, of the output's shape, becomes acc op in. */
static void accumulate(const binary *op, const clv_elems *to, const clv_elems *in,
                       clv_elems_out *acc)
{
    for (int32_t j = 0; j < to->n; j++) {
        int32_t at = clv_elems_broadcast(in, to, j);
        if (acc->whole)
            acc->i[j] = clv_elem_fit(to->dtype, op->i(acc->i[j], in->i[at]));
        else
            acc->f[j] = clv_elem_round(to->dtype, op->f(acc->f[j], in->f[at]));
    }
}

static void start_with(const clv_elems *to, const clv_elems *in, clv_elems_out *acc)
{
    acc->whole = in->i != NULL;
    acc->n = to->n;
    for (int32_t j = 0; j < to->n; j++) {
        int32_t at = clv_elems_broadcast(in, to, j);
        if (in->i)
            acc->i[j] = in->i[at];
        else
            acc->f[j] = in->f[at];
    }
}

/* Output 0's shape, and all inputs op'ed together into acc. False when something is not known. */
static bool combine(clv_rule *r, const binary *op, clv_elems *to, clv_elems_out *acc)
{
    clv_elems in;
    if (!plain_broadcast(r) || !clv_elems_shape_out(r, 0, to))
        return false;
    for (int32_t k = 0; k < clv_rule_n_in(r); k++) {
        if (!clv_elems_in(r, k, &in) || (k > 0 && acc->whole != (in.i != NULL)))
            return false;
        if (in.i ? !op->i : !op->f)
            return false;
        if (k == 0)
            start_with(to, &in, acc);
        else
            accumulate(op, to, &in, acc);
    }
    return clv_rule_n_in(r) > 0;
}

static clv_status fold_binary(clv_rule *r, const binary *op)
{
    clv_elems to;
    clv_elems_out acc;
    return combine(r, op, &to, &acc) ? clv_elems_set(r, 0, &acc) : CLV_OK;
}

static bool numbers(clv_dim a, clv_dim b) { return clv_dim_is_number(a) && clv_dim_is_number(b); }

static clv_dim int_sub(clv_dim a, clv_dim b)
{
    int64_t d;
    if (!numbers(a, b))
        return clv_dim_sub(a, b);
    return __builtin_sub_overflow(a, b, &d) || !clv_dim_is_number(d) ? CLV_DIM_UNKNOWN : d;
}

/* Towards zero, as integers are divided in ONNX. */
static clv_dim int_div(clv_dim a, clv_dim b)
{
    if (b == 1)
        return a;
    return numbers(a, b) && b != 0 ? a / b : CLV_DIM_UNKNOWN;
}

/* The sign is the divisor's. */
static clv_dim int_mod(clv_dim a, clv_dim b)
{
    if (!numbers(a, b) || b == 0)
        return CLV_DIM_UNKNOWN;
    clv_dim rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* The sign is the dividend's. */
static clv_dim int_fmod(clv_dim a, clv_dim b)
{
    return numbers(a, b) && b != 0 ? a % b : CLV_DIM_UNKNOWN;
}

static clv_dim int_pow(clv_dim a, clv_dim b)
{
    if (!numbers(a, b) || b < 0)
        return CLV_DIM_UNKNOWN;
    if (b > 64 && a != 0 && a != 1 && a != -1)
        return CLV_DIM_UNKNOWN;
    clv_dim power = 1;
    for (clv_dim n = b > 64 ? 64 + b % 2 : b; n > 0; n--)
        power = clv_dim_mul(power, a);
    return power;
}

static clv_dim int_min(clv_dim a, clv_dim b)
{
    return a == b ? a : !numbers(a, b) ? CLV_DIM_UNKNOWN : a < b ? a : b;
}

static clv_dim int_max(clv_dim a, clv_dim b)
{
    return a == b ? a : !numbers(a, b) ? CLV_DIM_UNKNOWN : a > b ? a : b;
}

static double float_add(double a, double b) { return a + b; }
static double float_sub(double a, double b) { return a - b; }
static double float_mul(double a, double b) { return a * b; }
static double float_div(double a, double b) { return a / b; }

clv_status clv_fold_add(clv_rule *r) { return fold_binary(r, &(binary){ float_add, clv_dim_add }); }
clv_status clv_fold_sum(clv_rule *r) { return clv_fold_add(r); }
clv_status clv_fold_sub(clv_rule *r) { return fold_binary(r, &(binary){ float_sub, int_sub }); }
clv_status clv_fold_mul(clv_rule *r) { return fold_binary(r, &(binary){ float_mul, clv_dim_mul }); }
clv_status clv_fold_div(clv_rule *r) { return fold_binary(r, &(binary){ float_div, int_div }); }
clv_status clv_fold_min(clv_rule *r) { return fold_binary(r, &(binary){ fmin, int_min }); }
clv_status clv_fold_max(clv_rule *r) { return fold_binary(r, &(binary){ fmax, int_max }); }

/* Only like types are folded: a whole number to a fractional power is left open. */
clv_status clv_fold_pow(clv_rule *r) { return fold_binary(r, &(binary){ pow, int_pow }); }

clv_status clv_fold_mod(clv_rule *r)
{
    bool c_like = clv_rule_attr_int(r, "fmod", 0) != 0;
    return fold_binary(r, &(binary){ c_like ? fmod : NULL, c_like ? int_fmod : int_mod });
}

clv_status clv_fold_mean(clv_rule *r)
{
    clv_elems to;
    clv_elems_out acc;
    if (!combine(r, &(binary){ float_add, NULL }, &to, &acc))
        return CLV_OK;
    for (int32_t j = 0; j < acc.n; j++)
        acc.f[j] = clv_elem_round(to.dtype, acc.f[j] / clv_rule_n_in(r));
    return clv_elems_set(r, 0, &acc);
}

/* Input k as a scalar limit; otherwise where it is not given. False when given but not known. */
static bool limit_of(const clv_rule *r, int32_t k, clv_dim otherwise, clv_dim *ret)
{
    *ret = clv_rule_has_in(r, k) ? clv_rule_scalar(r, k) : otherwise;
    return clv_dim_is_number(*ret);
}

/* The same of a float; before version 11 it is an attribute. */
static bool float_limit(const clv_rule *r, int32_t k, const char *attr, double otherwise,
                        double *ret)
{
    *ret = r->version < 11 ? (double)clv_rule_attr_float(r, attr, (float)otherwise) : otherwise;
    return !clv_rule_has_in(r, k) || clv_rule_scalar_float(r, k, ret);
}

static clv_status clip_floats(clv_rule *r, const clv_elems *in)
{
    clv_elems_out out = { .n = in->n };
    double low, high;
    if (!float_limit(r, 1, "min", -INFINITY, &low) || !float_limit(r, 2, "max", INFINITY, &high))
        return CLV_OK;
    for (int32_t j = 0; j < in->n; j++)
        out.f[j] = fmin(fmax(in->f[j], low), high);
    return clv_elems_set(r, 0, &out);
}

clv_status clv_fold_clip(clv_rule *r)
{
    clv_elems in;
    clv_elems_out out = { .whole = true };
    clv_dim low, high;
    if (!clv_elems_in(r, 0, &in))
        return CLV_OK;
    if (in.f)
        return clip_floats(r, &in);
    if (!limit_of(r, 1, INT64_MIN / 2, &low) || !limit_of(r, 2, INT64_MAX, &high))
        return CLV_OK;
    out.n = in.n;
    for (int32_t j = 0; j < in.n; j++)
        out.i[j] =
            clv_dim_is_number(in.i[j]) ? int_min(int_max(in.i[j], low), high) : CLV_DIM_UNKNOWN;
    return clv_elems_set(r, 0, &out);
}
