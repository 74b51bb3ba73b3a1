/* onnx_read.h - the graph of an ONNX file. */
#ifndef CLV_PROTO_ONNX_READ_H
#define CLV_PROTO_ONNX_READ_H

#include "graph/graph.h"
#include "proto/onnx_file.h"

/* An opened file, and the model that was read from it. */
typedef struct {
    const clv_onnx_file *file;
    const clv_model *model;
} clv_onnx_model;

/* Bytes -> frozen graph. External data is checked: no "..", no absolute path, no link out of the
 * folder, offsets inside the file where the file exists (a missing file is a warning: the model may
 * be planned without its weights). O(bytes that are not payload). */
clv_status clv_onnx_read(const clv_onnx_file *file, clv_arena *arena, clv_model **ret,
                         clv_error *err);

#endif
