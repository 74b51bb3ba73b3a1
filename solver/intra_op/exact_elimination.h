/* exact_elimination.h - small and narrow problems solved to the end at once: the whole problem as
 * one subproblem.
 *
 * Bucket elimination (Dechter 1999) with prices, then branch and bound, as reoptimize.h does it,
 * over all nodes; wins where the treewidth is small.
 */
#ifndef CLV_SOLVER_INTRA_OP_EXACT_ELIMINATION_H
#define CLV_SOLVER_INTRA_OP_EXACT_ELIMINATION_H

#include "solver/intra_op/reoptimize.h"

/* Eliminates the whole problem if its tables are small enough, with prices, then branches. s: the
 * best solution found, if one was (all its choices are 0 or more). bound: no solution costs less,
 * in whole costs and safe from rounding; -1: none. *none: no solution is within the limit. Effort
 * is limited. */
clv_status clv_exact_elimination(clv_workspace *b, clv_search_state *s, bool brief, bool *none,
                                 double *bound, clv_error *err);

#endif
