#include "proto/tensor_file.h"

#include <inttypes.h>

#include "proto/onnx_map.h"

enum { T_DIMS = 1, T_TYPE = 2, T_STRINGS = 6, T_NAME = 8, T_RAW = 9 }; /* of TensorProto */

typedef struct {
    const char *path;
    clv_arena *arena;
    clv_error *err;
    int64_t dims[CLV_RANK_MAX];
    clv_str *strings;
    int32_t n_strings, cap_strings;
    clv_field raw, other;
    clv_tensor_file *to;
} reading;

static clv_status bad(const reading *r, const char *what)
{
    return clv_fail(r->err, CLV_EFORMAT, "%s: %s", r->path, what);
}

static clv_status add_dim(reading *r, uint64_t value)
{
    if (r->to->rank == CLV_RANK_MAX)
        return bad(r, "a tensor has too many dimensions");
    if (value > INT64_MAX)
        return bad(r, "a dimension is below 0");
    r->dims[r->to->rank++] = (int64_t)value;
    return CLV_OK;
}

static clv_status add_dims(reading *r, const clv_wire *w, const clv_field *f)
{
    clv_wire run = { w->name, w->file, f->bytes, f->bytes + f->n };
    uint64_t value;
    if (f->type == CLV_WIRE_VARINT)
        return add_dim(r, f->value);
    if (f->type != CLV_WIRE_BYTES)
        return bad(r, "its dimensions are no whole numbers");
    while (run.at < run.end) {
        CLV_TRY(clv_wire_scalar(&run, CLV_WIRE_VARINT, &value, r->err));
        CLV_TRY(add_dim(r, value));
    }
    return CLV_OK;
}

static clv_status take(reading *r, const clv_wire *w, const clv_field *f)
{
    clv_str text = { (const char *)f->bytes, (int32_t)f->n };
    switch (f->number) {
    case T_DIMS:
        return add_dims(r, w, f);
    case T_TYPE:
        r->to->dtype = f->type == CLV_WIRE_VARINT && f->value < CLV_N_DTYPES ? (clv_dtype)f->value
                                                                             : CLV_DT_UNDEFINED;
        return CLV_OK;
    case T_NAME:
    case T_STRINGS:
        if (f->type != CLV_WIRE_BYTES || f->n > INT32_MAX)
            return bad(r, "a text is no text");
        if (f->number == T_NAME) {
            r->to->name = text;
            return CLV_OK;
        }
        if (!CLV_PUSH_ROOM(r->arena, r->strings, r->n_strings, r->cap_strings))
            return clv_fail_nomem(r->err, "a tensor of texts");
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

static clv_status finish(reading *r)
{
    clv_tensor_file *to = r->to;
    int64_t *dims = CLV_NEW_ARRAY(r->arena, int64_t, to->rank);
    if (!dims)
        return clv_fail_nomem(r->err, "a tensor");
    to->elems = 1;
    for (int32_t d = 0; d < to->rank; d++) {
        dims[d] = r->dims[d];
        if (__builtin_mul_overflow(to->elems, dims[d], &to->elems))
            return bad(r, "a tensor has more elements than 64 bits count");
    }
    to->dims = dims;
    if (to->dtype == CLV_DT_STRING) {
        to->strings = r->strings;
        return r->n_strings == to->elems ? CLV_OK
                                         : bad(r, "a tensor has not as many texts as elements");
    }
    if (clv_dtype_bits(to->dtype) == 0 || !clv_dtype_bytes(to->dtype, to->elems, &to->bytes))
        return bad(r, "a tensor has an unknown type");
    if (to->elems > 0 && r->raw.number == 0)
        return clv_fail(r->err, CLV_EUNSUPP, "%s: the elements are not in raw_data", r->path);
    if ((int64_t)r->raw.n != to->bytes)
        return clv_fail(r->err, CLV_EFORMAT, "%s: a tensor has %zu bytes, expected %" PRId64,
                        r->path, r->raw.n, to->bytes);
    to->data = r->raw.bytes;
    return CLV_OK;
}

static clv_status read_all(reading *r)
{
    clv_wire w = clv_onnx_wire(r->to->file);
    clv_field f;
    for (;;) {
        CLV_TRY(clv_wire_next(&w, &f, r->err));
        if (f.number == 0)
            return finish(r);
        CLV_TRY(take(r, &w, &f));
    }
}

clv_status clv_tensor_file_open(const char *path, clv_arena *arena, clv_tensor_file *ret,
                                clv_error *err)
{
    reading r = { .path = path, .arena = arena, .err = err, .to = ret };
    *ret = (clv_tensor_file){ .dtype = CLV_DT_UNDEFINED };
    CLV_TRY(clv_onnx_open(path, clv_arena_alloc(arena), &ret->file, err));
    clv_status status = read_all(&r);
    if (status != CLV_OK)
        clv_tensor_file_close(ret);
    return status;
}

void clv_tensor_file_close(clv_tensor_file *value)
{
    clv_onnx_close(value->file);
    value->file = NULL;
}
