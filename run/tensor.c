#include "run/tensor.h"

/* By the numbers of TensorProto.DataType, which the runtime shares. */
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

clv_status clr_tensor_new(const clr_ort *ort, const clr_shape *shape, OrtValue **ret,
                          clv_error *err)
{
    return clr_ort_check(ort,
                         ort->api->CreateTensorAsOrtValue(ort->allocator, shape->dims,
                                                          (size_t)shape->rank, shape->dtype, ret),
                         "no tensor", err);
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
