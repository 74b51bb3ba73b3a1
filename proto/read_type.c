#include "proto/read_type.h"

#include "proto/onnx.pb-c.h"

/* The name's id among the model's symbols, new or old. */
static clv_status find_symbol(clv_reading *r, clv_str name, clv_dim *ret, clv_error *err)
{
    int32_t id;
    CLV_TRY(clv_map_put(&r->symbol_ids, name, r->n_symbols, &id, err));
    if (id == r->n_symbols) {
        if (!CLV_PUSH_ROOM(r->arena, r->symbols, r->n_symbols, r->cap_symbols))
            return clv_fail_nomem(err, "the list of symbols");
        r->symbols[r->n_symbols++] = name;
    }
    *ret = clv_dim_symbol(id);
    return CLV_OK;
}

/* A Dimension: a number, a symbol, or nothing. The last field wins, as in any oneof. */
static clv_status read_dim(clv_reading *r, clv_message dim, clv_str input, int32_t axis,
                           clv_dim *ret, clv_error *err)
{
    clv_field f, last = { 0 };
    clv_str param = { NULL, 0 };
    for (;;) {
        CLV_TRY(clv_message_next(&dim, &f, err));
        if (!f.number)
            break;
        if (f.number <= 2)
            last = f;
    }
    int64_t value = (int64_t)last.value;
    if (last.number == 2)
        CLV_TRY(clv_message_str(&dim, &last, &param, err));
    bool is_number = last.number == 1 || clv_external_number(param, &value);
    if (is_number && value < 0 && input.n)
        return clv_fail(err, CLV_EFORMAT,
                        "%s: input '%.*s': dimension %d is %lld, expected at least 0",
                        r->file->name, CLV_STR_ARG(input), axis, (long long)value);
    *ret = is_number && value >= 0 ? value : CLV_DIM_UNKNOWN;
    if (is_number)
        return CLV_OK;
    if (param.n == 0 && input.n > 0) {
        char *name = clv_arena_printf(r->arena, "%.*s[%d]", CLV_STR_ARG(input), axis);
        if (!name)
            return clv_fail_nomem(err, "a symbol");
        param = clv_str_of(name);
    }
    return param.n ? find_symbol(r, param, ret, err) : CLV_OK;
}

static clv_status read_shape(clv_reading *r, clv_message shape, clv_str input, clv_type *ret,
                             clv_error *err)
{
    clv_field_counts counts;
    clv_field f;
    int32_t axis = 0;
    CLV_TRY(clv_count_fields(r, shape, &counts, err));
    if (counts.of[1] > CLV_RANK_MAX)
        return clv_fail(err, CLV_ELIMIT,
                        "%s: the shape at byte %zu has %d dimensions, the limit is %d",
                        r->file->name, clv_message_offset(&shape), counts.of[1], CLV_RANK_MAX);
    clv_dim *dims = CLV_NEW_ARRAY(r->arena, clv_dim, counts.of[1]);
    if (!dims)
        return clv_fail_nomem(err, "a shape");
    for (;;) {
        CLV_TRY(clv_message_next(&shape, &f, err));
        if (!f.number)
            break;
        if (f.number == 1) {
            clv_message dim =
                clv_message_sub(&shape, &f, &onnx__tensor_shape_proto__dimension__descriptor);
            CLV_TRY(read_dim(r, dim, input, axis, &dims[axis], err));
            axis++;
        }
    }
    ret->rank = axis;
    ret->dims = dims;
    return CLV_OK;
}

static clv_status read_dtype(const clv_message *at, uint64_t number, clv_dtype *ret, clv_error *err)
{
    if (number >= CLV_N_DTYPES)
        return clv_fail(err, CLV_EUNSUPP,
                        "%s: %s at byte %zu has element type %lld, known are 0 to %d",
                        at->wire.name, at->type->short_name, clv_message_offset(at),
                        (long long)number, CLV_N_DTYPES - 1);
    *ret = (clv_dtype)number;
    return CLV_OK;
}

/* TypeProto.Tensor and TypeProto.SparseTensor. */
static clv_status read_tensor_type(clv_reading *r, clv_message tensor, clv_str input, clv_type *ret,
                                   clv_error *err)
{
    clv_field f, shape = { 0 };
    for (;;) {
        CLV_TRY(clv_message_next(&tensor, &f, err));
        if (!f.number)
            break;
        if (f.number == 1)
            CLV_TRY(read_dtype(&tensor, f.value, &ret->dtype, err));
        if (f.number == 2)
            CLV_TRY(clv_message_once(&tensor, &f, &shape, err));
    }
    if (!shape.number)
        return CLV_OK;
    clv_message m = clv_message_sub(&tensor, &shape, &onnx__tensor_shape_proto__descriptor);
    return read_shape(r, m, input, ret, err);
}

/* The kinds of types, each a field of TypeProto. */
typedef struct {
    uint32_t field;
    clv_type_kind kind;
    const ProtobufCMessageDescriptor *type; /* NULL: there is nothing to read in it */
    uint32_t element;                       /* field of the element's type; 0: it is a tensor's */
} value_kind;

static const value_kind *value_kind_of(uint32_t field)
{
    static const value_kind kinds[] = {
        { 1, CLV_TYPE_TENSOR, &onnx__type_proto__tensor__descriptor, 0 },
        { 4, CLV_TYPE_SEQUENCE, &onnx__type_proto__sequence__descriptor, 1 },
        { 5, CLV_TYPE_MAP, &onnx__type_proto__map__descriptor, 2 },
        { 7, CLV_TYPE_OPAQUE, NULL, 0 },
        { 8, CLV_TYPE_SPARSE, &onnx__type_proto__sparse_tensor__descriptor, 0 },
        { 9, CLV_TYPE_OPTIONAL, &onnx__type_proto__optional__descriptor, 1 },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].field == field)
            return &kinds[i];
    return NULL;
}

static clv_status read_nested(clv_reading *r, clv_message type, clv_str input, int depth,
                              clv_type *ret, clv_error *err);

/* Sequence and Optional have their element's type in field 1, Map has its value's in field 2. */
static clv_status read_element(clv_reading *r, clv_message m, uint32_t field, int depth,
                               clv_type *ret, clv_error *err)
{
    clv_field f, elem = { 0 };
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        if (f.number == field)
            CLV_TRY(clv_message_once(&m, &f, &elem, err));
        else if (f.number == 1)
            CLV_TRY(read_dtype(&m, f.value, &ret->dtype, err)); /* a map's keys */
    }
    if (!elem.number)
        return CLV_OK;
    clv_type *inner = CLV_NEW(r->arena, clv_type);
    if (!inner)
        return clv_fail_nomem(err, "a type");
    ret->elem = inner;
    clv_message sub = clv_message_sub(&m, &elem, &onnx__type_proto__descriptor);
    return read_nested(r, sub, (clv_str){ NULL, 0 }, depth + 1, inner, err);
}

static clv_status read_nested(clv_reading *r, clv_message type, clv_str input, int depth,
                              clv_type *ret, clv_error *err)
{
    clv_field f, kind = { 0 };
    if (depth > CLV_NESTING_MAX)
        return clv_fail(err, CLV_ELIMIT, "%s: the type at byte %zu is nested over %d deep",
                        r->file->name, clv_message_offset(&type), CLV_NESTING_MAX);
    *ret = (clv_type){ .rank = CLV_RANK_UNKNOWN };
    for (;;) {
        CLV_TRY(clv_message_next(&type, &f, err));
        if (!f.number)
            return CLV_OK;
        const value_kind *k = value_kind_of(f.number);
        if (!k)
            continue;
        CLV_TRY(clv_message_once(&type, &f, &kind, err));
        ret->kind = k->kind;
        if (k->type && k->element)
            CLV_TRY(
                read_element(r, clv_message_sub(&type, &f, k->type), k->element, depth, ret, err));
        else if (k->type)
            CLV_TRY(read_tensor_type(r, clv_message_sub(&type, &f, k->type), input, ret, err));
    }
}

clv_status clv_read_type(clv_reading *r, const clv_message *type, clv_str input, clv_type *ret,
                         clv_error *err)
{
    clv_type found;
    CLV_TRY(read_nested(r, *type, input, 0, &found, err));
    *ret = found;
    return CLV_OK;
}
