/* route.h - from what joins devices to a route for every pair. */
#ifndef CLV_CLUSTER_ROUTE_H
#define CLV_CLUSTER_ROUTE_H

#include "cluster/cluster.h"

typedef struct {
    const char *name;
    int32_t size; /* parts of the level below, or devices in the innermost */
    clv_link_speed speed;
} clv_level;

/* One direction. */
typedef struct {
    const char *name;
    int32_t from, to;
    clv_link_speed speed;
} clv_link;

/* Both set ports, n_ports and routes of c, whose devices are there already; c is left alone on
 * failure. what names the cluster in messages. */

/* The product of the sizes must be the number of devices. O(devices^2 * levels). */
clv_status clv_routes_by_levels(clv_cluster *c, const clv_level *levels, int32_t n_levels,
                                clv_arena *arena, clv_error *err);
/* The ends of the links must be devices. A pair without a way is CLV_EFORMAT.
 * O(devices * links * log links). */
clv_status clv_routes_by_links(clv_cluster *c, const char *what, const clv_link *links,
                               int32_t n_links, clv_arena *arena, clv_error *err);

#endif
