#include "run/value_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/onnx_file.h"
#include "proto/wire.h"
#include "run/command.h"

clr_file_kind clr_file_kind_of(const char *path)
{
    size_t n = strlen(path);

    return n > 4 && strcmp(path + n - 4, ".npy") == 0 ? CLR_FILE_NPY : CLR_FILE_PB;
}

clv_status clr_mapped_file_open(const char *path, clr_mapped_file *ret, clv_error *err)
{
    static const uint8_t nothing[1];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *bytes = MAP_FAILED;

    if (fd < 0)
        return clv_fail(err, CLV_EIO, "cannot read %s: %s", path, strerror(errno));
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return clv_fail(err, CLV_EIO, "cannot read %s: it is not a regular file", path);
    }
    if (st.st_size > 0)
        bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    int why = errno;
    close(fd);
    if (st.st_size > 0 && bytes == MAP_FAILED)
        return clv_fail(err, CLV_EIO, "cannot read %s: %s", path, strerror(why));
    *ret = (clr_mapped_file){ path, st.st_size > 0 ? bytes : nothing, (size_t)st.st_size };
    return CLV_OK;
}

void clr_mapped_file_close(clr_mapped_file *map)
{
    if (map->n > 0)
        munmap((void *)(uintptr_t)map->bytes, map->n);
    *map = (clr_mapped_file){ 0 };
}

clv_status clr_value_read(const clr_ort *ort, const char *path, ONNXType kind, clv_arena *arena,
                          OrtValue **ret, const char **ret_name, clv_error *err)
{
    clr_mapped_file file = { 0 };
    clv_status status;

    CLV_TRY(clr_mapped_file_open(path, &file, err));
    if (clr_file_kind_of(path) == CLR_FILE_PB)
        status = clr_pb_read(ort, &file, kind, arena, ret, ret_name, err);
    else {
        status = clr_npy_read(ort, &file, ret, err);
        if (status == CLV_OK)
            *ret_name = "";
    }
    clr_mapped_file_close(&file);
    return status;
}

static clv_status same_bits(const clr_ort *ort, const OrtValue *from, OrtValue *to, size_t bytes,
                            clv_error *err)
{
    void *a = NULL, *b = NULL;

    if (bytes == 0)
        return CLV_OK;
    CLV_TRY(clr_tensor_data(ort, from, &a, err));
    CLV_TRY(clr_tensor_data(ort, to, &b, err));
    memcpy(b, a, bytes);
    return CLV_OK;
}

clv_status clr_value_reinterpret(const clr_ort *ort, OrtValue **value,
                                 ONNXTensorElementDataType wanted, clv_error *err)
{
    enum ONNXType type = ONNX_TYPE_UNKNOWN;
    clr_shape shape;
    OrtValue *to = NULL;

    CLV_TRY(clr_ort_check(ort, ort->api->GetValueType(*value, &type), "a value", err));
    if (type != ONNX_TYPE_TENSOR || wanted != ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16)
        return CLV_OK;
    CLV_TRY(clr_tensor_shape(ort, *value, &shape, err));
    if (shape.dtype != ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16)
        return CLV_OK;
    shape.dtype = wanted;
    CLV_TRY(clr_tensor_new(ort, &shape, &to, err));
    clv_status status =
        same_bits(ort, *value, to, clr_dtype_bytes((int)shape.dtype, shape.count), err);
    clr_value_free(ort, status == CLV_OK ? *value : to);
    if (status == CLV_OK)
        *value = to;
    return status;
}

/* -- writing -- */

typedef struct {
    const clr_ort *ort;
    const OrtValue *value;
    clr_shape shape;
    clv_arena *arena;
    clv_sink sink;
    clv_error *err;
} writing;

/* Bytes written between two looks at whether to stop. */
#define ASK_EVERY ((size_t)16 << 20)

static clv_status put(writing *w, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;

    for (size_t part; n > 0; at += part, n -= part) {
        part = n < ASK_EVERY ? n : ASK_EVERY;
        CLV_TRY(w->sink.write(w->sink.ctx, at, part, w->err));
        if (clr_interrupted())
            return clv_fail(w->err, CLV_ECANCELED, "stopped while an output was written");
    }
    return CLV_OK;
}

static clv_status put_number(writing *w, uint32_t field, uint64_t value)
{
    uint8_t buf[2 * CLV_VARINT_MAX];
    size_t n = clv_varint_put(buf, clv_wire_key(field, CLV_WIRE_VARINT));

    n += clv_varint_put(buf + n, value);
    return put(w, buf, n);
}

static clv_status put_bytes(writing *w, uint32_t field, const void *bytes, size_t size)
{
    uint8_t buf[2 * CLV_VARINT_MAX];
    size_t n = clv_varint_put(buf, clv_wire_key(field, CLV_WIRE_BYTES));

    n += clv_varint_put(buf + n, size);
    CLV_TRY(put(w, buf, n));
    return put(w, bytes, size);
}

/* Numbers of fields of TensorProto. */
enum { T_DIMS = 1, T_TYPE = 2, T_STRINGS = 6, T_NAME = 8, T_RAW = 9 };

static clv_status put_pb(writing *w, const char *name)
{
    const char **texts = NULL;
    size_t *lengths = NULL;
    void *data = NULL;
    size_t bytes = clr_dtype_bytes((int)w->shape.dtype, w->shape.count);

    for (int32_t i = 0; i < w->shape.rank; i++)
        CLV_TRY(put_number(w, T_DIMS, (uint64_t)w->shape.dims[i]));
    CLV_TRY(put_number(w, T_TYPE, (uint64_t)w->shape.dtype));
    CLV_TRY(put_bytes(w, T_NAME, name, strlen(name)));
    if (w->shape.dtype != ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
        CLV_TRY(clr_tensor_data(w->ort, w->value, &data, w->err));
        return put_bytes(w, T_RAW, data, bytes);
    }
    CLV_TRY(
        clr_tensor_strings(w->ort, w->value, w->shape.count, w->arena, &texts, &lengths, w->err));
    for (int64_t i = 0; i < w->shape.count; i++)
        CLV_TRY(put_bytes(w, T_STRINGS, texts[i], lengths[i]));
    return CLV_OK;
}

static clv_status put_npy(writing *w)
{
    const char *head = NULL;
    size_t n = 0;
    void *data = NULL;

    CLV_TRY(clr_npy_head(&w->shape, w->arena, &head, &n, w->err));
    CLV_TRY(put(w, head, n));
    CLV_TRY(clr_tensor_data(w->ort, w->value, &data, w->err));
    return put(w, data, clr_dtype_bytes((int)w->shape.dtype, w->shape.count));
}

static clv_status write_value(writing *w, const char *path, clr_file_kind kind, const char *name)
{
    enum ONNXType type = ONNX_TYPE_UNKNOWN;
    clv_out_file *out = NULL;

    CLV_TRY(clr_ort_check(w->ort, w->ort->api->GetValueType(w->value, &type), name, w->err));
    if (type != ONNX_TYPE_TENSOR)
        return clv_fail(w->err, CLV_EUNSUPP, "output '%s' is no tensor: it is not written", name);
    CLV_TRY(clr_tensor_shape(w->ort, w->value, &w->shape, w->err));
    CLV_TRY(clv_out_open(path, NULL, &out, w->err));
    w->sink = clv_out_sink(out);
    clv_status status = kind == CLR_FILE_PB ? put_pb(w, name) : put_npy(w);
    if (status == CLV_OK)
        return clv_out_commit(out, w->err);
    clv_out_abort(out);
    return status;
}

clv_status clr_value_write(const clr_ort *ort, const char *path, clr_file_kind kind,
                           const char *name, const OrtValue *value, clv_error *err)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    writing w = { .ort = ort, .value = value, .arena = arena, .err = err };

    if (!arena)
        return clv_fail_nomem(err, "a file");
    clr_interrupt_defer(path);
    clv_status status = write_value(&w, path, kind, name);
    clr_interrupt_allow();
    clv_arena_free(arena);
    return status;
}
