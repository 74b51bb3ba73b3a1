/* compare.h - are two tensors the same, but for the rounding of sums in another order?
 *
 * Element by element: |got - want| <= growth * max(|want|, rms) + absolute + tiny. rms is the root
 * of the mean of the squares of all finite elements of `want`: a sum of large terms may come out
 * small, and is then no more exact than its neighbours. tiny is the smallest full number of the
 * type: processors may take what is smaller for 0. growth and absolute are the caller's
 * (error_growth.h); docs/verifying.md says what they assume. NaN and infinities have to stand at
 * the same places, infinities with the same sign; zeros may have either. Integers, booleans and
 * texts have to be the same.
 *
 * Where the caller has more runs of the model itself, what these differ by is its own: growth is
 * at least CLV_OWN_DIFFERENCE_FACTOR of it, integers of 8 bits or less may be as far apart as they
 * are there, and an element that must be the same, and there is not, is not judged.
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

/* The largest of N errors of like distribution is itself an estimate: of two such estimates one is
 * seldom more than twice the other, and errors on many devices have that many more draws. */
#define CLV_OWN_DIFFERENCE_FACTOR 4.0

typedef struct {
    double growth, absolute;
    const clv_compared *others; /* of the model itself, run otherwise; no others: NULL */
    int32_t n_others;
} clv_allowance;

typedef enum {
    CLV_SAME,
    CLV_OTHER_TYPE,   /* of dtype, rank or dims: nothing else is said */
    CLV_OTHER_NAN,    /* NaN, or an infinity, where the other has none */
    CLV_OTHER_NUMBERS /* beyond the bound; or no floats, and not the same */
} clv_difference;

typedef struct {
    clv_difference difference;
    int64_t n_inexact;   /* elements that are not the same bits, but for zeros and NaNs */
    int64_t n_beyond;    /* that are beyond the bound */
    int64_t n_unsettled; /* not judged: the model itself gives one or the other */
    /* Something differs, and all that is expected is within its bound, so that any small numbers
     * would pass: the comparison says nothing. */
    bool is_blind;
    double own;    /* difference of the model from itself, in parts of max(|want|, rms) */
    int64_t first; /* of these; -1: none. Row-major; of complex numbers each part counts */
    double rms;
    /* The element whose error is largest beside its bound; -1: no floats, or all the same. */
    int64_t worst;
    double error, bound, got, want; /* there */
} clv_comparison;

/* O(elements * (1 + others)). */
void clv_compare(const clv_compared *got, const clv_compared *want, const clv_allowance *allowed,
                 clv_comparison *ret);
/* What is wrong, in a sentence without a full stop: "element 3 is 0.5, expected 0.25 to within
 * 1e-6". Returns buf. */
#define CLV_COMPARE_TEXT 400
const char *clv_compare_words(char buf[static CLV_COMPARE_TEXT], const clv_compared *got,
                              const clv_compared *want, const clv_comparison *c);

#endif
