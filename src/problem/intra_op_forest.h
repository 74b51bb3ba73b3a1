/* intra_op_forest.h - a quick bound of an intra-operator problem: its optimum where only the edges
 * of a forest cost anything.
 */
#ifndef CLV_PROBLEM_INTRA_OP_FOREST_H
#define CLV_PROBLEM_INTRA_OP_FOREST_H

#include "problem/intra_op_problem.h"

/* No legal solution costs less. The forest spans the graph, of the edges that matter most; memory
 * counts at one moment, by a price for what is beyond the limit. Exact where the graph is a forest
 * and memory no matter. Nevers count as they stand. O(edges log edges + entries of the forest's
 * edges, a dozen times where memory matters). */
clv_status clv_intra_op_forest(const clv_intra_op_problem *p, clv_arena *arena, clv_int128 *ret,
                               clv_error *err);

#endif
