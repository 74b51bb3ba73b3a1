/* onnx_properties.h - an ONNX file again, with metadata_props put in: of its model, and of the
 * nodes of its main graph. Everything else stays as it is.
 */
#ifndef CLV_PROTO_ONNX_PROPERTIES_H
#define CLV_PROTO_ONNX_PROPERTIES_H

#include "proto/new_model.h"
#include "proto/sink.h"

typedef struct {
    const clv_new_property *model; /* n_model, of the model */
    int32_t n_model;
    clv_str key;          /* of what nodes get; n 0: nodes stay as they are */
    const clv_str *value; /* n_nodes, by position among the NodeProtos of the main graph */
    int32_t n_nodes;
} clv_properties;

/* Entries of the same key are replaced; those of nodes in bodies and functions stay. Weights go
 * through as ranges of the file, memory is 8 bytes a node. Nothing goes to the sink before all has
 * been measured. CLV_EUSAGE: the file has another number of nodes; CLV_ELIMIT: more than 2^31 - 1
 * bytes, which protobuf's parsers refuse. O(bytes that are not payload + bytes written). */
clv_status clv_onnx_put_properties(const clv_onnx_file *file, const clv_properties *p,
                                   const clv_sink *sink, clv_arena *arena, clv_error *err);

#endif
