/* row_aggregation.h - blocks near each other in the line that share one price, so that prices are
 * few.
 *
 * Any prices give a bound (column_generation.h), and where a price is high is more a matter of
 * regions than of blocks. So the linear program begins with a few rows, each a bunch: a stretch of
 * the line whose blocks share the bunch's price by weight, and which is to be covered once on
 * average. When all bunches can be covered, those are split whose blocks are not covered evenly,
 * where that shows most. In the end every block could be a bunch of its own, but it seldom comes to
 * that.
 */
#ifndef CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_ROW_AGGREGATION_H
#define CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_ROW_AGGREGATION_H

#include <stdbool.h>

#include "base/arena.h"

typedef struct {
    int32_t n_blocks, n; /* n: bunches */
    const int32_t *order;
    const double *weight; /* by block, above 0 */
    int32_t *of;          /* by block */
    int32_t *first;       /* n + 1: places in the line */
    double *part;         /* by block: its weight in that of its bunch */
} clv_row_groups;

/* About n bunches of about equal weight. order and weight by block are kept, not copied. Lives in
 * the arena. O(n_blocks). */
clv_status clv_row_groups_new(const int32_t *order, const double *weight, int32_t n_blocks,
                              int32_t n, clv_arena *arena, clv_row_groups **ret, clv_error *err);

/* covered: by block. False where all bunches are even. O(n_blocks). */
bool clv_row_groups_split(clv_row_groups *b, const double *covered);

#endif
