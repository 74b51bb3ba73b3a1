/* experts.h - which operators of a model are experts, and of which router.
 *
 * A mixture of experts (Shazeer et al. 2017) is known by its structure, not by its names. A gate is
 * a product with a matrix of E columns, one for each expert, whose result is chosen among by TopK,
 * ArgMax, Hardmax or Softmax along these E, and which then, not mixed with any other activation,
 * meets one: to say which tokens go where, or how much of a result is taken. Behind a gate, that is
 * not before it, experts are
 *
 *   stacked    products with a weight of three dimensions, E the first of them, or lookups of
 *              slices of such a weight, before such meetings; behind them, where each slice
 *              reads what was sent to it
 *   separate   E products with matrices of one size, the last ones before such meetings
 *
 * A 3-dimensional constant of another product, as a rotary embedding has, is no expert, and neither
 * are the gated halves of an MLP or classes that a model chooses among at its end.
 */
#ifndef CLV_EXPLAIN_EXPERTS_H
#define CLV_EXPLAIN_EXPERTS_H

#include "graph/infer.h"

/* By operator of the graph. */
typedef struct {
    bool *stacked;
    int32_t *router; /* of a separate expert's last product: 0, 1, ...; -1 */
    int32_t n_routers;
} clv_experts;

/* constant: clv_constant_ops(). In the arena. CLV_ENOMEM. O(edges) for each gate, and for other
 * products up to where what is made of them alone is read last. */
clv_status clv_experts_find(const clv_graph *g, const clv_types *types, const bool *constant,
                            clv_arena *arena, clv_experts *ret, clv_error *err);

/* Has the operator slices of weights for experts, also as an operator that is a whole mixture?
 * O(1).
 */
bool clv_has_stacked_experts(const clv_experts *experts, const clv_graph *g, clv_op op);

#endif
