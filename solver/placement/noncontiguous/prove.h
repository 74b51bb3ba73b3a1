/* prove.h - a bound as near to the best solution as it gets, by steps.
 *
 * Destructive improvement (Klein and Scholl 1999, EJOR 112) with column generation: smaller and
 * smaller gaps are refuted. Cheap proofs come first; each costs what column_generation.h says.
 */
#ifndef CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_PROVE_H
#define CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_PROVE_H

#include "solver/placement/noncontiguous/column_generation.h"

/* Tries to prove that no solution is better than the incumbent by more than a gap: first the gap
 * asked for, then 1 %, 0.5 % and so on, to the optimum. Each try has so much work
 * (clv_pareto_dp_work()). *ret_all: every one succeeded, or the search is over. Needs an incumbent.
 */
clv_status clv_noncontiguous_prove(clv_column_gen *bound, const clv_contraction *b,
                                   clv_place_search *search, int64_t work, bool *ret_all,
                                   clv_error *err);

/* Makes what proofs need, and raises the simple bounds (simple_bounds.h). *ret is NULL where there
 * are too many blocks: pricing takes longer than all else. order as in clv_column_gen_new(). */
clv_status clv_noncontiguous_prove_new(clv_place_search *search, const clv_contraction *b,
                                       const int32_t *order, clv_arena *arena, clv_column_gen **ret,
                                       clv_error *err);

#endif
