/* plan_copies.h - copies of a plan: requests go round, and each is one run on the devices of one
 * copy.
 *
 * What a plan says of operators, meshes, transfers, kernels and collectives is of copy 0. The
 * device at the same place of another copy does the same; the numbers of a device are its own.
 */
#ifndef CLV_PLAN_PLAN_COPIES_H
#define CLV_PLAN_PLAN_COPIES_H

#include "cluster/cluster.h"
#include "plan/plan.h"
#include "sharding/mesh.h"

/* Name, kind and memory of a device of a cluster, which has nothing to do. The names are shared. */
clv_plan_device clv_plan_idle_device(const clv_cluster *cluster, int32_t device);

/* Moves a plan for some devices of a cluster to all of it: device k of the plan becomes order[k],
 * and the others are idle. A plan without meshes. Lists are replaced by others in the arena.
 * CLV_ENOMEM. O(operators + devices + transfers + kernels). */
clv_status clv_plan_place(clv_plan *plan, const clv_cluster *whole, const int32_t *order,
                          clv_arena *arena, clv_error *err);

/* Makes so many copies of a plan on the first group.n devices of group.at, which has as many for
 * each copy, one after the other, all alike; 1: none but itself. The array is shared. CLV_ENOMEM.
 * O(devices). */
clv_status clv_plan_copy(clv_plan *plan, clv_mesh_devices group, int32_t copies, clv_arena *arena,
                         clv_error *err);

/* By device: the one of copy 0 that does the same; itself where it is of none. In the arena; the
 * copies must be right (clv_plan_check_copies). CLV_ENOMEM. O(devices). */
clv_status clv_plan_originals(const clv_plan *plan, clv_arena *arena, int32_t **ret,
                              clv_error *err);

/* By device: its place in copy 0; -1: it is not of that. In the arena; the copies must be right.
 * CLV_ENOMEM. O(devices). */
clv_status clv_plan_places(const clv_plan *plan, clv_arena *arena, int32_t **ret, clv_error *err);

/* Devices that exist, each in one copy and once; copy 0 has all that do something, the others what
 * copy 0 does at each place. CLV_EFORMAT names what is wrong. Scratch is given back. O(devices). */
clv_status clv_plan_check_copies(const clv_plan *plan, clv_arena *arena, clv_error *err);

#endif
