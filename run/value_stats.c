#include "run/value_stats.h"

#include <math.h>
#include <string.h>

#include "base/map.h"
#include "run/element.h"

static double nibble(int dtype, const uint8_t *bytes, int64_t i)
{
    unsigned bits = bytes[i / 2] >> (i % 2 ? 4 : 0) & 0xf;
    static const double float4[] = { 0, 0.5, 1, 1.5, 2, 3, 4, 6 };

    if (dtype == 21) /* uint4 */
        return bits;
    if (dtype == 22) /* int4 */
        return bits < 8 ? bits : (double)bits - 16;
    return bits < 8 ? float4[bits] : -float4[bits - 8];
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
    if (clr_dtype_bits(dtype) == 4)
        return nibble(dtype, data, i);
    return clr_dtype_bits(dtype) == 8 ? clr_float8_to_double(dtype, ((const uint8_t *)data)[i])
                                      : NAN;
}

static void count_numbers(clr_value_stats *f, const void *data)
{
    double sum = 0;

    for (int64_t i = 0; i < f->shape.count; i++) {
        double v = clr_element((int)f->shape.dtype, data, i);
        if (isnan(v))
            f->nan++;
        else if (isinf(v))
            f->inf++;
        else {
            f->min = f->finite == 0 || v < f->min ? v : f->min;
            f->max = f->finite == 0 || v > f->max ? v : f->max;
            f->finite++;
            sum += v;
        }
    }
    f->mean = f->finite ? sum / (double)f->finite : 0;
}

static clv_status of_strings(const clr_ort *ort, const OrtValue *value, clr_value_stats *f,
                             clv_error *err)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    const char **texts = NULL;
    size_t *lengths = NULL;

    if (!arena)
        return clv_fail_nomem(err, "strings");
    clv_status status =
        clr_tensor_strings(ort, value, f->shape.count, arena, &texts, &lengths, err);
    for (int64_t i = 0; status == CLV_OK && i < f->shape.count; i++) {
        f->checksum = clv_hash(f->checksum, texts[i], lengths[i] + 1);
        f->bytes += (int64_t)lengths[i];
    }
    clv_arena_free(arena);
    return status;
}

clv_status clr_value_stats_compute(const clr_ort *ort, const OrtValue *value, clr_value_stats *ret,
                                   clv_error *err)
{
    enum ONNXType type = ONNX_TYPE_UNKNOWN;
    clr_value_stats f = { .checksum = CLV_HASH_INIT };
    void *data = NULL;

    CLV_TRY(clr_ort_check(ort, ort->api->GetValueType(value, &type), "a value", err));
    f.tensor = type == ONNX_TYPE_TENSOR;
    if (f.tensor)
        CLV_TRY(clr_tensor_shape(ort, value, &f.shape, err));
    if (f.tensor && f.shape.dtype == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
        CLV_TRY(of_strings(ort, value, &f, err));
    } else if (f.tensor) {
        int dtype = (int)f.shape.dtype;
        f.bytes = (int64_t)clr_dtype_bytes(dtype, f.shape.count);
        f.numbers = clr_dtype_bits(dtype) >= 4 &&
                    dtype != ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64 &&
                    dtype != ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128;
        if (f.bytes) {
            CLV_TRY(clr_tensor_data(ort, value, &data, err));
            f.checksum = clv_hash(f.checksum, data, (size_t)f.bytes);
        }
        if (f.numbers)
            count_numbers(&f, data);
    }
    *ret = f;
    return CLV_OK;
}
