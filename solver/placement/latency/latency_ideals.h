/* latency_ideals.h - the exact search of the latency objective: dynamic programming over the order
 * ideals of the graph (Tarnawski et al. 2020, "Efficient algorithms for device placement of DNN
 * graph operators"), with labels and dominance (ideal_labels.h).
 *
 * Ours are the pieces that are grown unit by unit under a limit, and the bound of the rest by a
 * chain.
 *
 * Every solution is a line of steps: a piece on a paying device, or one unit on another device,
 * each behind all that it reads. So it walks through ideals, from none to all. The search goes
 * through the ideals by size, tries all pieces from each, and keeps the labels that can still lead
 * to less than a limit: a label that is done with a place of the chain has the rest of the chain
 * before it, whose best cut is known (chain_division.h). If none is left, the limit is a bound.
 *
 * It leaves out that a class is on one device where it is several units, differences between kinds
 * that pay, and how pieces share a device; the solution that it finds is judged like any other.
 * Under contiguous rules it counts devices. Under free rules it does so only if asked (strict):
 * then all bytes must fit, and pieces of more than half a device have one each.
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_LATENCY_IDEALS_H
#define CLV_SOLVER_PLACEMENT_LATENCY_LATENCY_IDEALS_H

#include "solver/placement/common/place_search.h"
#include "solver/placement/latency/ideal_labels.h"

typedef enum {
    CLV_IDEAL_NONE,  /* nothing is below the limit: it is a bound */
    CLV_IDEAL_FOUND, /* value is the least, a bound too; steps say how */
    CLV_IDEAL_ENDED  /* work, memory or time are up: nothing is known */
} clv_ideal_end;

typedef struct {
    clv_ideal_end end;
    int64_t value; /* ticks */
    int32_t n_steps;
    int32_t *step_of; /* by unit */
    bool *step_pays;  /* by step */
    bool *step_rides; /* by step: one unit that costs no time, on any device that does not pay */
    int64_t work;     /* that it took */
} clv_ideal_result;

typedef struct {
    int64_t limit; /* ticks: only what is below is sought */
    bool strict;
    int64_t most_work; /* steps, some 100 ns each */
} clv_ideal_limits;

/* The result lives in the arena. CLV_ENOMEM. O(pairs of ideals * labels) at worst, far less with a
 * limit near the best. */
clv_status clv_latency_ideals(clv_place_search *search, const clv_chain_division *chain,
                              const clv_ideal_limits *limits, clv_arena *arena,
                              clv_ideal_result *ret, clv_error *err);

#endif
