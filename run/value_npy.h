/* value_npy.h - NumPy's file of one array (.npy): a head of text, then the elements. */
#ifndef CLV_RUN_VALUE_NPY_H
#define CLV_RUN_VALUE_NPY_H

#include "proto/sink.h"
#include "run/file_bytes.h"
#include "run/tensor.h"

/* *ret is the caller's, for clr_value_free(). CLV_EFORMAT. O(bytes). */
clv_status clr_npy_read(const clr_ort *ort, const clr_file_bytes *file, OrtValue **ret,
                        clv_error *err);
/* value: a tensor of that shape. CLV_EUNSUPP: of a type that .npy does not know. */
clv_status clr_npy_write(const clr_ort *ort, const OrtValue *value, const clr_shape *shape,
                         const clv_sink *sink, clv_error *err);

#endif
