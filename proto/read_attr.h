/* read_attr.h - an attribute of a node, or the default of one of a function. */
#ifndef CLV_PROTO_READ_ATTR_H
#define CLV_PROTO_READ_ATTR_H

#include "proto/reading.h"

/* Graphs in the attributes of one node. */
typedef struct {
    clv_draft **at;
    int32_t n, cap;
} clv_bodies;

/* An AttributeProto; the graphs in it are appended to bodies, or refused (CLV_EUNSUPP) where that
 * is NULL. */
clv_status clv_read_attr(clv_reading *r, const clv_message *attr, clv_attr *ret, clv_bodies *bodies,
                         clv_error *err);

#endif
