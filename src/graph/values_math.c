#include "graph/values_math.h"

#include <math.h>

#include "graph/shape_tools.h"
#include "graph/values.h"

/* -- one input -- */

typedef double (*float_function)(double);
typedef clv_dim (*int_function)(clv_dim); /* of a number */

static clv_status fold_unary(clv_rule *r, float_function f, int_function i, clv_error *err)
{
    clv_literal in;
    clv_literal_out out;
    if (!clv_literal_in(r, 0, &in) || (in.i ? !i : !f))
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
    return clv_literal_set(r, 0, &out, err);
}

/* The smallest numbers of all are codes, so a number can be negated. */
static clv_dim int_neg(clv_dim x) { return -x; }
static clv_dim int_abs(clv_dim x) { return x < 0 ? -x : x; }
static clv_dim int_sign(clv_dim x) { return (x > 0) - (x < 0); }
static clv_dim int_not(clv_dim x) { return !x; }
static double float_neg(double x) { return -x; }
static double float_sign(double x) { return (double)((x > 0) - (x < 0)); }
static double float_reciprocal(double x) { return 1 / x; }

clv_status clv_fold_neg(clv_rule *r, clv_error *err)
{
    return fold_unary(r, float_neg, int_neg, err);
}
clv_status clv_fold_abs(clv_rule *r, clv_error *err) { return fold_unary(r, fabs, int_abs, err); }
clv_status clv_fold_sign(clv_rule *r, clv_error *err)
{
    return fold_unary(r, float_sign, int_sign, err);
}
clv_status clv_fold_not(clv_rule *r, clv_error *err) { return fold_unary(r, NULL, int_not, err); }
clv_status clv_fold_floor(clv_rule *r, clv_error *err) { return fold_unary(r, floor, NULL, err); }
clv_status clv_fold_ceil(clv_rule *r, clv_error *err) { return fold_unary(r, ceil, NULL, err); }
clv_status clv_fold_round(clv_rule *r, clv_error *err)
{
    return fold_unary(r, rint, NULL, err);
} /* halves to even */
clv_status clv_fold_sqrt(clv_rule *r, clv_error *err) { return fold_unary(r, sqrt, NULL, err); }
clv_status clv_fold_exp(clv_rule *r, clv_error *err) { return fold_unary(r, exp, NULL, err); }
clv_status clv_fold_log(clv_rule *r, clv_error *err) { return fold_unary(r, log, NULL, err); }
clv_status clv_fold_reciprocal(clv_rule *r, clv_error *err)
{
    return fold_unary(r, float_reciprocal, NULL, err);
}

/* -- two inputs or more, broadcast -- */

typedef struct {
    double (*f)(double, double);
    clv_dim (*i)(clv_dim, clv_dim);                      /* of numbers or open dims */
    clv_dim (*open)(const clv_rule *, clv_dim, clv_dim); /* where i does not know; NULL: likewise */
} binary;

/* acc, of the output's shape, becomes acc op in. */
static void accumulate(const clv_rule *r, const binary *op, const clv_literal *to,
                       const clv_literal *in, clv_literal_out *acc)
{
    for (int32_t j = 0; j < to->n; j++) {
        int32_t at = clv_literal_broadcast(in, to, j);
        if (acc->whole) {
            clv_dim result = op->i(acc->i[j], in->i[at]);
            if (result == CLV_DIM_UNKNOWN && op->open)
                result = op->open(r, acc->i[j], in->i[at]);
            acc->i[j] = clv_elem_fit(to->dtype, result);
        } else {
            acc->f[j] = clv_elem_round(to->dtype, op->f(acc->f[j], in->f[at]));
        }
    }
}

/* Output 0's shape, and all inputs op'ed together into acc. False when something is not known. */
static bool combine(clv_rule *r, const binary *op, clv_literal *to, clv_literal_out *acc)
{
    clv_literal in;
    if (!clv_rule_broadcasts_plainly(r) || !clv_literal_out_shape(r, 0, to))
        return false;
    for (int32_t k = 0; k < clv_rule_n_in(r); k++) {
        if (!clv_literal_in(r, k, &in) || (k > 0 && acc->whole != (in.i != NULL)))
            return false;
        if (in.i ? !op->i : !op->f)
            return false;
        if (k > 0) {
            accumulate(r, op, to, &in, acc);
            continue;
        }
        acc->whole = in.i != NULL;
        acc->n = to->n;
        for (int32_t j = 0; j < to->n; j++)
            clv_literal_copy(acc, j, &in, clv_literal_broadcast(&in, to, j));
    }
    return clv_rule_n_in(r) > 0;
}

static clv_status fold_binary(clv_rule *r, const binary *op, clv_error *err)
{
    clv_literal to;
    clv_literal_out acc;
    return combine(r, op, &to, &acc) ? clv_literal_set(r, 0, &acc, err) : CLV_OK;
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

static double float_add(double a, double b) { return a + b; }
static double float_sub(double a, double b) { return a - b; }
static double float_mul(double a, double b) { return a * b; }
static double float_div(double a, double b) { return a / b; }

clv_status clv_fold_add(clv_rule *r, clv_error *err)
{
    return fold_binary(r, &(binary){ .f = float_add, .i = clv_dim_add, .open = clv_rule_add }, err);
}
clv_status clv_fold_sum(clv_rule *r, clv_error *err) { return clv_fold_add(r, err); }
clv_status clv_fold_sub(clv_rule *r, clv_error *err)
{
    return fold_binary(r, &(binary){ .f = float_sub, .i = int_sub, .open = clv_rule_sub }, err);
}
clv_status clv_fold_mul(clv_rule *r, clv_error *err)
{
    return fold_binary(r, &(binary){ .f = float_mul, .i = clv_dim_mul }, err);
}
clv_status clv_fold_div(clv_rule *r, clv_error *err)
{
    return fold_binary(r, &(binary){ .f = float_div, .i = int_div }, err);
}
clv_status clv_fold_min(clv_rule *r, clv_error *err)
{
    return fold_binary(r, &(binary){ .f = fmin, .i = clv_elem_min }, err);
}
clv_status clv_fold_max(clv_rule *r, clv_error *err)
{
    return fold_binary(r, &(binary){ .f = fmax, .i = clv_elem_max }, err);
}

clv_status clv_fold_pow(clv_rule *r, clv_error *err)
{
    return fold_binary(r, &(binary){ .f = pow, .i = int_pow }, err);
}

clv_status clv_fold_mod(clv_rule *r, clv_error *err)
{
    bool c_like = clv_rule_attr_int(r, "fmod", 0) != 0;
    return fold_binary(r, &(binary){ .f = c_like ? fmod : NULL, .i = c_like ? int_fmod : int_mod },
                       err);
}

clv_status clv_fold_mean(clv_rule *r, clv_error *err)
{
    clv_literal to;
    clv_literal_out acc;
    if (!combine(r, &(binary){ .f = float_add, .i = NULL }, &to, &acc))
        return CLV_OK;
    for (int32_t j = 0; j < acc.n; j++)
        acc.f[j] = clv_elem_round(to.dtype, acc.f[j] / clv_rule_n_in(r));
    return clv_literal_set(r, 0, &acc, err);
}

/* Input k of Clip as a limit, otherwise where it is not given; before version 11 limits of floats
 * are attributes. False when given but not known. */
static bool read_limit(const clv_rule *r, int32_t k, clv_dim otherwise, clv_dim *ret)
{
    *ret = clv_rule_has_in(r, k) ? clv_rule_scalar(r, k) : otherwise;
    return clv_dim_is_number(*ret);
}

static bool read_float_limit(const clv_rule *r, int32_t k, double otherwise, double *ret)
{
    const char *attr = k == 1 ? "min" : "max";
    *ret = r->version < 11 ? (double)clv_rule_attr_float(r, attr, (float)otherwise) : otherwise;
    return !clv_rule_has_in(r, k) || clv_rule_scalar_float(r, k, ret);
}

clv_status clv_fold_clip(clv_rule *r, clv_error *err)
{
    clv_literal in;
    clv_literal_out out;
    clv_dim low = 0, high = 0;
    double least = 0, most = 0;
    if (!clv_literal_in(r, 0, &in))
        return CLV_OK;
    bool known =
        in.i ? read_limit(r, 1, INT64_MIN / 2, &low) && read_limit(r, 2, INT64_MAX, &high)
             : read_float_limit(r, 1, -INFINITY, &least) && read_float_limit(r, 2, INFINITY, &most);
    if (!known)
        return CLV_OK;
    out.whole = in.i != NULL;
    out.n = in.n;
    for (int32_t j = 0; j < in.n; j++) {
        if (!in.i)
            out.f[j] = fmin(fmax(in.f[j], least), most);
        else if (clv_dim_is_number(in.i[j]))
            out.i[j] = clv_elem_min(clv_elem_max(in.i[j], low), high);
        else
            out.i[j] = CLV_DIM_UNKNOWN;
    }
    return clv_literal_set(r, 0, &out, err);
}
