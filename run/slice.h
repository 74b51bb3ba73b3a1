/* slice.h - cutting a box out of a tensor, and putting a tensor together from boxes. */
#ifndef CLV_RUN_SLICE_H
#define CLV_RUN_SLICE_H

#include "run/program.h"

/* A new tensor that is this part of whole. what names the whole tensor in messages. CLV_EFORMAT:
 * the part does not lie within it. O(bytes of the part). */
clv_status clr_slice_extract(const clr_ort *ort, const OrtValue *whole, const clr_slice *part,
                             const char *what, OrtValue **ret, clv_error *err);

/* A new tensor of that shape, of n pieces. CLV_EFORMAT: a piece has another type or shape than its
 * part says, two overlap, or they do not cover all. O(bytes + n^2). */
clv_status clr_slices_assemble(const clr_ort *ort, const clr_shape *shape,
                               const clr_slice *const *parts, const OrtValue *const *values,
                               int32_t n, const char *what, OrtValue **ret, clv_error *err);

/* The part's own shape, of a tensor with that shape; checks that it lies within it. */
clv_status clr_slice_shape(const clr_slice *part, const clr_shape *whole, const char *what,
                           clr_shape *ret, clv_error *err);

#endif
