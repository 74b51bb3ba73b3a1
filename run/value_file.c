#include "run/value_file.h"

#include <string.h>

#include "proto/out_file.h"
#include "run/file_bytes.h"
#include "run/interrupt.h"
#include "run/value_npy.h"
#include "run/value_pb.h"

clr_file_kind clr_file_kind_of(const char *path)
{
    size_t n = strlen(path);

    return n > 4 && strcmp(path + n - 4, ".npy") == 0 ? CLR_FILE_NPY : CLR_FILE_PB;
}

clv_status clr_value_read(const clr_ort *ort, const char *path, ONNXType kind, clv_arena *arena,
                          OrtValue **ret, clv_error *err)
{
    clr_file_bytes file = { 0 };

    CLV_TRY(clr_file_bytes_open(path, &file, err));
    clv_status status = clr_file_kind_of(path) == CLR_FILE_PB
                            ? clr_pb_read(ort, &file, kind, arena, ret, err)
                            : clr_npy_read(ort, &file, ret, err);
    clr_file_bytes_close(&file);
    return status;
}

clv_status clr_value_name(const char *path, clv_arena *arena, const char **ret, clv_error *err)
{
    clr_file_bytes file = { 0 };

    CLV_TRY(clr_file_bytes_open(path, &file, err));
    clv_status status = clr_pb_name(&file, arena, ret, err);
    clr_file_bytes_close(&file);
    return status;
}

clv_status clr_value_reinterpret(const clr_ort *ort, OrtValue **value,
                                 ONNXTensorElementDataType wanted, clv_error *err)
{
    enum ONNXType type = ONNX_TYPE_UNKNOWN;
    clr_shape shape;
    OrtValue *to = NULL;
    void *from_data = NULL, *to_data = NULL;

    CLV_TRY(clr_ort_check(ort, ort->api->GetValueType(*value, &type), "a value", err));
    if (type != ONNX_TYPE_TENSOR || wanted != ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16)
        return CLV_OK;
    CLV_TRY(clr_tensor_shape(ort, *value, &shape, err));
    if (shape.dtype != ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16)
        return CLV_OK;
    shape.dtype = wanted;
    CLV_TRY(clr_tensor_new(ort, &shape, &to, err));
    clv_status status = CLV_OK;
    if (shape.count > 0)
        status = clr_tensor_data(ort, *value, &from_data, err);
    if (shape.count > 0 && status == CLV_OK)
        status = clr_tensor_data(ort, to, &to_data, err);
    if (status != CLV_OK) {
        clr_value_free(ort, to);
        return status;
    }
    if (shape.count > 0)
        memcpy(to_data, from_data, clr_dtype_bytes((int)shape.dtype, shape.count));
    clr_value_free(ort, *value);
    *value = to;
    return CLV_OK;
}

/* -- writing -- */

/* Bytes written between two looks at whether to stop. */
#define CHECK_EVERY_BYTES ((size_t)16 << 20)

static clv_status write_unless_stopped(void *ctx, const void *bytes, size_t n, clv_error *err)
{
    const clv_sink *file = ctx;
    const uint8_t *at = bytes;

    for (size_t part; n > 0; at += part, n -= part) {
        part = n < CHECK_EVERY_BYTES ? n : CHECK_EVERY_BYTES;
        CLV_TRY(file->write(file->ctx, at, part, err));
        if (clr_interrupted())
            return clv_fail(err, CLV_ECANCELED, "stopped while an output was written");
    }
    return CLV_OK;
}

static clv_status write_value(const clr_ort *ort, const char *path, clr_file_kind kind,
                              const char *name, const OrtValue *value, clv_error *err)
{
    enum ONNXType type = ONNX_TYPE_UNKNOWN;
    clr_shape shape;
    clv_out_file *out = NULL;

    CLV_TRY(clr_ort_check(ort, ort->api->GetValueType(value, &type), name, err));
    if (type != ONNX_TYPE_TENSOR)
        return clv_fail(err, CLV_EUNSUPP, "output '%s' is no tensor: it is not written", name);
    CLV_TRY(clr_tensor_shape(ort, value, &shape, err));
    CLV_TRY(clv_out_open(path, NULL, &out, err));
    clv_sink file = clv_out_sink(out), sink = { .write = write_unless_stopped, .ctx = &file };
    clv_status status = kind == CLR_FILE_PB ? clr_pb_write(ort, value, &shape, name, &sink, err)
                                            : clr_npy_write(ort, value, &shape, &sink, err);
    if (status == CLV_OK)
        return clv_out_commit(out, err);
    clv_out_abort(out);
    return status;
}

clv_status clr_value_write(const clr_ort *ort, const char *path, clr_file_kind kind,
                           const char *name, const OrtValue *value, clv_error *err)
{
    clr_interrupt_defer(path);
    clv_status status = write_value(ort, path, kind, name, value, err);
    clr_interrupt_allow();
    return status;
}
