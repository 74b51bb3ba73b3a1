#include "run/tensor.h"

#include <string.h>

/* By the numbers of TensorProto.DataType, which the runtime shares but for the last. */
static const struct {
    const char *name;
    int bits;
} dtypes[] = {
    { "undefined", 0 },      { "float32", 32 },     { "uint8", 8 },          { "int8", 8 },
    { "uint16", 16 },        { "int16", 16 },       { "int32", 32 },         { "int64", 64 },
    { "string", 0 },         { "bool", 8 },         { "float16", 16 },       { "float64", 64 },
    { "uint32", 32 },        { "uint64", 64 },      { "complex64", 64 },     { "complex128", 128 },
    { "bfloat16", 16 },      { "float8e4m3fn", 8 }, { "float8e4m3fnuz", 8 }, { "float8e5m2", 8 },
    { "float8e5m2fnuz", 8 }, { "uint4", 4 },        { "int4", 4 },           { "float4e2m1", 4 },
    { "float8e8m0", 8 },     { "uint2", 2 },        { "int2", 2 },
};
#define N_DTYPES ((int)(sizeof dtypes / sizeof *dtypes))

const char *clr_dtype_name(int dtype)
{
    return dtype >= 0 && dtype < N_DTYPES ? dtypes[dtype].name : "unknown";
}

int clr_dtype_bits(int dtype) { return dtype >= 0 && dtype < N_DTYPES ? dtypes[dtype].bits : 0; }

size_t clr_dtype_bytes(int dtype, int64_t count)
{
    size_t bits = (size_t)clr_dtype_bits(dtype), n = (size_t)count;

    return bits >= 8 ? n * (bits / 8) : (n * bits + 7) / 8;
}

bool clr_shape_count(clr_shape *shape)
{
    int64_t count = 1, widest;
    bool empty = false;

    for (int32_t i = 0; i < shape->rank; i++) {
        if (shape->dims[i] < 0)
            return false;
        empty = empty || shape->dims[i] == 0;
    }
    for (int32_t i = 0; i < shape->rank && !empty; i++)
        if (__builtin_mul_overflow(count, shape->dims[i], &count))
            return false;
    /* no element has more than 16 bytes */
    if (!empty && __builtin_mul_overflow(count, (int64_t)16, &widest))
        return false;
    shape->count = empty ? 0 : count;
    return true;
}

const char *clr_shape_text(char *buf, size_t size, const clr_shape *shape)
{
    size_t n = clv_add_words(buf, size, 0, "%s[", clr_dtype_name((int)shape->dtype));

    for (int32_t i = 0; i < shape->rank; i++)
        n = clv_add_words(buf, size, n, "%s%lld", i ? "," : "", (long long)shape->dims[i]);
    clv_add_words(buf, size, n, "]");
    return buf;
}

/* -- numbers of types -- */

/* The runtime's enumeration goes on with uint2, int2 and float8e8m0 behind float4e2m1. */
#define DTYPE_FLOAT8E8M0 24
#define DTYPE_INT2       26

ONNXTensorElementDataType clr_dtype_from_runtime(ONNXTensorElementDataType dtype)
{
    int n = (int)dtype;

    if (n < DTYPE_FLOAT8E8M0 || n > DTYPE_INT2)
        return dtype;
    return (ONNXTensorElementDataType)(n == DTYPE_INT2 ? DTYPE_FLOAT8E8M0 : n + 1);
}

static ONNXTensorElementDataType to_runtime(ONNXTensorElementDataType dtype)
{
    int n = (int)dtype;

    if (n < DTYPE_FLOAT8E8M0 || n > DTYPE_INT2)
        return dtype;
    return (ONNXTensorElementDataType)(n == DTYPE_FLOAT8E8M0 ? DTYPE_INT2 : n - 1);
}

/* -- tensors -- */

static clv_status create(const clr_ort *ort, const clr_shape *shape,
                         ONNXTensorElementDataType dtype, OrtValue **ret, clv_error *err)
{
    return clr_ort_check(ort,
                         ort->api->CreateTensorAsOrtValue(ort->allocator, shape->dims,
                                                          (size_t)shape->rank, dtype, ret),
                         "no tensor", err);
}

/* What is created and what is said of it go by different numbers in versions up to 1.30: the one
 * is taken that gives the type that was asked for. */
static clv_status create_late_type(const clr_ort *ort, const clr_shape *shape, OrtValue **ret,
                                   clv_error *err)
{
    const ONNXTensorElementDataType numbers[] = { to_runtime(shape->dtype), shape->dtype };
    OrtValue *value = NULL;
    clr_shape is;

    for (int i = 0; i < 2; i++) {
        CLV_TRY(create(ort, shape, numbers[i], &value, err));
        clv_status status = clr_tensor_shape(ort, value, &is, err);
        if (status == CLV_OK && is.dtype == shape->dtype) {
            *ret = value;
            return CLV_OK;
        }
        clr_value_free(ort, value);
        CLV_TRY(status);
    }
    return clv_fail(err, CLV_EUNSUPP, "the runtime makes no tensors of %s",
                    clr_dtype_name((int)shape->dtype));
}

clv_status clr_tensor_new(const clr_ort *ort, const clr_shape *shape, OrtValue **ret,
                          clv_error *err)
{
    int bits = clr_dtype_bits((int)shape->dtype);
    size_t bytes = clr_dtype_bytes((int)shape->dtype, shape->count);
    OrtValue *value = NULL;
    void *data = NULL;

    CLV_TRY((int)shape->dtype >= DTYPE_FLOAT8E8M0 ? create_late_type(ort, shape, &value, err)
                                                  : create(ort, shape, shape->dtype, &value, err));
    clv_status status =
        bits > 0 && bits < 8 && bytes > 0 ? clr_tensor_data(ort, value, &data, err) : CLV_OK;
    if (status != CLV_OK) {
        clr_value_free(ort, value);
        return status;
    }
    if (data) /* elements are set one by one, and bits behind the last one not at all */
        memset(data, 0, bytes);
    *ret = value;
    return CLV_OK;
}

void clr_value_free(const clr_ort *ort, OrtValue *value)
{
    if (value)
        ort->api->ReleaseValue(value);
}

void clr_values_free(const clr_ort *ort, OrtValue **values, int32_t n)
{
    for (int32_t i = 0; values && i < n; i++) {
        clr_value_free(ort, values[i]);
        values[i] = NULL;
    }
}

static clv_status read_shape(const clr_ort *ort, const OrtTensorTypeAndShapeInfo *info,
                             clr_shape *ret, clv_error *err)
{
    const OrtApi *api = ort->api;
    clr_shape shape = { 0 };
    size_t rank = 0;

    CLV_TRY(clr_ort_check(ort, api->GetTensorElementType(info, &shape.dtype), "a tensor", err));
    shape.dtype = clr_dtype_from_runtime(shape.dtype);
    CLV_TRY(clr_ort_check(ort, api->GetDimensionsCount(info, &rank), "a tensor", err));
    if (rank > CLR_MAX_RANK)
        return clv_fail(err, CLV_ELIMIT, "a tensor has %zu dimensions, expected at most %d", rank,
                        CLR_MAX_RANK);
    CLV_TRY(clr_ort_check(ort, api->GetDimensions(info, shape.dims, rank), "a tensor", err));
    shape.rank = (int32_t)rank;
    if (!clr_shape_count(&shape))
        return clv_fail(err, CLV_ELIMIT, "a tensor has more elements than fit into 63 bits");
    *ret = shape;
    return CLV_OK;
}

clv_status clr_tensor_shape(const clr_ort *ort, const OrtValue *value, clr_shape *ret,
                            clv_error *err)
{
    OrtTensorTypeAndShapeInfo *info = NULL;

    CLV_TRY(clr_ort_check(ort, ort->api->GetTensorTypeAndShape(value, &info), "a tensor", err));
    clv_status status = read_shape(ort, info, ret, err);
    ort->api->ReleaseTensorTypeAndShapeInfo(info);
    return status;
}

clv_status clr_tensor_data(const clr_ort *ort, const OrtValue *value, void **ret, clv_error *err)
{
    /* the runtime has no call for reading only */
    return clr_ort_check(ort, ort->api->GetTensorMutableData((OrtValue *)(uintptr_t)value, ret),
                         "a tensor's data", err);
}

clv_status clr_tensor_strings(const clr_ort *ort, const OrtValue *value, int64_t count,
                              clv_arena *arena, clr_strings *ret, clv_error *err)
{
    const char **texts = CLV_NEW_ARRAY(arena, const char *, count);
    size_t *lengths = CLV_NEW_ARRAY(arena, size_t, count);

    if (!texts || !lengths)
        return clv_fail_nomem(err, "strings");
    for (int64_t i = 0; i < count; i++) {
        size_t at = (size_t)i;
        CLV_TRY(clr_ort_check(ort, ort->api->GetStringTensorElementLength(value, at, &lengths[i]),
                              "a string", err));
        char *text = clv_arena_take(arena, lengths[i] + 1);
        if (!text)
            return clv_fail_nomem(err, "strings");
        CLV_TRY(clr_ort_check(ort, ort->api->GetStringTensorElement(value, lengths[i], at, text),
                              "a string", err));
        texts[i] = text;
    }
    *ret = (clr_strings){ texts, lengths };
    return CLV_OK;
}
