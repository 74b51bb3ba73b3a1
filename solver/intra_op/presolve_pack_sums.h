/* presolve_pack_sums.h - edges between two new nodes added up into one matrix.
 *
 * What the sum says of one node alone, the least of each row, then of each column, is taken out of
 * it: projections of soft arc consistency (Cooper et al., "Soft arc consistency revisited",
 * Artificial Intelligence 174, 2010). Layers of a model repeat, and so do the sums that are asked
 * for: each is made once. Maps are numbered by what is in them, so sums are distinguished by
 * numbers.
 */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_PACK_SUMS_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_PACK_SUMS_H

#include "solver/intra_op/presolve_packing.h"

enum { CLV_PACK_SAME = 0 }; /* the map of a node that nothing happened to */

/* An old edge as seen by two new nodes a < b: entry (map_a[i], map_b[j]) of the matrix; turned: the
 * second node of the old edge became part of a. */
typedef struct {
    int32_t a, b, matrix;
    int32_t map_a, map_b; /* numbers of maps */
    bool turned;
} clv_pack_part;

/* What the parts of one pair of nodes come to: costs of each choice of a (rows) and b (columns),
 * and the matrix that is left; -1: nothing is. */
typedef struct {
    const clv_pack_part *part;
    int32_t n_parts;
    int32_t matrix;
    int64_t *rows, *columns;
} clv_pack_sum;

typedef struct {
    const int32_t *at;
    int32_t n;
} clv_pack_map;

typedef struct {
    clv_pre_matrices *set;
    clv_arena *arena;
    clv_pack_map *map;
    int32_t n_maps, cap_maps;
    int32_t *map_slot; /* open addressing: number of a map or -1 */
    int32_t n_map_slots;
    clv_pack_sum *sum;
    int32_t n_sums, cap_sums;
    int32_t *sum_slot;
    int32_t n_sum_slots;
    int64_t *scratch;
    int64_t cap_scratch;
    bool big; /* a sum of costs reached never */
} clv_pack_sums;

/* False: no memory; as with the next. */
bool clv_pack_sums_new(clv_pack_sums *s, clv_pre_matrices *set, clv_arena *arena);

/* Number of the map with these n entries, which must outlive the sums. */
bool clv_pack_map_intern(clv_pack_sums *s, const int32_t *at, int32_t n, int32_t *ret);

/* The sum of n > 0 parts of one pair of nodes with so many choices. NULL: no memory. O(n) where it
 * was asked for before, else O(n * n_a * n_b). The parts must stay, the solution ends with the next
 * call. */
const clv_pack_sum *clv_pack_sum_of(clv_pack_sums *s, const clv_pack_part *part, int32_t n,
                                    int32_t n_a, int32_t n_b);

#endif
