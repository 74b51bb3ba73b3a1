/* node_entry.h - what is written into one NodeProto: its device_configurations entry. */
#ifndef CLV_PROTO_NODE_ENTRY_H
#define CLV_PROTO_NODE_ENTRY_H

#include "base/arena.h"
#include "proto/message.h"

/* Room that is kept from node to node. */
typedef struct {
    clv_arena *arena;
    uint8_t *bytes; /* the entry: key, length and message */
    int32_t n, cap;
    clv_str *names; /* of the node's tensors, each once */
    int32_t n_names, cap_names;
} clv_node_entry;

/* Fills entry->bytes for a NodeProto: the configuration's name, a whole tensor on `device` for each
 * distinct input and output that has a name, and the stage unless it is below 0. device below 0:
 * the configuration's name alone. O(names), expected. */
clv_status clv_node_entry_make(clv_node_entry *entry, const clv_message *node,
                               clv_str configuration, int32_t device, int32_t stage,
                               clv_error *err);

#endif
