/* csr.h - lists of numbers by number, one after the other: compressed sparse rows. */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_CSR_H
#define CLV_SOLVER_PLACEMENT_LATENCY_CSR_H

#include "base/arena.h"

/* Those of i are at[first[i]] to at[first[i + 1] - 1]. */
typedef struct {
    int32_t *first, *at;
} clv_csr;

typedef struct {
    int32_t n, *from, *to;
} clv_csr_pairs;

/* Sorts pairs into lists by from (below n), each to once, none of a number to itself. Lives in the
 * arena. CLV_ENOMEM. O(n + pairs). */
clv_status clv_csr_from_pairs(int32_t n, clv_csr_pairs pairs, clv_arena *arena, clv_csr *ret,
                              clv_error *err);

#endif
