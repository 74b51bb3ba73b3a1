#include "run/value_stats.h"

#include <math.h>

#include "base/map.h"
#include "run/element.h"

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

static clv_status hash_strings(const clr_ort *ort, const OrtValue *value, clr_value_stats *f,
                               clv_error *err)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clr_strings strings;

    if (!arena)
        return clv_fail_nomem(err, "strings");
    clv_status status = clr_tensor_strings(ort, value, f->shape.count, arena, &strings, err);
    for (int64_t i = 0; status == CLV_OK && i < f->shape.count; i++) {
        f->checksum = clv_hash(f->checksum, strings.texts[i], strings.lengths[i] + 1);
        f->bytes += (int64_t)strings.lengths[i];
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
    f.is_tensor = type == ONNX_TYPE_TENSOR;
    if (f.is_tensor)
        CLV_TRY(clr_tensor_shape(ort, value, &f.shape, err));
    if (f.is_tensor && f.shape.dtype == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
        CLV_TRY(hash_strings(ort, value, &f, err));
    } else if (f.is_tensor) {
        int dtype = (int)f.shape.dtype;
        f.bytes = (int64_t)clr_dtype_bytes(dtype, f.shape.count);
        f.has_numbers = clr_dtype_bits(dtype) >= 4 &&
                        dtype != ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64 &&
                        dtype != ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128;
        if (f.bytes) {
            CLV_TRY(clr_tensor_data(ort, value, &data, err));
            f.checksum = clv_hash(f.checksum, data, (size_t)f.bytes);
        }
        if (f.has_numbers)
            count_numbers(&f, data);
    }
    *ret = f;
    return CLV_OK;
}
