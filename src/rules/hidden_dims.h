/* hidden_dims.h - where the hidden dimension is: what norms go over, and what is the same dimension
 * before and behind them, in operators and tensors.
 *
 * Between the blocks of a transformer the hidden state goes from norm to norm. Megatron (Shoeybi et
 * al. 2019) splits inside the blocks alone, columns of the first product and rows of the last, so
 * that each device has all of the hidden state.
 */
#ifndef CLV_RULES_HIDDEN_DIMS_H
#define CLV_RULES_HIDDEN_DIMS_H

#include "graph/graph.h"
#include "sharding/factors.h"

typedef struct {
    const clv_graph *g;
    uint64_t *dims; /* by tensor, one bit each */
} clv_hidden_dims;

/* A dimension of several factors, as heads and their width, is none. factors: by operator. Lives in
 * the arena; CLV_ENOMEM. O(operators * dimensions) for each time that it goes on against the order
 * of the operators. */
clv_status clv_hidden_dims_find(const clv_graph *g, const clv_factors *factors, clv_arena *arena,
                                clv_hidden_dims *ret, clv_error *err);

/* Is a factor of an operator the hidden dimension? Experts that tokens choose among never are.
 * O(dimensions of inputs and outputs). */
bool clv_hidden_dims_has_factor(const clv_hidden_dims *hidden, clv_op op, const clv_factors *f,
                                int32_t factor);

#endif
