/* fewest_devices.h - fewest devices where any node may be on any device.
 *
 * For one device, then two, and so on: every way to take so many from the kinds is a throughput
 * problem of its own, which is either answered with a load that is allowed, or proven not to be.
 * The first count with a solution is the best one found; it is proven when all smaller ones are
 * impossible: destructive lower bounds (Klein, Scholl 1999), with the duality of packing and
 * makespan (Coffman, Garey, Johnson 1978, "An application of bin-packing to multiprocessor
 * scheduling").
 */
#ifndef CLV_SOLVER_PLACEMENT_FEWEST_DEVICES_H
#define CLV_SOLVER_PLACEMENT_FEWEST_DEVICES_H

#include "solver/placement/common/place_search.h"

/* Rules: CLV_PLACE_DEVICES, free. Each throughput problem has the budget of clv_place_solve(). */
clv_status clv_fewest_devices_solve(clv_place_search *search, clv_arena *arena, clv_error *err);

#endif
