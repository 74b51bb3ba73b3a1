/* onnx_write.h - a new ONNX file out of its description (new_model.h). */
#ifndef CLV_PROTO_ONNX_WRITE_H
#define CLV_PROTO_ONNX_WRITE_H

#include "proto/new_model.h"
#include "proto/sink.h"

/* Writes it. Functions of the source are kept if a node calls them, through others or from bodies
 * too; device_configurations and other metadata of the source are left out, everything else of a
 * copied node is kept byte for byte, unknown fields too. Streams: memory is 8 bytes for each node,
 * weight and function of the source and each message that is written, a map of the new graph's
 * names, and the names in the bodies of one node; no payload. Nothing goes to the sink before all
 * has been measured. CLV_EUSAGE: the model was not read from the source, a number is none of its
 * nodes or weights, a tensor's bytes are not what its dimensions need. CLV_ELIMIT: more than 2^31 -
 * 1 bytes, which protobuf's parsers refuse. O(bytes written but payloads + fields of the source's
 * graph). */
clv_status clv_onnx_write(const clv_new_model *m, const clv_sink *sink, clv_arena *arena,
                          clv_error *err);

#endif
