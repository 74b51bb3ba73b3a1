/* bound.h - what no answer of a strategy problem can cost less than, proven.
 *
 * Memory is paid for: each row (time) has a price, and an answer that is within the limit does not
 * get dearer when it pays for what it uses and is paid for the limit. What remains is bounded by
 * moving costs between nodes and edges until the cheapest choice of each alone tells much (message
 * passing, TRW-S); the sum of those is the bound. Prices and messages are found in floating point;
 * whatever they are, the bound that they prove is counted in whole numbers.
 *
 * Answers with a cost of never are not bounded: they cost CLV_INTRA_OP_NEVER at least.
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
 * bound counted. cost: of the best answer known, -1: none; it guides the steps. Ends early when
 * stop says so, or when the bound meets the cost. A round is O(entries over all edges). */
void clv_intra_op_bound_run(clv_intra_op_bound *b, int32_t rounds, clv_int128 cost,
                            bool (*stop)(void *ctx), void *ctx);

/* The best bound so far; never falls. */
clv_int128 clv_intra_op_bound_value(const clv_intra_op_bound *b);

int32_t clv_intra_op_bound_n_rows(const clv_intra_op_bound *b);
/* Of the best bound: by row, cost for a unit of usage. */
const double *clv_intra_op_bound_price(const clv_intra_op_bound *b);
/* By choice: what a legal answer with it costs at least; CLV_INTRA_OP_NEVER or more is cut to that.
 * The best of all that was counted. */
const int64_t *clv_intra_op_bound_min_marginals(const clv_intra_op_bound *b);

/* alive[choice] = false for choices that no legal answer cheaper than cost has. alive is the
 * caller's, all true before the first call. Returns how many went. */
int32_t clv_intra_op_bound_fix_choices(const clv_intra_op_bound *b, clv_int128 cost, bool *alive);

#endif
