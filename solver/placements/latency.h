/* latency.h - the solvers of the latency objective, and the order in which they run.
 *
 * All work for free and for contiguous rules, with any kinds of devices. They are deterministic,
 * end by a budget of work, and return early when the run is over.
 */
#ifndef CLV_SOLVER_LATENCY_H
#define CLV_SOLVER_LATENCY_H

#include "solver/placements/latency_chain.h"
#include "solver/solver.h"

/* The portfolio's door: answers and bounds until one meets the other or the work is done. */
clv_status clv_latency_solve(clv_place_run *run, clv_arena *arena, clv_error *err);

/* -- its parts -- */

/* First answers: classes in order, each device filled in turn (latency_local.c). */
clv_status clv_latency_first(clv_place_run *run, const clv_latency_form *form, clv_arena *arena,
                             clv_error *err);

/* All assignments, where there are few: the optimum, or the proof that there is none. O(looks *
 * clock). (latency_small.c) */
clv_status clv_latency_small(clv_place_run *run, const clv_latency_form *form, clv_arena *arena,
                             clv_error *err);

/* Annealing, rounds times from start (by class) or, NULL, from the best answer so far; nothing
 * without either. share of the steps of a round. O(rounds * steps * clock). (latency_local.c) */
clv_status clv_latency_local(clv_place_run *run, const clv_latency_form *form, const int32_t *start,
                             int32_t rounds, double share, clv_arena *arena, clv_error *err);

/* Bounds by heavy paths; *ret is the chain with the best one, NULL if the problem is too large for
 * chains (latency_bound.c). */
clv_status clv_latency_bounds(clv_place_run *run, const clv_latency_form *form, clv_arena *arena,
                              clv_latency_chain_form **ret, clv_error *err);

/* Offers the pieces of the chain's best way, and what is in none beside what it reads. Nothing
 * where devices are too few. O(pieces * (cut + units) + edges). (latency_start.c) */
clv_status clv_latency_start(clv_place_run *run, clv_latency_chain_form *chain, clv_arena *arena,
                             clv_error *err);

/* The exact search, with limits that rise, until work steps (some 100 ns each) are done.
 * *ret_start: the best that it found as an assignment of classes, which need not be legal; NULL
 * without (latency_exact.c). */
clv_status clv_latency_exact(clv_place_run *run, clv_latency_chain_form *chain, int64_t work,
                             clv_arena *arena, int32_t **ret_start, clv_error *err);

#endif
