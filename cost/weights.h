/* weights.h - initialisers that an operator reads, each counted once under a stamp. */
#ifndef CLV_COST_WEIGHTS_H
#define CLV_COST_WEIGHTS_H

#include "cost/op_cost.h"

/* Bytes of the initialisers of its graph that the operator reads, explicitly or in a body, and that
 * were not yet seen under this stamp. seen: an entry for each initialiser, started at 0; stamps are
 * from 1. A sum that 64 bits cannot hold is INT64_MAX. O(inputs). */
int64_t clv_weights_read(const clv_graph *g, clv_op op, int32_t stamp, int32_t *seen);

/* Sums what operators read as B.011 and B.037 say: initialisers by stamp, none for Reshape, Slice,
 * Tile and Expand, and what bodies own. */
typedef struct {
    const clv_costs *costs;
    int32_t *seen;     /* n_weights, by the stamps of the caller */
    int32_t *seen_own; /* n_weights, by operator */
} clv_weight_sums;

clv_status clv_weight_sums_init(clv_weight_sums *w, const clv_costs *costs, clv_arena *scratch,
                                clv_error *err);
int64_t clv_weight_sums_of(clv_weight_sums *w, clv_op op, int32_t stamp);

/* Sums of weights: saturated, for a model of more than 2^63 bytes was refused before. */
static inline int64_t clv_weight_add(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

#endif
