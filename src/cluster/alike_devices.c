#include "cluster/alike_devices.h"

/* An NVLink 4 port: NVIDIA H100 data sheet, 900 GB/s for both directions. Only what is cheaper than
 * what is taken from it, and that hardly depends on it. */
#define LINK_BYTES_PER_S 4.5e11
#define LINK_NS          2000

clv_status clv_cluster_of_alike(int32_t n, clv_arena *arena, const clv_cluster **ret,
                                clv_error *err)
{
    clv_cluster *c = CLV_NEW(arena, clv_cluster);
    size_t n_routes = (size_t)n * (size_t)n;
    clv_port *ports = CLV_NEW_ARRAY(arena, clv_port, 2 * n);
    clv_device *devices = CLV_NEW_ARRAY(arena, clv_device, n);
    clv_device_kind *kind = CLV_NEW(arena, clv_device_kind);
    clv_route *routes = CLV_NEW_ARRAY(arena, clv_route, n_routes);
    int32_t *taken = CLV_NEW_ARRAY(arena, int32_t, 2 * n_routes);

    if (!c || !ports || !devices || !kind || !routes || !taken)
        return clv_fail_nomem(err, "a cluster");
    kind->name = kind->vendor = "device";
    for (int32_t i = 0; i < n; i++) {
        devices[i].name = "device";
        ports[2 * i] = (clv_port){ "out", LINK_BYTES_PER_S };
        ports[2 * i + 1] = (clv_port){ "in", LINK_BYTES_PER_S };
        for (int32_t j = 0; j < n; j++) {
            int32_t at = i * n + j;
            taken[2 * at] = 2 * i;
            taken[2 * at + 1] = 2 * j + 1;
            routes[at] = (clv_route){ .name = "link",
                                      .latency_ns = LINK_NS,
                                      .bytes_per_s = LINK_BYTES_PER_S,
                                      .ports = taken + 2 * at,
                                      .n_ports = 2 };
        }
    }
    *c = (clv_cluster){ "alike", 1, n, 2 * n, kind, devices, ports, routes };
    *ret = c;
    return CLV_OK;
}
