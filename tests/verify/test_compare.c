/* test_compare.c - tensors held against each other, by hand: what is within the bound, what is
 * beyond, and what is reported of it; and the values of every small float.
 */
#include "verify/compare.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define N(array) ((int64_t)(sizeof(array) / sizeof *(array)))

static clv_compared of(clv_dtype dtype, const void *data, const int64_t *n)
{
    return (clv_compared){ .dtype = dtype, .rank = 1, .dims = n, .elems = *n, .data = data };
}

static void held(const clv_compared *got, const clv_compared *want, double growth,
                 clv_comparison *ret)
{
    const clv_allowance allowed = { .growth = growth };
    clv_compare(got, want, &allowed, ret);
}

static clv_comparison floats(const float *got, const float *want, int64_t n, double growth)
{
    clv_comparison c;
    clv_compared a = of(CLV_DT_FLOAT, got, &n), b = of(CLV_DT_FLOAT, want, &n);
    held(&a, &b, growth, &c);
    return c;
}

Test(compare, equal_numbers_are_the_same_and_zeros_have_no_sign)
{
    static const float a[] = { 1, -2, 0.0f, 3 }, b[] = { 1, -2, -0.0f, 3 };
    clv_comparison c = floats(a, b, N(a), 0);
    cr_expect_eq(c.difference, CLV_SAME);
    cr_expect_eq(c.n_inexact, 0);
    cr_expect_eq(c.worst, -1);
    cr_expect_eq(c.first, -1);
}

Test(compare, an_error_is_allowed_beside_the_element_or_all_of_them)
{
    /* rms of 3, 4, 0, 0: 2.5 */
    static const float want[] = { 3, 4, 0, 0 }, near[] = { 3, 4.003f, 0.002f, 0 },
                       far[] = { 3, 4, 0, 0.003f };
    clv_comparison c = floats(near, want, N(want), 1e-3);
    cr_expect_eq(c.difference, CLV_SAME, "0.003 of 4, and 0.002 of 2.5");
    cr_expect_eq(c.n_inexact, 2);
    cr_expect_float_eq(c.rms, 2.5, 1e-12);
    cr_expect_eq(c.worst, 2, "0.0020 of 0.0025 is more than 0.003 of 0.004");
    cr_expect_float_eq(c.bound, 0.0025, 1e-9);
    cr_expect_float_eq(c.error, 0.002, 1e-9);

    c = floats(far, want, N(want), 1e-3);
    cr_expect_eq(c.difference, CLV_OTHER_NUMBERS);
    cr_expect_eq(c.first, 3);
    cr_expect_eq(c.n_beyond, 1);
}

Test(compare, one_element_among_many_is_found)
{
    static float got[1000], want[1000];
    for (int i = 0; i < 1000; i++)
        got[i] = want[i] = sinf((float)i);
    got[617] = want[618]; /* as if a part stood one place off */
    clv_comparison c = floats(got, want, 1000, 1e-3);
    cr_expect_eq(c.difference, CLV_OTHER_NUMBERS);
    cr_expect_eq(c.first, 617);
    cr_expect_eq(c.worst, 617);
    cr_expect_eq(c.n_beyond, 1);
}

Test(compare, nan_and_infinities_stand_at_the_same_places)
{
    const float nan = NAN, inf = INFINITY;
    const float want[] = { nan, inf, -inf, 1 };
    const float same[] = { -nan, inf, -inf, 1 };
    cr_expect_eq(floats(same, want, 4, 0).difference, CLV_SAME);

    const float other[][4] = {
        { 1, inf, -inf, 1 },     { nan, 1, -inf, 1 },   { nan, -inf, -inf, 1 },
        { inf, inf, -inf, 1 },   { nan, nan, -inf, 1 }, { nan, inf, -inf, nan },
        { nan, inf, -inf, inf },
    };
    static const int64_t first[] = { 0, 1, 1, 0, 1, 3, 3 };
    for (int i = 0; i < 7; i++) {
        clv_comparison c = floats(other[i], want, 4, 1e9);
        cr_expect_eq(c.difference, CLV_OTHER_NAN, "case %d", i);
        cr_expect_eq(c.first, first[i], "case %d", i);
    }
}

Test(compare, infinities_do_not_make_the_bound_wide)
{
    const float want[] = { INFINITY, 1, 1 }, got[] = { INFINITY, 1, 1.5f };
    clv_comparison c = floats(got, want, 3, 1e-3);
    cr_expect_eq(c.difference, CLV_OTHER_NUMBERS);
    cr_expect_float_eq(c.rms, 1, 1e-12);
}

Test(compare, large_and_small_numbers_keep_their_squares_in_range)
{
    static const float want[] = { 3e38f, -3e38f }, got[] = { 3e38f, -2e38f };
    cr_expect_float_eq(floats(want, want, 2, 1e-3).rms / 3e38, 1, 1e-6);
    cr_expect_eq(floats(got, want, 2, 1e-3).difference, CLV_OTHER_NUMBERS);
    static const float tiny[] = { 1e-40f, 0 }, none[] = { 0, 0 };
    cr_expect_eq(floats(tiny, none, 2, 0).difference, CLV_SAME, "below the smallest full number");
    static const float small[] = { 1e-30f, 0 };
    cr_expect_eq(floats(small, none, 2, 1).difference, CLV_OTHER_NUMBERS, "beside nothing at all");
}

/* -- beside the model itself, run otherwise -- */

static clv_comparison beside(clv_dtype dtype, const void *got, const void *want, const void *other,
                             int64_t n, double growth)
{
    clv_comparison c;
    clv_compared a = of(dtype, got, &n), b = of(dtype, want, &n), o = of(dtype, other, &n);
    const clv_allowance allowed = { growth, 0, &o, 1 };
    clv_compare(&a, &b, &allowed, &c);
    return c;
}

Test(compare, what_the_model_differs_by_from_itself_is_allowed_four_times)
{
    static const float want[] = { 3, 4, 0, 0 }, other[] = { 3, 4, 0.0025f, 0 },
                       near[] = { 3, 4, 0, 0.009f }, far[] = { 3, 4, 0, 0.011f };
    clv_comparison c = beside(CLV_DT_FLOAT, near, want, other, N(want), 1e-6);
    cr_expect_eq(c.difference, CLV_SAME);
    cr_expect_float_eq(c.own, 1e-3, 1e-9, "0.0025 beside an rms of 2.5");
    c = beside(CLV_DT_FLOAT, far, want, other, N(want), 1e-6);
    cr_expect_eq(c.first, 3);
    cr_expect_float_eq(c.bound, 0.01, 1e-8);
    c = beside(CLV_DT_FLOAT, far, want, want, N(want), 0.1);
    cr_expect_eq(c.difference, CLV_SAME, "it makes a bound wider, not narrower");
}

Test(compare, where_all_is_to_be_zero_the_model_s_own_noise_is_the_size)
{
    static const float want[] = { 0, 0 }, other[] = { 1e-6f, 0 }, near[] = { 0, 3e-6f },
                       far[] = { 0, 5e-6f };
    clv_comparison c = beside(CLV_DT_FLOAT, near, want, other, 2, 1e-3);
    cr_expect_eq(c.difference, CLV_SAME);
    cr_expect(c.is_blind, "all that is expected would pass as well");
    cr_expect_eq(beside(CLV_DT_FLOAT, far, want, other, 2, 1e-3).first, 1);
    cr_expect(!beside(CLV_DT_FLOAT, want, want, want, 2, 1e-3).is_blind, "zeros are zeros");
}

Test(compare, an_element_that_the_model_does_not_settle_is_not_judged)
{
    static const int64_t want[] = { 7, 8, 9 }, other[] = { 7, 3, 9 }, near[] = { 7, 5, 9 },
                         far[] = { 6, 8, 9 };
    clv_comparison c = beside(CLV_DT_INT64, near, want, other, 3, 1);
    cr_expect_eq(c.difference, CLV_SAME);
    cr_expect_eq(c.n_unsettled, 1);
    cr_expect_eq(beside(CLV_DT_INT64, far, want, other, 3, 1).first, 0);

    const float number[] = { 1, 2 }, nan[] = { NAN, 2 }, both[] = { NAN, INFINITY };
    c = beside(CLV_DT_FLOAT, nan, number, nan, 2, 1e-3);
    cr_expect_eq(c.difference, CLV_SAME);
    cr_expect_eq(c.n_unsettled, 1);
    cr_expect_eq(beside(CLV_DT_FLOAT, both, number, nan, 2, 1e-3).first, 1);
}

Test(compare, rounded_integers_are_as_far_apart_as_in_the_model)
{
    static const uint8_t want[] = { 10, 20, 30 }, other[] = { 10, 21, 30 }, near[] = { 9, 20, 31 },
                         far[] = { 10, 20, 32 };
    cr_expect_eq(beside(CLV_DT_UINT8, near, want, other, 3, 1e-3).difference, CLV_SAME);
    cr_expect_eq(beside(CLV_DT_UINT8, far, want, other, 3, 1e-3).first, 2);
    cr_expect_eq(beside(CLV_DT_UINT8, near, want, want, 3, 1e-3).first, 0);
    cr_expect_eq(beside(CLV_DT_UINT8, near, want, other, 3, 0).first, 0, "nothing was rounded");
    static const int8_t zero = 0, minus = -1, two = 2;
    cr_expect_eq(beside(CLV_DT_INT8, &minus, &zero, &minus, 1, 1).difference, CLV_SAME);
    cr_expect_eq(beside(CLV_DT_INT8, &two, &zero, &minus, 1, 1).first, 0);
}

Test(compare, numbers_that_all_lie_within_the_error_say_nothing)
{
    static const float want[] = { 1e-7f, 2e-7f }, got[] = { 3e-7f, 0 }, full[] = { 1e-7f, 1 };
    int64_t n = 2;
    clv_comparison c;
    clv_compared a = of(CLV_DT_FLOAT, got, &n), b = of(CLV_DT_FLOAT, want, &n),
                 f = of(CLV_DT_FLOAT, full, &n);
    const clv_allowance allowed = { .growth = 1e-6, .absolute = 3.6e-7 };
    clv_compare(&a, &b, &allowed, &c);
    cr_expect_eq(c.difference, CLV_SAME);
    cr_expect(c.is_blind);
    clv_compare(&b, &b, &allowed, &c);
    cr_expect(!c.is_blind, "the same bits");
    a.data = (const float[]){ 2e-7f, 1 };
    clv_compare(&a, &f, &allowed, &c);
    cr_expect(!c.is_blind, "1 is beyond");
}

Test(compare, nothing_at_all_is_the_same)
{
    cr_expect_eq(floats(NULL, NULL, 0, 1).difference, CLV_SAME);
}

Test(compare, types_and_shapes_are_reported)
{
    static const float x[6] = { 0 };
    const int64_t a[] = { 2, 3 }, b[] = { 3, 2 };
    char words[CLV_COMPARE_TEXT];
    clv_compared got = { CLV_DT_FLOAT, 2, a, 6, x, NULL },
                 want = { CLV_DT_FLOAT, 2, b, 6, x, NULL };
    clv_comparison c;
    held(&got, &want, 1, &c);
    cr_expect_eq(c.difference, CLV_OTHER_TYPE);
    cr_expect_str_eq(clv_compare_words(words, &got, &want, &c),
                     "it is FLOAT[2,3], expected FLOAT[3,2]");
    want = got;
    want.dtype = CLV_DT_INT32;
    held(&got, &want, 1, &c);
    cr_expect_str_eq(clv_compare_words(words, &got, &want, &c),
                     "it is FLOAT[2,3], expected INT32[2,3]");
}

Test(compare, integers_and_booleans_have_to_be_the_same)
{
    static const int64_t got[] = { 1, -5, 3 }, want[] = { 1, 5, 4 };
    char words[CLV_COMPARE_TEXT];
    int64_t n = 3;
    clv_comparison c;
    clv_compared a = of(CLV_DT_INT64, got, &n), b = of(CLV_DT_INT64, want, &n);
    held(&a, &b, 1e9, &c);
    cr_expect_eq(c.difference, CLV_OTHER_NUMBERS);
    cr_expect_eq(c.first, 1);
    cr_expect_eq(c.n_beyond, 2);
    cr_expect_str_eq(clv_compare_words(words, &a, &b, &c), "element 1 is -5, expected 5");

    static const uint8_t no[] = { 0, 1 }, yes[] = { 1, 1 };
    n = 2;
    a = of(CLV_DT_BOOL, no, &n);
    b = of(CLV_DT_BOOL, yes, &n);
    held(&a, &b, 1e9, &c);
    cr_expect_eq(c.first, 0);
    held(&a, &a, 0, &c);
    cr_expect_eq(c.difference, CLV_SAME);
}

Test(compare, half_bytes_are_looked_at_one_by_one_and_the_last_one_is_no_element)
{
    static const uint8_t got[] = { 0x21, 0xf3 }, want[] = { 0x21, 0x03 }, other[] = { 0x31, 0x03 };
    int64_t n = 3;
    clv_comparison c;
    clv_compared a = of(CLV_DT_INT4, got, &n), b = of(CLV_DT_INT4, want, &n),
                 d = of(CLV_DT_INT4, other, &n);
    held(&a, &b, 0, &c);
    cr_expect_eq(c.difference, CLV_SAME);
    held(&a, &d, 0, &c);
    cr_expect_eq(c.first, 1);
    a.dtype = d.dtype = CLV_DT_UINT2;
    held(&a, &d, 0, &c);
    cr_expect_eq(c.first, 2, "0x21 is 1, 0, 2, 0 and 0x31 is 1, 0, 3, 0");
}

Test(compare, texts_have_to_be_the_same)
{
    const clv_str got[] = { { "a", 1 }, { "bc", 2 } }, want[] = { { "a", 1 }, { "bd", 2 } };
    char words[CLV_COMPARE_TEXT];
    int64_t n = 2;
    clv_comparison c;
    clv_compared a = { CLV_DT_STRING, 1, &n, 2, NULL, got };
    clv_compared b = { CLV_DT_STRING, 1, &n, 2, NULL, want };
    held(&a, &b, 1e9, &c);
    cr_expect_str_eq(clv_compare_words(words, &a, &b, &c), "element 1 is 'bc', expected 'bd'");
}

Test(compare, complex_numbers_are_two_each)
{
    static const float got[] = { 1, 2, 3, 4.5f }, want[] = { 1, 2, 3, 4 };
    int64_t n = 2;
    clv_comparison c;
    clv_compared a = of(CLV_DT_COMPLEX64, got, &n), b = of(CLV_DT_COMPLEX64, want, &n);
    held(&a, &b, 1e-3, &c);
    cr_expect_eq(c.difference, CLV_OTHER_NUMBERS);
    cr_expect_eq(c.first, 3);
}

Test(compare, what_is_beyond_is_reported_with_the_worst)
{
    static const float got[] = { 1, 1.5f, 3 }, want[] = { 1, 1, 1 };
    int64_t n = 3;
    char words[CLV_COMPARE_TEXT];
    clv_comparison c;
    clv_compared a = of(CLV_DT_FLOAT, got, &n), b = of(CLV_DT_FLOAT, want, &n);
    held(&a, &b, 0.125, &c);
    cr_expect_str_eq(clv_compare_words(words, &a, &b, &c),
                     "element 1 is 1.5, expected 1, with an error of 0.5; at worst 2 at element 2, "
                     "where 0.125 is allowed");
}

Test(compare, a_nan_is_shown_without_its_sign)
{
    static const float want[] = { 1 };
    const float got[] = { -(float)NAN };
    int64_t n = 1;
    char words[CLV_COMPARE_TEXT];
    clv_comparison c;
    clv_compared a = of(CLV_DT_FLOAT, got, &n), b = of(CLV_DT_FLOAT, want, &n);
    held(&a, &b, 1, &c);
    cr_expect_str_eq(clv_compare_words(words, &a, &b, &c), "element 0 is nan, expected 1");
}

/* -- small floats -- */

typedef struct {
    clv_dtype dtype;
    unsigned bits;
    double value; /* NAN: not a number */
} known;

/* From the tables of the formats' definitions: largest, smallest full and broken numbers, specials.
 */
static const known numbers[] = {
    { CLV_DT_FLOAT16, 0x3c00, 1 },           { CLV_DT_FLOAT16, 0xc000, -2 },
    { CLV_DT_FLOAT16, 0x7bff, 65504 },       { CLV_DT_FLOAT16, 0x0400, 0x1p-14 },
    { CLV_DT_FLOAT16, 0x0001, 0x1p-24 },     { CLV_DT_FLOAT16, 0x7c00, HUGE_VAL },
    { CLV_DT_FLOAT16, 0xfc00, -HUGE_VAL },   { CLV_DT_FLOAT16, 0x7e00, NAN },
    { CLV_DT_BFLOAT16, 0x3f80, 1 },          { CLV_DT_BFLOAT16, 0x4049, 3.140625 },
    { CLV_DT_BFLOAT16, 0x7f7f, 0x1.fep127 }, { CLV_DT_BFLOAT16, 0x0080, 0x1p-126 },
    { CLV_DT_BFLOAT16, 0x0001, 0x1p-133 },   { CLV_DT_BFLOAT16, 0xff80, -HUGE_VAL },
    { CLV_DT_BFLOAT16, 0x7fc0, NAN },        { CLV_DT_FLOAT8E4M3FN, 0x38, 1 },
    { CLV_DT_FLOAT8E4M3FN, 0x7e, 448 },      { CLV_DT_FLOAT8E4M3FN, 0xfe, -448 },
    { CLV_DT_FLOAT8E4M3FN, 0x08, 0x1p-6 },   { CLV_DT_FLOAT8E4M3FN, 0x01, 0x1p-9 },
    { CLV_DT_FLOAT8E4M3FN, 0x7f, NAN },      { CLV_DT_FLOAT8E4M3FN, 0xff, NAN },
    { CLV_DT_FLOAT8E4M3FN, 0x78, 256 },      { CLV_DT_FLOAT8E4M3FNUZ, 0x40, 1 },
    { CLV_DT_FLOAT8E4M3FNUZ, 0x7f, 240 },    { CLV_DT_FLOAT8E4M3FNUZ, 0x01, 0x1p-10 },
    { CLV_DT_FLOAT8E4M3FNUZ, 0x80, NAN },    { CLV_DT_FLOAT8E5M2, 0x3c, 1 },
    { CLV_DT_FLOAT8E5M2, 0x7b, 57344 },      { CLV_DT_FLOAT8E5M2, 0x01, 0x1p-16 },
    { CLV_DT_FLOAT8E5M2, 0x7c, HUGE_VAL },   { CLV_DT_FLOAT8E5M2, 0xfc, -HUGE_VAL },
    { CLV_DT_FLOAT8E5M2, 0x7d, NAN },        { CLV_DT_FLOAT8E5M2FNUZ, 0x40, 1 },
    { CLV_DT_FLOAT8E5M2FNUZ, 0x7f, 57344 },  { CLV_DT_FLOAT8E5M2FNUZ, 0x01, 0x1p-17 },
    { CLV_DT_FLOAT8E5M2FNUZ, 0x80, NAN },    { CLV_DT_FLOAT8E8M0, 127, 1 },
    { CLV_DT_FLOAT8E8M0, 0, 0x1p-127 },      { CLV_DT_FLOAT8E8M0, 254, 0x1p127 },
    { CLV_DT_FLOAT8E8M0, 255, NAN },         { CLV_DT_FLOAT4E2M1, 0x2, 1 },
    { CLV_DT_FLOAT4E2M1, 0x1, 0.5 },         { CLV_DT_FLOAT4E2M1, 0x7, 6 },
    { CLV_DT_FLOAT4E2M1, 0xf, -6 },
};

Test(numbers, have_the_values_of_their_formats)
{
    for (int64_t i = 0; i < N(numbers); i++) {
        uint8_t bytes[2] = { (uint8_t)numbers[i].bits, (uint8_t)(numbers[i].bits >> 8) };
        double value = clv_float_at(numbers[i].dtype, bytes, 0);
        if (isnan(numbers[i].value))
            cr_expect(isnan(value), "%s %#x", clv_dtype_name(numbers[i].dtype), numbers[i].bits);
        else
            cr_expect_eq(value, numbers[i].value, "%s %#x is %g", clv_dtype_name(numbers[i].dtype),
                         numbers[i].bits, value);
    }
}

Test(numbers, of_half_a_byte_stand_in_turn)
{
    static const uint8_t bytes[] = { 0x21, 0x73 };
    static const double value[] = { 0.5, 1, 1.5, 6 };
    for (int i = 0; i < 4; i++)
        cr_expect_eq(clv_float_at(CLV_DT_FLOAT4E2M1, bytes, i), value[i]);
}

/* Of each type: half the step from 1 to the next number, and where full numbers begin. */
Test(numbers, are_as_fine_as_their_type)
{
    static const clv_dtype type[] = { CLV_DT_FLOAT16,        CLV_DT_BFLOAT16,
                                      CLV_DT_FLOAT8E4M3FN,   CLV_DT_FLOAT8E5M2,
                                      CLV_DT_FLOAT8E4M3FNUZ, CLV_DT_FLOAT8E5M2FNUZ,
                                      CLV_DT_FLOAT4E2M1 };
    for (int k = 0; k < (int)(sizeof type / sizeof *type); k++) {
        double least = HUGE_VAL, above = HUGE_VAL;
        for (unsigned bits = 0; bits < 1u << clv_dtype_bits(type[k]); bits++) {
            uint8_t bytes[2] = { (uint8_t)bits, (uint8_t)(bits >> 8) };
            double x = clv_float_at(type[k], bytes, 0);
            above = x > 1 && x < above ? x : above;
            least = x > 0 && x < least ? x : least;
        }
        cr_expect_eq(clv_dtype_rounding(type[k]), (above - 1) / 2, "%s", clv_dtype_name(type[k]));
        cr_expect_eq(clv_dtype_smallest(type[k]) * (above - 1), least, "%s",
                     clv_dtype_name(type[k]));
    }
    cr_expect_eq(clv_dtype_rounding(CLV_DT_FLOAT), 0x1p-24);
    cr_expect_eq(clv_dtype_rounding(CLV_DT_INT64), 0);
    cr_expect_eq(clv_dtype_rounding(CLV_DT_BOOL), 0);
    cr_expect_eq(clv_dtype_rounding(CLV_DT_INT8), 0x1p-8);
}

/* Halves and bfloat16 are held against their bound as others are. */
Test(compare, halves_have_their_own_bound)
{
    static const uint16_t want[] = { 0x3c00, 0x4000 }, near[] = { 0x3c01, 0x4000 },
                          far[] = { 0x3c40, 0x4000 };
    int64_t n = 2;
    clv_comparison c;
    clv_compared a = of(CLV_DT_FLOAT16, near, &n), b = of(CLV_DT_FLOAT16, want, &n);
    held(&a, &b, 4 * clv_dtype_rounding(CLV_DT_FLOAT16), &c);
    cr_expect_eq(c.difference, CLV_SAME);
    cr_expect_eq(c.worst, 0);
    cr_expect_eq(c.error, 0x1p-10);
    a = of(CLV_DT_FLOAT16, far, &n);
    held(&a, &b, 4 * clv_dtype_rounding(CLV_DT_FLOAT16), &c);
    cr_expect_eq(c.difference, CLV_OTHER_NUMBERS);
    a = of(CLV_DT_FLOAT8E4M3FN, "\x38\x39", &n);
    b = of(CLV_DT_FLOAT8E4M3FN, "\x38\x40", &n);
    held(&a, &b, clv_dtype_rounding(CLV_DT_FLOAT8E4M3FN), &c);
    cr_expect_eq(c.first, 1, "1.125 and 2");
}
