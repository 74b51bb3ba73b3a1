/* alike_devices.h - a cluster of no machine in particular: devices that are all joined alike.
 *
 * For questions to which the links hardly matter: which steps lead from one layout to another.
 */
#ifndef CLV_CLUSTER_ALIKE_DEVICES_H
#define CLV_CLUSTER_ALIKE_DEVICES_H

#include "base/arena.h"
#include "cluster/cluster.h"

/* n devices, each with a port out and a port in as an NVLink port of today has. CLV_ENOMEM.
 * O(n^2). */
clv_status clv_cluster_of_alike(int32_t n, clv_arena *arena, const clv_cluster **ret,
                                clv_error *err);

#endif
