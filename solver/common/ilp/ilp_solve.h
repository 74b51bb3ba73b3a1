/* ilp_solve.h - the one door to who solves programs: GLPK where it was built in, else CBC, else
 * nobody.
 *
 * Both are branch and bound on linear relaxations (Land and Doig 1960). A solver that fails or is
 * not there is an end like any other (CLV_ILP_FAILED): it costs what the program was for, never the
 * job.
 */
#ifndef CLV_SOLVER_COMMON_ILP_ILP_SOLVE_H
#define CLV_SOLVER_COMMON_ILP_ILP_SOLVE_H

#include "solver/common/ilp/ilp.h"

/* The name of who solves unless limits name another; NULL: nobody. */
const char *clv_ilp_solver(void);

/* Solves. The bound is the solver's own, as good as its arithmetic (about 1e-6 of the numbers).
 * Fails for want of memory only. With GLPK the same program and limits give the same result, as
 * long as neither seconds nor stop end it. */
clv_status clv_ilp_solve(const clv_ilp *ilp, const clv_ilp_limits *limits, clv_arena *arena,
                         clv_ilp_result *ret, clv_error *err);

/* Solves without the demand for whole numbers. The bound is that of clv_ilp_dual_bound() for the
 * solver's multipliers, so it holds whatever they are; also when a limit came first. All columns
 * need finite bounds for a finite one. O(terms) beside the solver. */
clv_status clv_ilp_relax(const clv_ilp *ilp, const clv_ilp_limits *limits, clv_arena *arena,
                         clv_ilp_result *ret, clv_error *err);

#endif
