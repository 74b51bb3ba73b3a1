/* tensor_file.h - a tensor in a file of its own: a TensorProto, as ONNX's test data and cleave-run
 * have them.
 */
#ifndef CLV_PROTO_TENSOR_FILE_H
#define CLV_PROTO_TENSOR_FILE_H

#include "graph/graph.h"
#include "proto/onnx_file.h"

typedef struct {
    clv_onnx_file *file; /* data lies in it */
    clv_str name;
    clv_dtype dtype;
    int32_t rank;
    const int64_t *dims;
    int64_t elems, bytes;
    const void *data; /* packed, little-endian, at any address; NULL: strings, or no elements */
    const clv_str *strings; /* elems of them; NULL: no strings */
} clv_tensor_file;

/* Elements have to be raw_data or string_data, as cleave-run writes them. What is not a number of
 * bytes stays in the file, the rest is in the arena. CLV_EIO, CLV_EFORMAT; CLV_EUNSUPP: elements in
 * another field. O(fields), and O(elements) for strings. */
clv_status clv_tensor_file_open(const char *path, clv_arena *arena, clv_tensor_file *ret,
                                clv_error *err);
void clv_tensor_file_close(clv_tensor_file *value); /* zeroed is fine */

#endif
