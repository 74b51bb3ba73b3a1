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

/* Work, in nodes and edges looked at: some tens of milliseconds; a second or less. */
#define CLV_ENUMERATE_SOME INT64_C(10000000)
#define CLV_ENUMERATE_ALL  INT64_C(200000000)

/* All assignments, where there are at most 2^24, counted without regard to equal devices: the
 * optimum, or the proof that there is none; nothing is proven once the work is done. CLV_ENOMEM.
 * O(legal partial assignments * (nodes + edges)), and an evaluation or judgement of each
 * assignment that is left (evaluate_latency.h, place_problem.h). */
clv_status clv_enumerate_assignments(clv_place_search *search, const clv_latency_tables *tables,
                                     int64_t work, clv_arena *arena, clv_error *err);

#endif
