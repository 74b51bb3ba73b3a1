/* mesh_levels.h - the levels of links between the devices of a cluster, and the meshes that go with
 * them.
 */
#ifndef CLV_SHARDING_MESH_LEVELS_H
#define CLV_SHARDING_MESH_LEVELS_H

#include "sharding/mesh.h"

/* How devices hang together: order lists them so that those joined by fast links are neighbours,
 * and size[k] of level k - 1 (of devices for k = 0) make one of level k, innermost first. The
 * product of the sizes is the number of devices. */
typedef struct {
    int32_t n_devices;
    const int32_t *order; /* ids in the cluster */
    int32_t n_levels;     /* at least 1 */
    const int32_t *size;
} clv_link_levels;

/* Found from the routes alone: two devices are as near as 1 MiB goes between them, the slower way.
 * A level is a grouping by nearness in which all groups have one size; a grouping into unequal
 * groups is passed over. O(devices^2). */
clv_status clv_mesh_levels(const clv_cluster *cluster, clv_mesh_devices devices, clv_arena *arena,
                           clv_link_levels *ret, clv_error *err);

/* All ways to write the number of devices as a product of 1 to max_axes sizes above 1 (one device:
 * the mesh "1") whose groups lie within one group of each link level or are made of whole ones.
 * Fewer axes first, then the smaller first size. *ret in the arena. */
clv_status clv_mesh_forms(const clv_link_levels *levels, int32_t max_axes, clv_arena *arena,
                          const clv_mesh_form **ret, int32_t *ret_n, clv_error *err);

#endif
