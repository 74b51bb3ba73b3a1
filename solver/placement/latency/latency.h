/* latency.h - the solvers of the latency objective, and the order in which they run.
 *
 * All work for free and for contiguous rules, with any kinds of devices. They are deterministic,
 * end by a budget of work, and return early when the run is over.
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_LATENCY_H
#define CLV_SOLVER_PLACEMENT_LATENCY_LATENCY_H

#include "solver/placement/common/place_search.h"
#include "solver/placement/latency/latency_chain.h"
#include "solver/placement/latency/latency_shares.h"

/* The portfolio's door: answers and bounds until one meets the other or the work is done. */
clv_status clv_latency_solve(clv_place_search *search, clv_arena *arena, clv_error *err);

/* -- its parts -- */

/* First answers: classes in order, each device filled in turn (latency_local.c). */
clv_status clv_latency_first(clv_place_search *search, const clv_latency_form *form,
                             clv_arena *arena, clv_error *err);

/* Where the graph falls into parts that have nothing to do with each other: bounds by each part
 * alone, and answers in which parts have devices of their own. Nothing where it is one part.
 * (latency_divide.c) */
clv_status clv_latency_divide(clv_place_search *search, clv_arena *arena, clv_error *err);

/* The bound of what parts can do together with the memory of all paying devices; nothing where all
 * have room. (latency_room.c) */
clv_status clv_latency_room(clv_shares *s, clv_error *err);

/* All assignments, where there are few: the optimum, or the proof that there is none. O(looks *
 * clock). (latency_small.c) */
clv_status clv_latency_small(clv_place_search *search, const clv_latency_form *form,
                             clv_arena *arena, clv_error *err);

/* Annealing, rounds times from start (by class) or, NULL, from the best answer so far; nothing
 * without either. share of the steps of a round. O(rounds * steps * clock). (latency_local.c) */
clv_status clv_latency_local(clv_place_search *search, const clv_latency_form *form,
                             const int32_t *start, int32_t rounds, double share, clv_arena *arena,
                             clv_error *err);

/* Bounds by heavy paths; *ret is the chain with the best one, NULL if the problem is too large for
 * chains (latency_bound.c). */
clv_status clv_latency_bounds(clv_place_search *search, const clv_latency_form *form,
                              clv_arena *arena, clv_latency_chain_form **ret, clv_error *err);

/* For every answer with some bytes on paying devices: latency >= cost - price * bytes. */
typedef struct {
    double cost, price; /* in the instance's unit, and for each byte */
} clv_latency_line;

#define CLV_LATENCY_MOST_LINES 96

typedef struct {
    int32_t n;
    clv_latency_line at[CLV_LATENCY_MOST_LINES];
} clv_latency_lines;

/* Adds the lines that say most about answers with about room bytes on paying devices. The form may
 * be of a part of the run's problem, with all devices: bounds that need no room are raised. Some
 * ten chains. (latency_bound.c) */
clv_status clv_latency_room_lines(clv_place_search *search, const clv_latency_form *form,
                                  int64_t room, clv_arena *arena, clv_latency_lines *lines,
                                  clv_error *err);

/* Offers the pieces of the chain's best way, and what is in none beside what it reads. Nothing
 * where devices are too few. O(pieces * (cut + units) + edges). (latency_start.c) */
clv_status clv_latency_start(clv_place_search *search, clv_latency_chain_form *chain,
                             clv_arena *arena, clv_error *err);

/* The exact search, with limits that rise, until work steps (some 100 ns each) are done.
 * *ret_start: the best that it found as an assignment of classes, which need not be legal; NULL
 * without (latency_exact.c). */
clv_status clv_latency_exact(clv_place_search *search, clv_latency_chain_form *chain, int64_t work,
                             clv_arena *arena, int32_t **ret_start, clv_error *err);

#endif
