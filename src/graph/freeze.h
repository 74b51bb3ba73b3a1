/* freeze.h - the last steps in building a graph: its operators in order, and who reads each tensor.
 */
#ifndef CLV_GRAPH_FREEZE_H
#define CLV_GRAPH_FREEZE_H

#include "base/arena.h"
#include "graph/graph.h"

/* Puts the operators, with their inputs and the producers of tensors set, into topological order,
 * ties by file position. CLV_EFORMAT names an operator on a cycle. O(operators + edges) where they
 * are in order already, as in most files; else O(log ready) more for each. */
clv_status clv_graph_put_in_order(clv_graph *g, clv_arena *scratch, clv_error *err);

/* Fills readers_of, and where each tensor's are in it, from the operators and their inputs;
 * n_readers of every tensor must be 0. O(operators + edges). */
clv_status clv_graph_list_readers(clv_graph *g, clv_arena *arena, clv_error *err);

#endif
