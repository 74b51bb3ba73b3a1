#include "compile/schedule.h"

#include <assert.h>
#include <stdlib.h>

/* A discrete event simulation whose only events are "a tensor that must be sent is ready". Between
 * two of them a device runs on by itself, so each device has at most one event in the heap. Events
 * are taken by time, then by net, so ports are given out first come first served and ties go to the
 * tensor that is written first.
 */
typedef struct {
    int64_t arrival; /* -1: not sent yet */
    int32_t to;
    bool awaited; /* the receiver's next segment waits for it */
} cut;

typedef struct {
    int64_t free_ns;  /* end of what ran last */
    int64_t start_ns; /* of the segment: latest of free_ns and arrivals */
    int64_t busy_ns;  /* of all segments so far */
    int32_t range, segment, net;
    int32_t missing; /* inputs of the segment that are not sent yet */
} runner;

typedef struct {
    int64_t time;
    int32_t net, device;
} event;

typedef struct {
    const clv_program *p;
    const int32_t *device_of;
    const clv_unit_ranges *units;
    const int64_t *const *ticks;
    cut *cuts;
    int32_t *net_cut;  /* n_nets + 1: cuts of a net */
    int32_t *edge_cut; /* n_edges; -1: writer and reader on one device */
    runner *runners;   /* n_devices */
    event *heap;       /* n_devices */
    int32_t n_heap;
    int64_t *port_free, *port_busy;
    clv_transfer *transfers; /* NULL: not wanted */
    int32_t n_transfers;
} simulation;

static bool before(event a, event b) { return a.time != b.time ? a.time < b.time : a.net < b.net; }

static void push(simulation *s, event e)
{
    int32_t i = s->n_heap++;
    for (; i > 0 && before(e, s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = e;
}

static event pop(simulation *s)
{
    event top = s->heap[0], e = s->heap[--s->n_heap];
    int32_t i = 0;
    for (int32_t child = 1; child < s->n_heap; child = 2 * i + 1) {
        if (child + 1 < s->n_heap && before(s->heap[child + 1], s->heap[child]))
            child++;
        if (!before(s->heap[child], e))
            break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = e;
    return top;
}

/* Numbers the (net, receiver) pairs. last_net, cut_of: n_devices, last_net all -1. */
static int32_t number_cuts(simulation *s, int32_t *last_net, int32_t *cut_of)
{
    const clv_program *p = s->p;
    int32_t n = 0;
    for (int32_t segment = 0; segment < p->n_segments; segment++) {
        int32_t from = s->device_of[p->segment_unit[segment]];
        for (int32_t net = p->segment_net[segment]; net < p->segment_net[segment + 1]; net++) {
            s->net_cut[net] = n;
            for (int32_t k = p->net_edge[net]; k < p->net_edge[net + 1]; k++) {
                int32_t edge = p->net_edges[k];
                int32_t to = s->device_of[p->segment_unit[p->edge_segment[edge]]];
                if (to != from && last_net[to] != net) {
                    last_net[to] = net;
                    cut_of[to] = n++;
                }
                s->edge_cut[edge] = to == from ? -1 : cut_of[to];
            }
        }
    }
    s->net_cut[p->n_nets] = n;
    return n;
}

static void fill_cuts(simulation *s)
{
    const clv_program *p = s->p;
    for (int32_t edge = 0; edge < p->n_edges; edge++)
        if (s->edge_cut[edge] >= 0)
            s->cuts[s->edge_cut[edge]] =
                (cut){ .arrival = -1, .to = s->device_of[p->segment_unit[p->edge_segment[edge]]] };
}

/* Looks at the inputs of the device's segment. False: it has to wait for some. */
static bool enter(simulation *s, runner *r)
{
    r->start_ns = r->free_ns;
    r->missing = 0;
    r->net = s->p->segment_net[r->segment];
    for (int32_t e = s->p->segment_edge[r->segment]; e < s->p->segment_edge[r->segment + 1]; e++) {
        if (s->edge_cut[e] < 0)
            continue;
        cut *c = &s->cuts[s->edge_cut[e]];
        if (c->arrival < 0) {
            c->awaited = true;
            r->missing++;
        } else if (c->arrival > r->start_ns) {
            r->start_ns = c->arrival;
        }
    }
    return r->missing == 0;
}

/* To the first segment at or behind the runner's place. False: the device has done all. */
static bool find_segment(const simulation *s, int32_t device, runner *r)
{
    for (; r->range < s->units->first[device + 1]; r->range++) {
        clv_unit_range range = s->units->ranges[r->range];
        if (r->segment < s->p->unit_segment[range.first])
            r->segment = s->p->unit_segment[range.first];
        if (r->segment < s->p->unit_segment[range.end])
            return true;
    }
    return false;
}

static int64_t end_of(const simulation *s, int32_t device, const runner *r, int32_t position)
{
    const int64_t *ticks = s->ticks[device];
    int64_t run = ticks[position] - ticks[s->p->segment_first[r->segment]];
    return clv_add_saturated(r->start_ns, run);
}

/* Runs a device, whose segment has its inputs, up to the next tensor to send, the next wait, or the
 * end. */
static void run_on(simulation *s, int32_t device)
{
    runner *r = &s->runners[device];
    do {
        for (; r->net < s->p->segment_net[r->segment + 1]; r->net++) {
            if (s->net_cut[r->net] == s->net_cut[r->net + 1])
                continue;
            int32_t position = s->p->position[s->p->net_slot[r->net]];
            push(s, (event){ end_of(s, device, r, position + 1), r->net, device });
            return;
        }
        r->free_ns = end_of(s, device, r, s->p->segment_first[r->segment + 1]);
        r->busy_ns += r->free_ns - r->start_ns;
        r->segment++;
    } while (find_segment(s, device, r) && enter(s, r));
}

/* Sends one tensor to one device; returns when it arrives. */
static int64_t transfer(simulation *s, event e, int32_t to)
{
    const clv_cluster *cluster = s->p->workload.cluster;
    const clv_route *route = clv_route_between(cluster, e.device, to);
    int32_t slot = s->p->net_slot[e.net];
    int64_t ns = clv_transfer_ns(cluster, e.device, to, s->p->bytes[slot]);
    int64_t start = e.time;
    for (int32_t k = 0; k < route->n_ports; k++)
        if (s->port_free[route->ports[k]] > start)
            start = s->port_free[route->ports[k]];
    int64_t arrival = clv_add_saturated(start, ns);
    for (int32_t k = 0; k < route->n_ports; k++) {
        int32_t port = route->ports[k];
        s->port_free[port] = arrival;
        s->port_busy[port] = clv_add_saturated(s->port_busy[port], ns);
    }
    if (s->transfers)
        s->transfers[s->n_transfers++] =
            (clv_transfer){ s->p->tensor_of[slot], e.device, to, s->p->bytes[slot], start, ns };
    return arrival;
}

static void send(simulation *s, event e)
{
    for (int32_t k = s->net_cut[e.net]; k < s->net_cut[e.net + 1]; k++) {
        cut *c = &s->cuts[k];
        runner *r = &s->runners[c->to];
        c->arrival = transfer(s, e, c->to);
        if (!c->awaited)
            continue;
        if (c->arrival > r->start_ns)
            r->start_ns = c->arrival;
        if (--r->missing == 0)
            run_on(s, c->to);
    }
    s->runners[e.device].net++;
    run_on(s, e.device);
}

static void simulate(simulation *s)
{
    int32_t n_devices = s->p->workload.cluster->n_devices;
    for (int32_t d = 0; d < n_devices; d++) {
        runner *r = &s->runners[d];
        r->range = s->units->first[d];
        if (find_segment(s, d, r) && enter(s, r))
            run_on(s, d);
    }
    while (s->n_heap > 0)
        send(s, pop(s));
}

/* Transfers were issued by the time their tensor was ready; a busy port can turn that around. */
static int by_start(const void *a, const void *b)
{
    const clv_transfer *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->tensor.i != y->tensor.i)
        return x->tensor.i < y->tensor.i ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static bool take_room(simulation *s, bool want_transfers, clv_arena *arena)
{
    const clv_cluster *cluster = s->p->workload.cluster;
    s->net_cut = CLV_NEW_ARRAY(arena, int32_t, s->p->n_nets + 1);
    s->edge_cut = CLV_NEW_ARRAY(arena, int32_t, s->p->n_edges);
    s->runners = CLV_NEW_ARRAY(arena, runner, cluster->n_devices);
    s->heap = CLV_NEW_ARRAY(arena, event, cluster->n_devices);
    s->port_free = CLV_NEW_ARRAY(arena, int64_t, cluster->n_ports);
    s->port_busy = CLV_NEW_ARRAY(arena, int64_t, cluster->n_ports);
    int32_t *last_net = CLV_NEW_ARRAY(arena, int32_t, cluster->n_devices);
    int32_t *cut_of = CLV_NEW_ARRAY(arena, int32_t, cluster->n_devices);
    if (!s->net_cut || !s->edge_cut || !s->runners || !s->heap || !s->port_free || !s->port_busy ||
        !last_net || !cut_of)
        return false;
    for (int32_t d = 0; d < cluster->n_devices; d++)
        last_net[d] = -1;
    int32_t n_cuts = number_cuts(s, last_net, cut_of);
    s->cuts = CLV_NEW_ARRAY(arena, cut, n_cuts);
    if (want_transfers)
        s->transfers = CLV_NEW_ARRAY(arena, clv_transfer, n_cuts);
    if (!s->cuts || (want_transfers && !s->transfers))
        return false;
    fill_cuts(s);
    return true;
}

static void note_ends(const simulation *s, clv_schedule *made)
{
    int64_t first_end = INT64_MAX;
    for (int32_t d = 0; d < s->p->workload.cluster->n_devices; d++) {
        const runner *r = &s->runners[d];
        assert(r->range == s->units->first[d + 1]);
        if (s->units->first[d] == s->units->first[d + 1])
            continue;
        if (r->free_ns > made->latency_ns)
            made->latency_ns = r->free_ns;
        if (!s->p->backward && r->free_ns - r->busy_ns > made->fill_ns)
            made->fill_ns = r->free_ns - r->busy_ns;
        if (r->free_ns < first_end) {
            first_end = r->free_ns;
            if (s->p->backward) /* the last stage is done first, after both passes */
                made->fill_ns = r->free_ns - r->busy_ns;
        }
    }
    made->drain_ns = first_end < INT64_MAX ? made->latency_ns - first_end : 0;
}

clv_status clv_schedule_run(const clv_program *p, const int32_t *device_of,
                            const clv_unit_ranges *units, const int64_t *const *ticks,
                            bool want_transfers, clv_arena *arena, clv_schedule *ret,
                            clv_error *err)
{
    simulation s = { .p = p, .device_of = device_of, .units = units, .ticks = ticks };
    if (!take_room(&s, want_transfers, arena))
        return clv_fail_nomem(err, "the schedule");
    simulate(&s);
    clv_schedule made = { .transfers = s.transfers, .n_transfers = s.n_transfers };
    note_ends(&s, &made);
    for (int32_t k = 0; k < p->workload.cluster->n_ports; k++)
        if (s.port_busy[k] > made.port_ns)
            made.port_ns = s.port_busy[k];
    if (s.n_transfers > 1)
        qsort(s.transfers, (size_t)s.n_transfers, sizeof *s.transfers, by_start);
    *ret = made;
    return CLV_OK;
}
