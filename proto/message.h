/* message.h - walking a message of the schema: wire.h, and the schema's word on each field.
 *
 * A known field with the wrong wire type is refused by name; an unknown one is passed. Fields are
 * looked up in the descriptors that protobuf-c generates from onnx.proto.
 */
#ifndef CLV_PROTO_MESSAGE_H
#define CLV_PROTO_MESSAGE_H

#include <protobuf-c/protobuf-c.h>

#include "proto/wire.h"

typedef struct {
    clv_wire wire;
    const ProtobufCMessageDescriptor *type;
    const uint8_t *start;
} clv_message;

/* The message in [bytes, bytes + n) of the file that `in` walks. */
clv_message clv_message_in(const clv_wire *in, const ProtobufCMessageDescriptor *type,
                           const uint8_t *bytes, size_t n);
/* The message that is the value of field f. */
static inline clv_message clv_message_sub(const clv_message *m, const clv_field *f,
                                          const ProtobufCMessageDescriptor *type)
{
    return clv_message_in(&m->wire, type, f->bytes, f->n);
}

/* Graphs within graphs, and types within types. */
#define CLV_NESTING_MAX 64

/* The walk goes one graph deeper, to CLV_NESTING_MAX at most, else CLV_ELIMIT; whoever entered
 * counts *depth down again. */
clv_status clv_message_enter_graph(const clv_message *graph, int32_t *depth, clv_error *err);

/* The next field; number 0 at the end. A repeated number may come packed, as BYTES. A device
 * configuration of a model or node may have any type. */
clv_status clv_message_next(clv_message *m, clv_field *ret, clv_error *err);

/* The field's bytes as a string in place; CLV_ELIMIT at 2 GiB. */
clv_status clv_message_str(const clv_message *m, const clv_field *f, clv_str *ret, clv_error *err);

/* A sub-message of which there may be one only: keeps f in *seen, or refuses a second. */
clv_status clv_message_once(const clv_message *m, const clv_field *f, clv_field *seen,
                            clv_error *err);

/* The run of packed numbers in f; a lone number is a run of one. */
static inline clv_wire clv_message_run(const clv_message *m, const clv_field *f)
{
    return (clv_wire){ m->wire.name, m->wire.file, f->bytes, f->bytes + f->n };
}

/* Where a message starts, for people. */
static inline size_t clv_message_offset(const clv_message *m)
{
    return (size_t)(m->start - m->wire.file);
}

/* The standard's operators have a domain of two names: "ai.onnx" is "". */
static inline clv_str clv_onnx_domain(clv_str domain)
{
    return clv_str_is(domain, "ai.onnx") ? (clv_str){ NULL, 0 } : domain;
}

#endif
