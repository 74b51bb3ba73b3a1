/* presolve_matrices.h - a set of matrices, equal ones kept once. */
#ifndef CLV_SOLVER_STRATEGIES_PRESOLVE_MATRICES_H
#define CLV_SOLVER_STRATEGIES_PRESOLVE_MATRICES_H

#include <stdbool.h>

#include "base/arena.h"

/* Matrix m has rows_of[m] rows and the entries first[m] to first[m + 1]. Lives in the arena. */
typedef struct {
    clv_arena *arena;
    int32_t n;
    int64_t *first, *entry;
    int32_t *rows_of;
    int32_t cap_first, cap_rows;
    int64_t cap_entry;
    int32_t *slot;  /* open addressing: matrix or -1 */
    uint64_t *hash; /* by matrix */
    int32_t cap_hash, n_slots;
} clv_pre_matrices;

/* False: no memory; as with the next. */
bool clv_pre_matrices_new(clv_pre_matrices *set, clv_arena *arena);

/* Number of the matrix with these entries. O(n) on average. */
bool clv_pre_matrices_put(clv_pre_matrices *set, int64_t n, int32_t rows, const int64_t *entry,
                          int32_t *ret);

#endif
