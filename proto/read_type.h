/* read_type.h - the type of a value: a TypeProto, its shape, and the symbols in that. */
#ifndef CLV_PROTO_READ_TYPE_H
#define CLV_PROTO_READ_TYPE_H

#include "proto/reading.h"

/* input: the name of the graph input that has this type, whose dimensions without a value become
 * symbols of their own; empty: no input. CLV_EFORMAT, CLV_EUNSUPP, CLV_ELIMIT. O(fields). */
clv_status clv_read_type(clv_reading *r, const clv_message *type, clv_str input, clv_type *ret,
                         clv_error *err);

#endif
