/* sink.h - where the bytes of a new file go. */
#ifndef CLV_PROTO_SINK_H
#define CLV_PROTO_SINK_H

#include "proto/onnx_file.h"

/* Called in order; anything but CLV_OK stops the writing. from_file: the bytes are [offset, offset
 * + n) of the opened file, so that a sink may copy them inside the kernel. */
typedef struct {
    clv_status (*write)(void *ctx, const void *bytes, size_t n, clv_error *err);
    clv_status (*from_file)(void *ctx, const clv_onnx_file *file, uint64_t offset, uint64_t n,
                            clv_error *err); /* may be NULL */
    void *ctx;
} clv_sink;

#endif
