/* onnx_image.h - the bytes of a model file in memory, but for the payloads of large weights.
 *
 * A file that is mapped ends the program with SIGBUS where somebody makes it shorter meanwhile. So
 * it is read instead, into memory of its own at the same offsets; long payloads are stepped over by
 * their length and stay holes, which take no memory. What they hold is read from the descriptor by
 * whoever wants it (clv_onnx_read_bytes()), and there a short file is an error like any other.
 */
#ifndef CLV_PROTO_ONNX_IMAGE_H
#define CLV_PROTO_ONNX_IMAGE_H

#include "proto/wire.h"

/* Payloads of more bytes than this are holes: raw_data, float_data and double_data of tensors. Any
 * value that is folded (CLV_VALUE_MAX elements of 16 bytes) is shorter. */
#define CLV_IMAGE_LIMIT ((size_t)64 << 10)

/* A file that is open, and had n bytes then: 1 at least. */
typedef struct {
    int fd;
    const char *name; /* for messages */
    size_t n;
} clv_image_file;

/* Bytes [offset, offset + n) of it. CLV_EIO: it became shorter, or cannot be read. */
clv_status clv_image_bytes(const clv_image_file *file, uint64_t offset, void *to, size_t n,
                           clv_error *err);
/* file->n bytes of memory, with what is read in place; also after an error they are to be given to
 * munmap(), where *ret is not NULL. is_model false: no part is left out. CLV_EIO; CLV_ENOMEM.
 * O(bytes that are read). */
clv_status clv_image_read(const clv_image_file *file, bool is_model, const uint8_t **ret,
                          clv_error *err);

#endif
