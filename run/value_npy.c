#include "run/value_npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC      "\x93NUMPY"
#define MAGIC_SIZE 6
#define ALIGNMENT  64 /* of the first element; the head is filled with blanks */
#define TEXT_MAX   (CLR_MAX_RANK * 24 + 256)

/* NumPy's codes; what it has no type for is kept as so many bytes. */
static const struct {
    ONNXTensorElementDataType dtype;
    const char *code;
} codes[] = {
    { ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, "<f4" },
    { ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, "<f8" },
    { ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, "<f2" },
    { ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, "<V2" },
    { ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, "|i1" },
    { ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, "<i2" },
    { ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, "<i4" },
    { ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, "<i8" },
    { ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, "|u1" },
    { ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, "<u2" },
    { ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, "<u4" },
    { ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, "<u8" },
    { ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, "|b1" },
    { ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64, "<c8" },
    { ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128, "<c16" },
};
#define N_CODES (sizeof codes / sizeof *codes)

static clv_status bad(const clr_file_bytes *file, const char *what, clv_error *err)
{
    return clv_fail(err, CLV_EFORMAT, "%s: %s", file->path, what);
}

/* The text behind 'key': in the head, or NULL. */
static const char *value_of(const char *text, const char *key)
{
    char quoted[32];

    snprintf(quoted, sizeof quoted, "'%s':", key);
    const char *at = strstr(text, quoted);
    return at ? at + strlen(quoted) + strspn(at + strlen(quoted), " ") : NULL;
}

static bool read_code(const char *at, clr_shape *shape)
{
    for (size_t i = 0; at && *at == '\'' && i < N_CODES; i++) {
        size_t n = strlen(codes[i].code);
        /* one byte has no order: '|', '<' and '=' say the same */
        bool same_order =
            at[1] == codes[i].code[0] || at[1] == '=' || (at[1] == '<' && codes[i].code[0] == '|');
        if (same_order && strncmp(at + 2, codes[i].code + 1, n - 1) == 0 && at[1 + n] == '\'') {
            shape->dtype = codes[i].dtype;
            return true;
        }
    }
    return false;
}

static bool read_dims(const char *at, clr_shape *shape)
{
    if (!at || *at++ != '(')
        return false;
    while (at += strspn(at, " ,"), *at != ')') {
        char *end = NULL;
        long long dim = strtoll(at, &end, 10);
        if (end == at || shape->rank == CLR_MAX_RANK)
            return false;
        shape->dims[shape->rank++] = dim;
        at = end;
    }
    return clr_shape_count(shape);
}

static clv_status read_head(const clr_file_bytes *file, clr_shape *ret, size_t *ret_at,
                            clv_error *err)
{
    const uint8_t *b = file->bytes;
    clr_shape shape = { 0 };
    size_t n, at;

    if (file->n < MAGIC_SIZE + 6 || memcmp(b, MAGIC, MAGIC_SIZE) != 0)
        return bad(file, "this is no .npy file", err);
    at = b[MAGIC_SIZE] == 1 ? MAGIC_SIZE + 4 : MAGIC_SIZE + 6;
    n = (size_t)b[8] | (size_t)b[9] << 8;
    if (b[MAGIC_SIZE] > 1)
        n |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (n > file->n - at)
        return bad(file, "the file is cut short", err);
    char *text = strndup((const char *)b + at, n);
    if (!text)
        return clv_fail_nomem(err, "a head");
    const char *order = value_of(text, "fortran_order");
    bool columns = !order || strncmp(order, "False", 5) != 0;
    bool code = read_code(value_of(text, "descr"), &shape);
    bool dims = read_dims(value_of(text, "shape"), &shape);
    free(text);
    if (!code)
        return bad(file, "the element type is not one that ONNX has", err);
    if (columns)
        return bad(file, "the array is in Fortran's order, expected C's", err);
    if (!dims)
        return bad(file, "the shape is not valid", err);
    *ret = shape;
    *ret_at = at + n;
    return CLV_OK;
}

clv_status clr_npy_read(const clr_ort *ort, const clr_file_bytes *file, OrtValue **ret,
                        clv_error *err)
{
    clr_shape shape;
    size_t at = 0;
    OrtValue *value = NULL;
    void *to = NULL;

    CLV_TRY(read_head(file, &shape, &at, err));
    size_t bytes = clr_dtype_bytes((int)shape.dtype, shape.count);
    if (file->n - at != bytes)
        return bad(file, "the file has not as many bytes as its shape says", err);
    CLV_TRY(clr_tensor_new(ort, &shape, &value, err));
    clv_status status = bytes ? clr_tensor_data(ort, value, &to, err) : CLV_OK;
    if (status != CLV_OK) {
        clr_value_free(ort, value);
        return status;
    }
    if (bytes)
        memcpy(to, file->bytes + at, bytes);
    *ret = value;
    return CLV_OK;
}

clv_status clr_npy_write(const clr_ort *ort, const OrtValue *value, const clr_shape *shape,
                         const clv_sink *sink, clv_error *err)
{
    const char *code = NULL;
    char text[TEXT_MAX], head[TEXT_MAX + MAGIC_SIZE + 4 + ALIGNMENT];
    size_t n = 0, prefix = MAGIC_SIZE + 4;
    void *data = NULL;

    for (size_t i = 0; i < N_CODES; i++)
        if (codes[i].dtype == shape->dtype)
            code = codes[i].code;
    if (!code)
        return clv_fail(err, CLV_EUNSUPP, ".npy has no element type %s; --format pb has",
                        clr_dtype_name((int)shape->dtype));
    n = clv_add_words(text, sizeof text, n, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                      code);
    for (int32_t i = 0; i < shape->rank; i++)
        n = clv_add_words(text, sizeof text, n, "%s%lld%s", i ? " " : "", (long long)shape->dims[i],
                          shape->rank == 1 || i + 1 < shape->rank ? "," : "");
    n = clv_add_words(text, sizeof text, n, "), }");
    size_t total = (prefix + n + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(head, ' ', total);
    memcpy(head, MAGIC "\x01\x00", MAGIC_SIZE + 2);
    head[MAGIC_SIZE + 2] = (char)((total - prefix) & 0xff);
    head[MAGIC_SIZE + 3] = (char)((total - prefix) >> 8);
    memcpy(head + prefix, text, n);
    head[total - 1] = '\n';
    CLV_TRY(sink->write(sink->ctx, head, total, err));
    CLV_TRY(clr_tensor_data(ort, value, &data, err));
    return sink->write(sink->ctx, data, clr_dtype_bytes((int)shape->dtype, shape->count), err);
}
