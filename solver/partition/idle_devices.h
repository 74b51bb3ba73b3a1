/* idle_devices.h - devices without units get the later part of another group: a greedy heuristic of
 * ours, the busiest group first as in list scheduling (Graham 1969), for plans that leave devices
 * out where all are to be used.
 */
#ifndef CLV_SOLVER_PARTITION_IDLE_DEVICES_H
#define CLV_SOLVER_PARTITION_IDLE_DEVICES_H

#include "solver/partition/groups.h"

/* g is legal and has no rules; so it is after. Groups are parted where that adds the least time on
 * links, the busiest first, and so that the period does not rise as long as that can be; the rest
 * of a group goes to the nearest device of its kind. No weights go where they have no room. Devices
 * stay empty where there are too few units. CLV_ENOMEM. O(units) moves of a unit, and as many sums
 * of a period at most, for each round over all groups; a round fills as many devices as were filled
 * before, mostly. */
clv_status clv_idle_devices_use(clv_groups *g, clv_arena *arena, clv_error *err);

#endif
