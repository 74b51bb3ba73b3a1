#include "proto/message.h"

#include "proto/onnx.pb-c.h"

/* protobuf-c knows a field's declared type; this is the wire type that goes with it. */
static clv_wire_type wire_type_of(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
        return CLV_WIRE_FIXED32;
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return CLV_WIRE_FIXED64;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return CLV_WIRE_BYTES;
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_BOOL:
    case PROTOBUF_C_TYPE_ENUM:
        return CLV_WIRE_VARINT;
    }
    return CLV_WIRE_BYTES;
}

clv_message clv_message_in(const clv_wire *in, const ProtobufCMessageDescriptor *type,
                           const uint8_t *bytes, size_t n)
{
    return (clv_message){ { in->name, in->file, bytes, bytes + n }, type, bytes };
}

clv_status clv_message_enter_graph(const clv_message *graph, int32_t *depth, clv_error *err)
{
    if (*depth == CLV_NESTING_MAX)
        return clv_fail(err, CLV_ELIMIT, "%s: the graph at byte %zu is nested over %d deep",
                        graph->wire.name, clv_message_offset(graph), CLV_NESTING_MAX);
    ++*depth;
    return CLV_OK;
}

/* Apart from the walk, which is hot. */
static clv_status fail_type(const clv_message *m, const clv_field *f, const char *field,
                            clv_wire_type want, clv_error *err)
{
    return clv_fail(err, CLV_EFORMAT,
                    "%s: field '%s' of %s at byte %zu has wire type %s, expected %s", m->wire.name,
                    field, m->type->short_name, (size_t)(f->start - m->wire.file),
                    clv_wire_type_name(f->type), clv_wire_type_name(want));
}

/* Annotations are hints: one of another type is passed like an unknown field, as protobuf does. */
static bool is_hint(const ProtobufCFieldDescriptor *field)
{
    return field->descriptor == &onnx__device_configuration_proto__descriptor ||
           field->descriptor == &onnx__node_device_configuration_proto__descriptor;
}

clv_status clv_message_next(clv_message *m, clv_field *ret, clv_error *err)
{
    clv_field f;
    CLV_TRY(clv_wire_next(&m->wire, &f, err));
    if (f.number) {
        const ProtobufCFieldDescriptor *known =
            protobuf_c_message_descriptor_get_field(m->type, f.number);
        if (known && f.type != wire_type_of(known->type) && !is_hint(known) &&
            !(f.type == CLV_WIRE_BYTES && known->label == PROTOBUF_C_LABEL_REPEATED))
            return fail_type(m, &f, known->name, wire_type_of(known->type), err);
    }
    *ret = f;
    return CLV_OK;
}

clv_status clv_message_str(const clv_message *m, const clv_field *f, clv_str *ret, clv_error *err)
{
    if (f->n > INT32_MAX)
        return clv_fail(err, CLV_ELIMIT,
                        "%s: the text at byte %zu is %zu bytes long, the limit is %d", m->wire.name,
                        (size_t)(f->bytes - m->wire.file), f->n, INT32_MAX);
    *ret = (clv_str){ (const char *)f->bytes, (int32_t)f->n };
    return CLV_OK;
}

clv_status clv_message_once(const clv_message *m, const clv_field *f, clv_field *seen,
                            clv_error *err)
{
    if (seen->number) {
        const ProtobufCFieldDescriptor *known =
            protobuf_c_message_descriptor_get_field(m->type, f->number);
        return clv_fail(err, CLV_EFORMAT,
                        "%s: %s at byte %zu has a second '%s' at byte %zu, expected one",
                        m->wire.name, m->type->short_name, clv_message_offset(m),
                        known ? known->name : "?", (size_t)(f->start - m->wire.file));
    }
    *seen = *f;
    return CLV_OK;
}
