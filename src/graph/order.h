/* order.h - operators into topological order, ties by file position. */
#ifndef CLV_GRAPH_ORDER_H
#define CLV_GRAPH_ORDER_H

#include "base/arena.h"

/* Operator v waits for the operators from[start[v] .. start[v + 1]); repeats are fine. */
typedef struct {
    int32_t n_ops;
    const int32_t *start; /* n_ops + 1 */
    const int32_t *from;
} clv_order_in;

/* order[k] is the operator that comes k-th. *ret_cycle is -1, or an operator on a cycle: then
 * *ret_order is left alone. O(edges + ops * log ready). */
clv_status clv_order(const clv_order_in *in, clv_arena *arena, int32_t **ret_order,
                     int32_t *ret_cycle, clv_error *err);

#endif
