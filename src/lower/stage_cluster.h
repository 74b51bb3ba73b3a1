/* stage_cluster.h - a cluster whose devices are meshes of devices of another.
 *
 * Devices are dealt out in a given order, so many to each mesh. A mesh counts as its weakest
 * device for each operator, with the least memory: each device of it does the same at the same
 * time. What one mesh sends to another goes
 * from each device to its counterpart at once: as fast as the slowest of these transfers, and links
 * that several of them take are shared.
 */
#ifndef CLV_LOWER_STAGE_CLUSTER_H
#define CLV_LOWER_STAGE_CLUSTER_H

#include "sharding/mesh.h"

/* per_mesh divides the number of devices. A mesh is known by the name of its first device.
 * O(devices * devices / per_mesh * ports of a route). */
clv_status clv_stage_cluster_make(const clv_cluster *c, clv_mesh_devices devices, int32_t per_mesh,
                                  clv_arena *arena, clv_cluster **ret, clv_error *err);

#endif
