/* factor_runs.h - the parts of a tensor as runs of the factors of a rule.
 *
 * A spec cuts a dimension as a product of pieces, a rule sees it as a product of factors: a part of
 * a tensor is then one run of each factor, or the rule does not allow the cut.
 */
#ifndef CLV_ANNOTATIONS_FACTOR_RUNS_H
#define CLV_ANNOTATIONS_FACTOR_RUNS_H

#include "notation/spec_shards.h"
#include "sharding/factors.h"

typedef struct {
    int64_t first, n; /* elements of a factor; n -1: any */
} clv_run_of;

/* What one device works on: by factor a run. */
typedef struct {
    int64_t device;
    int32_t n_factors;
    clv_run_of of[];
} clv_cell;

typedef struct {
    clv_cell **at;
    int32_t n, cap;
} clv_cells;

/* Parts of one tensor, copies counted, and combinations of parts on devices that have several: each
 * takes some 300 bytes meanwhile. */
#define CLV_CELLS_MAX (1 << 17)

static inline bool clv_run_is(clv_run_of a, clv_run_of b)
{
    return a.first == b.first && a.n == b.n;
}

/* Any run of each factor. NULL: no memory. */
clv_cell *clv_cell_new(int64_t device, int32_t n_factors, clv_arena *arena);
/* cell NULL: no memory. CLV_ELIMIT: over CLV_CELLS_MAX. */
clv_status clv_cells_push(clv_cells *cells, clv_cell *cell, clv_arena *arena, clv_error *err);
/* By device, then runs; each once. O(n log n) */
void clv_cells_sort(clv_cells *cells);
/* For qsort() of clv_cell pointers: by runs, and devices among them. */
int clv_cell_by_runs(const void *a, const void *b);
bool clv_cells_equal(const clv_cells *a, const clv_cells *b); /* both sorted */

/* An input or output of an operator: the rule, its factors in it, and the rank of its tensor. */
typedef struct {
    const clv_factors *f;
    const clv_operand_factors *o;
    int32_t rank;
} clv_ruled_operand;

/* The cells of a tensor's shards, empty ones left out, sorted. *ret_dim: -1, or the dimension that
 * is cut where the factors of the operand do not allow a cut; then *ret is left alone. O(shards *
 * (rank + factors) + n log n). */
clv_status clv_shard_cells(const clv_ruled_operand *operand, const clv_shards *shards,
                           clv_arena *arena, clv_cells *ret, int32_t *ret_dim, clv_error *err);

/* Is the factor in a dimension of the operand? The dimension, or -1. */
int32_t clv_factor_dim(const clv_operand_factors *o, int32_t factor);

/* The runs of one factor that the cells have, ascending, each once. */
typedef struct {
    clv_run_of *at;
    int32_t n;
} clv_runs;
clv_status clv_runs_of(const clv_cells *cells, int32_t factor, clv_arena *arena, clv_runs *ret,
                       clv_error *err);
int32_t clv_runs_find(const clv_runs *runs, clv_run_of run); /* its place; it is there */

#endif
