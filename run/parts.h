/* parts.h - cutting a box out of a tensor, and putting a tensor together from boxes. */
#ifndef CLV_RUN_PARTS_H
#define CLV_RUN_PARTS_H

#include "run/program.h"

/* A new tensor that is this part of whole. what names the whole tensor in messages. CLV_EFORMAT:
 * the part does not lie within it. O(bytes of the part). */
clv_status clr_part_cut(const clr_ort *ort, const OrtValue *whole, const clr_part *part,
                        const char *what, OrtValue **ret, clv_error *err);

/* A new tensor of that shape, of n pieces. CLV_EFORMAT: a piece has another type or shape than its
 * part says, two overlap, or they do not cover all. O(bytes + n^2). */
clv_status clr_parts_join(const clr_ort *ort, const clr_shape *shape, const clr_part *const *parts,
                          const OrtValue *const *values, int32_t n, const char *what,
                          OrtValue **ret, clv_error *err);

/* The part's own shape, of a tensor with that shape; checks that it lies within it. */
clv_status clr_part_shape(const clr_part *part, const clr_shape *whole, const char *what,
                          clr_shape *ret, clv_error *err);

#endif
