/* weight_sums.h - the initialisers that units of operators hold, for balance: those that an
 * operator reads count where they are first read, with what its bodies own. Reshape, Slice, Tile
 * and Expand hold none.
 */
#ifndef CLV_COST_WEIGHT_SUMS_H
#define CLV_COST_WEIGHT_SUMS_H

#include "cost/op_cost.h"

typedef struct {
    const clv_costs *costs;
    int32_t *seen;     /* n_weights, by the stamps of the caller */
    int32_t *seen_own; /* n_weights, by operator */
} clv_weight_sums;

/* Nothing is counted yet. costs must live as long. */
clv_status clv_weight_sums_init(clv_weight_sums *w, const clv_costs *costs, clv_arena *scratch,
                                clv_error *err);
/* Bytes of an operator that were not yet counted under this stamp, from 1. O(inputs). */
int64_t clv_weight_sums_of(clv_weight_sums *w, clv_op op, int32_t stamp);

#endif
