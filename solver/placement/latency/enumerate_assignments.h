/* enumerate_assignments.h - every assignment, where there are few: exhaustive enumeration by
 * backtracking (Golomb, Baumert 1965) with symmetry breaking.
 *
 * Class by class, to every device that has room; of equal devices without nodes only the first.
 * What the other bounds leave out (how pieces share a device, kinds that differ) is all in here.
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_ENUMERATE_ASSIGNMENTS_H
#define CLV_SOLVER_PLACEMENT_LATENCY_ENUMERATE_ASSIGNMENTS_H

#include "solver/placement/common/place_search.h"
#include "solver/placement/latency/latency_tables.h"

/* All assignments, where there are few: the optimum, or the proof that there is none. CLV_ENOMEM.
 * O(assignments * evaluation), see evaluate_latency.h. */
clv_status clv_enumerate_assignments(clv_place_search *search, const clv_latency_tables *tables,
                                     clv_arena *arena, clv_error *err);

#endif
