/* test_element.c - half and bfloat16, held against the compiler's own halves where it has some. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "run/element.h"

#ifdef __FLT16_MANT_DIG__

static uint16_t bits_of(_Float16 value)
{
    uint16_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

Test(element, every_half_is_what_the_compiler_says)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        uint16_t half = (uint16_t)bits;
        _Float16 native;
        memcpy(&native, &half, sizeof native);
        float want = (float)native, is = clr_half_to_float(half);
        cr_assert(isnan(want) ? isnan(is) : want <= is && want >= is, "%04x", bits);
        if (!isnan(want))
            cr_assert_eq(clr_half_from_float(is), half, "%04x does not come back", bits);
    }
}

/* Between two halves, on the middle between them, and a little beside it. */
Test(element, a_float_becomes_the_nearest_half)
{
    for (uint32_t bits = 0; bits < 0x7c00; bits++) {
        float low = clr_half_to_float((uint16_t)bits),
              high = clr_half_to_float((uint16_t)(bits + 1));
        float middle = isinf(high) ? 65520.0f : low / 2 + high / 2;
        const float tried[] = { middle, nextafterf(middle, 0), nextafterf(middle, INFINITY) };
        for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
            cr_assert_eq(clr_half_from_float(tried[i]), bits_of((_Float16)tried[i]), "%a",
                         (double)tried[i]);
            cr_assert_eq(clr_half_from_float(-tried[i]), bits_of((_Float16)-tried[i]));
        }
    }
}

#endif

Test(element, a_float_becomes_the_nearest_bfloat)
{
    for (uint32_t bits = 0; bits < 0x7f80; bits++) {
        float low = clr_bfloat_to_float((uint16_t)bits);
        float high = clr_bfloat_to_float((uint16_t)(bits + 1));
        cr_assert_eq(clr_bfloat_from_float(low), bits);
        cr_assert_eq(clr_bfloat_from_float(nextafterf(low, INFINITY)), bits);
        cr_assert_eq(clr_bfloat_from_float(nextafterf(high, 0)), bits + 1);
        /* the middle goes to the even one */
        uint32_t middle = bits << 16 | 0x8000;
        float tie;
        memcpy(&tie, &middle, sizeof tie);
        cr_assert_eq(clr_bfloat_from_float(tie), bits % 2 ? bits + 1 : bits);
    }
    cr_assert(isnan(clr_bfloat_to_float(clr_bfloat_from_float(NAN))));
}

Test(element, eight_bits_have_the_limits_of_their_formats)
{
    cr_assert_eq(clr_float8_to_double(17, 0x7e), 448);
    cr_assert(isnan(clr_float8_to_double(17, 0x7f)));
    cr_assert_eq(clr_float8_to_double(17, 0x01), 0x1p-9);
    cr_assert_eq(clr_float8_to_double(18, 0x7f), 240);
    cr_assert(isnan(clr_float8_to_double(18, 0x80)));
    cr_assert_eq(clr_float8_to_double(19, 0x7b), 57344);
    cr_assert(isinf(clr_float8_to_double(19, 0xfc)));
    cr_assert_eq(clr_float8_to_double(20, 0x7f), 57344);
    cr_assert_eq(clr_float8_to_double(20, 0xff), -57344);
}
