/* refine_chain.h - a dimension taken apart at one place, in all operators that it goes through.
 *
 * From the tensor where the place is known the operators are followed, through all factors that are
 * the same dimension, until a product with weights is found; then they are all taken apart
 * (clv_factors_refine()). What leads to no such product, or to more than a few operators, stays as
 * it is: it would only make choices that nobody takes.
 */
#ifndef CLV_SHARDING_REFINE_CHAIN_H
#define CLV_SHARDING_REFINE_CHAIN_H

#include "graph/graph.h"
#include "sharding/factors.h"

/* Something begins in a dimension of a tensor within as many outer parts. */
typedef struct {
    clv_tensor tensor;
    int32_t dim;
    int64_t outer;
} clv_dim_place;

typedef struct clv_chain_refiner clv_chain_refiner;

/* all: the rules, by operator; they are changed, with new lists in the arena. */
clv_status clv_chain_refiner_new(const clv_graph *graph, clv_factors *all, clv_arena *arena,
                                 clv_chain_refiner **ret, clv_error *err);
/* at_start: only factors that a dimension begins with, not what lies within a head; else the part
 * that comes first keeps the name. O(operators that it goes through, squared). */
clv_status clv_refine_chain(clv_chain_refiner *refiner, clv_dim_place place, bool at_start,
                            clv_error *err);

#endif
