/* presolve_low_degree.h - nodes without memory and with at most two neighbours, eliminated
 * exactly.
 *
 * Bounded variable elimination (Larrosa, Dechter, "Boosting search with variable elimination",
 * Constraints 8, 2003): whatever the neighbours choose, such a node takes what is best then. That
 * is a table, which solutions are lifted by, and its costs are a cost of the one neighbour, or an
 * edge between the two. Nodes that go in one round have no edge to each other, and the next round
 * looks at their neighbours alone, so that a chain of layers goes from its end in one pass. Ours:
 * layers of a model repeat, and nodes with the same costs and the same matrices have one table
 * between them. O(nodes + edges), and O(entries * choices) for each kind of node, capped.
 */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_LOW_DEGREE_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_LOW_DEGREE_H

#include "solver/intra_op/presolve_problem.h"

/* Nodes without memory and with at most two neighbours, until there is none, a cost of never is
 * made, which is for other passes to see, or much memory is held. ret: the same nodes with the
 * costs and edges that packing is to see; the tables of the leaves are in `keep`. */
clv_status clv_pre_low_degree(const clv_pre_problem *w, clv_arena *arena, clv_arena *keep,
                              clv_pre_problem *ret, clv_pre_fold *fold, clv_error *err);

#endif
