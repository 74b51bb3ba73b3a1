/* fluid_bound.h - how much work devices can do within a limit on the load: the fluid bound.
 *
 * The value of a block is the least time that it takes anywhere. What one device does within T is
 * then at most the best value of blocks, parts of blocks allowed, that take T there: a fractional
 * knapsack (Dantzig 1957, "Discrete-variable extremum problems", Operations Research).
 * All values together are to be done by all devices together.
 */
#ifndef CLV_SOLVER_PLACEMENT_COMMON_FLUID_BOUND_H
#define CLV_SOLVER_PLACEMENT_COMMON_FLUID_BOUND_H

#include "solver/placement/common/contraction.h"

typedef struct clv_fluid_item clv_fluid_item;

typedef struct {
    const clv_contraction *b;
    int64_t *value;     /* by block, ticks */
    int64_t *paid_time; /* by block: the least time on a kind that pays; CLV_TICKS_MAX: on none */
    int64_t all_value;
    int64_t **can_do; /* [kind][devices]: value that so many can do within the limit, at most */
    clv_fluid_item **items; /* [kind]: blocks that take time there, best value for it first */
    int32_t *n_items;
    int64_t *free_value; /* [kind]: of blocks that take none there */
} clv_fluid_bound;

/* Every block must have a kind with devices that can run it. can_do is for limit 0. O(kinds * n log
 * n).
 */
clv_status clv_fluid_bound_new(const clv_contraction *b, clv_arena *arena, clv_fluid_bound *ret,
                               clv_error *err);

/* Sets can_do. O(kinds * devices * n). */
void clv_fluid_bound_set_limit(clv_fluid_bound *s, int64_t limit);

/* No solution, contiguous or free, has all loads below it: the longest block, or what all devices
 * need for all values. O(56 * kinds * n). */
int64_t clv_fluid_bound_least_limit(const clv_fluid_bound *s);

#endif
