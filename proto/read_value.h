/* read_value.h - the elements of a small tensor, for folding. */
#ifndef CLV_PROTO_READ_VALUE_H
#define CLV_PROTO_READ_VALUE_H

#include "proto/reading.h"

/* What of a tensor's payload is in the file. */
typedef struct {
    clv_wire_type type; /* of one number; BYTES: raw */
    uint32_t field;     /* 0: no payload */
    int64_t count;      /* numbers, or bytes when raw */
} clv_tensor_payload;

/* The elements as a value; *ret stays as it is where the type is never folded. Precondition: the
 * payload has the right count for t->elems, which are CLV_VALUE_MAX at most. O(elements). */
clv_status clv_read_value(clv_reading *r, const clv_message *tensor,
                          const clv_tensor_payload *payload, const clv_const *t,
                          const clv_value **ret, clv_error *err);

#endif
