/* same_model.h - are two files one model but for its annotations?
 *
 * Compared is what a runtime computes with: graph, bodies, functions, weights in the file, operator
 * sets. Not compared: annotations and configurations, names of producers, documentation, metadata,
 * the IR version, and the order of fields of different numbers within a message.
 */
#ifndef CLV_PROTO_SAME_MODEL_H
#define CLV_PROTO_SAME_MODEL_H

#include "base/arena.h"
#include "proto/onnx_file.h"

/* *ret: NULL, or the first difference, a sentence part: "node 'mul' has another attribute". Weights
 * in files of external data are compared by what is said of them, not by their bytes. In the arena.
 * CLV_EFORMAT: no protobuf message. O(bytes of the files). */
clv_status clv_onnx_same_model(const clv_onnx_file *a, const clv_onnx_file *b, clv_arena *arena,
                               const char **ret, clv_error *err);

#endif
