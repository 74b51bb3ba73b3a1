/* output.h - bytes on their way to a sink: few calls, small pieces together, weights by range.
 *
 * Ranges of the opened file that follow each other become one, and only a long one is handed to the
 * sink as a range; the rest goes through a buffer.
 */
#ifndef CLV_PROTO_OUTPUT_H
#define CLV_PROTO_OUTPUT_H

#include "proto/onnx_map.h"

typedef struct {
    const clv_sink *sink;
    const clv_onnx_file *file;
    clv_onnx_trail trail;
    uint8_t *buffer;
    size_t n;                   /* bytes in it, all before the range */
    uint64_t range_at, range_n; /* of the file, still to go */
    uint64_t total;             /* bytes given so far */
} clv_output;

clv_status clv_output_init(clv_output *out, const clv_onnx_file *file, const clv_sink *sink,
                           clv_arena *arena, clv_error *err);
clv_status clv_output_bytes(clv_output *out, const void *bytes, size_t n, clv_error *err);
/* [from, to) of the file. */
clv_status clv_output_range(clv_output *out, const uint8_t *from, const uint8_t *to,
                            clv_error *err);
/* What is left, to the sink. */
clv_status clv_output_end(clv_output *out, clv_error *err);

#endif
