#include "cluster/route.h"

/* Devices are numbered so that a level's parts are runs: with strides 1, s0, s0*s1, ... two devices
 * are in the same part of level k when their numbers divided by stride k+1 are equal. Ports stand
 * as [level][device][out, in].
 */

static int32_t port_of(const clv_cluster *c, int32_t level, int32_t device, int32_t in)
{
    return (level * c->n_devices + device) * 2 + in;
}

static clv_status make_ports(const clv_cluster *c, const clv_level *levels, int32_t n_levels,
                             clv_arena *arena, clv_port *ports, clv_error *err)
{
    for (int32_t k = 0; k < n_levels; k++)
        for (int32_t d = 0; d < c->n_devices; d++)
            for (int32_t in = 0; in < 2; in++) {
                const char *name = clv_arena_printf(arena, "%s %s %s", levels[k].name,
                                                    c->devices[d].name, in ? "in" : "out");
                if (!name)
                    return clv_fail_nomem(err, "the ports of a cluster");
                ports[port_of(c, k, d, in)] = (clv_port){ name, levels[k].bytes_per_s };
            }
    return CLV_OK;
}

/* The innermost level that holds both. */
static int32_t level_of(const clv_level *levels, int32_t a, int32_t b)
{
    int32_t k = 0;
    for (;; k++) {
        a /= levels[k].size;
        b /= levels[k].size;
        if (a == b)
            return k;
    }
}

clv_status clv_routes_by_levels(clv_cluster *c, const clv_level *levels, int32_t n_levels,
                                clv_arena *arena, clv_error *err)
{
    int32_t n = c->n_devices, n_ports = n_levels * n * 2;
    size_t pairs = (size_t)n * (size_t)n;
    clv_port *ports = CLV_NEW_ARRAY(arena, clv_port, n_ports);
    clv_route *routes = CLV_NEW_ARRAY(arena, clv_route, pairs);
    int32_t(*taken)[2] = clv_arena_take_array(arena, pairs, sizeof *taken);
    if (!ports || !routes || !taken)
        return clv_fail_nomem(err, "the routes of a cluster");
    CLV_TRY(make_ports(c, levels, n_levels, arena, ports, err));
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            if (a == b)
                continue;
            size_t at = (size_t)a * (size_t)n + (size_t)b;
            int32_t k = level_of(levels, a, b);
            taken[at][0] = port_of(c, k, a, 0);
            taken[at][1] = port_of(c, k, b, 1);
            routes[at] = (clv_route){ levels[k].name, levels[k].latency_ns, levels[k].bytes_per_s,
                                      taken[at], 2 };
        }
    c->ports = ports;
    c->n_ports = n_ports;
    c->routes = routes;
    return CLV_OK;
}
