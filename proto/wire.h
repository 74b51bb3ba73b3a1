/* wire.h - protobuf's wire format over memory: walking, skipping and small encoders.
 *
 * A message is a run of fields; a field is a key (number and wire type) and a value. Walking looks
 * at keys and lengths only: the payload of a field is skipped without being touched, so a walk over
 * a model costs nothing for its weights. All of it is bounds-checked; each failure names the byte.
 */
#ifndef CLV_PROTO_WIRE_H
#define CLV_PROTO_WIRE_H

#include <stddef.h>

#include "base/status.h"
#include "base/str.h"

typedef enum {
    CLV_WIRE_VARINT = 0,
    CLV_WIRE_FIXED64 = 1,
    CLV_WIRE_BYTES = 2,
    CLV_WIRE_FIXED32 = 5
} clv_wire_type;

/* A place in a message, and what messages need to say where. */
typedef struct {
    const char *name;    /* of the file */
    const uint8_t *file; /* its first byte: offsets are counted from here */
    const uint8_t *at, *end;
} clv_wire;

typedef struct {
    uint32_t number; /* 0: the message has ended */
    clv_wire_type type;
    const uint8_t *start; /* of the key */
    const uint8_t *head;  /* behind the key: the length of BYTES, else the value */
    const uint8_t *bytes; /* the value: for BYTES the payload, else the number as encoded */
    size_t n;             /* bytes of the value */
    uint64_t value;       /* VARINT, FIXED32, FIXED64: the number */
} clv_field;

/* The next field, and past it. CLV_EFORMAT: cut short, a group, or no field at all. O(1). */
clv_status clv_wire_next(clv_wire *w, clv_field *ret, clv_error *err);

/* One scalar of a packed run: at moves past it. Precondition: w->at < w->end. */
clv_status clv_wire_scalar(clv_wire *w, clv_wire_type type, uint64_t *ret, clv_error *err);

/* How many scalars are packed in [w->at, w->end). O(1) for fixed sizes, O(bytes) for varints. */
clv_status clv_wire_count(const clv_wire *w, clv_wire_type type, size_t *ret_n, clv_error *err);

/* "varint", "32-bit", "64-bit" or "bytes". */
const char *clv_wire_type_name(clv_wire_type type);

/* Encoders. out has room for 10 bytes; they return the bytes written. */
#define CLV_VARINT_MAX 10
size_t clv_varint_size(uint64_t value);
size_t clv_varint_put(uint8_t *out, uint64_t value);
/* With zero groups behind it up to width bytes: legal, though no longer the shortest. */
size_t clv_varint_put_wide(uint8_t *out, uint64_t value, size_t width);
/* The key of a field. */
static inline uint64_t clv_wire_key(uint32_t number, clv_wire_type type)
{
    return (uint64_t)number << 3 | (uint64_t)type;
}

#endif
