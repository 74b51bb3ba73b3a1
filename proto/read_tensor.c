#include "proto/read_tensor.h"

#include <stdio.h>

#include "proto/onnx.pb-c.h"
#include "proto/read_value.h"

/* A tensor is read in two steps: its fields are gathered, then judged together, because the name,
 * the dimensions and the payload may come in any order. Payloads are counted by their length alone,
 * but for lists of varints, which are counted where they are short.
 */
#define COUNTED_MAX   (64 << 10) /* bytes of varints that are worth counting */
#define DIMS_TEXT_MAX 160

enum {
    T_DIMS = 1,
    T_TYPE = 2,
    T_SEGMENT = 3,
    T_FLOAT = 4,
    T_INT32 = 5,
    T_STRING = 6,
    T_INT64 = 7,
    T_NAME = 8,
    T_RAW = 9,
    T_DOUBLE = 10,
    T_UINT64 = 11,
    T_EXTERNAL = 13,
    T_LOCATION = 14
};
enum { S_VALUES = 1, S_INDICES = 2, S_DIMS = 3 };

typedef struct {
    clv_tensor_payload typed[12]; /* by field number; the count of varints is in bytes at first */
    int64_t raw_bytes, string_bytes;
    bool has_raw, external;
    bool has_location;
    int64_t dtype; /* as written */
    clv_field segment;
} gathered;

static clv_wire_type number_type(uint32_t field)
{
    switch (field) {
    case T_FLOAT:
        return CLV_WIRE_FIXED32;
    case T_DOUBLE:
        return CLV_WIRE_FIXED64;
    case T_STRING:
        return CLV_WIRE_BYTES;
    default: /* INT32, INT64, UINT64 */
        return CLV_WIRE_VARINT;
    }
}

/* "[3, -1, 4]", cut with dots where it is long. */
static const char *show_dims(char buf[static DIMS_TEXT_MAX], const int64_t *dims, int32_t rank)
{
    size_t n = 1;
    buf[0] = '[';
    for (int32_t i = 0; i < rank; i++) {
        if (n > DIMS_TEXT_MAX - 32) {
            n += (size_t)snprintf(buf + n, DIMS_TEXT_MAX - n, ", ...");
            break;
        }
        n +=
            (size_t)snprintf(buf + n, DIMS_TEXT_MAX - n, i ? ", %lld" : "%lld", (long long)dims[i]);
    }
    snprintf(buf + n, DIMS_TEXT_MAX - n, "]");
    return buf;
}

static clv_status add_payload(const clv_message *m, const clv_field *f, gathered *g, clv_error *err)
{
    clv_tensor_payload *p = &g->typed[f->number];
    p->field = f->number;
    p->type = number_type(f->number);
    if (f->number == T_STRING) {
        p->count++;
        g->string_bytes += (int64_t)f->n;
        return CLV_OK;
    }
    size_t n = f->n;
    clv_wire run = clv_message_run(m, f);
    if (p->type != CLV_WIRE_VARINT)
        CLV_TRY(clv_wire_count(&run, p->type, &n, err));
    p->count += (int64_t)n;
    return CLV_OK;
}

/* How many numbers the varints of a field are. Touches them all. */
static clv_status count_varints(clv_message m, uint32_t field, int64_t *ret, clv_error *err)
{
    clv_field f;
    *ret = 0;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        clv_wire run = clv_message_run(&m, &f);
        size_t n = 0;
        if (f.number == field)
            CLV_TRY(clv_wire_count(&run, CLV_WIRE_VARINT, &n, err));
        *ret += (int64_t)n;
    }
}

/* An entry of external_data. Other keys (checksum, basepath) are not ours. */
static clv_status add_external(clv_reading *r, clv_message entry, clv_const *t, gathered *g,
                               clv_error *err)
{
    clv_field f;
    clv_str key = { NULL, 0 }, value = { NULL, 0 };
    for (;;) {
        CLV_TRY(clv_message_next(&entry, &f, err));
        if (!f.number)
            break;
        if (f.number == 1 || f.number == 2)
            CLV_TRY(clv_message_str(&entry, &f, f.number == 1 ? &key : &value, err));
    }
    if (clv_str_is(key, "location")) {
        t->location = value;
        g->has_location = true;
        return CLV_OK;
    }
    bool is_offset = clv_str_is(key, "offset");
    if (!is_offset && !clv_str_is(key, "length"))
        return CLV_OK;
    if (!clv_external_number(value, is_offset ? &t->offset : &t->length))
        return clv_fail(err, CLV_EFORMAT,
                        "%s: external data at byte %zu: %.*s is '%.*s', expected a whole number",
                        r->file->name, clv_message_offset(&entry), CLV_STR_ARG(key),
                        CLV_STR_ARG(value));
    return CLV_OK;
}

static clv_status gather(clv_reading *r, clv_message m, clv_const *t, gathered *g, clv_error *err)
{
    clv_field f;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        switch (f.number) {
        case T_TYPE:
            g->dtype = (int64_t)f.value;
            break;
        case T_SEGMENT:
            g->segment = f;
            break;
        case T_NAME:
            CLV_TRY(clv_message_str(&m, &f, &t->name, err));
            break;
        case T_RAW: /* the last one counts, as for any single field */
            g->has_raw = true;
            g->raw_bytes = (int64_t)f.n;
            break;
        case T_FLOAT:
        case T_INT32:
        case T_STRING:
        case T_INT64:
        case T_DOUBLE:
        case T_UINT64:
            CLV_TRY(add_payload(&m, &f, g, err));
            break;
        case T_EXTERNAL:
            CLV_TRY(add_external(
                r, clv_message_sub(&m, &f, &onnx__string_string_entry_proto__descriptor), t, g,
                err));
            break;
        case T_LOCATION:
            g->external = f.value == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
            break;
        default: /* a number from the file; dims are read on their own */
            break;
        }
    }
}

/* dims of a TensorProto or SparseTensorProto: counted, then read. */
static clv_status read_dims(clv_reading *r, clv_message m, uint32_t field, clv_const *t,
                            clv_error *err)
{
    clv_field f;
    int64_t dims[CLV_RANK_MAX];
    int32_t rank = 0;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        clv_wire run = clv_message_run(&m, &f);
        while (f.number == field && run.at < run.end) {
            if (rank == CLV_RANK_MAX)
                return clv_fail(err, CLV_ELIMIT,
                                "%s: the tensor at byte %zu has over %d dimensions, the limit",
                                r->file->name, clv_message_offset(&m), CLV_RANK_MAX);
            uint64_t value;
            CLV_TRY(clv_wire_scalar(&run, CLV_WIRE_VARINT, &value, err));
            dims[rank++] = (int64_t)value;
        }
    }
    int64_t *kept = CLV_NEW_ARRAY(r->arena, int64_t, rank);
    if (!kept)
        return clv_fail_nomem(err, "the dimensions of a tensor");
    if (rank)
        memcpy(kept, dims, (size_t)rank * sizeof *kept);
    t->dims = kept;
    t->rank = rank;
    return CLV_OK;
}

/* Elements in all; CLV_EFORMAT for a negative dimension, or where the bytes need over 63 bits. */
static clv_status count_elements(clv_reading *r, clv_const *t, clv_error *err)
{
    char text[DIMS_TEXT_MAX];
    int64_t elems = 1;
    bool over = false, empty = false;
    for (int32_t i = 0; i < t->rank; i++) {
        if (t->dims[i] < 0)
            return clv_fail(err, CLV_EFORMAT, "%s: tensor '%.*s': dimension %d of %s is negative",
                            r->file->name, CLV_STR_ARG(t->name), i,
                            show_dims(text, t->dims, t->rank));
        empty = empty || t->dims[i] == 0;
        over = over || __builtin_mul_overflow(elems, t->dims[i], &elems);
    }
    t->elems = empty ? 0 : elems;
    if ((over && !empty) || !clv_dtype_bytes(t->dtype, t->elems, &t->bytes))
        return clv_fail(err, CLV_EFORMAT,
                        "%s: tensor '%.*s': %s of %s is more than 64 bits can count", r->file->name,
                        CLV_STR_ARG(t->name), show_dims(text, t->dims, t->rank),
                        clv_dtype_name(t->dtype));
    return CLV_OK;
}

/* The typed field for a type, and how many numbers of it elems elements take. */
static uint32_t typed_field(clv_dtype dtype, int64_t elems, int64_t *ret_count)
{
    int bits = clv_dtype_bits(dtype);
    *ret_count = elems;
    switch (dtype) {
    case CLV_DT_COMPLEX64:
    case CLV_DT_COMPLEX128:
        *ret_count = elems > INT64_MAX / 2 ? INT64_MAX : 2 * elems;
        return dtype == CLV_DT_COMPLEX64 ? T_FLOAT : T_DOUBLE;
    case CLV_DT_FLOAT:
        return T_FLOAT;
    case CLV_DT_DOUBLE:
        return T_DOUBLE;
    case CLV_DT_STRING:
        return T_STRING;
    case CLV_DT_INT64:
        return T_INT64;
    case CLV_DT_UINT32:
    case CLV_DT_UINT64:
        return T_UINT64;
    case CLV_DT_UNDEFINED:
    case CLV_DT_UINT8:
    case CLV_DT_INT8:
    case CLV_DT_UINT16:
    case CLV_DT_INT16:
    case CLV_DT_INT32:
    case CLV_DT_BOOL:
    case CLV_DT_FLOAT16:
    case CLV_DT_BFLOAT16:
    case CLV_DT_FLOAT8E4M3FN:
    case CLV_DT_FLOAT8E4M3FNUZ:
    case CLV_DT_FLOAT8E5M2:
    case CLV_DT_FLOAT8E5M2FNUZ:
    case CLV_DT_UINT4:
    case CLV_DT_INT4:
    case CLV_DT_FLOAT4E2M1:
    case CLV_DT_FLOAT8E8M0:
    case CLV_DT_UINT2:
    case CLV_DT_INT2:
        break;
    }
    if (bits < 8) { /* packed: each number is one byte of them */
        int64_t each = 8 / bits;
        *ret_count = elems / each + (elems % each != 0);
    }
    return T_INT32;
}

static clv_status fail_payload(clv_reading *r, const clv_const *t, const char *field, int64_t have,
                               int64_t want, clv_error *err)
{
    char text[DIMS_TEXT_MAX];
    return clv_fail(err, CLV_EFORMAT,
                    "%s: tensor '%.*s': %s of %s needs %lld in %s, the file has %lld",
                    r->file->name, CLV_STR_ARG(t->name), show_dims(text, t->dims, t->rank),
                    clv_dtype_name(t->dtype), (long long)want, field, (long long)have);
}

/* The payload must be what dims and type say. */
static clv_status check_payload(clv_reading *r, const clv_message *m, const clv_const *t,
                                const gathered *g, clv_tensor_payload *ret, clv_error *err)
{
    int64_t want;
    uint32_t field = typed_field(t->dtype, t->elems, &want);
    const clv_tensor_payload *typed = &g->typed[field];
    if (g->has_raw && t->dtype != CLV_DT_STRING && (g->raw_bytes || !typed->count)) {
        *ret = (clv_tensor_payload){ CLV_WIRE_BYTES, T_RAW, g->raw_bytes };
        return g->raw_bytes == t->bytes
                   ? CLV_OK
                   : fail_payload(r, t, "raw_data (bytes)", g->raw_bytes, t->bytes, err);
    }
    *ret = (clv_tensor_payload){ number_type(field), field, typed->count };
    if (ret->type == CLV_WIRE_VARINT && typed->count > COUNTED_MAX && want > CLV_VALUE_MAX)
        return CLV_OK;
    if (ret->type == CLV_WIRE_VARINT)
        CLV_TRY(count_varints(*m, field, &ret->count, err));
    if (ret->count == want)
        return CLV_OK;
    const ProtobufCFieldDescriptor *known =
        protobuf_c_message_descriptor_get_field(&onnx__tensor_proto__descriptor, field);
    return fail_payload(r, t, known->name, ret->count, want, err);
}

static clv_status check_external(clv_reading *r, const gathered *g, clv_const *t, clv_error *err)
{
    t->external = true;
    if (!g->has_location)
        return clv_fail(err, CLV_EFORMAT, "%s: tensor '%.*s' is external but names no location",
                        r->file->name, CLV_STR_ARG(t->name));
    if (t->dtype == CLV_DT_STRING)
        return clv_fail(err, CLV_EFORMAT,
                        "%s: tensor '%.*s' of strings is external, which strings "
                        "cannot be",
                        r->file->name, CLV_STR_ARG(t->name));
    return clv_external_check(&r->external, t, err);
}

static clv_status check_tensor(clv_reading *r, const clv_message *m, const gathered *g,
                               clv_const *t, clv_error *err)
{
    clv_tensor_payload payload;
    if (g->dtype == CLV_DT_UNDEFINED)
        return clv_fail(err, CLV_EFORMAT, "%s: tensor '%.*s' has no element type", r->file->name,
                        CLV_STR_ARG(t->name));
    if (g->dtype < 0 || g->dtype >= CLV_N_DTYPES)
        return clv_fail(err, CLV_EUNSUPP,
                        "%s: tensor '%.*s' has element type %lld, known are 1 to %d", r->file->name,
                        CLV_STR_ARG(t->name), (long long)g->dtype, CLV_N_DTYPES - 1);
    t->dtype = (clv_dtype)g->dtype;
    CLV_TRY(count_elements(r, t, err));
    if (g->segment.number)
        return clv_fail(err, CLV_EUNSUPP,
                        "%s: tensor '%.*s' is stored in segments; expected it whole", r->file->name,
                        CLV_STR_ARG(t->name));
    if (g->external)
        return check_external(r, g, t, err);
    CLV_TRY(check_payload(r, m, t, g, &payload, err));
    if (t->dtype == CLV_DT_STRING)
        t->bytes = g->string_bytes;
    if (t->elems > CLV_VALUE_MAX)
        return CLV_OK;
    return clv_read_value(r, m, &payload, t, &t->value, err);
}

clv_status clv_read_tensor(clv_reading *r, const clv_message *tensor, clv_const *ret,
                           clv_error *err)
{
    gathered g = { .external = false };
    clv_const t = { .length = -1 };
    CLV_TRY(gather(r, *tensor, &t, &g, err));
    CLV_TRY(read_dims(r, *tensor, T_DIMS, &t, err));
    CLV_TRY(check_tensor(r, tensor, &g, &t, err));
    *ret = t;
    return CLV_OK;
}

clv_status clv_read_sparse(clv_reading *r, const clv_message *sparse, clv_const *ret,
                           clv_error *err)
{
    clv_message m = *sparse;
    clv_field f, parts[3] = { 0 };
    clv_const values, indices, dense = { 0 };
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        if (f.number == S_VALUES || f.number == S_INDICES)
            CLV_TRY(clv_message_once(&m, &f, &parts[f.number], err));
    }
    if (!parts[S_VALUES].number || !parts[S_INDICES].number)
        return clv_fail(err, CLV_EFORMAT, "%s: the sparse tensor at byte %zu has no %s",
                        r->file->name, clv_message_offset(sparse),
                        parts[S_VALUES].number ? "indices" : "values");
    clv_message v = clv_message_sub(&m, &parts[S_VALUES], &onnx__tensor_proto__descriptor);
    clv_message i = clv_message_sub(&m, &parts[S_INDICES], &onnx__tensor_proto__descriptor);
    CLV_TRY(clv_read_tensor(r, &v, &values, err));
    CLV_TRY(clv_read_tensor(r, &i, &indices, err));
    dense.name = values.name;
    dense.dtype = values.dtype;
    CLV_TRY(read_dims(r, *sparse, S_DIMS, &dense, err));
    CLV_TRY(count_elements(r, &dense, err));
    if (__builtin_add_overflow(values.bytes, indices.bytes, &values.bytes))
        return clv_fail(err, CLV_EFORMAT, "%s: sparse tensor '%.*s' is more than 64 bits can count",
                        r->file->name, CLV_STR_ARG(values.name));
    values.sparse = true;
    values.rank = dense.rank;
    values.dims = dense.dims;
    values.value = NULL; /* the elements that are stored are not the tensor's */
    *ret = values;
    return CLV_OK;
}
