/* parameters.h - which tensors of Constant nodes are parameters: those that operators use as they
 * use initialisers of that kind.
 *
 * Exporters write weights as Constant nodes too, and as Constant nodes also write masks, zeros to
 * scatter into, and scales of a norm that stands for another one. So a tensor counts by who reads
 * it: a contraction, a lookup of rows, a norm with running statistics or over layers, also one that
 * is written as x / sqrt(...) * scale + bias, or an Add of a bias to a contraction; at first hand,
 * or through operators that only move it. Scalars do not.
 */
#ifndef CLV_COST_PARAMETERS_H
#define CLV_COST_PARAMETERS_H

#include "graph/graph.h"

/* Elements of a Constant node's tensor that are parameters; 0 for all other operators and tensors.
 * O(readers), times those of what only moves it. */
int64_t clv_constant_parameters(const clv_graph *g, const clv_op_info *op);

#endif
