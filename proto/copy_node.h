/* copy_node.h - a node of the opened file again, with other tensors and attributes. */
#ifndef CLV_PROTO_COPY_NODE_H
#define CLV_PROTO_COPY_NODE_H

#include "proto/body_renames.h"
#include "proto/message_index.h"
#include "proto/message_writer.h"

typedef struct {
    clv_message_writer *put;
    const clv_message_index *index;
    const clv_map *around;  /* names of the new graph */
    clv_arena *scratch;     /* rewound after each node */
    clv_body_renames names; /* of the node that is copied */
    int32_t depth;
} clv_copying;

/* The fields of the source's node but inputs, outputs, and what node gives; and
 * device_configurations left out, at every depth. Precondition: node->source is one of the main
 * graph g of the source. O(bytes but payloads). */
clv_status clv_copy_node(clv_copying *c, const clv_new_node *node, const clv_graph *g,
                         clv_error *err);

/* Field 25 of a ModelProto: function i of the source, without device_configurations. */
clv_status clv_copy_function(clv_copying *c, int32_t i, clv_error *err);

#endif
