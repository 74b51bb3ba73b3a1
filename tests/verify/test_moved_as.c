/* test_moved_as.c - the type in which elements are cut and joined has every number of their own:
 * each code of each type is decoded, and what it stands for has to be a number of the other.
 */
#include "sharding/moved_as.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "verify/numbers.h"

#define OPSET_LATEST 26
#define N(array)     ((int)(sizeof(array) / sizeof *(array)))

static const clv_dtype narrow[] = {
    CLV_DT_FLOAT8E4M3FN, CLV_DT_FLOAT8E4M3FNUZ, CLV_DT_FLOAT8E5M2, CLV_DT_FLOAT8E5M2FNUZ,
    CLV_DT_UINT4,        CLV_DT_INT4,           CLV_DT_FLOAT4E2M1, CLV_DT_FLOAT8E8M0,
    CLV_DT_UINT2,        CLV_DT_INT2,
};

static double number_of(clv_dtype dtype, uint8_t code)
{
    int bits = clv_dtype_bits(dtype), n = 1 << bits;
    bool is_signed = dtype == CLV_DT_INT4 || dtype == CLV_DT_INT2;
    if (clv_dtype_is_float(dtype))
        return clv_float_at(dtype, &code, 0);
    return is_signed && code >= n / 2 ? code - n : code;
}

/* A normal number, so that nobody takes it for zero, zero, infinity or none. */
static bool float_has(double x)
{
    return isnan(x) || isinf(x) || x == 0 || ((double)(float)x == x && fabs(x) >= 0x1p-126);
}

/* Steps of 2^-24 at the least, 11 digits. */
static bool half_has(double x)
{
    int exponent;
    double digits = ldexp(frexp(x, &exponent), 11);
    return isnan(x) || isinf(x) || x == 0 ||
           (fabs(x) < 65520 && floor(digits) == digits && floor(ldexp(x, 24)) == ldexp(x, 24));
}

static bool whole_has(double x, double least, double most)
{
    return floor(x) == x && x >= least && x <= most && !(x == 0 && signbit(x));
}

static bool has(clv_dtype wider, double x)
{
    switch ((int)wider) {
    case CLV_DT_DOUBLE:
        return true;
    case CLV_DT_FLOAT:
        return float_has(x);
    case CLV_DT_FLOAT16:
        return half_has(x);
    case CLV_DT_INT32:
        return whole_has(x, INT32_MIN, INT32_MAX);
    case CLV_DT_INT8:
        return whole_has(x, INT8_MIN, INT8_MAX);
    case CLV_DT_UINT8:
        return whole_has(x, 0, UINT8_MAX);
    default:
        return false;
    }
}

static bool holds(clv_dtype dtype, clv_dtype wider)
{
    for (int code = 0; code < 1 << clv_dtype_bits(dtype); code++)
        if (!has(wider, number_of(dtype, (uint8_t)code)))
            return false;
    return true;
}

Test(moved_as, every_number_is_one_of_the_wider_type)
{
    for (int i = 0; i < N(narrow); i++) {
        clv_dtype wider = clv_dtype_moved_as(narrow[i], OPSET_LATEST);
        cr_assert_neq(wider, narrow[i]);
        cr_assert(holds(narrow[i], wider), "%s is moved as %s", clv_dtype_name(narrow[i]),
                  clv_dtype_name(wider));
    }
}

/* The other codes of a number would come back as the first of them. */
Test(moved_as, codes_stand_for_different_numbers)
{
    for (int i = 0; i < N(narrow); i++)
        for (int a = 0; a < 1 << clv_dtype_bits(narrow[i]); a++)
            for (int b = 0; b < a; b++) {
                double x = number_of(narrow[i], (uint8_t)a), y = number_of(narrow[i], (uint8_t)b);
                bool sign = (a ^ b) >> (clv_dtype_bits(narrow[i]) - 1) & 1;
                bool nan_of_a_sign = isnan(x) && isnan(y) && !sign;
                bool same = (x == y && signbit(x) == signbit(y)) || nan_of_a_sign;
                cr_assert(!same || (narrow[i] == CLV_DT_FLOAT8E5M2 && isnan(x)), "%s: %d and %d",
                          clv_dtype_name(narrow[i]), a, b);
            }
}

/* Were another type in the table, the test above would see it. */
Test(moved_as, wrong_types_are_seen)
{
    static const clv_dtype wrong[][2] = {
        { CLV_DT_FLOAT8E8M0, CLV_DT_FLOAT },    { CLV_DT_FLOAT8E8M0, CLV_DT_FLOAT16 },
        { CLV_DT_FLOAT8E5M2, CLV_DT_INT32 },    { CLV_DT_FLOAT8E4M3FN, CLV_DT_FLOAT8E5M2 },
        { CLV_DT_FLOAT4E2M1, CLV_DT_INT8 },     { CLV_DT_INT4, CLV_DT_UINT8 },
        { CLV_DT_INT2, CLV_DT_UINT8 },          { CLV_DT_FLOAT8E5M2FNUZ, CLV_DT_INT8 },
        { CLV_DT_FLOAT8E4M3FNUZ, CLV_DT_UINT8 }
    };
    static const clv_dtype right[][2] = { { CLV_DT_FLOAT8E5M2, CLV_DT_FLOAT16 },
                                          { CLV_DT_FLOAT4E2M1, CLV_DT_FLOAT16 },
                                          { CLV_DT_INT4, CLV_DT_INT8 } };
    for (int i = 0; i < N(wrong); i++)
        cr_assert(!holds(wrong[i][0], wrong[i][1]), "%s as %s", clv_dtype_name(wrong[i][0]),
                  clv_dtype_name(wrong[i][1]));
    for (int i = 0; i < N(right); i++)
        cr_assert(holds(right[i][0], right[i][1]));
}

Test(moved_as, a_type_is_moved_from_the_operator_set_on_that_casts_it)
{
    for (int i = 0; i < N(narrow); i++) {
        int32_t first = clv_dtype_cast_opset(narrow[i]);
        cr_assert_eq(clv_dtype_moved_as(narrow[i], first - 1), CLV_DT_UNDEFINED);
        cr_assert_neq(clv_dtype_moved_as(narrow[i], first), CLV_DT_UNDEFINED);
        cr_assert_eq(clv_dtype_viewed_as(narrow[i], first - 1), CLV_DT_UNDEFINED);
    }
    cr_assert_eq(clv_dtype_viewed_as(CLV_DT_FLOAT8E5M2, 20), CLV_DT_FLOAT);
    cr_assert_eq(clv_dtype_viewed_as(CLV_DT_FLOAT8E5M2, 21), CLV_DT_FLOAT8E5M2);
    for (int t = CLV_DT_FLOAT; t <= CLV_DT_BFLOAT16; t++)
        cr_assert_eq((int)clv_dtype_moved_as((clv_dtype)t, 1), t);
}
