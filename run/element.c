#include "run/element.h"

#include <math.h>
#include <string.h>

#include "run/tensor.h"

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint16_t clr_bfloat_from_float(float value)
{
    uint32_t bits = bits_of(value);

    if (isnan(value))
        return (uint16_t)(bits >> 16 | 0x40); /* quiet, whatever bits were cut off */
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float clr_bfloat_to_float(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;

    memcpy(&value, &wide, sizeof value);
    return value;
}

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

/* Several to a byte, the first in its lowest bits: 21 uint4, 22 int4, 23 float4e2m1, 25 uint2, 26
 * int2. */
static double packed_element(int dtype, const uint8_t *bytes, int64_t i)
{
    int width = clr_dtype_bits(dtype), per = 8 / width;
    unsigned all = 1u << width, bits = (unsigned)bytes[i / per] >> i % per * width & (all - 1);
    static const double float4[] = { 0, 0.5, 1, 1.5, 2, 3, 4, 6 };

    if (dtype == 23)
        return bits < 8 ? float4[bits] : -float4[bits - 8];
    bool negative = (dtype == 22 || dtype == 26) && bits >= all / 2;
    return negative ? (double)bits - all : bits;
}

#define AT(T) ((double)((const T *)data)[i])

double clr_element(int dtype, const void *data, int64_t i)
{
    switch (dtype) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
        return AT(float);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
        return AT(double);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
        return (double)clr_half_to_float(((const uint16_t *)data)[i]);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16:
        return (double)clr_bfloat_to_float(((const uint16_t *)data)[i]);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
        return AT(int8_t);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16:
        return AT(int16_t);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
        return AT(int32_t);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
        return AT(int64_t);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
        return AT(uint8_t);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16:
        return AT(uint16_t);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32:
        return AT(uint32_t);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64:
        return AT(uint64_t);
    default:
        break;
    }
    if (clr_dtype_bits(dtype) > 0 && clr_dtype_bits(dtype) < 8)
        return packed_element(dtype, data, i);
    return clr_dtype_bits(dtype) == 8 ? clr_float8_to_double(dtype, ((const uint8_t *)data)[i])
                                      : NAN;
}
