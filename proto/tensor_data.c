#include "proto/tensor_data.h"

#include <assert.h>

#include "proto/external_data.h"
#include "proto/message_index.h"
#include "proto/onnx.pb-c.h"

/* What is where was judged when the model was read (read_tensor.c): counts, locations, types. Here
 * it is only found again, with the same rules: of raw_data the last counts, and an empty one gives
 * way to typed numbers; those may come in pieces. 32-bit and 64-bit numbers in one piece are what
 * raw_data would be.
 */
enum {
    T_FLOAT = 4,
    T_INT32 = 5,
    T_INT64 = 7,
    T_RAW = 9,
    T_DOUBLE = 10,
    T_UINT64 = 11,
};

typedef struct {
    const clv_onnx_file *file;
    clv_external external;
} finding;

/* The field that a type's numbers are in, and how wide one is in packed form. */
static uint32_t field_of(clv_dtype dtype, size_t *ret_width)
{
    int bits = clv_dtype_bits(dtype);
    *ret_width = bits < 8 ? 1 : (size_t)bits / 8;
    if (dtype == CLV_DT_COMPLEX64 || dtype == CLV_DT_COMPLEX128)
        *ret_width /= 2;
    if (dtype == CLV_DT_FLOAT || dtype == CLV_DT_COMPLEX64)
        return T_FLOAT;
    if (dtype == CLV_DT_DOUBLE || dtype == CLV_DT_COMPLEX128)
        return T_DOUBLE;
    if (dtype == CLV_DT_INT64)
        return T_INT64;
    return dtype == CLV_DT_UINT32 || dtype == CLV_DT_UINT64 ? T_UINT64 : T_INT32;
}

static clv_wire_type number_type(uint32_t field)
{
    if (field == T_FLOAT)
        return CLV_WIRE_FIXED32;
    return field == T_DOUBLE ? CLV_WIRE_FIXED64 : CLV_WIRE_VARINT;
}

static int64_t offset_in(const clv_onnx_file *file, const uint8_t *at) { return at - file->bytes; }

static void set_range(const clv_onnx_file *file, const uint8_t *at, clv_tensor_data *d)
{
    d->kind = CLV_DATA_RAW;
    d->offset = offset_in(file, at);
    d->length = d->bytes;
}

static clv_status find_in_file(const clv_onnx_file *file, const clv_message *tensor,
                               clv_tensor_data *d, clv_error *err)
{
    clv_message m = *tensor;
    clv_field f, raw = { 0 }, typed = { 0 };
    size_t width;
    uint32_t field = field_of(d->dtype, &width);
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        if (f.number == T_RAW)
            raw = f;
        else if (f.number == field && f.n)
            typed = f;
    }
    if (d->bytes == 0) /* which has a place too, though there may be no field */
        set_range(file, tensor->start, d);
    else if ((int64_t)raw.n == d->bytes)
        set_range(file, raw.bytes, d);
    else if (number_type(field) != CLV_WIRE_VARINT && (int64_t)typed.n == d->bytes)
        set_range(file, typed.bytes, d);
    else {
        d->kind = CLV_DATA_TYPED;
        d->offset = offset_in(file, tensor->start);
        d->length = tensor->wire.end - tensor->start;
    }
    return CLV_OK;
}

static clv_status find_weight(finding *f, const clv_const *t, const clv_message *tensor,
                              clv_tensor_data *ret, clv_error *err)
{
    *ret = (clv_tensor_data){ .name = t->name,
                              .dtype = t->dtype,
                              .rank = t->rank,
                              .dims = t->dims,
                              .elems = t->elems,
                              .bytes = t->bytes,
                              .kind = CLV_DATA_NONE };
    if (t->sparse || t->dtype == CLV_DT_STRING)
        return CLV_OK;
    if (!t->external)
        return find_in_file(f->file, tensor, ret, err);
    const clv_external_file *file;
    CLV_TRY(clv_external_check(&f->external, t, err));
    CLV_TRY(clv_external_find(&f->external, t, &file, err));
    ret->kind = file->path ? CLV_DATA_EXTERNAL : CLV_DATA_ABSENT;
    ret->path = file->path;
    ret->file_name = file->name;
    ret->file = file->id;
    ret->location = t->location;
    ret->offset = t->offset;
    ret->length = t->bytes;
    return CLV_OK;
}

clv_status clv_tensor_data_find(const clv_onnx_file *file, const clv_model *model, clv_arena *arena,
                                clv_tensor_data **ret, clv_error *err)
{
    finding finder = { .file = file };
    clv_message_index index;
    int32_t n = model->main->n_weights;
    clv_tensor_data *all = CLV_NEW_ARRAY(arena, clv_tensor_data, n);
    if (!all)
        return clv_fail_nomem(err, "the places of a model's weights");
    CLV_TRY(clv_external_init(&finder.external, file, arena, err));
    CLV_TRY(clv_message_index_build(file, model, arena, &index, err));
    for (int32_t i = 0; i < n; i++) {
        clv_message tensor;
        uint32_t field;
        CLV_TRY(clv_message_index_weight(&index, i, &tensor, &field, err));
        if ((field == CLV_SPARSE_INITIALIZER) != model->main->weights[i].sparse)
            return clv_fail(err, CLV_EUSAGE, "%s: weight %d is not the model's", file->name, i);
        CLV_TRY(find_weight(&finder, &model->main->weights[i], &tensor, &all[i], err));
    }
    *ret = all;
    return CLV_OK;
}

/* -- decoding -- */

typedef struct {
    uint8_t *at, *end;
    size_t width; /* bytes of one number; types below 8 bits have whole bytes as their numbers */
    bool is_bool;
} filling;

static clv_status fail_count(const clv_onnx_file *file, const clv_tensor_data *d, clv_error *err)
{
    return clv_fail(err, CLV_EFORMAT,
                    "%s: tensor '%.*s' has not as many numbers as its %lld elements of %s need",
                    file->name, CLV_STR_ARG(d->name), (long long)d->elems,
                    clv_dtype_name(d->dtype));
}

/* *ret_fits false: there are more numbers than room. */
static clv_status decode_run(filling *to, clv_wire run, clv_wire_type type, bool *ret_fits,
                             clv_error *err)
{
    while (run.at < run.end) {
        uint64_t value;
        if (to->at == to->end) {
            *ret_fits = false;
            return CLV_OK;
        }
        CLV_TRY(clv_wire_scalar(&run, type, &value, err));
        if (to->is_bool)
            value = value != 0;
        for (size_t i = 0; i < to->width; i++)
            *to->at++ = (uint8_t)(value >> 8 * i);
    }
    return CLV_OK;
}

/* message: the TensorProto, d->length bytes. */
static clv_status decode_numbers(const clv_onnx_file *file, const clv_tensor_data *d,
                                 const uint8_t *message, filling *to, clv_error *err)
{
    /* Bytes are counted from the file's first where it is in memory, else from the tensor's. */
    const uint8_t *first = file->fd < 0 ? file->bytes : message;
    clv_wire whole = { file->name, first, message, message + d->length };
    clv_message m =
        clv_message_in(&whole, &onnx__tensor_proto__descriptor, message, (size_t)d->length);
    uint32_t field = field_of(d->dtype, &to->width);
    bool fits = (size_t)(to->end - to->at) % to->width == 0;
    clv_field f;
    while (fits) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        if (f.number == field)
            CLV_TRY(decode_run(to, clv_message_run(&m, &f), number_type(field), &fits, err));
    }
    return fits && to->at == to->end ? CLV_OK : fail_count(file, d, err);
}

/* As the file has them: in its memory there may be holes. */
static clv_status read_bytes(const clv_onnx_file *file, const clv_tensor_data *d, clv_arena *arena,
                             const uint8_t **ret, clv_error *err)
{
    *ret = file->bytes + d->offset;
    if (file->fd < 0)
        return CLV_OK;
    uint8_t *bytes = clv_arena_take(arena, (size_t)d->length + 1);
    if (!bytes)
        return clv_fail_nomem(err, "the elements of a tensor");
    *ret = bytes;
    return clv_onnx_read_bytes(file, (uint64_t)d->offset, bytes, (size_t)d->length, err);
}

clv_status clv_tensor_data_decode(const clv_onnx_file *file, const clv_tensor_data *d,
                                  clv_arena *arena, const void **ret, clv_error *err)
{
    const uint8_t *message = NULL;
    if (d->kind == CLV_DATA_RAW) {
        CLV_TRY(read_bytes(file, d, arena, &message, err));
        *ret = message;
        return CLV_OK;
    }
    if (d->kind != CLV_DATA_TYPED)
        return clv_fail(err, CLV_EUSAGE,
                        "%s: the elements of tensor '%.*s' are not numbers in the model's file",
                        file->name, CLV_STR_ARG(d->name));
    /* A number takes a byte at least: what the file cannot hold is not asked for. */
    if (d->bytes > d->length * (int64_t)sizeof(uint64_t))
        return fail_count(file, d, err);
    filling to = { .at = clv_arena_take(arena, (size_t)d->bytes),
                   .is_bool = d->dtype == CLV_DT_BOOL };
    if (!to.at)
        return clv_fail_nomem(err, "the elements of a tensor");
    const void *bytes = to.at;
    to.end = to.at + d->bytes;
    CLV_TRY(read_bytes(file, d, arena, &message, err));
    CLV_TRY(decode_numbers(file, d, message, &to, err));
    *ret = bytes;
    return CLV_OK;
}
