#include "verify/numbers.h"

#include <math.h>
#include <string.h>

/* A small float: sign, exponent, mantissa. */
typedef struct {
    int exponent_bits, mantissa_bits, bias;
    enum { ALL_INF, FN, FNUZ, NO_NAN } kind; /* what stands in place of the largest exponent */
} format;

static bool format_of(clv_dtype dtype, format *ret)
{
    switch ((int)dtype) {
    case CLV_DT_FLOAT16:
        *ret = (format){ 5, 10, 15, ALL_INF };
        return true;
    case CLV_DT_BFLOAT16:
        *ret = (format){ 8, 7, 127, ALL_INF };
        return true;
    case CLV_DT_FLOAT8E4M3FN:
        *ret = (format){ 4, 3, 7, FN };
        return true;
    case CLV_DT_FLOAT8E4M3FNUZ:
        *ret = (format){ 4, 3, 8, FNUZ };
        return true;
    case CLV_DT_FLOAT8E5M2:
        *ret = (format){ 5, 2, 15, ALL_INF };
        return true;
    case CLV_DT_FLOAT8E5M2FNUZ:
        *ret = (format){ 5, 2, 16, FNUZ };
        return true;
    case CLV_DT_FLOAT4E2M1:
        *ret = (format){ 2, 1, 1, NO_NAN };
        return true;
    default:
        return false;
    }
}

static double small_float(const format *f, unsigned bits)
{
    unsigned mantissa = bits & ((1u << f->mantissa_bits) - 1);
    unsigned exponent = bits >> f->mantissa_bits & ((1u << f->exponent_bits) - 1);
    unsigned sign = bits >> (f->mantissa_bits + f->exponent_bits) & 1;
    unsigned top = (1u << f->exponent_bits) - 1, full = (1u << f->mantissa_bits) - 1;
    double value;
    if (f->kind == ALL_INF && exponent == top)
        value = mantissa ? (double)NAN : HUGE_VAL;
    else if (f->kind == FN && exponent == top && mantissa == full)
        return (double)NAN;
    else if (f->kind == FNUZ && sign && !exponent && !mantissa)
        return (double)NAN;
    else if (exponent == 0)
        value = ldexp(mantissa, 1 - f->bias - f->mantissa_bits);
    else
        value =
            ldexp((1u << f->mantissa_bits) | mantissa, (int)exponent - f->bias - f->mantissa_bits);
    return sign ? -value : value;
}

bool clv_dtype_is_complex(clv_dtype dtype)
{
    return dtype == CLV_DT_COMPLEX64 || dtype == CLV_DT_COMPLEX128;
}

double clv_float_at(clv_dtype dtype, const void *data, int64_t i)
{
    enum { E8M0_BIAS = 127, E8M0_NAN = 255 };
    const uint8_t *at = data;
    format f;
    float single;
    double wide;
    if (dtype == CLV_DT_FLOAT || dtype == CLV_DT_COMPLEX64) {
        memcpy(&single, at + i * (int64_t)sizeof single, sizeof single);
        return (double)single;
    }
    if (dtype == CLV_DT_DOUBLE || dtype == CLV_DT_COMPLEX128) {
        memcpy(&wide, at + i * (int64_t)sizeof wide, sizeof wide);
        return wide;
    }
    if (dtype == CLV_DT_FLOAT8E8M0)
        return at[i] == E8M0_NAN ? (double)NAN : ldexp(1, at[i] - E8M0_BIAS);
    if (!format_of(dtype, &f))
        return 0;
    if (clv_dtype_bits(dtype) == 16)
        return small_float(&f, (unsigned)at[2 * i] | (unsigned)at[2 * i + 1] << 8);
    if (clv_dtype_bits(dtype) == 4)
        return small_float(&f, (unsigned)at[i / 2] >> (i % 2 * 4) & 0xfu);
    return small_float(&f, at[i]);
}

double clv_dtype_rounding(clv_dtype dtype)
{
    format f;
    if (dtype == CLV_DT_FLOAT || dtype == CLV_DT_COMPLEX64)
        return 0x1p-24;
    if (dtype == CLV_DT_DOUBLE || dtype == CLV_DT_COMPLEX128)
        return 0x1p-53;
    if (dtype == CLV_DT_FLOAT8E8M0)
        return 0.5;
    if (format_of(dtype, &f))
        return ldexp(1, -f.mantissa_bits - 1);
    if (dtype == CLV_DT_BOOL || clv_dtype_bits(dtype) == 0 || clv_dtype_bits(dtype) > 8)
        return 0;
    return ldexp(1, -clv_dtype_bits(dtype));
}

double clv_dtype_smallest(clv_dtype dtype)
{
    format f;
    if (dtype == CLV_DT_FLOAT || dtype == CLV_DT_COMPLEX64)
        return 0x1p-126;
    if (dtype == CLV_DT_DOUBLE || dtype == CLV_DT_COMPLEX128)
        return 0x1p-1022;
    return format_of(dtype, &f) ? ldexp(1, 1 - f.bias) : 0;
}
