/* tensor.h - element types, shapes and tensors of the runtime.
 *
 * Values go around as OrtValue pointers whose memory is the runtime's: those that a session gives
 * as outputs are another session's inputs without a copy.
 */
#ifndef CLV_RUN_TENSOR_H
#define CLV_RUN_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "run/ort.h"

#define CLR_MAX_RANK 64

typedef struct {
    ONNXTensorElementDataType dtype; /* by its number in TensorProto.DataType */
    int32_t rank;
    int64_t dims[CLR_MAX_RANK];
    int64_t count; /* of elements */
} clr_shape;

/* "float32" of the numbers of TensorProto.DataType; "type 99" is "unknown". */
const char *clr_dtype_name(int dtype);
/* The runtime's own number of a type as that of TensorProto.DataType: they differ from 24 on. */
ONNXTensorElementDataType clr_dtype_from_runtime(ONNXTensorElementDataType dtype);
/* Bits of one element; 0 for strings and what is not known. */
int clr_dtype_bits(int dtype);
/* Bytes of so many elements of dtype; less than one byte each is packed. */
size_t clr_dtype_bytes(int dtype, int64_t count);
/* Sets count from the dims, checked: false where the bytes of it do not fit in an int64_t, or a
 * dimension is below 0. */
bool clr_shape_count(clr_shape *shape);
/* "float32[2,3]" into buf. Returns buf. */
const char *clr_shape_text(char *buf, size_t size, const clr_shape *shape);

/* A new tensor, its elements not set, but zeros where several share a byte; strings are empty. It
 * is the caller's, for clr_value_free(). CLV_EUNSUPP: a type that the runtime does not have. */
clv_status clr_tensor_new(const clr_ort *ort, const clr_shape *shape, OrtValue **ret,
                          clv_error *err);
void clr_value_free(const clr_ort *ort, OrtValue *value);               /* NULL is fine */
void clr_values_free(const clr_ort *ort, OrtValue **values, int32_t n); /* NULL is fine */
/* The value must be a tensor. CLV_ELIMIT: more than CLR_MAX_RANK dimensions or 2^63 elements. */
clv_status clr_tensor_shape(const clr_ort *ort, const OrtValue *value, clr_shape *ret,
                            clv_error *err);
/* Not of a tensor of strings. *ret lives as long as the value. */
clv_status clr_tensor_data(const clr_ort *ort, const OrtValue *value, void **ret, clv_error *err);

typedef struct {
    const char **texts; /* each with a NUL behind it */
    size_t *lengths;
} clr_strings;

/* All strings of a tensor of so many, in the arena. O(bytes). */
clv_status clr_tensor_strings(const clr_ort *ort, const OrtValue *value, int64_t count,
                              clv_arena *arena, clr_strings *ret, clv_error *err);

#endif
