/* constant.h - which operators compute from constants alone.
 *
 * Their outputs are the same in every run, so any device may make its own copy: they need no
 * transfer and set no order between devices.
 */
#ifndef CLV_GRAPH_CONSTANT_H
#define CLV_GRAPH_CONSTANT_H

#include "base/arena.h"
#include "graph/graph.h"

/* n_ops entries: true where all inputs are weights or outputs of such operators, the operator is
 * known, has no bodies and is not random. O(operators + edges). */
clv_status clv_constant_ops(const clv_graph *g, clv_arena *arena, bool **ret, clv_error *err);

/* Is a tensor a weight, or the output of one of those operators? Of CLV_NO_TENSOR: no. O(1). */
bool clv_is_constant(const clv_graph *g, const bool *constant, clv_tensor t);

#endif
