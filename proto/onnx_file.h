/* onnx_file.h - an ONNX model as bytes: a mapped file, or bytes of the caller.
 *
 * A file is mapped, not read: weights are never touched. The map must not be shortened by others
 * while it is open. Strings of a graph that was read from it (onnx_read.h) point into it.
 */
#ifndef CLV_PROTO_ONNX_FILE_H
#define CLV_PROTO_ONNX_FILE_H

#include "base/arena.h"
#include "proto/wire.h"

/* To be looked at only. */
typedef struct clv_onnx_file {
    clv_arena *arena; /* holds this */
    const uint8_t *bytes;
    size_t n;
    int fd;             /* -1: bytes of the caller */
    const char *name;   /* the path as it was opened by, or "model" */
    const char *folder; /* where external data is looked for; NULL: nowhere */
} clv_onnx_file;

/* CLV_EIO: no regular file that can be opened; CLV_EFORMAT: it is empty. */
clv_status clv_onnx_open(const char *path, const clv_alloc *alloc, clv_onnx_file **ret,
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

/* Keeps the memory of a walk small: the pages behind it leave memory now and then; they come back,
 * unchanged, when they are touched. One for each walk, zeroed at first.
 */
typedef struct {
    size_t kept_from; /* offset: what lies before has been let go */
} clv_onnx_trail;
void clv_onnx_passed(const clv_onnx_file *file, clv_onnx_trail *trail, const uint8_t *at);

#endif
