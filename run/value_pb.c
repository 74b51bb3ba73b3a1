/* value_pb.c - the messages of ONNX that hold values. Numbers of fields are those of onnx.proto. */
#include <stdlib.h>
#include <string.h>

#include "proto/wire.h"
#include "run/value_file.h"

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
enum {
    S_NAME = 1,
    S_TYPE = 2,
    S_TENSORS = 3,
    S_SEQUENCES = 5
};                                           /* of Sequence- and OptionalProto */
enum { KIND_TENSOR = 1, KIND_SEQUENCE = 3 }; /* their S_TYPE */
#define DEPTH_MAX 8 /* of sequences within optionals within ...; the format has no limit */

typedef struct {
    const clr_ort *ort;
    clv_arena *arena;
    const char *path;
    clv_error *err;
} reading;

/* What a TensorProto says but for its elements. */
typedef struct {
    clr_shape shape;
    clv_str name;
    const uint8_t *raw;
    size_t raw_n;
    bool has_raw, external;
} head;

static clv_status bad(reading *r, const char *what)
{
    return clv_fail(r->err, CLV_EFORMAT, "%s: %s", r->path, what);
}

/* The numbers of a field that is packed or not, one by one. */
static clv_status each_number(reading *r, const clv_wire *in, const clv_field *f,
                              clv_wire_type type, clv_status (*take)(void *, uint64_t), void *ctx)
{
    clv_wire run = { in->name, in->file, f->bytes, f->bytes + f->n };

    if (f->type != CLV_WIRE_BYTES)
        return f->type == type ? take(ctx, f->value) : bad(r, "a field has the wrong wire type");
    while (run.at < run.end) {
        uint64_t number = 0;
        CLV_TRY(clv_wire_scalar(&run, type, &number, r->err));
        CLV_TRY(take(ctx, number));
    }
    return CLV_OK;
}

typedef struct {
    reading *r;
    head *to;
} dims_in;

static clv_status take_dim(void *ctx, uint64_t number)
{
    dims_in *in = ctx;
    clr_shape *shape = &in->to->shape;

    if (shape->rank == CLR_MAX_RANK)
        return bad(in->r, "a tensor has more dimensions than 64");
    shape->dims[shape->rank++] = (int64_t)number;
    return CLV_OK;
}

static clv_status read_head(reading *r, clv_wire w, head *ret)
{
    head h = { 0 };
    clv_field f = { 0 };

    for (;;) {
        CLV_TRY(clv_wire_next(&w, &f, r->err));
        if (f.number == 0)
            break;
        if (f.number == T_DIMS)
            CLV_TRY(each_number(r, &w, &f, CLV_WIRE_VARINT, take_dim, &(dims_in){ r, &h }));
        else if (f.number == T_TYPE && f.value <= INT32_MAX)
            h.shape.dtype = (ONNXTensorElementDataType)f.value;
        else if (f.number == T_NAME && f.n <= INT32_MAX)
            h.name = (clv_str){ (const char *)f.bytes, (int32_t)f.n };
        else if (f.number == T_LOCATION)
            h.external = f.value != 0;
        else if (f.number == T_RAW) {
            h.raw = f.bytes;
            h.raw_n = f.n;
            h.has_raw = true;
        }
    }
    if (h.external)
        return bad(r, "the elements lie in another file, expected them in this one");
    if (!clr_shape_count(&h.shape))
        return bad(r, "the dimensions are below 0 or too large");
    *ret = h;
    return CLV_OK;
}

/* Elements of a typed field, one number each into the next slot. */
typedef struct {
    reading *r;
    uint8_t *to;
    size_t slot, n, at; /* bytes of one, how many, and how many there are */
} slots;

static clv_status take_element(void *ctx, uint64_t number)
{
    slots *s = ctx;

    if (s->at == s->n)
        return bad(s->r, "a tensor has more elements than its dimensions say");
    memcpy(s->to + s->at++ * s->slot, &number, s->slot);
    return CLV_OK;
}

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

static clv_status read_typed(reading *r, clv_wire w, const head *h, uint8_t *to, size_t bytes)
{
    int bits = clr_dtype_bits((int)h->shape.dtype);
    bool complex = h->shape.dtype == ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64 ||
                   h->shape.dtype == ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128;
    size_t slot = bits < 8 ? 1 : (size_t)bits / (complex ? 16 : 8);
    slots s = { r, to, slot, bytes / slot, 0 };
    clv_field f = { 0 };

    for (;;) {
        clv_wire_type type;
        CLV_TRY(clv_wire_next(&w, &f, r->err));
        if (f.number == 0)
            break;
        if (is_typed(f.number, &type))
            CLV_TRY(each_number(r, &w, &f, type, take_element, &s));
    }
    return s.at == s.n ? CLV_OK : bad(r, "a tensor has fewer elements than its dimensions say");
}

static clv_status fill_strings(reading *r, clv_wire w, const head *h, OrtValue *value)
{
    int64_t at = 0;
    clv_field f = { 0 };

    for (;;) {
        char *to = NULL;
        CLV_TRY(clv_wire_next(&w, &f, r->err));
        if (f.number == 0)
            break;
        if (f.number != T_STRINGS)
            continue;
        if (at == h->shape.count)
            return bad(r, "a tensor has more strings than its dimensions say");
        CLV_TRY(clr_ort_check(
            r->ort, r->ort->api->GetResizedStringTensorElementBuffer(value, (size_t)at, f.n, &to),
            r->path, r->err));
        if (f.n)
            memcpy(to, f.bytes, f.n);
        at++;
    }
    return at == h->shape.count ? CLV_OK
                                : bad(r, "a tensor has fewer strings than its dimensions say");
}

static clv_status fill(reading *r, clv_wire w, const head *h, OrtValue *value)
{
    void *to = NULL;
    size_t bytes = clr_dtype_bytes((int)h->shape.dtype, h->shape.count);

    if (h->shape.dtype == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING)
        return fill_strings(r, w, h, value);
    if (bytes == 0)
        return CLV_OK;
    CLV_TRY(clr_tensor_data(r->ort, value, &to, r->err));
    if (!h->has_raw)
        return read_typed(r, w, h, to, bytes);
    if (h->raw_n != bytes)
        return bad(r, "a tensor has not as many bytes as its dimensions say");
    memcpy(to, h->raw, bytes);
    return CLV_OK;
}

static clv_status read_tensor(reading *r, clv_wire w, OrtValue **ret, clv_str *ret_name)
{
    OrtValue *value = NULL;
    head h;

    CLV_TRY(read_head(r, w, &h));
    if (clr_dtype_bits((int)h.shape.dtype) == 0 &&
        h.shape.dtype != ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING)
        return bad(r, "a tensor has an unknown element type");
    CLV_TRY(clr_tensor_new(r->ort, &h.shape, &value, r->err));
    clv_status status = fill(r, w, &h, value);
    if (status != CLV_OK) {
        clr_value_free(r->ort, value);
        return status;
    }
    *ret = value;
    *ret_name = h.name;
    return CLV_OK;
}

typedef struct {
    OrtValue **at;
    int32_t n, cap;
} values;

static clv_status read_list(reading *r, clv_wire w, int depth, values *all, clv_str *ret_name);

static clv_status join(reading *r, const values *all, OrtValue **ret)
{
    if (all->n == 0)
        return clv_fail(r->err, CLV_EUNSUPP,
                        "%s: the runtime's C API cannot make an empty sequence", r->path);
    return clr_ort_check(r->ort,
                         r->ort->api->CreateValue((const OrtValue *const *)all->at, (size_t)all->n,
                                                  ONNX_TYPE_SEQUENCE, ret),
                         r->path, r->err);
}

static void free_all(reading *r, values *all)
{
    for (int32_t i = 0; i < all->n; i++)
        clr_value_free(r->ort, all->at[i]);
    all->n = 0;
}

static clv_status read_sequence(reading *r, clv_wire w, int depth, OrtValue **ret,
                                clv_str *ret_name)
{
    values all = { 0 };
    clv_status status = read_list(r, w, depth, &all, ret_name);

    if (status == CLV_OK)
        status = join(r, &all, ret);
    free_all(r, &all);
    return status;
}

/* Each tensor or sequence of a SequenceProto or OptionalProto. */
static clv_status read_list(reading *r, clv_wire w, int depth, values *all, clv_str *ret_name)
{
    clv_field f = { 0 };
    clv_str unused;

    if (depth == DEPTH_MAX)
        return bad(r, "sequences are nested too deep");
    for (;;) {
        clv_wire in;
        OrtValue *value = NULL;
        CLV_TRY(clv_wire_next(&w, &f, r->err));
        if (f.number == 0)
            return CLV_OK;
        in = (clv_wire){ w.name, w.file, f.bytes, f.bytes + f.n };
        if (f.number == S_NAME && f.n <= INT32_MAX)
            *ret_name = (clv_str){ (const char *)f.bytes, (int32_t)f.n };
        if (f.number != S_TENSORS && f.number != S_SEQUENCES)
            continue;
        if (!CLV_PUSH_ROOM(r->arena, all->at, all->n, all->cap))
            return clv_fail_nomem(r->err, "a sequence");
        CLV_TRY(f.number == S_TENSORS ? read_tensor(r, in, &value, &unused)
                                      : read_sequence(r, in, depth + 1, &value, &unused));
        all->at[all->n++] = value;
    }
}

/* What is in it, for the runtime takes that where an optional is wanted. */
static clv_status read_optional(reading *r, clv_wire w, OrtValue **ret, clv_str *ret_name)
{
    values all = { 0 };
    clv_status status = read_list(r, w, 0, &all, ret_name);

    if (status == CLV_OK && all.n != 1)
        status =
            clv_fail(r->err, CLV_EUNSUPP,
                     "%s: the runtime's C API cannot make an optional without a value", r->path);
    if (status == CLV_OK) {
        *ret = all.at[0];
        all.n = 0;
    }
    free_all(r, &all);
    return status;
}

clv_status clr_pb_read(const clr_ort *ort, const clr_mapped_file *file, ONNXType kind,
                       clv_arena *arena, OrtValue **ret, const char **ret_name, clv_error *err)
{
    clv_wire w = { file->path, file->bytes, file->bytes, file->bytes + file->n };
    reading r = { ort, arena, file->path, err };
    clv_str name = { "", 0 };
    OrtValue *value = NULL;
    clv_status status = CLV_EUNSUPP;

    if (kind == ONNX_TYPE_TENSOR)
        status = read_tensor(&r, w, &value, &name);
    else if (kind == ONNX_TYPE_SEQUENCE)
        status = read_sequence(&r, w, 0, &value, &name);
    else if (kind == ONNX_TYPE_OPTIONAL)
        status = read_optional(&r, w, &value, &name);
    else
        clv_fail(err, status, "%s: maps and sparse tensors are not read", file->path);
    if (status != CLV_OK)
        return status;
    const char *kept = clv_arena_printf(arena, "%.*s", CLV_STR_ARG(name));
    if (!kept) {
        clr_value_free(ort, value);
        return clv_fail_nomem(err, "a name");
    }
    *ret = value;
    *ret_name = kept;
    return CLV_OK;
}

clv_status clr_value_name(const char *path, clv_arena *arena, const char **ret, clv_error *err)
{
    clr_mapped_file file = { 0 };
    clv_field f = { 0 };
    clv_str name = { "", 0 };

    CLV_TRY(clr_mapped_file_open(path, &file, err));
    clv_wire w = { path, file.bytes, file.bytes, file.bytes + file.n };
    clv_status status = clv_wire_next(&w, &f, err);
    /* a TensorProto has its name here; the others have theirs in a field of numbers of it */
    while (status == CLV_OK && f.number != 0) {
        bool tensor = f.number == T_NAME && f.type == CLV_WIRE_BYTES;
        bool list = f.number == S_NAME && f.type == CLV_WIRE_BYTES && name.n == 0 && f.n > 0 &&
                    f.bytes[0] >= ' ';
        if ((tensor || list) && f.n <= INT32_MAX)
            name = (clv_str){ (const char *)f.bytes, (int32_t)f.n };
        status = clv_wire_next(&w, &f, err);
    }
    const char *kept = clv_arena_printf(arena, "%.*s", CLV_STR_ARG(name));
    clr_mapped_file_close(&file);
    if (status != CLV_OK)
        return status;
    if (!kept)
        return clv_fail_nomem(err, "a name");
    *ret = kept;
    return CLV_OK;
}
