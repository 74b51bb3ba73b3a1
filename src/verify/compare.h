/* compare.h - are two tensors the same, but for the rounding of sums in another order?
 *
 * Element by element: |got - want| <= growth * max(|want|, rms) + tiny. rms is the root of the mean
 * of the squares of all finite elements of `want`: a sum of large terms may come out small, and is
 * then no more exact than its neighbours. tiny is the smallest full number of the type. growth is
 * the caller's (error_growth.h); docs/verifying.md says what it assumes. NaN and infinities have to
 * stand at the same places, infinities with the same sign; zeros may have either. Integers,
 * booleans and texts have to be the same.
 */
#ifndef CLV_VERIFY_COMPARE_H
#define CLV_VERIFY_COMPARE_H

#include <stdbool.h>

#include "base/str.h"
#include "verify/numbers.h"

typedef struct {
    clv_dtype dtype;
    int32_t rank;
    const int64_t *dims;
    int64_t elems;
    const void *data;       /* packed, at any address */
    const clv_str *strings; /* of CLV_DT_STRING */
} clv_compared;

typedef enum {
    CLV_SAME,
    CLV_OTHER_TYPE,   /* of dtype, rank or dims: nothing else is said */
    CLV_OTHER_NAN,    /* NaN, or an infinity, where the other has none */
    CLV_OTHER_NUMBERS /* beyond the bound; or no floats, and not the same */
} clv_difference;

typedef struct {
    clv_difference difference;
    int64_t n_inexact; /* elements that are not the same bits, but for zeros and NaNs */
    int64_t n_beyond;  /* that are beyond the bound */
    int64_t first;     /* of these; -1: none. Row-major; of complex numbers each part counts */
    double rms;
    /* The element whose error is largest beside its bound; -1: no floats, or all the same. */
    int64_t worst;
    double error, bound, got, want; /* there */
} clv_comparison;

/* O(elements). */
void clv_compare(const clv_compared *got, const clv_compared *want, double growth,
                 clv_comparison *ret);
/* What is wrong, in a sentence without a full stop: "element 3 is 0.5, expected 0.25 to within
 * 1e-6". Returns buf. */
#define CLV_COMPARE_TEXT 400
const char *clv_compare_words(char buf[static CLV_COMPARE_TEXT], const clv_compared *got,
                              const clv_compared *want, const clv_comparison *c);

#endif
