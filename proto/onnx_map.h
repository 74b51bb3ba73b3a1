/* onnx_map.h - the opened file, for the other files of this folder. */
#ifndef CLV_PROTO_ONNX_MAP_H
#define CLV_PROTO_ONNX_MAP_H

#include "proto/onnx_file.h"
#include "proto/wire.h"

struct clv_onnx_file {
    clv_arena *arena; /* holds this */
    const uint8_t *bytes;
    size_t n;
    int fd;             /* -1: bytes of the caller */
    const char *name;   /* the path, or "model" */
    const char *folder; /* of external data; NULL: none */
};

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
