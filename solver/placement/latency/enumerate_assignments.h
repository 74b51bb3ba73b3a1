/* enumerate_assignments.h - every assignment, where there are few: exhaustive enumeration by
 * backtracking (Golomb, Baumert 1965) with symmetry breaking, for all objectives.
 *
 * Class by class, to every device that has room; of equal devices without nodes only the first.
 * What is placed bounds what comes of it: a load only grows (and no latency is less than that of a
 * device that pays, whose pieces run one after the other), all work is shared by the devices, the
 * longest path pays what crosses. What the other bounds leave out (how pieces share a device, kinds
 * that differ, times too far apart for ticks) is all in here.
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_ENUMERATE_ASSIGNMENTS_H
#define CLV_SOLVER_PLACEMENT_LATENCY_ENUMERATE_ASSIGNMENTS_H

#include "solver/placement/common/place_search.h"
#include "solver/placement/latency/latency_tables.h"

/* SOME and ALL: where there are at most 2^24 assignments, counted without regard to what is
 * together on a device, some tens of milliseconds or some tenths of a second; LAST: up to 2^48, of
 * which few may be legal. */
typedef enum {
    CLV_ENUMERATE_SOME,
    CLV_ENUMERATE_FEW, /* up to 2^20: to the end */
    CLV_ENUMERATE_ALL,
    CLV_ENUMERATE_LAST, /* no other method is left */
} clv_enumeration_effort;

/* All assignments, as far as the effort goes, or further where memory is nearly full: the optimum,
 * or the proof that there is none; nothing is proven once the work is done. What was in vain is not
 * done again. CLV_ENOMEM. O(legal partial assignments * (nodes + edges)), and an evaluation or
 * judgement of each assignment that is left (evaluate_latency.h, place_problem.h). */
clv_status clv_enumerate_assignments(clv_place_search *search, const clv_latency_tables *tables,
                                     clv_enumeration_effort effort, clv_arena *arena,
                                     clv_error *err);

#endif
