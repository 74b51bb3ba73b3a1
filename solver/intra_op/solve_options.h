/* solve_options.h - what a solve (solve.h) of an intra-operator problem is asked, and what it
 * solutions. */
#ifndef CLV_SOLVER_INTRA_OP_SOLVE_OPTIONS_H
#define CLV_SOLVER_INTRA_OP_SOLVE_OPTIONS_H

#include "problem/intra_op_problem.h"
#include "solver/common/solve.h"

typedef struct {
    clv_solve_options solve;
    bool brief; /* ends soon, by work done: some tenths of a second for 10^4 nodes of 20 choices */
    int32_t times;            /* briefly, but with the work of so many such searches; 0: of one */
    bool no_forward_checking; /* small problems as large ones: for tests of other methods */
    clv_int128 known;  /* no legal solution costs less, as the caller can prove; 0: not known */
    clv_int128 enough; /* the bound at which to end, solution or none; 0: not asked */
    clv_int128 rival; /* the cost of the best solution elsewhere: once the bound says that none here
                         costs less, */
    double rival_gap; /* this gap is enough; 0: there is none */
} clv_intra_op_options;

typedef struct {
    clv_solve_result solve; /* by node: its choice; value and bound are costs, in the whole part */
    clv_intra_op_value value;
} clv_intra_op_result;

#endif
