#include "proto/write_values.h"

#include <stdio.h>

#include "proto/onnx.pb-c.h"

/* Fields go out in the order of their numbers, and lists of numbers unpacked, as the standard's own
 * library writes them.
 */
enum { N_ATTRIBUTE = 5 };
enum { A_NAME = 1, A_F = 2, A_I = 3, A_S = 4, A_T = 5, A_INTS = 8, A_TYPE = 20 };
enum { V_NAME = 1, V_TYPE = 2 };
enum { TY_TENSOR = 1, TY_SEQUENCE = 4, TY_MAP = 5, TY_OPAQUE = 7, TY_SPARSE = 8, TY_OPTIONAL = 9 };
enum { T_DIMS = 1, T_DATA_TYPE = 2, T_NAME = 8, T_RAW = 9, T_EXTERNAL = 13, T_LOCATION = 14 };
enum { S_VALUES = 1 };

/* -- types -- */

/* TypeProto.Tensor and TypeProto.SparseTensor. */
static clv_status put_tensor_type(clv_message_writer *e, const clv_model *model,
                                  const clv_type *type, clv_error *err)
{
    clv_open_message shape = { 0 }, dim = { 0 };
    if (type->dtype != CLV_DT_UNDEFINED)
        CLV_TRY(clv_put_int(e, 1, type->dtype, err));
    if (type->rank == CLV_RANK_UNKNOWN)
        return CLV_OK;
    CLV_TRY(clv_put_begin(e, 2, &shape, err));
    for (int32_t i = 0; i < type->rank; i++) {
        clv_dim d = type->dims[i];
        CLV_TRY(clv_put_begin(e, 1, &dim, err));
        if (clv_dim_is_symbol(d) && clv_dim_symbol_id(d) < model->n_symbols)
            CLV_TRY(clv_put_str(e, 2, model->symbols[clv_dim_symbol_id(d)], err));
        else if (clv_dim_is_number(d))
            CLV_TRY(clv_put_int(e, 1, d, err));
        CLV_TRY(clv_put_end(e, &dim, err));
    }
    return clv_put_end(e, &shape, err);
}

/* The field of TypeProto that a kind of type is; 0: none. */
static uint32_t field_of_kind(clv_type_kind kind)
{
    switch (kind) {
    case CLV_TYPE_TENSOR:
        return TY_TENSOR;
    case CLV_TYPE_SPARSE:
        return TY_SPARSE;
    case CLV_TYPE_SEQUENCE:
        return TY_SEQUENCE;
    case CLV_TYPE_OPTIONAL:
        return TY_OPTIONAL;
    case CLV_TYPE_MAP:
        return TY_MAP;
    case CLV_TYPE_OPAQUE:
        return TY_OPAQUE;
    case CLV_TYPE_UNKNOWN:
        break;
    }
    return 0;
}

/* A TypeProto. */
static clv_status put_type(clv_message_writer *e, const clv_model *model, uint32_t field,
                           const clv_type *type, clv_error *err)
{
    clv_open_message whole = { 0 }, value = { 0 };
    uint32_t kind = field_of_kind(type->kind);
    CLV_TRY(clv_put_begin(e, field, &whole, err));
    if (kind) {
        CLV_TRY(clv_put_begin(e, kind, &value, err));
        if (kind == TY_TENSOR || kind == TY_SPARSE)
            CLV_TRY(put_tensor_type(e, model, type, err));
        if (kind == TY_MAP)
            CLV_TRY(clv_put_int(e, 1, type->dtype, err));
        if (type->elem && (kind == TY_SEQUENCE || kind == TY_OPTIONAL || kind == TY_MAP))
            CLV_TRY(put_type(e, model, kind == TY_MAP ? 2 : 1, type->elem, err));
        CLV_TRY(clv_put_end(e, &value, err));
    }
    return clv_put_end(e, &whole, err);
}

bool clv_type_is_complete(const clv_type *type)
{
    while (type && (type->kind == CLV_TYPE_SEQUENCE || type->kind == CLV_TYPE_OPTIONAL ||
                    type->kind == CLV_TYPE_MAP))
        type = type->elem;
    return type && (type->kind == CLV_TYPE_TENSOR || type->kind == CLV_TYPE_SPARSE) &&
           type->dtype != CLV_DT_UNDEFINED;
}

clv_status clv_put_value_info(clv_message_writer *e, const clv_model *model, uint32_t field,
                              const clv_new_value *value, clv_error *err)
{
    clv_open_message m = { 0 };
    CLV_TRY(clv_put_begin(e, field, &m, err));
    CLV_TRY(clv_put_str(e, V_NAME, value->name, err));
    if (value->type && value->type->kind != CLV_TYPE_UNKNOWN)
        CLV_TRY(put_type(e, model, V_TYPE, value->type, err));
    return clv_put_end(e, &m, err);
}

/* -- tensors -- */

static clv_status check_tensor(const clv_new_tensor *t, clv_error *err)
{
    int64_t elems = 1, bytes = 0;
    bool is_empty = false, fits = true;
    for (int32_t i = 0; i < t->rank; i++) {
        is_empty = is_empty || t->dims[i] == 0;
        fits = fits && t->dims[i] >= 0;
        fits = fits && (is_empty || !__builtin_mul_overflow(elems, t->dims[i], &elems));
    }
    fits = fits && clv_dtype_bits(t->dtype) > 0 &&
           clv_dtype_bytes(t->dtype, is_empty ? 0 : elems, &bytes) && bytes == t->n_bytes;
    if (!fits)
        return clv_fail(err, CLV_EUSAGE,
                        "new tensor '%.*s' of %s has %lld bytes, which is not what its dimensions "
                        "need",
                        CLV_STR_ARG(t->name), clv_dtype_name(t->dtype), (long long)t->n_bytes);
    if (t->n_bytes && !t->bytes && (!t->location.n || t->offset < 0))
        return clv_fail(err, CLV_EUSAGE,
                        "new tensor '%.*s' has neither bytes nor a place in another file",
                        CLV_STR_ARG(t->name));
    return CLV_OK;
}

static clv_status put_number_pair(clv_message_writer *e, const char *key, int64_t value,
                                  clv_error *err)
{
    char text[24]; /* 64 bits in decimal */
    int n = snprintf(text, sizeof text, "%lld", (long long)value);
    return clv_put_pair(e, T_EXTERNAL, clv_str_of(key), (clv_str){ text, n }, err);
}

static clv_status put_new(clv_message_writer *e, uint32_t field, const clv_new_tensor *t,
                          clv_error *err)
{
    clv_open_message m = { 0 };
    CLV_TRY(check_tensor(t, err));
    CLV_TRY(clv_put_begin(e, field, &m, err));
    for (int32_t i = 0; i < t->rank; i++)
        CLV_TRY(clv_put_int(e, T_DIMS, t->dims[i], err));
    CLV_TRY(clv_put_int(e, T_DATA_TYPE, t->dtype, err));
    if (t->name.n)
        CLV_TRY(clv_put_str(e, T_NAME, t->name, err));
    if (t->bytes && t->n_bytes)
        CLV_TRY(clv_put_bytes(e, T_RAW, t->bytes, (size_t)t->n_bytes, err));
    else if (!t->bytes && t->location.n) {
        CLV_TRY(clv_put_pair(e, T_EXTERNAL, clv_str_of("location"), t->location, err));
        CLV_TRY(put_number_pair(e, "offset", t->offset, err));
        CLV_TRY(put_number_pair(e, "length", t->n_bytes, err));
        CLV_TRY(clv_put_int(e, T_LOCATION, ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL, err));
    }
    return clv_put_end(e, &m, err);
}

/* The fields of a TensorProto, its name replaced where it stands. */
static clv_status put_renamed(clv_message_writer *e, clv_message tensor, clv_str name,
                              clv_error *err)
{
    clv_field f;
    bool named = false;
    for (;;) {
        CLV_TRY(clv_message_next(&tensor, &f, err));
        if (!f.number)
            break;
        if (f.number != T_NAME)
            CLV_TRY(clv_put_field(e, &tensor, &f, err));
        else if (!named)
            CLV_TRY(clv_put_str(e, T_NAME, name, err));
        named = named || f.number == T_NAME;
    }
    return named ? CLV_OK : clv_put_str(e, T_NAME, name, err);
}

static clv_status put_renamed_sparse(clv_message_writer *e, clv_message sparse, clv_str name,
                                     clv_error *err)
{
    clv_field f;
    for (;;) {
        clv_open_message m = { 0 };
        CLV_TRY(clv_message_next(&sparse, &f, err));
        if (!f.number)
            return CLV_OK;
        if (f.number != S_VALUES) {
            CLV_TRY(clv_put_field(e, &sparse, &f, err));
            continue;
        }
        CLV_TRY(clv_put_begin(e, S_VALUES, &m, err));
        CLV_TRY(put_renamed(e, clv_message_sub(&sparse, &f, &onnx__tensor_proto__descriptor), name,
                            err));
        CLV_TRY(clv_put_end(e, &m, err));
    }
}

bool clv_new_tensor_is_sparse(const clv_model *model, const clv_new_tensor *t)
{
    return t->weight >= 0 && t->weight < model->main->n_weights &&
           model->main->weights[t->weight].sparse;
}

clv_status clv_put_new_tensor(clv_message_writer *e, const clv_message_index *index, uint32_t field,
                              const clv_new_tensor *t, clv_error *err)
{
    clv_open_message m = { 0 };
    clv_message source;
    uint32_t from;
    if (t->weight < 0)
        return put_new(e, field, t, err);
    if (t->weight >= index->n_weights)
        return clv_fail(err, CLV_EUSAGE, "new tensor '%.*s' is to be weight %d of %s, which has %d",
                        CLV_STR_ARG(t->name), t->weight, index->file->name, index->n_weights);
    CLV_TRY(clv_message_index_weight(index, t->weight, &source, &from, err));
    CLV_TRY(clv_put_begin(e, field, &m, err));
    if (from == CLV_SPARSE_INITIALIZER)
        CLV_TRY(put_renamed_sparse(e, source, t->name, err));
    else
        CLV_TRY(put_renamed(e, source, t->name, err));
    return clv_put_end(e, &m, err);
}

/* -- attributes -- */

static clv_status put_tensor(clv_message_writer *e, const clv_message_index *index,
                             const clv_new_attr *a, clv_error *err)
{
    uint32_t field = A_T;
    clv_message source;
    if (a->tensor->weight >= 0 && a->tensor->weight < index->n_weights)
        CLV_TRY(clv_message_index_weight(index, a->tensor->weight, &source, &field, err));
    if (field == CLV_SPARSE_INITIALIZER)
        return clv_fail(err, CLV_EUSAGE,
                        "attribute '%.*s' is to be weight %d of %s, which is sparse; expected a "
                        "dense tensor",
                        CLV_STR_ARG(a->name), a->tensor->weight, index->file->name);
    CLV_TRY(clv_put_new_tensor(e, index, A_T, a->tensor, err));
    return clv_put_int(e, A_TYPE, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR, err);
}

static clv_status put_attr_value(clv_message_writer *e, const clv_message_index *index,
                                 const clv_new_attr *a, clv_error *err)
{
    switch (a->kind) {
    case CLV_NEW_FLOAT:
        CLV_TRY(clv_put_float(e, A_F, a->f, err));
        return clv_put_int(e, A_TYPE, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT, err);
    case CLV_NEW_INT:
        CLV_TRY(clv_put_int(e, A_I, a->i, err));
        return clv_put_int(e, A_TYPE, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT, err);
    case CLV_NEW_STRING:
        CLV_TRY(clv_put_str(e, A_S, a->s, err));
        return clv_put_int(e, A_TYPE, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING, err);
    case CLV_NEW_INTS:
        for (int32_t i = 0; i < a->n; i++)
            CLV_TRY(clv_put_int(e, A_INTS, a->ints[i], err));
        return clv_put_int(e, A_TYPE, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS, err);
    case CLV_NEW_TENSOR:
        return put_tensor(e, index, a, err);
    case CLV_NEW_GONE: /* not here */
        break;
    }
    return clv_fail(err, CLV_EINTERNAL, "attribute '%.*s' has kind %d", CLV_STR_ARG(a->name),
                    (int)a->kind);
}

clv_status clv_put_new_attr(clv_message_writer *e, const clv_message_index *index,
                            const clv_new_attr *a, clv_error *err)
{
    clv_open_message m = { 0 };
    if (a->kind == CLV_NEW_GONE)
        return CLV_OK;
    CLV_TRY(clv_put_begin(e, N_ATTRIBUTE, &m, err));
    CLV_TRY(clv_put_str(e, A_NAME, a->name, err));
    CLV_TRY(put_attr_value(e, index, a, err));
    return clv_put_end(e, &m, err);
}
