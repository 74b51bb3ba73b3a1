/* value_file.h - values in files: TensorProto (.pb), as ONNX's test data has them, and NumPy's
 * .npy.
 *
 * Files are read as a whole, and written under a temporary name, then renamed. Elements are
 * little-endian in both, as the machines that this runs on are.
 */
#ifndef CLV_RUN_VALUE_FILE_H
#define CLV_RUN_VALUE_FILE_H

#include "run/tensor.h"

typedef enum { CLR_FILE_PB, CLR_FILE_NPY } clr_file_kind;

/* By the end of its name: .npy, or else .pb. */
clr_file_kind clr_file_kind_of(const char *path);

/* Of a .pb file the message is TensorProto, SequenceProto or OptionalProto by kind, which is that
 * of the input that the value is for. *ret is the caller's, for clr_value_free(). CLV_EIO,
 * CLV_EFORMAT, CLV_EUNSUPP. O(bytes). */
clv_status clr_value_read(const clr_ort *ort, const char *path, ONNXType kind, clv_arena *arena,
                          OrtValue **ret, clv_error *err);
/* The name in a .pb file, in the arena; "" where it has none. O(bytes that are not payload). */
clv_status clr_value_name(const char *path, clv_arena *arena, const char **ret, clv_error *err);
/* Older .pb and all .npy files keep bfloat16 as uint16: where that is what *value has and bfloat16
 * what is wanted, *value becomes a new tensor of the same bits. */
clv_status clr_value_reinterpret(const clr_ort *ort, OrtValue **value,
                                 ONNXTensorElementDataType wanted, clv_error *err);

/* A tensor with its name; strings only as .pb. CLV_EUNSUPP: the value is no tensor, or of a type
 * that .npy does not know; CLV_ECANCELED: a signal came. */
clv_status clr_value_write(const clr_ort *ort, const char *path, clr_file_kind kind,
                           const char *name, const OrtValue *value, clv_error *err);

#endif
