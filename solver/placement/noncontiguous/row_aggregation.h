/* row_aggregation.h - rows of the master LP shared by groups of blocks, so that prices are few.
 *
 * Dynamic constraint aggregation (Elhallaoui, Villeneuve, Soumis and Desaulniers 2005, Dynamic
 * aggregation of set-partitioning constraints in column generation, Operations Research 53). Any
 * prices give a bound (column_generation.h), and where a price is high is more a matter of regions
 * than of blocks. So the master begins with a few rows, each a group: a stretch of the order whose
 * blocks share the group's price by weight, and which is to be covered once on average.
 *
 * Ours: when all groups can be covered, those whose blocks are covered most unevenly are split at
 * the place where the sum of the deviations is largest. In the end every block could be a group of
 * its own, but it seldom comes to that. O(n) a split; it wins with hundreds of blocks and more.
 */
#ifndef CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_ROW_AGGREGATION_H
#define CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_ROW_AGGREGATION_H

#include <stdbool.h>

#include "base/arena.h"

typedef struct {
    int32_t n_blocks, n; /* n: groups */
    const int32_t *order;
    const double *weight; /* by block, above 0 */
    int32_t *of;          /* by block: its group */
    int32_t *first;       /* n + 1: places in the order */
    double *part;         /* by block: its weight in that of its group */
} clv_row_groups;

/* About n groups of about equal weight, of the blocks, order and weights that are there already;
 * these are kept, not copied. The rest lives in the arena. O(n_blocks). */
clv_status clv_row_groups_init(clv_row_groups *b, int32_t n, clv_arena *arena, clv_error *err);

/* covered: by block, how often it is covered. False where all groups are even. O(n_blocks). */
bool clv_row_groups_split(clv_row_groups *b, const double *covered);

#endif
