/* elems.h - sets of elements of one dimension, as rising runs; equal sets have equal numbers.
 *
 * The proof's own arithmetic: nothing here knows how a lowered program was made.
 */
#ifndef CLV_VERIFY_ELEMS_H
#define CLV_VERIFY_ELEMS_H

#include <stdbool.h>

#include "base/map.h"

typedef struct {
    int64_t from, to; /* elements from, ..., to - 1 */
} clv_run;

typedef struct {
    const clv_run *run; /* rising, none touches the next */
    int32_t n;
    int64_t count; /* elements of all of them */
} clv_elems;

/* All sets that were met. Numbers are into at. */
typedef struct {
    clv_arena *arena;
    clv_map by_runs, by_pair;
    clv_elems *at;
    int64_t *common; /* by pair: elements in both */
    clv_run *scratch;
    int64_t room; /* runs that may still be made */
    int32_t n, cap, n_common, cap_common, cap_scratch;
} clv_all_elems;

/* Runs of all sets together, a limit for hostile layouts: 1 GiB. */
#define CLV_RUNS_MAX (INT64_C(1) << 26)

/* A place of a number in a mixed radix, outermost first: digits from low to high - 1 of size. */
typedef struct {
    int64_t size, low, high;
} clv_digit;

clv_status clv_elems_init(clv_all_elems *all, clv_arena *arena, clv_error *err);
/* All numbers with such digits. The product of the sizes must fit in 64 bits. CLV_ELIMIT: too many
 * runs. O(runs). */
clv_status clv_elems_of_digits(clv_all_elems *all, const clv_digit *digit, int32_t n, int32_t *ret,
                               clv_error *err);
/* How many elements are in both. O(runs), at once for a pair that was asked for before. */
clv_status clv_elems_common(clv_all_elems *all, int32_t a, int32_t b, int64_t *ret, clv_error *err);
/* Are the n sets disjoint, and have they together every element from 0 to size - 1? *ret_at: the
 * first that is missing, or that two of them have (*ret_twice). O(runs * log runs). */
clv_status clv_elems_cover(clv_all_elems *all, const int32_t *set, int32_t n, int64_t size,
                           bool *ret, int64_t *ret_at, bool *ret_twice, clv_error *err);

/* "0 to 3, 8 to 11" of a set, for messages; "nothing". Returns buf. */
#define CLV_ELEMS_TEXT 96
const char *clv_elems_show(char buf[static CLV_ELEMS_TEXT], const clv_elems *set);

#endif
