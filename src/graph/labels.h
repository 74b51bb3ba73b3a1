/* labels.h - a unique name for each operator of a graph, for people. */
#ifndef CLV_GRAPH_LABELS_H
#define CLV_GRAPH_LABELS_H

#include "base/arena.h"
#include "graph/graph.h"

/* Sets clv_op_info.label: the file's name where it is the first of its kind, else "name#7"; without
 * a name "Type_7", where 7 is the operator's position or, if that is taken, the next multiple of
 * the graph's size on. *ret_first is the first operator whose name an earlier one has (-1: none),
 * *ret_n how many there are. O(operators) expected. */
clv_status clv_label_ops(clv_graph *g, clv_arena *arena, int32_t *ret_first, int32_t *ret_n,
                         clv_error *err);

#endif
