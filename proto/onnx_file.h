/* onnx_file.h - an ONNX model as bytes: those of a file, or of the caller.
 *
 * Of a file all but the payloads of large weights is read into memory when it is opened; those are
 * read from its descriptor when they are wanted. Nothing is mapped, so others may shorten the file
 * at any time: that is an error of the next reading. Strings of a graph that was read from it
 * (onnx_read.h) point into the memory.
 */
#ifndef CLV_PROTO_ONNX_FILE_H
#define CLV_PROTO_ONNX_FILE_H

#include "base/arena.h"
#include "proto/wire.h"

/* To be looked at only. */
typedef struct clv_onnx_file {
    clv_arena *arena;     /* holds this */
    const uint8_t *bytes; /* of a file: with holes, where long payloads are (onnx_image.h) */
    size_t n;
    int fd;             /* -1: bytes of the caller */
    const char *name;   /* the path as it was opened by, or "model" */
    const char *folder; /* where external data is looked for; NULL: nowhere */
    int folder_fd;      /* the same, open for base/open_inside.h; -1: nowhere, or it is not there */
} clv_onnx_file;

/* CLV_EIO: no regular file that can be opened, or it became shorter meanwhile; CLV_EFORMAT: it is
 * empty. O(bytes that are no long payload). */
clv_status clv_onnx_open(const char *path, const clv_alloc *alloc, clv_onnx_file **ret,
                         clv_error *err);
/* The same without holes: of what is no model. O(bytes). */
clv_status clv_onnx_open_whole(const char *path, const clv_alloc *alloc, clv_onnx_file **ret,
                               clv_error *err);
/* bytes must outlive the result; folder is where external data is looked for, NULL: none is. */
clv_status clv_onnx_open_bytes(const void *bytes, size_t n, const char *folder,
                               const clv_alloc *alloc, clv_onnx_file **ret, clv_error *err);
void clv_onnx_close(clv_onnx_file *file); /* NULL is fine */

/* As it was opened by; NULL: bytes of the caller. */
static inline const char *clv_onnx_path(const clv_onnx_file *file)
{
    return file->fd >= 0 ? file->name : NULL;
}

/* The whole file, to be walked. */
static inline clv_wire clv_onnx_wire(const clv_onnx_file *file)
{
    return (clv_wire){ file->name, file->bytes, file->bytes, file->bytes + file->n };
}

/* Bytes [offset, offset + n) as the file has them, holes or not. CLV_EIO: it became shorter. */
clv_status clv_onnx_read_bytes(const clv_onnx_file *file, uint64_t offset, void *to, size_t n,
                               clv_error *err);

#endif
