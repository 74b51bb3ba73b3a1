/* compare.h - is a value what was expected? */
#ifndef CLV_RUN_COMPARE_H
#define CLV_RUN_COMPARE_H

#include "run/tensor.h"

/* An element is equal when |got - expected| <= atol + rtol * |expected|. Integers, truth values and
 * strings are compared exactly; NaN equals NaN, and an infinity itself. */
typedef struct {
    double rtol, atol;
} clr_tolerance;

typedef struct {
    bool equal;
    char why[CLV_MESSAGE_SIZE]; /* where not equal: one sentence, without the name of the value */
    int64_t first;              /* place of the first element that differs; -1: it is no element */
    int64_t differing;          /* how many elements do */
    double max_abs;             /* the largest error of an element, equal or not */
} clr_difference;

/* Tensors, and sequences of them; a map or sparse tensor is CLV_EUNSUPP. O(elements). */
clv_status clr_compare(const clr_ort *ort, const OrtValue *got, const OrtValue *expected,
                       const clr_tolerance *tolerance, clr_difference *ret, clv_error *err);

#endif
