/* component_memory_bound.h - a bound for components that do not all have room on the devices that
 * pay: Lagrangian lines (Geoffrion 1974; chain_bounds.h) of all components added up.
 *
 * Each part has lines: its latency is at least cost - price * bytes, whatever bytes it has on
 * paying devices. (Leaving out the other parts makes no latency longer, see component_division.h.)
 * So under a limit T it has (cost - T) / price bytes there at least, by its best line. As long as
 * these bytes, summed over all parts, are more than all paying devices hold, no solution is as
 * short as T.
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_COMPONENT_MEMORY_BOUND_H
#define CLV_SOLVER_PLACEMENT_LATENCY_COMPONENT_MEMORY_BOUND_H

#include "solver/placement/latency/component_shares.h"

/* The bound of what parts can do together with the memory of all paying devices; nothing where all
 * have room. */
clv_status clv_component_memory_bound(clv_component_shares *s, clv_error *err);

#endif
