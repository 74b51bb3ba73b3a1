/* latency_anneal.h - local search for the latency objective: simulated annealing (Kirkpatrick,
 * Gelatt, Vecchi 1983, "Optimization by simulated annealing") from a solution.
 *
 * Ours are the moves: a class alone, or with all on its device that leads to it or comes of it, so
 * that the end of a piece moves as a whole, across places where a cut would be dear; or two classes
 * change places. Memory may be overdrawn on the way, at a price. It wins where pieces share devices
 * and kinds differ, which the exact search leaves out.
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_LATENCY_ANNEAL_H
#define CLV_SOLVER_PLACEMENT_LATENCY_LATENCY_ANNEAL_H

#include "solver/placement/common/place_search.h"
#include "solver/placement/latency/latency_tables.h"

/* Annealing's rounds. */
typedef struct {
    const int32_t *start; /* by class: where each round begins; NULL: at the best solution so far */
    int32_t rounds;
    double share; /* of the steps of a round */
} clv_anneal_rounds;

/* Offers the best of each round; nothing without a start or a solution. O(rounds * steps * (nodes +
 * edges)). */
clv_status clv_latency_anneal(clv_place_search *search, const clv_latency_tables *tables,
                              const clv_anneal_rounds *rounds, clv_arena *arena, clv_error *err);

#endif
