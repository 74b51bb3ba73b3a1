/* message_index.h - where nodes, weights and functions start in an opened file: 8 bytes for each.
 *
 * They are counted in the order of the file, which is clv_op_info.file_index for nodes, and the
 * index of clv_graph.weights and clv_model.functions for the others.
 */
#ifndef CLV_PROTO_MESSAGE_INDEX_H
#define CLV_PROTO_MESSAGE_INDEX_H

#include "proto/message.h"
#include "proto/onnx_read.h"

typedef struct {
    const clv_onnx_file *file;
    clv_message model, graph;
    const uint8_t **nodes, **weights, **functions; /* keys of their fields */
    int32_t n_nodes, n_weights, n_functions;
} clv_message_index;

/* One walk. CLV_EUSAGE: the model was not read from this file. O(fields of model and graph). */
clv_status clv_message_index_build(const clv_onnx_file *file, const clv_model *model,
                                   clv_arena *arena, clv_message_index *ret, clv_error *err);

/* The message of number i, and its field: O(1). That of a weight is a TensorProto, or where the
 * field is CLV_SPARSE_INITIALIZER a SparseTensorProto. */
#define CLV_SPARSE_INITIALIZER 15
clv_status clv_message_index_node(const clv_message_index *p, int32_t i, clv_message *ret,
                                  clv_error *err);
clv_status clv_message_index_weight(const clv_message_index *p, int32_t i, clv_message *ret,
                                    uint32_t *ret_field, clv_error *err);
clv_status clv_message_index_function(const clv_message_index *p, int32_t i, clv_message *ret,
                                      clv_error *err);

#endif
