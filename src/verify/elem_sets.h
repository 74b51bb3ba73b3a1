/* elem_sets.h - sets of elements of one dimension, as rising runs; equal sets have equal numbers.
 *
 * The proof's own arithmetic: nothing here knows how a lowered program was made.
 */
#ifndef CLV_VERIFY_ELEM_SETS_H
#define CLV_VERIFY_ELEM_SETS_H

#include <stdbool.h>

#include "base/map.h"

typedef struct {
    int64_t from, to; /* elements from, ..., to - 1 */
} clv_elem_run;

typedef struct {
    const clv_elem_run *run; /* rising, none touches the next */
    int32_t n;
    int64_t count; /* elements of all of them */
} clv_elem_set;

/* All sets that were met, each once. Numbers are into at. */
typedef struct {
    clv_arena *arena;
    clv_map by_runs, by_pair;
    clv_elem_set *at;
    int64_t *common; /* by pair: elements in both */
    clv_elem_run *scratch;
    int64_t room; /* runs that may still be made */
    int32_t n, cap, n_common, cap_common, cap_scratch;
} clv_elem_sets;

/* Runs of all sets together, a limit for hostile layouts: 1 GiB. */
#define CLV_ELEM_RUNS_MAX (INT64_C(1) << 26)

/* A place of a number in a mixed radix, outermost first: digits from low to high - 1 of size. */
typedef struct {
    int64_t size, low, high;
} clv_digit;

clv_status clv_elem_sets_init(clv_elem_sets *all, clv_arena *arena, clv_error *err);
/* *ret: the set of all numbers with such digits. The product of the sizes must fit in 64 bits.
 * CLV_ELIMIT: too many runs. O(runs). */
clv_status clv_elem_sets_of_digits(clv_elem_sets *all, const clv_digit *digit, int32_t n,
                                   int32_t *ret, clv_error *err);
/* How many elements are in both sets. O(runs), O(1) for a pair that was asked for before. */
clv_status clv_elem_sets_common(clv_elem_sets *all, int32_t a, int32_t b, int64_t *ret,
                                clv_error *err);
/* What sets make up together. */
typedef struct {
    bool holds;    /* each element once */
    int64_t at;    /* else the first that is missing, */
    bool is_twice; /* or that two sets have */
} clv_coverage;
/* Are the n sets disjoint, and have they together every element from 0 to size - 1? O(runs * log
 * runs). */
clv_status clv_elem_sets_cover(clv_elem_sets *all, const int32_t *set, int32_t n, int64_t size,
                               clv_coverage *ret, clv_error *err);

/* "0 to 3, 8 to 11" of a set, for messages; "none". Returns buf. */
#define CLV_ELEM_SET_TEXT 96
const char *clv_elem_set_show(char buf[static CLV_ELEM_SET_TEXT], const clv_elem_set *set);

#endif
