/* slice.h - taking a box out of a tensor, and assembling a tensor from boxes. Messages and the
 * manifest call them parts.
 */
#ifndef CLV_RUN_SLICE_H
#define CLV_RUN_SLICE_H

#include "run/tensor.h"

/* A box of a tensor. Where a dimension was taken apart, offsets and dims are of the view, and the
 * slice's own shape merges them again. */
typedef struct {
    bool whole; /* all of it: nothing below is set */
    int32_t rank;
    const int64_t *offsets, *dims;
    int32_t view_rank; /* 0: the tensor as it is; else rank */
    const int64_t *view;
} clr_slice;

/* The slice's own shape, of a tensor with that shape. what names the whole tensor in messages.
 * CLV_EFORMAT: the slice does not lie within it. O(rank). */
clv_status clr_slice_shape(const clr_slice *slice, const clr_shape *whole, const char *what,
                           clr_shape *ret, clv_error *err);

/* A new tensor, the caller's, that is this slice of whole. CLV_EFORMAT: as above; CLV_EUNSUPP:
 * elements of a type that is not known. O(bytes of the slice). */
clv_status clr_slice_extract(const clr_ort *ort, const OrtValue *whole, const clr_slice *slice,
                             const char *what, OrtValue **ret, clv_error *err);

typedef struct {
    const clr_slice *slice;
    const OrtValue *value; /* a tensor of the slice's own shape */
} clr_sliced_value;

typedef struct {
    const char *what; /* names the tensor in messages */
    clr_shape shape;
    const clr_sliced_value *pieces;
    int32_t n;
} clr_assembly;

/* Do the slices have every element of the whole once? CLV_EFORMAT. Values are not looked at.
 * O(n^2). */
clv_status clr_slices_check(const clr_assembly *assembly, clv_error *err);
/* A new tensor, the caller's. CLV_EFORMAT: a piece has another type or shape than its slice says,
 * two overlap, or they do not cover all. O(bytes + n^2). */
clv_status clr_slices_assemble(const clr_ort *ort, const clr_assembly *assembly, OrtValue **ret,
                               clv_error *err);

#endif
