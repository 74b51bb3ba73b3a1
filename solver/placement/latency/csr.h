/* csr.h - lists of numbers by number, one after the other: compressed sparse rows (Tinney, Walker
 * 1967). */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_CSR_H
#define CLV_SOLVER_PLACEMENT_LATENCY_CSR_H

#include <stdbool.h>

#include "base/arena.h"

/* Those of i are at[first[i]] to at[first[i + 1] - 1]. */
typedef struct {
    int32_t *first, *at;
} clv_csr;

/* The numbers below n, each in one group. */
typedef struct {
    int32_t n;
    const int32_t *group_of; /* by number */
    const int32_t *order;    /* in which each list has them; NULL: ascending */
} clv_csr_items;

/* The numbers of each of n groups, in the arena. False: no memory. O(n + items). */
bool clv_csr_group(int32_t n, const clv_csr_items *items, clv_arena *arena, clv_csr *ret);

typedef struct {
    int32_t n, *from, *to;
} clv_csr_pairs;

/* Sorts pairs into lists by from (below n), each to once, none of a number to itself. Lives in the
 * arena. CLV_ENOMEM. O(n + pairs). */
clv_status clv_csr_from_pairs(int32_t n, clv_csr_pairs pairs, clv_arena *arena, clv_csr *ret,
                              clv_error *err);

#endif
