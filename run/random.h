/* random.h - tensors full of numbers that depend on nothing but seed, name and place. */
#ifndef CLV_RUN_RANDOM_H
#define CLV_RUN_RANDOM_H

#include "run/tensor.h"

typedef struct {
    uint64_t seed;
    const char *name;
    double lo, hi; /* both included; with lo > hi what suits the type: floats from -1 to 1, int32
                      and int64 0 or 1, for they may be indices, all values of smaller integers */
} clr_random_options;

/* Sets all elements of a tensor. CLV_EUNSUPP: not of this type; CLV_EUSAGE: it does not hold lo and
 * hi. The sentence names it as an input. O(elements). */
clv_status clr_random_fill(const clr_ort *ort, OrtValue *value, const clr_random_options *options,
                           clv_error *err);

#endif
