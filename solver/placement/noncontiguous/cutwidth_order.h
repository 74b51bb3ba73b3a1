/* cutwidth_order.h - an order of the blocks in which few nets are open at a time.
 *
 * A greedy heuristic for the minimum cut linear arrangement (cutwidth) problem (Diaz, Petit and
 * Serna 2002, A survey of graph layout problems, ACM Computing Surveys 34). A net is open between
 * its first and its last block. Graphs of models are long and thin: some order of their blocks has
 * 2 to 10 open nets where it has most. What is decided before a place then matters to the blocks
 * behind it through these nets alone (decision_diagram.h). Ours: the criterion is the number of
 * states of the decision diagram, not of nets alone. It wins over the topological order where
 * layers are wide or far apart.
 */
#ifndef CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_CUTWIDTH_ORDER_H
#define CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_CUTWIDTH_ORDER_H

#include "solver/placement/common/contraction.h"

/* Into order (b->n long). Greedy: next comes the block that leaves the fewest nets open, or the
 * fewest states (decision_diagram.h), of equal ones the one that has waited longest, or shortest;
 * in these four ways from several first blocks, keeping the order with the least sum of states over
 * its places. O(starts * n * (blocks beside open nets) * (nets of a block)); the number of starts
 * falls as blocks grow in number. */
clv_status clv_cutwidth_order(const clv_contraction *b, clv_arena *arena, int32_t *order,
                              clv_error *err);

#endif
