/* tensor_data.h - where the elements of a model's weights lie: in its file, or in one beside it.
 *
 * Most weights are a range of bytes that can be read, cut and copied as they stand: packed,
 * row-major, little-endian. Few are lists of numbers in protobuf's own form and are decoded first.
 */
#ifndef CLV_PROTO_TENSOR_DATA_H
#define CLV_PROTO_TENSOR_DATA_H

#include "base/open_inside.h"
#include "proto/onnx_read.h"

typedef enum {
    CLV_DATA_RAW,      /* [offset, offset + bytes) of the opened file */
    CLV_DATA_EXTERNAL, /* [offset, offset + bytes) of the file at path */
    CLV_DATA_TYPED,    /* to be decoded: offset and length are of its TensorProto in the file */
    CLV_DATA_ABSENT,   /* external, and the file is not there or no folder is known; no path */
    CLV_DATA_NONE      /* sparse, or strings: no element has a place of its own */
} clv_data_kind;

typedef struct {
    clv_str name;
    clv_dtype dtype;
    int32_t rank;
    const int64_t *dims;
    int64_t elems;
    int64_t bytes; /* packed; NONE: as in clv_const */
    clv_data_kind kind;
    int64_t offset, length; /* bytes; length is bytes for RAW and EXTERNAL */
    /* EXTERNAL: a regular file inside of the model's folder that was long enough when it was looked
     * at: its path for messages, its name below the folder, and which file it was. Weights of one
     * location share the pointers. */
    const char *path, *file_name;
    clv_file_id file;
    clv_str location; /* EXTERNAL and ABSENT: as in the model */
} clv_tensor_data;

/* One for each of model->main's weights, by the same index, in the arena; names, locations and dims
 * stay where the model has them. O(bytes of the main graph that are not payload), and one look at
 * each external file. CLV_EFORMAT: external data is not as external_data.h wants it; CLV_EUSAGE:
 * the model was not read from this file. */
clv_status clv_tensor_data_find(const clv_onnx_file *file, const clv_model *model, clv_arena *arena,
                                clv_tensor_data **ret, clv_error *err);

/* The elements, packed row-major and little-endian, data->bytes of them, in the arena: TYPED
 * decoded, RAW as they stand, or in place where the file is bytes of the caller; numbers wider than
 * their type lose what is above it. NULL or not where there are no bytes. CLV_EFORMAT: not as many
 * numbers as the dimensions need; CLV_EUSAGE: another kind. O(bytes). */
clv_status clv_tensor_data_decode(const clv_onnx_file *file, const clv_tensor_data *data,
                                  clv_arena *arena, const void **ret, clv_error *err);

#endif
