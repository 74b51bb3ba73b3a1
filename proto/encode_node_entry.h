/* encode_node_entry.h - what is written into one NodeProto: its device_configurations entry. */
#ifndef CLV_PROTO_ENCODE_NODE_ENTRY_H
#define CLV_PROTO_ENCODE_NODE_ENTRY_H

#include "base/arena.h"
#include "proto/message.h"
#include "proto/spec_message.h"

/* Room that is kept from node to node. */
typedef struct {
    clv_arena *arena;
    uint8_t *bytes; /* the entry: key, length and message */
    int32_t n, cap;
    clv_str *names; /* of the node's tensors, each once */
    int32_t n_names, cap_names;
} clv_node_entry;

/* Where a node runs, and how. */
typedef struct {
    int32_t device;        /* below 0: not known */
    int32_t stage;         /* below 0: none */
    clv_node_specs *given; /* specs and stage to take instead of the default; NULL: none */
    clv_str copies;        /* the default as packed fields; n 0: a whole tensor on the device */
} clv_node_place;

/* Fills entry->bytes for a NodeProto: the configuration's name; for each distinct input and output
 * that has a name, in the node's order, the spec that is given or else a whole tensor on the
 * device, or a copy on each of its mesh; the stage. Without a device: the configuration's name
 * alone. CLV_EUSAGE when a spec is given for what is no tensor of the node. O(names + bytes of
 * specs), expected. */
clv_status clv_node_entry_encode(clv_node_entry *entry, const clv_message *node,
                                 clv_str configuration, const clv_node_place *place,
                                 clv_error *err);

#endif
