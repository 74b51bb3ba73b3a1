#include "run/element.h"

#include <math.h>
#include <string.h>

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float of_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

uint16_t clr_bfloat_from_float(float value)
{
    uint32_t bits = bits_of(value);

    if (isnan(value))
        return (uint16_t)(bits >> 16 | 0x40); /* quiet, whatever bits were cut off */
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float clr_bfloat_to_float(uint16_t bits) { return of_bits((uint32_t)bits << 16); }

/* 5 bits of exponent with bias 15, 10 of fraction. */
float clr_half_to_float(uint16_t bits)
{
    int exponent = bits >> 10 & 0x1f;
    int fraction = bits & 0x3ff;
    float sign = bits & 0x8000 ? -1.0f : 1.0f;

    if (exponent == 0x1f)
        return fraction ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexpf((float)fraction, -24);
    return sign * ldexpf((float)(fraction + 0x400), exponent - 25);
}

uint16_t clr_half_from_float(float value)
{
    uint16_t sign = (uint16_t)(bits_of(value) >> 16 & 0x8000);
    float size = fabsf(value);
    int exponent = 0;

    if (isnan(value))
        return (uint16_t)(sign | 0x7e00);
    if (size >= 65520.0f) /* halfway from the largest to what would be next */
        return (uint16_t)(sign | 0x7c00);
    frexpf(size, &exponent);
    /* steps of 2^(exponent - 11), but of 2^-24 below the smallest normal number */
    int step = exponent - 11 < -24 ? -24 : exponent - 11;
    float steps = rintf(ldexpf(size, -step)); /* to even in the default mode */
    if (size == 0 || steps == 0)
        return sign;
    /* 0x400 steps is a normal number with fraction 0; rounding up to 0x800 carries by itself */
    return (uint16_t)(sign + ((uint32_t)(step + 24) << 10) + (uint32_t)steps);
}

/* Of exponents with so many bits and this bias. */
static double small_float(uint8_t bits, int exponent_bits, int bias)
{
    int fraction_bits = 7 - exponent_bits;
    int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
    int fraction = bits & ((1 << fraction_bits) - 1);
    double sign = bits & 0x80 ? -1 : 1;

    if (exponent == 0)
        return sign * ldexp(fraction, 1 - bias - fraction_bits);
    return sign * ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

double clr_float8_to_double(int dtype, uint8_t bits)
{
    switch (dtype) {
    case 17: /* float8e4m3fn */
        return (bits & 0x7f) == 0x7f ? NAN : small_float(bits, 4, 7);
    case 18: /* float8e4m3fnuz */
        return bits == 0x80 ? NAN : small_float(bits, 4, 8);
    case 19: /* float8e5m2 */
        if ((bits & 0x7c) == 0x7c)
            return bits & 3 ? NAN : bits & 0x80 ? -INFINITY : INFINITY;
        return small_float(bits, 5, 15);
    case 20: /* float8e5m2fnuz */
        return bits == 0x80 ? NAN : small_float(bits, 5, 16);
    default: /* float8e8m0: a power of two */
        return bits == 0xff ? NAN : ldexp(1, bits - 127);
    }
}
