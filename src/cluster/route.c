#include "cluster/route.h"

/* -- levels -- */

/* Devices are numbered so that a level's parts are runs: with strides 1, s0, s0*s1, ... two devices
 * are in the same part of level k when their numbers divided by stride k+1 are equal. Ports stand
 * as [level][device][out, in].
 */

static int32_t port_of(const clv_cluster *c, int32_t level, int32_t device, int32_t in)
{
    return (level * c->n_devices + device) * 2 + in;
}

static clv_status make_level_ports(const clv_cluster *c, const clv_level *levels, int32_t n_levels,
                                   clv_arena *arena, clv_port *ports, clv_error *err)
{
    for (int32_t k = 0; k < n_levels; k++)
        for (int32_t d = 0; d < c->n_devices; d++)
            for (int32_t in = 0; in < 2; in++) {
                const char *name = clv_arena_printf(arena, "%s %s %s", levels[k].name,
                                                    c->devices[d].name, in ? "in" : "out");
                if (!name)
                    return clv_fail_nomem(err, "the ports of a cluster");
                ports[port_of(c, k, d, in)] =
                    (clv_port){ name, clv_link_reached(&levels[k].speed) };
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
    int32_t(*occupied)[2] = clv_arena_take_array(arena, pairs, sizeof *occupied);
    if (!ports || !routes || !occupied)
        return clv_fail_nomem(err, "the routes of a cluster");
    CLV_TRY(make_level_ports(c, levels, n_levels, arena, ports, err));
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            if (a == b)
                continue;
            size_t at = (size_t)a * (size_t)n + (size_t)b;
            int32_t k = level_of(levels, a, b);
            const clv_link_speed *speed = &levels[k].speed;
            occupied[at][0] = port_of(c, k, a, 0);
            occupied[at][1] = port_of(c, k, b, 1);
            routes[at] = (clv_route){ .name = levels[k].name,
                                      .latency_ns = speed->latency_ns,
                                      .bytes_per_s = clv_link_reached(speed),
                                      .peak_bytes_per_s = speed->peak_bytes_per_s,
                                      .basis = speed->basis,
                                      .ports = occupied[at],
                                      .n_ports = 2 };
        }
    c->ports = ports;
    c->n_ports = n_ports;
    c->routes = routes;
    return CLV_OK;
}

/* -- links -- */

/* Dijkstra's algorithm (1959) from every device, over links that point away from it. A hop costs
 * its latency and the time for 1 MiB; ties go to fewer hops, then to the last hop from the smaller
 * device, then to the link listed first. The routes from one device form a tree, so a route is a
 * prefix of any that goes on from its end: only the longest are stored, and the others point into
 * them.
 */

#define PROBE_BYTES 1048576.0
#define HOPS_MAX    (INT64_C(1) << 26) /* stored in all; 256 MiB */

typedef struct {
    int64_t ns;
    int32_t hops, device;
} reach;

typedef struct {
    const char *what;
    const clv_cluster *c;
    const clv_link *links;
    int32_t n_links;
    int64_t *hop_ns;          /* a link's */
    int32_t *start, *by_from; /* links of a device: by_from[start[d]] .. by_from[start[d + 1]] */
    reach *best;              /* of a device, from the source at hand */
    int32_t *last;            /* its last hop's link; -1: none */
    int32_t *settled;         /* devices in the order reached */
    bool *done;
    reach *heap; /* every link puts in one at most, and the source itself */
    int32_t n_heap, n_settled;
    int64_t n_stored;
} search;

static bool sooner(const reach *a, const reach *b)
{
    if (a->ns != b->ns)
        return a->ns < b->ns;
    if (a->hops != b->hops)
        return a->hops < b->hops;
    return a->device < b->device;
}

static void heap_push(search *s, reach r)
{
    int32_t i = s->n_heap++;
    for (; i > 0 && sooner(&r, &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = r;
}

static reach heap_pop(search *s)
{
    reach top = s->heap[0], r = s->heap[--s->n_heap];
    int32_t i = 0;
    for (;;) {
        int32_t k = 2 * i + 1;
        if (k + 1 < s->n_heap && sooner(&s->heap[k + 1], &s->heap[k]))
            k++;
        if (k >= s->n_heap || !sooner(&s->heap[k], &r))
            break;
        s->heap[i] = s->heap[k];
        i = k;
    }
    s->heap[i] = r;
    return top;
}

/* Whether coming over link is better than how its end is reached now. */
static bool improves(const search *s, int32_t link, const reach *r)
{
    int32_t now = s->last[r->device];
    if (now < 0)
        return true;
    const reach *old = &s->best[r->device];
    if (r->ns != old->ns || r->hops != old->hops)
        return sooner(r, old);
    if (s->links[link].from != s->links[now].from)
        return s->links[link].from < s->links[now].from;
    return link < now;
}

/* Relaxes the links that leave a device. */
static void relax_links(search *s, int32_t device)
{
    for (int32_t e = s->start[device]; e < s->start[device + 1]; e++) {
        int32_t link = s->by_from[e];
        const reach *here = &s->best[device];
        reach r = { here->ns + s->hop_ns[link], here->hops + 1, s->links[link].to };
        if (s->done[r.device] || !improves(s, link, &r))
            continue;
        bool sooner_there = s->last[r.device] < 0 || sooner(&r, &s->best[r.device]);
        s->best[r.device] = r;
        s->last[r.device] = link;
        if (sooner_there)
            heap_push(s, r);
    }
}

static void find_shortest(search *s, int32_t source)
{
    for (int32_t d = 0; d < s->c->n_devices; d++) {
        s->last[d] = -1;
        s->done[d] = false;
    }
    s->n_heap = s->n_settled = 0;
    s->best[source] = (reach){ 0, 0, source };
    heap_push(s, s->best[source]);
    while (s->n_heap > 0) {
        int32_t device = heap_pop(s).device;
        if (s->done[device])
            continue;
        s->done[device] = true;
        s->settled[s->n_settled++] = device;
        relax_links(s, device);
    }
}

/* Walks along the hops in taken and sets the route of every device on the way, unless it has one.
 */
static void set_routes(const search *s, const int32_t *taken, int32_t hops, clv_route *routes)
{
    clv_route r = { .ports = taken };
    for (int32_t i = 0; i < hops; i++) {
        const clv_link *link = &s->links[taken[i]];
        r.latency_ns += link->speed.latency_ns;
        r.n_ports = i + 1;
        double bytes_per_s = clv_link_reached(&link->speed);
        if (i == 0 || bytes_per_s < r.bytes_per_s) {
            r.bytes_per_s = bytes_per_s;
            r.peak_bytes_per_s = link->speed.peak_bytes_per_s;
            r.basis = link->speed.basis;
            r.name = link->name;
        }
        if (!routes[link->to].ports)
            routes[link->to] = r;
    }
}

/* Farthest first, so that a route is stored before its prefixes. */
static clv_status store_routes(search *s, int32_t source, clv_route *routes, clv_arena *arena,
                               clv_error *err)
{
    for (int32_t i = s->n_settled - 1; i > 0; i--) {
        int32_t device = s->settled[i];
        if (routes[device].ports)
            continue;
        int32_t hops = s->best[device].hops;
        s->n_stored += hops;
        if (s->n_stored > HOPS_MAX)
            return clv_fail(err, CLV_ELIMIT, "%.200s: its routes have more than %lld hops in all",
                            s->what, (long long)HOPS_MAX);
        int32_t *taken = CLV_NEW_ARRAY(arena, int32_t, hops);
        if (!taken)
            return clv_fail_nomem(err, "the routes of a cluster");
        for (int32_t d = device, h = hops; d != source; d = s->links[s->last[d]].from)
            taken[--h] = s->last[d];
        set_routes(s, taken, hops, routes);
    }
    return CLV_OK;
}

static clv_status routes_from(search *s, int32_t source, clv_route *routes, clv_arena *arena,
                              clv_error *err)
{
    const clv_device *device = s->c->devices;
    find_shortest(s, source);
    for (int32_t d = 0; d < s->c->n_devices; d++)
        if (!s->done[d])
            return clv_fail(err, CLV_EFORMAT,
                            "%.200s: no links lead from device %d (%.60s) to device %d (%.60s), "
                            "expected a way between any two",
                            s->what, (int)source, device[source].name, (int)d, device[d].name);
    return store_routes(s, source, routes, arena, err);
}

static clv_status init_search(search *s, clv_arena *arena, clv_error *err)
{
    int32_t n = s->c->n_devices;
    s->hop_ns = CLV_NEW_ARRAY(arena, int64_t, s->n_links);
    s->start = CLV_NEW_ARRAY(arena, int32_t, n + 1);
    s->by_from = CLV_NEW_ARRAY(arena, int32_t, s->n_links);
    s->best = CLV_NEW_ARRAY(arena, reach, n);
    s->last = CLV_NEW_ARRAY(arena, int32_t, n);
    s->settled = CLV_NEW_ARRAY(arena, int32_t, n);
    s->done = CLV_NEW_ARRAY(arena, bool, n);
    s->heap = CLV_NEW_ARRAY(arena, reach, s->n_links + 1);
    if (!s->hop_ns || !s->start || !s->by_from || !s->best || !s->last || !s->settled || !s->done ||
        !s->heap)
        return clv_fail_nomem(err, "the routes of a cluster");
    for (int32_t i = 0; i < s->n_links; i++) {
        double bytes_per_s = clv_link_reached(&s->links[i].speed);
        s->hop_ns[i] = s->links[i].speed.latency_ns + (int64_t)(PROBE_BYTES / bytes_per_s * 1e9);
    }
    /* Counting sort of the links by where they begin; the order of the list is kept. */
    for (int32_t i = 0; i < s->n_links; i++)
        s->start[s->links[i].from + 1]++;
    for (int32_t d = 0; d < n; d++)
        s->start[d + 1] += s->start[d];
    for (int32_t i = s->n_links; i-- > 0;) /* start[d + 1] moves down to where d begins */
        s->by_from[--s->start[s->links[i].from + 1]] = i;
    for (int32_t d = 0; d < n; d++)
        s->start[d] = s->start[d + 1];
    s->start[n] = s->n_links;
    return CLV_OK;
}

static clv_status make_link_ports(const clv_cluster *c, const clv_link *links, int32_t n_links,
                                  clv_arena *arena, clv_port *ports, clv_error *err)
{
    for (int32_t i = 0; i < n_links; i++) {
        const char *name =
            clv_arena_printf(arena, "%s %s to %s", links[i].name, c->devices[links[i].from].name,
                             c->devices[links[i].to].name);
        if (!name)
            return clv_fail_nomem(err, "the ports of a cluster");
        ports[i] = (clv_port){ name, clv_link_reached(&links[i].speed) };
    }
    return CLV_OK;
}

clv_status clv_routes_by_links(clv_cluster *c, const char *what, const clv_link *links,
                               int32_t n_links, clv_arena *arena, clv_error *err)
{
    size_t n = (size_t)c->n_devices;
    clv_port *ports = CLV_NEW_ARRAY(arena, clv_port, n_links);
    clv_route *routes = CLV_NEW_ARRAY(arena, clv_route, n * n);
    search s = { .what = what, .c = c, .links = links, .n_links = n_links };
    if (!ports || !routes)
        return clv_fail_nomem(err, "the routes of a cluster");
    CLV_TRY(make_link_ports(c, links, n_links, arena, ports, err));
    CLV_TRY(init_search(&s, arena, err));
    for (int32_t d = 0; d < c->n_devices; d++)
        CLV_TRY(routes_from(&s, d, routes + (size_t)d * n, arena, err));
    c->ports = ports;
    c->n_ports = n_links;
    c->routes = routes;
    return CLV_OK;
}
