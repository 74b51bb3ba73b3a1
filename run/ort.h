/* ort.h - the one door to ONNX Runtime: its C API, with our way of telling failures.
 *
 * Values go around as OrtValue pointers whose memory is the runtime's: those that a session gives
 * as outputs are another session's inputs without a copy.
 *
 * Prefix: clv_ is the library's, clr_ what belongs to cleave-run.
 */
#ifndef CLV_RUN_ORT_H
#define CLV_RUN_ORT_H

#include <onnxruntime_c_api.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* Of one process: all sessions are made in it. Read-only once open, from any thread. */
typedef struct {
    const OrtApi *api;
    OrtEnv *env;
    OrtAllocator *allocator; /* the default one, of the CPU; not to be released */
    const char *version;     /* of the library, as "1.30.0" */
} clr_ort;

/* CLV_EUNSUPP: the library is older than the header that this was built with. */
clv_status clr_ort_open(clr_ort *ret, clv_error *err);
void clr_ort_close(clr_ort *ort); /* zeroed is fine */

/* Frees status and tells it as ours, with what the sentence begins with. NULL is CLV_OK. A model
 * that is not valid or has operators without a kernel is CLV_EFORMAT or CLV_EUNSUPP. */
clv_status clr_ort_check(const clr_ort *ort, OrtStatus *status, const char *what, clv_error *err);

/* -- tensors -- */

#define CLR_MAX_RANK 64

typedef struct {
    ONNXTensorElementDataType dtype; /* numbers are those of TensorProto.DataType */
    int32_t rank;
    int64_t dims[CLR_MAX_RANK];
    int64_t count; /* of elements */
} clr_shape;

/* "float32" of the numbers of TensorProto.DataType; "type 99" is "unknown". */
const char *clr_dtype_name(int dtype);
/* Bits of one element; 0 for strings and what is not known. */
int clr_dtype_bits(int dtype);
/* Bytes of so many elements of dtype; less than one byte each is packed. */
size_t clr_dtype_bytes(int dtype, int64_t count);
/* Sets count from the dims, checked: false where the bytes of it do not fit in an int64_t, or a
 * dimension is below 0. */
bool clr_shape_count(clr_shape *shape);
/* "float32[2,3]" into buf. Returns buf. */
const char *clr_shape_text(char *buf, size_t size, const clr_shape *shape);

/* A new tensor, not filled; strings are empty. */
clv_status clr_tensor_new(const clr_ort *ort, const clr_shape *shape, OrtValue **ret,
                          clv_error *err);
void clr_value_free(const clr_ort *ort, OrtValue *value);               /* NULL is fine */
void clr_values_free(const clr_ort *ort, OrtValue **values, int32_t n); /* NULL is fine */
/* The value must be a tensor. */
clv_status clr_tensor_shape(const clr_ort *ort, const OrtValue *value, clr_shape *ret,
                            clv_error *err);
/* Not of a tensor of strings. */
clv_status clr_tensor_data(const clr_ort *ort, const OrtValue *value, void **ret, clv_error *err);
/* All strings of a tensor of strings, each with a NUL behind it, in the arena. */
clv_status clr_tensor_strings(const clr_ort *ort, const OrtValue *value, int64_t count,
                              clv_arena *arena, const char ***ret, size_t **ret_n, clv_error *err);

#endif
