#include "run/value_pb.h"

#include <string.h>

#include "proto/wire.h"

/* Numbers of fields are those of onnx.proto. */
enum { /* of TensorProto */
       T_DIMS = 1,
       T_TYPE = 2,
       T_FLOATS = 4,
       T_INT32S = 5,
       T_STRINGS = 6,
       T_INT64S = 7,
       T_NAME = 8,
       T_RAW = 9,
       T_DOUBLES = 10,
       T_UINT64S = 11,
       T_LOCATION = 14
};
enum { S_NAME = 1, S_TENSORS = 3, S_SEQUENCES = 5 }; /* of Sequence- and OptionalProto */
#define DEPTH_MAX 8 /* of sequences within optionals within ...; the format has no limit */

static clv_status bad(const clv_wire *w, const char *what, clv_error *err)
{
    return clv_fail(err, CLV_EFORMAT, "%s: %s", w->name, what);
}

/* -- tensors -- */

/* What a TensorProto says but for its elements. */
typedef struct {
    clr_shape shape;
    const uint8_t *raw;
    size_t raw_n;
    bool has_raw, external;
} head;

/* Numbers, one into each slot of so many bytes. */
typedef struct {
    uint8_t *to;
    size_t slot, n, at;   /* bytes of a slot, how many there are, how many are taken */
    const char *overflow; /* what is wrong where there are more */
} slots;

/* The numbers of a field that is packed or not. */
static clv_status append_numbers(slots *s, const clv_wire *in, const clv_field *f,
                                 clv_wire_type type, clv_error *err)
{
    bool packed = f->type == CLV_WIRE_BYTES;
    clv_wire run = { in->name, in->file, f->bytes, f->bytes + f->n };
    uint64_t number = f->value;

    if (!packed && f->type != type)
        return bad(in, "a field has the wrong wire type", err);
    while (!packed || run.at < run.end) {
        if (packed)
            CLV_TRY(clv_wire_scalar(&run, type, &number, err));
        if (s->at == s->n)
            return bad(in, s->overflow, err);
        memcpy(s->to + s->at++ * s->slot, &number, s->slot);
        if (!packed)
            break;
    }
    return CLV_OK;
}

static clv_status read_head(clv_wire w, head *ret, clv_error *err)
{
    head h = { 0 };
    slots dims = { (uint8_t *)h.shape.dims, sizeof *h.shape.dims, CLR_MAX_RANK, 0,
                   "a tensor has more dimensions than 64" };
    clv_field f = { 0 };

    for (;;) {
        CLV_TRY(clv_wire_next(&w, &f, err));
        if (f.number == 0)
            break;
        if (f.number == T_DIMS)
            CLV_TRY(append_numbers(&dims, &w, &f, CLV_WIRE_VARINT, err));
        else if (f.number == T_TYPE && f.value <= INT32_MAX)
            h.shape.dtype = (ONNXTensorElementDataType)f.value;
        else if (f.number == T_LOCATION)
            h.external = f.value != 0;
        else if (f.number == T_RAW) {
            h.raw = f.bytes;
            h.raw_n = f.n;
            h.has_raw = true;
        }
    }
    h.shape.rank = (int32_t)dims.at;
    if (h.external)
        return bad(&w, "the elements lie in another file, expected them in this one", err);
    if (!clr_shape_count(&h.shape))
        return bad(&w, "the dimensions are below 0 or too large", err);
    *ret = h;
    return CLV_OK;
}

/* Has the field elements of a type of its own, and how are they encoded? */
static bool is_typed(uint32_t number, clv_wire_type *ret)
{
    switch (number) {
    case T_FLOATS:
        *ret = CLV_WIRE_FIXED32;
        return true;
    case T_DOUBLES:
        *ret = CLV_WIRE_FIXED64;
        return true;
    case T_INT32S:
    case T_INT64S:
    case T_UINT64S:
        *ret = CLV_WIRE_VARINT;
        return true;
    default:
        return false;
    }
}

static clv_status read_typed(clv_wire w, const head *h, uint8_t *to, size_t bytes, clv_error *err)
{
    int bits = clr_dtype_bits((int)h->shape.dtype);
    bool complex = h->shape.dtype == ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64 ||
                   h->shape.dtype == ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128;
    size_t slot = bits < 8 ? 1 : (size_t)bits / (complex ? 16 : 8);
    slots s = { to, slot, bytes / slot, 0, "a tensor has more elements than its dimensions say" };
    clv_field f = { 0 };

    for (;;) {
        clv_wire_type type;
        CLV_TRY(clv_wire_next(&w, &f, err));
        if (f.number == 0)
            break;
        if (is_typed(f.number, &type))
            CLV_TRY(append_numbers(&s, &w, &f, type, err));
    }
    return s.at == s.n ? CLV_OK
                       : bad(&w, "a tensor has fewer elements than its dimensions say", err);
}

static clv_status read_strings(const clr_ort *ort, clv_wire w, int64_t count, OrtValue *value,
                               clv_error *err)
{
    int64_t at = 0;
    clv_field f = { 0 };

    for (;;) {
        char *to = NULL;
        CLV_TRY(clv_wire_next(&w, &f, err));
        if (f.number == 0)
            break;
        if (f.number != T_STRINGS)
            continue;
        if (at == count)
            return bad(&w, "a tensor has more strings than its dimensions say", err);
        CLV_TRY(clr_ort_check(
            ort, ort->api->GetResizedStringTensorElementBuffer(value, (size_t)at, f.n, &to), w.name,
            err));
        if (f.n)
            memcpy(to, f.bytes, f.n);
        at++;
    }
    return at == count ? CLV_OK
                       : bad(&w, "a tensor has fewer strings than its dimensions say", err);
}

static clv_status read_elements(const clr_ort *ort, clv_wire w, const head *h, OrtValue *value,
                                clv_error *err)
{
    void *to = NULL;
    size_t bytes = clr_dtype_bytes((int)h->shape.dtype, h->shape.count);

    if (h->shape.dtype == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING)
        return read_strings(ort, w, h->shape.count, value, err);
    if (bytes == 0)
        return CLV_OK;
    CLV_TRY(clr_tensor_data(ort, value, &to, err));
    if (!h->has_raw)
        return read_typed(w, h, to, bytes, err);
    memcpy(to, h->raw, bytes);
    return CLV_OK;
}

/* Memory is taken for what the message can hold only: a number takes a byte of it at least. */
static clv_status check_size(const clv_wire *w, const head *h, clv_error *err)
{
    int bits = clr_dtype_bits((int)h->shape.dtype);
    size_t bytes = clr_dtype_bytes((int)h->shape.dtype, h->shape.count), numbers = bytes;

    if (h->has_raw && bits > 0)
        return h->raw_n == bytes
                   ? CLV_OK
                   : bad(w, "a tensor has not as many bytes as its dimensions say", err);
    if (bits == 0)
        numbers = (size_t)h->shape.count; /* strings */
    else if (bits >= 8)
        numbers = bytes / ((size_t)bits / 8);
    return numbers <= (size_t)(w->end - w->at)
               ? CLV_OK
               : bad(w, "a tensor has fewer elements than its dimensions say", err);
}

static clv_status read_tensor(const clr_ort *ort, clv_wire w, OrtValue **ret, clv_error *err)
{
    OrtValue *value = NULL;
    head h;

    CLV_TRY(read_head(w, &h, err));
    if (clr_dtype_bits((int)h.shape.dtype) == 0 &&
        h.shape.dtype != ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING)
        return bad(&w, "a tensor has an unknown element type", err);
    CLV_TRY(check_size(&w, &h, err));
    CLV_TRY(clr_tensor_new(ort, &h.shape, &value, err));
    clv_status status = read_elements(ort, w, &h, value, err);
    if (status != CLV_OK) {
        clr_value_free(ort, value);
        return status;
    }
    *ret = value;
    return CLV_OK;
}

/* -- sequences and optionals -- */

typedef struct {
    clv_arena *arena;
    OrtValue **at;
    int32_t n, cap;
} values;

static clv_status read_list(const clr_ort *ort, clv_wire w, int depth, values *all, clv_error *err);

static clv_status read_sequence(const clr_ort *ort, clv_wire w, int depth, clv_arena *arena,
                                OrtValue **ret, clv_error *err)
{
    values all = { .arena = arena };
    clv_status status = read_list(ort, w, depth, &all, err);

    if (status == CLV_OK && all.n == 0)
        status = clv_fail(err, CLV_EUNSUPP, "%s: the runtime's C API cannot make an empty sequence",
                          w.name);
    if (status == CLV_OK)
        status = clr_ort_check(ort,
                               ort->api->CreateValue((const OrtValue *const *)all.at, (size_t)all.n,
                                                     ONNX_TYPE_SEQUENCE, ret),
                               w.name, err);
    clr_values_free(ort, all.at, all.n);
    return status;
}

/* Each tensor or sequence of a SequenceProto or OptionalProto; to be freed in any case. */
static clv_status read_list(const clr_ort *ort, clv_wire w, int depth, values *all, clv_error *err)
{
    clv_field f = { 0 };

    if (depth == DEPTH_MAX)
        return bad(&w, "sequences are nested too deep", err);
    for (;;) {
        OrtValue *value = NULL;
        CLV_TRY(clv_wire_next(&w, &f, err));
        if (f.number == 0)
            return CLV_OK;
        if (f.number != S_TENSORS && f.number != S_SEQUENCES)
            continue;
        if (!CLV_PUSH_ROOM(all->arena, all->at, all->n, all->cap))
            return clv_fail_nomem(err, "a sequence");
        clv_wire in = { w.name, w.file, f.bytes, f.bytes + f.n };
        CLV_TRY(f.number == S_TENSORS ? read_tensor(ort, in, &value, err)
                                      : read_sequence(ort, in, depth + 1, all->arena, &value, err));
        all->at[all->n++] = value;
    }
}

/* What is in it, for the runtime takes that where an optional is wanted. */
static clv_status read_optional(const clr_ort *ort, clv_wire w, clv_arena *arena, OrtValue **ret,
                                clv_error *err)
{
    values all = { .arena = arena };
    clv_status status = read_list(ort, w, 0, &all, err);

    if (status == CLV_OK && all.n != 1)
        status =
            clv_fail(err, CLV_EUNSUPP,
                     "%s: the runtime's C API cannot make an optional without a value", w.name);
    if (status == CLV_OK) {
        *ret = all.at[0];
        all.at[0] = NULL; /* given away */
    }
    clr_values_free(ort, all.at, all.n);
    return status;
}

clv_status clr_pb_read(const clr_ort *ort, const clr_file_bytes *file, ONNXType kind,
                       clv_arena *arena, OrtValue **ret, clv_error *err)
{
    clv_wire w = { file->path, file->bytes, file->bytes, file->bytes + file->n };

    if (kind == ONNX_TYPE_TENSOR)
        return read_tensor(ort, w, ret, err);
    if (kind == ONNX_TYPE_SEQUENCE)
        return read_sequence(ort, w, 0, arena, ret, err);
    if (kind == ONNX_TYPE_OPTIONAL)
        return read_optional(ort, w, arena, ret, err);
    return clv_fail(err, CLV_EUNSUPP, "%s: maps and sparse tensors are not read", file->path);
}

clv_status clr_pb_name(const clr_file_bytes *file, clv_arena *arena, const char **ret,
                       clv_error *err)
{
    clv_wire w = { file->path, file->bytes, file->bytes, file->bytes + file->n };
    clv_field f = { 0 };
    clv_str name = { "", 0 };

    CLV_TRY(clv_wire_next(&w, &f, err));
    /* a TensorProto has its name here; the others have theirs in a field of numbers of it */
    while (f.number != 0) {
        bool tensor = f.number == T_NAME && f.type == CLV_WIRE_BYTES;
        bool list = f.number == S_NAME && f.type == CLV_WIRE_BYTES && name.n == 0 && f.n > 0 &&
                    f.bytes[0] >= ' ';
        if ((tensor || list) && f.n <= INT32_MAX)
            name = (clv_str){ (const char *)f.bytes, (int32_t)f.n };
        CLV_TRY(clv_wire_next(&w, &f, err));
    }
    const char *kept = clv_arena_str(arena, name);
    if (!kept)
        return clv_fail_nomem(err, "a name");
    *ret = kept;
    return CLV_OK;
}

/* -- writing -- */

static clv_status write_number(const clv_sink *sink, uint32_t field, uint64_t value, clv_error *err)
{
    uint8_t buf[2 * CLV_VARINT_MAX];
    size_t n = clv_varint_put(buf, clv_wire_key(field, CLV_WIRE_VARINT));

    n += clv_varint_put(buf + n, value);
    return sink->write(sink->ctx, buf, n, err);
}

static clv_status write_bytes(const clv_sink *sink, uint32_t field, const void *bytes, size_t size,
                              clv_error *err)
{
    uint8_t buf[2 * CLV_VARINT_MAX];
    size_t n = clv_varint_put(buf, clv_wire_key(field, CLV_WIRE_BYTES));

    n += clv_varint_put(buf + n, size);
    CLV_TRY(sink->write(sink->ctx, buf, n, err));
    return sink->write(sink->ctx, bytes, size, err);
}

static clv_status write_strings(const clr_ort *ort, const OrtValue *value, int64_t count,
                                const clv_sink *sink, clv_error *err)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clr_strings strings;

    if (!arena)
        return clv_fail_nomem(err, "a file");
    clv_status status = clr_tensor_strings(ort, value, count, arena, &strings, err);
    for (int64_t i = 0; status == CLV_OK && i < count; i++)
        status = write_bytes(sink, T_STRINGS, strings.texts[i], strings.lengths[i], err);
    clv_arena_free(arena);
    return status;
}

clv_status clr_pb_write(const clr_ort *ort, const OrtValue *value, const clr_shape *shape,
                        const char *name, const clv_sink *sink, clv_error *err)
{
    void *data = NULL;

    for (int32_t i = 0; i < shape->rank; i++)
        CLV_TRY(write_number(sink, T_DIMS, (uint64_t)shape->dims[i], err));
    CLV_TRY(write_number(sink, T_TYPE, (uint64_t)shape->dtype, err));
    CLV_TRY(write_bytes(sink, T_NAME, name, strlen(name), err));
    if (shape->dtype == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING)
        return write_strings(ort, value, shape->count, sink, err);
    CLV_TRY(clr_tensor_data(ort, value, &data, err));
    return write_bytes(sink, T_RAW, data, clr_dtype_bytes((int)shape->dtype, shape->count), err);
}
