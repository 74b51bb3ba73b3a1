/* sink_buffer.h - bytes on their way to a sink: few calls, small pieces together, weights by range.
 *
 * Ranges of the opened file that follow each other become one, and only a long one is handed to the
 * sink as a range; the rest goes through a buffer.
 */
#ifndef CLV_PROTO_SINK_BUFFER_H
#define CLV_PROTO_SINK_BUFFER_H

#include "proto/sink.h"

typedef struct {
    const clv_sink *sink;
    const clv_onnx_file *file;
    uint8_t *buffer;
    size_t n;                   /* bytes in it, all before the range */
    uint64_t range_at, range_n; /* of the file, still to go */
    uint64_t total;             /* bytes given so far */
} clv_sink_buffer;

/* The buffer, 256 KiB, is in the arena; file, sink and arena must outlive it. */
clv_status clv_sink_buffer_init(clv_sink_buffer *out, const clv_onnx_file *file,
                                const clv_sink *sink, clv_arena *arena, clv_error *err);
/* Copied at once; fails as the sink does. */
clv_status clv_sink_buffer_add(clv_sink_buffer *out, const void *bytes, size_t n, clv_error *err);
/* [from, to) of the file, of which nothing is looked at yet. */
clv_status clv_sink_buffer_add_range(clv_sink_buffer *out, const uint8_t *from, const uint8_t *to,
                                     clv_error *err);
/* What is left, to the sink. */
clv_status clv_sink_buffer_flush(clv_sink_buffer *out, clv_error *err);

#endif
