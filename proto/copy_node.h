/* copy_node.h - a node of the opened file again, with other tensors and attributes. */
#ifndef CLV_PROTO_COPY_NODE_H
#define CLV_PROTO_COPY_NODE_H

#include "base/map.h"
#include "proto/new_message.h"

/* Names that bodies take from around a node, and what they are to be. A body may make a tensor of
 * its own with such a name: inside it, and deeper, the name is that tensor's. */
typedef struct {
    const clv_rename *list;
    int32_t n;
    clv_map from, to; /* -> first of the list with it */
    int32_t *to_of;   /* -> id in `to` */
    int32_t *hidden;  /* bodies around here that make a `from` themselves */
    int32_t *taken;   /* bodies around here that make a `to` themselves */
} clv_captured;

typedef struct {
    clv_put *put;
    const clv_places *places;
    clv_arena *scratch; /* rewound after each node */
    clv_captured captured;
    clv_str node; /* the one that is copied, for words */
    int32_t depth;
} clv_copying;

/* The fields of the source's node but inputs, outputs, and what node gives; and
 * device_configurations left out, at every depth. Precondition: node->source is one of the source;
 * file_index is its place. CLV_EUSAGE: a body itself makes a tensor of a name that a captured one
 * is to have. O(bytes but payloads). */
clv_status clv_copy_node(clv_copying *c, const clv_new_node *node, int32_t file_index,
                         clv_error *err);

/* Field 25 of a ModelProto: function i of the source, without device_configurations. */
clv_status clv_copy_function(clv_copying *c, int32_t i, clv_error *err);

#endif
