#include "run/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "run/element.h"

/* splitmix64 (Steele, Lea and Flood 2014): the i-th of a sequence without the ones before it. */
static uint64_t mix(uint64_t z)
{
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#define UNIT 0x1p-53 /* of the 53 bits that a double has */

typedef struct {
    uint64_t start;
    double lo, hi;
    bool whole; /* numbers without a fraction */
} source;

static double draw(const source *s, int64_t i)
{
    double u = (double)(mix(s->start + (uint64_t)i) >> 11) * UNIT; /* 0 <= u < 1 */

    if (!s->whole)
        return s->lo + u * (s->hi - s->lo);
    double v = floor(s->lo + u * (s->hi - s->lo + 1));
    return v > s->hi ? s->hi : v;
}

/* The widest range of a type, and what it gets unless a range is given. */
static bool range_of(int dtype, source *s, double *ret_min, double *ret_max)
{
    int bits = clr_dtype_bits(dtype);

    s->whole = true;
    switch (dtype) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16:
        s->whole = false;
        *ret_min = -INFINITY;
        *ret_max = INFINITY;
        break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL:
        *ret_min = 0;
        *ret_max = 1;
        break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
        *ret_min = -ldexp(1, bits - 1);
        *ret_max = bits == 64 ? 0x1p53 : ldexp(1, bits - 1) - 1;
        break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64:
        *ret_min = 0;
        *ret_max = bits == 64 ? 0x1p53 : ldexp(1, bits) - 1;
        break;
    default:
        return false;
    }
    if (s->lo <= s->hi)
        return true;
    bool index = dtype == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32 ||
                 dtype == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
    s->lo = !s->whole ? -1 : index ? 0 : *ret_min;
    s->hi = !s->whole || index ? 1 : *ret_max;
    return true;
}

#define FILL(T, expression)                                                                        \
    do {                                                                                           \
        T *to = data;                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                      \
            double v = draw(s, i);                                                                 \
            to[i] = (T)(expression);                                                               \
        }                                                                                          \
    } while (0)

static void fill_numbers(const source *s, int dtype, void *data, int64_t count)
{
    switch (dtype) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
        FILL(float, v);
        break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
        FILL(double, v);
        break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
        FILL(uint16_t, clr_half_from_float((float)v));
        break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16:
        FILL(uint16_t, clr_bfloat_from_float((float)v));
        break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
        FILL(int8_t, v);
        break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16:
        FILL(int16_t, v);
        break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
        FILL(int32_t, v);
        break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
        FILL(int64_t, v);
        break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
        FILL(uint8_t, v);
        break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16:
        FILL(uint16_t, v);
        break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32:
        FILL(uint32_t, v);
        break;
    default:
        FILL(uint64_t, v);
        break;
    }
}

clv_status clr_random_fill(const clr_ort *ort, OrtValue *value, const clr_random_options *o,
                           clv_error *err)
{
    uint64_t start = mix(clv_hash(CLV_HASH_INIT ^ mix(o->seed), o->name, strlen(o->name)));
    source s = { start, o->lo, o->hi, true };
    clr_shape shape;
    void *data = NULL;
    double min = 0, max = 0;

    CLV_TRY(clr_tensor_shape(ort, value, &shape, err));
    if (shape.dtype == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
        for (int64_t i = 0; i < shape.count; i++) { /* words that differ now and then */
            char word[32];
            snprintf(word, sizeof word, "word%llu",
                     (unsigned long long)(mix(start + (uint64_t)i) % 8));
            CLV_TRY(clr_ort_check(ort, ort->api->FillStringTensorElement(value, word, (size_t)i),
                                  "a string", err));
        }
        return CLV_OK;
    }
    if (!range_of((int)shape.dtype, &s, &min, &max))
        return clv_fail(err, CLV_EUNSUPP, "input '%s' is %s, for which there are no random values",
                        o->name, clr_dtype_name((int)shape.dtype));
    if (s.lo < min || s.hi > max)
        return clv_fail(err, CLV_EUSAGE, "--range: input '%s' is %s, which does not hold %g to %g",
                        o->name, clr_dtype_name((int)shape.dtype), s.lo, s.hi);
    if (shape.count == 0)
        return CLV_OK;
    CLV_TRY(clr_tensor_data(ort, value, &data, err));
    fill_numbers(&s, (int)shape.dtype, data, shape.count);
    return CLV_OK;
}
