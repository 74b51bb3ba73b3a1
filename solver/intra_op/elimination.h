/* elimination.h - a subproblem solved exactly by bucket elimination.
 *
 * Nonserial dynamic programming (Bertele, Brioschi, "Nonserial Dynamic Programming", 1972; as
 * bucket elimination: Dechter, Artificial Intelligence 113, 1999): nodes go one by one, each
 * leaving a table of its best cost over the nodes that it shares an edge or a table with. Memory
 * enters as a price by row, put on the nodes' own costs: one order serves many prices. A solve is
 * O(sum of table entries * factors).
 */
#ifndef CLV_SOLVER_INTRA_OP_ELIMINATION_H
#define CLV_SOLVER_INTRA_OP_ELIMINATION_H

#include "solver/intra_op/elimination_order.h"

/* Orders, and makes tables. Nodes without a present choice are never held while others can be; if
 * they must be, they are held at their cheapest. choice as in begin; random chooses what is held.
 */
clv_status clv_elimination_prepare(clv_subproblem *x, const clv_elimination_caps *caps,
                                   int32_t *choice, uint64_t *random, clv_error *err);
/* The cheapest cost of the subproblem with what touches it, with price[value] on top (NULL: none).
 * -INFINITY when asked to halt, or without memory: then there is nothing to read. */
double clv_elimination_solve(clv_subproblem *x, const double *price);
/* What each value of the node at a position costs more, all later positions being chosen; the
 * cheapest of them is the cheapest of all that is earlier. */
void clv_elimination_costs(const clv_subproblem *x, int32_t position, double *cost);
/* The cheapest solution, into chosen. After solve. */
void clv_elimination_read_solution(clv_subproblem *x);

#endif
