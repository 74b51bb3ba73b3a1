/* presolve.h - a strategy problem made smaller without losing its best solution, as
 * presolve does for integer programs (Brearley, Mitra, Williams 1975).
 *
 * Passes in turn until none finds anything: moments (presolve_moments.h), arc consistency, forced
 * nodes, redundant rows, nodes of low degree, dominated choices. Each pass reads a problem and says
 * what can go; packing writes the next problem into the one of two scratch arenas that the last one
 * is not in. Where the assumption fails that some solution worth having has no cost of never, all
 * that is kept is that times become rows.
 *
 * The reduced problem has times 0, 1, ... that stand for the moments at which memory can matter at
 * all. Where something is held whatever is chosen, its last node has one choice and holds it. Any
 * legal solution of it lifts to a legal solution of the whole problem that costs as much, plus
 * base; and some best solution of the whole problem is the lift of one of the reduced problem's.
 */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_H

#include "problem/intra_op_problem.h"

typedef struct clv_presolved clv_presolved;

/* Everything lives in the arena. *ret NULL: infeasible, some moment needs more than the limit
 * whatever is chosen; why says where and by how much. */
clv_status clv_presolve(const clv_intra_op_problem *p, clv_arena *arena, clv_presolved **ret,
                        char why[static 200], clv_error *err);

/* The same for a problem in which choices with alive[choice] false are not to be used any more: a
 * reduced problem, say, once a bound says which choices no better solution has (bound.h). Solutions
 * lift to solutions of p. *ret NULL: no solution without a cost of never is left; why says so. */
clv_status clv_presolve_alive(const clv_intra_op_problem *p, const bool *alive, clv_arena *arena,
                              clv_presolved **ret, char why[static 200], clv_error *err);

/* The same without the assumption that some legal solution has no cost of never: only times become
 * rows, nodes and choices stay as they are. clv_presolve() does this by itself where it sees that
 * the assumption fails; where a search then finds no solution within the limit, this is the way. */
clv_status clv_presolve_rows(const clv_intra_op_problem *p, clv_arena *arena, clv_presolved **ret,
                             char why[static 200], clv_error *err);

/* Solutions with a cost of never were left out: what is proven of the reduced problem (a bound, or
 * that nothing fits) is proven of the solutions without one. */
bool clv_presolve_finite(const clv_presolved *s);

const clv_intra_op_problem *clv_presolve_problem(const clv_presolved *s); /* the reduced one */
clv_int128 clv_presolve_base(const clv_presolved *s);
/* choice: of the reduced problem; choice_of: of the whole one, by node. O(nodes of the whole). */
void clv_presolve_lift(const clv_presolved *s, const int32_t *choice, int32_t *choice_of);

#endif
