/* weights.h - initialisers that operators read, each counted once. */
#ifndef CLV_COST_WEIGHTS_H
#define CLV_COST_WEIGHTS_H

#include "graph/graph.h"

/* Bytes of the initialisers of its graph that the operator reads, explicitly or in a body, and that
 * were not yet seen under this stamp. seen: an entry for each initialiser, started at 0; stamps are
 * from 1. A sum that 64 bits cannot hold is INT64_MAX. O(inputs). */
int64_t clv_weights_read(const clv_graph *g, clv_op op, int32_t stamp, int32_t *seen);

/* Sums of weights: saturated, for a model of more than 2^63 bytes was refused before. */
static inline int64_t clv_weight_add(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

#endif
