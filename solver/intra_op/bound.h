/* bound.h - a proven lower bound of a strategy problem: Lagrangian relaxation of memory with
 * message passing.
 *
 * Each row (time) has a price, the multiplier of its limit: a solution within the limit does not
 * get dearer when it pays for what it uses and is paid for the limit (Held, Wolfe, Crowder,
 * "Validation of subgradient optimization", Mathematical Programming 6, 1974). What remains is an
 * energy of nodes and edges, which sequential tree-reweighted message passing bounds: nodes in
 * order, each hands its cost in equal parts to its edges to later nodes, which hand on what is
 * certain; then back (TRW-S: Kolmogorov, "Convergent tree-reweighted message passing for energy
 * minimization", IEEE TPAMI 28, 2006).
 *
 * Ours: prices move between sweeps, not after they converge; messages are extrapolated
 * (bound_extrapolate.h); prices and messages are found in floating point, but the bound that they
 * prove is counted in whole numbers (bound_count.h). A round is O(entries over all edges + spans *
 * choices). It wins over a linear program where there are millions of entries, and gives min-
 * marginals, by which choices are fixed. Solutions with a cost of never are not bounded: they cost
 * CLV_INTRA_OP_NEVER at least.
 */
#ifndef CLV_SOLVER_INTRA_OP_BOUND_H
#define CLV_SOLVER_INTRA_OP_BOUND_H

#include "solver/intra_op/bound_state.h"

/* Prices start at zero. p's times are rows 0, 1, ... as presolve leaves them (there may be gaps,
 * but memory is taken for each row up to the last). Lives in the arena, as does all it makes. One
 * thread at a time. O(entries of different matrices + edges + spans * choices). */
clv_status clv_intra_op_bound_new(const clv_intra_op_problem *p, clv_arena *arena,
                                  clv_intra_op_bound **ret, clv_error *err);

/* So many more rounds: messages over all edges there and back, prices moved, and now and then the
 * bound counted. cost: of the best solution known, -1: none; it guides the steps. Ends early when
 * stop says so, or when the bound meets the cost. A round is O(entries over all edges). */
void clv_intra_op_bound_run(clv_intra_op_bound *b, int32_t rounds, clv_int128 cost,
                            bool (*stop)(void *ctx), void *ctx);

/* The best bound so far; never falls. */
clv_int128 clv_intra_op_bound_value(const clv_intra_op_bound *b);

int32_t clv_intra_op_bound_n_rows(const clv_intra_op_bound *b); /* gaps count */
/* Of the best bound: by row, cost for a unit of usage. */
const double *clv_intra_op_bound_price(const clv_intra_op_bound *b);
/* By choice: what a legal solution with it costs at least; CLV_INTRA_OP_NEVER or more is cut to
 * that. The best of all that was counted. */
const int64_t *clv_intra_op_bound_min_marginals(const clv_intra_op_bound *b);

/* alive[choice] = false for choices that no legal solution cheaper than cost has. alive is the
 * caller's, all true before the first call. Returns how many went. */
int32_t clv_intra_op_bound_fix_choices(const clv_intra_op_bound *b, clv_int128 cost, bool *alive);

#endif
