#include "proto/tensor_file.h"

#include <inttypes.h>

enum { T_DIMS = 1, T_TYPE = 2, T_STRINGS = 6, T_NAME = 8, T_RAW = 9 }; /* of TensorProto */

typedef struct {
    const char *path;
    clv_arena *arena;
    int64_t dims[CLV_RANK_MAX];
    clv_str *strings;
    int32_t n_strings, cap_strings;
    clv_field raw, other;
    clv_tensor_file *to;
} reading;

static clv_status refuse(const reading *r, const char *what, clv_error *err)
{
    return clv_fail(err, CLV_EFORMAT, "%s: %s", r->path, what);
}

static clv_status add_dim(reading *r, uint64_t value, clv_error *err)
{
    if (r->to->rank == CLV_RANK_MAX)
        return refuse(r, "a tensor has too many dimensions", err);
    if (value > INT64_MAX)
        return refuse(r, "a dimension is below 0", err);
    r->dims[r->to->rank++] = (int64_t)value;
    return CLV_OK;
}

static clv_status add_dims(reading *r, const clv_wire *w, const clv_field *f, clv_error *err)
{
    clv_wire run = { w->name, w->file, f->bytes, f->bytes + f->n };
    uint64_t value;
    if (f->type == CLV_WIRE_VARINT)
        return add_dim(r, f->value, err);
    if (f->type != CLV_WIRE_BYTES)
        return refuse(r, "its dimensions are no whole numbers", err);
    while (run.at < run.end) {
        CLV_TRY(clv_wire_scalar(&run, CLV_WIRE_VARINT, &value, err));
        CLV_TRY(add_dim(r, value, err));
    }
    return CLV_OK;
}

static clv_status read_field(reading *r, const clv_wire *w, const clv_field *f, clv_error *err)
{
    clv_str text = { (const char *)f->bytes, (int32_t)f->n };
    switch (f->number) {
    case T_DIMS:
        return add_dims(r, w, f, err);
    case T_TYPE:
        r->to->dtype = f->type == CLV_WIRE_VARINT && f->value < CLV_N_DTYPES ? (clv_dtype)f->value
                                                                             : CLV_DT_UNDEFINED;
        return CLV_OK;
    case T_NAME:
    case T_STRINGS:
        if (f->type != CLV_WIRE_BYTES || f->n > INT32_MAX)
            return refuse(r, "a text is no text", err);
        if (f->number == T_NAME) {
            r->to->name = text;
            return CLV_OK;
        }
        if (!CLV_PUSH_ROOM(r->arena, r->strings, r->n_strings, r->cap_strings))
            return clv_fail_nomem(err, "a tensor of texts");
        r->strings[r->n_strings++] = text;
        return CLV_OK;
    case T_RAW:
        r->raw = *f;
        return CLV_OK;
    default:
        r->other = *f;
        return CLV_OK;
    }
}

static clv_status check_elements(reading *r, clv_error *err)
{
    clv_tensor_file *to = r->to;
    int64_t *dims = CLV_NEW_ARRAY(r->arena, int64_t, to->rank);
    if (!dims)
        return clv_fail_nomem(err, "a tensor");
    to->elems = 1;
    for (int32_t d = 0; d < to->rank; d++) {
        dims[d] = r->dims[d];
        if (__builtin_mul_overflow(to->elems, dims[d], &to->elems))
            return refuse(r, "a tensor has more elements than 64 bits count", err);
    }
    to->dims = dims;
    if (to->dtype == CLV_DT_STRING) {
        to->strings = r->strings;
        return r->n_strings == to->elems
                   ? CLV_OK
                   : refuse(r, "a tensor has not as many texts as elements", err);
    }
    if (clv_dtype_bits(to->dtype) == 0 || !clv_dtype_bytes(to->dtype, to->elems, &to->bytes))
        return refuse(r, "a tensor has an unknown type", err);
    if (to->elems > 0 && r->raw.number == 0)
        return clv_fail(err, CLV_EUNSUPP, "%s: the elements are not in raw_data", r->path);
    if ((int64_t)r->raw.n != to->bytes)
        return clv_fail(err, CLV_EFORMAT, "%s: a tensor has %zu bytes, expected %" PRId64, r->path,
                        r->raw.n, to->bytes);
    to->data = r->raw.bytes;
    return CLV_OK;
}

static clv_status read_fields(reading *r, clv_error *err)
{
    clv_wire w = clv_onnx_wire(r->to->file);
    clv_field f;
    for (;;) {
        CLV_TRY(clv_wire_next(&w, &f, err));
        if (f.number == 0)
            return check_elements(r, err);
        CLV_TRY(read_field(r, &w, &f, err));
    }
}

clv_status clv_tensor_file_open(const char *path, clv_arena *arena, clv_tensor_file *ret,
                                clv_error *err)
{
    reading r = { .path = path, .arena = arena, .to = ret };
    *ret = (clv_tensor_file){ .dtype = CLV_DT_UNDEFINED };
    CLV_TRY(clv_onnx_open_whole(path, clv_arena_alloc(arena), &ret->file, err));
    clv_status status = read_fields(&r, err);
    if (status != CLV_OK)
        clv_tensor_file_close(ret);
    return status;
}

void clv_tensor_file_close(clv_tensor_file *value)
{
    clv_onnx_close(value->file);
    value->file = NULL;
}
