#include "compile/schedule.h"

#include <assert.h>
#include <stdlib.h>

/* The only events are "a tensor that must be sent is ready". Between two of them a device runs on
 * by itself, so each device has at most one event in the heap. Events are taken by time, then by
 * net, so ports are given out first come first served and ties go to the tensor that is written
 * first.
 */

/* A net on its way to one device. */
typedef struct {
    int64_t arrival_ns; /* -1: not sent yet */
    int32_t to;
    bool awaited; /* the receiver's next segment waits for it */
} delivery;

typedef struct {
    int64_t free_ns;  /* end of what ran last */
    int64_t start_ns; /* of the segment: latest of free_ns and arrivals */
    int64_t busy_ns;  /* of all segments so far */
    int32_t range, segment, net;
    int32_t missing; /* inputs of the segment that are not sent yet */
} device_state;

typedef struct {
    int64_t at_ns;
    int32_t net, device;
} event;

typedef struct {
    const clv_program *p;
    const clv_candidate *candidate;
    delivery *deliveries;
    int32_t *net_delivery;  /* n_nets + 1: deliveries of a net */
    int32_t *edge_delivery; /* n_edges; -1: writer and reader on one device */
    device_state *devices;  /* n_devices */
    event *heap;            /* n_devices */
    int32_t n_heap;
    int64_t *port_free_ns, *port_busy_ns;
    clv_transfer *transfers; /* NULL: not wanted */
    int32_t n_transfers;
} simulation;

static bool before(event a, event b)
{
    return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.net < b.net;
}

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

/* Returns how many there are. last_net, delivery_of: n_devices, last_net all -1. */
static int32_t number_deliveries(simulation *s, int32_t *last_net, int32_t *delivery_of)
{
    const clv_program *p = s->p;
    const int32_t *device_of = s->candidate->device_of;
    int32_t n = 0;
    for (int32_t segment = 0; segment < p->n_segments; segment++) {
        int32_t from = device_of[p->segment_unit[segment]];
        for (int32_t net = p->segment_net[segment]; net < p->segment_net[segment + 1]; net++) {
            s->net_delivery[net] = n;
            for (int32_t k = p->net_edge[net]; k < p->net_edge[net + 1]; k++) {
                int32_t edge = p->net_edges[k];
                int32_t to = device_of[p->segment_unit[p->edge_segment[edge]]];
                if (to != from && last_net[to] != net) {
                    last_net[to] = net;
                    delivery_of[to] = n++;
                }
                s->edge_delivery[edge] = to == from ? -1 : delivery_of[to];
            }
        }
    }
    s->net_delivery[p->n_nets] = n;
    return n;
}

/* Begins the device's segment as soon as its inputs are there. False: it has to wait for some. */
static bool begin_segment(simulation *s, device_state *r)
{
    r->start_ns = r->free_ns;
    r->missing = 0;
    r->net = s->p->segment_net[r->segment];
    for (int32_t e = s->p->segment_edge[r->segment]; e < s->p->segment_edge[r->segment + 1]; e++) {
        if (s->edge_delivery[e] < 0)
            continue;
        delivery *c = &s->deliveries[s->edge_delivery[e]];
        if (c->arrival_ns < 0) {
            c->awaited = true;
            r->missing++;
        } else if (c->arrival_ns > r->start_ns) {
            r->start_ns = c->arrival_ns;
        }
    }
    return r->missing == 0;
}

/* To the first segment at or behind where the device is. False: it has done all. */
static bool find_segment(const simulation *s, int32_t device, device_state *r)
{
    for (; r->range < s->candidate->first_range[device + 1]; r->range++) {
        clv_unit_range range = s->candidate->ranges[r->range];
        if (r->segment < s->p->unit_segment[range.first])
            r->segment = s->p->unit_segment[range.first];
        if (r->segment < s->p->unit_segment[range.end])
            return true;
    }
    return false;
}

/* When the operators of its segment before a position have run. */
static int64_t end_ns(const simulation *s, int32_t device, const device_state *r, int32_t position)
{
    const int64_t *prefix_ns = s->candidate->prefix_ns[device];
    int64_t run_ns = prefix_ns[position] - prefix_ns[s->p->segment_first[r->segment]];
    return clv_add_saturated(r->start_ns, run_ns);
}

/* Runs a device, whose segment has its inputs, up to the next tensor to send, the next wait, or the
 * end. */
static void run_device(simulation *s, int32_t device)
{
    device_state *r = &s->devices[device];
    do {
        for (; r->net < s->p->segment_net[r->segment + 1]; r->net++) {
            if (s->net_delivery[r->net] == s->net_delivery[r->net + 1])
                continue;
            int32_t position = s->p->position[s->p->net_slot[r->net]];
            push(s, (event){ end_ns(s, device, r, position + 1), r->net, device });
            return;
        }
        r->free_ns = end_ns(s, device, r, s->p->segment_first[r->segment + 1]);
        r->busy_ns += r->free_ns - r->start_ns;
        r->segment++;
    } while (find_segment(s, device, r) && begin_segment(s, r));
}

/* Sends one tensor to one device; returns when it arrives. */
static int64_t transfer(simulation *s, event e, int32_t to)
{
    const clv_cluster *cluster = s->p->workload.cluster;
    const clv_route *route = clv_route_between(cluster, e.device, to);
    int32_t slot = s->p->net_slot[e.net];
    int64_t ns = clv_transfer_ns(cluster, e.device, to, s->p->bytes[slot]);
    int64_t start_ns = e.at_ns;
    for (int32_t k = 0; k < route->n_ports; k++)
        if (s->port_free_ns[route->ports[k]] > start_ns)
            start_ns = s->port_free_ns[route->ports[k]];
    int64_t arrival_ns = clv_add_saturated(start_ns, ns);
    for (int32_t k = 0; k < route->n_ports; k++) {
        int32_t port = route->ports[k];
        s->port_free_ns[port] = arrival_ns;
        s->port_busy_ns[port] = clv_add_saturated(s->port_busy_ns[port], ns);
    }
    if (s->transfers)
        s->transfers[s->n_transfers++] =
            (clv_transfer){ s->p->tensor_of[slot], e.device, to, s->p->bytes[slot], start_ns, ns };
    return arrival_ns;
}

static void send(simulation *s, event e)
{
    for (int32_t k = s->net_delivery[e.net]; k < s->net_delivery[e.net + 1]; k++) {
        delivery *c = &s->deliveries[k];
        device_state *r = &s->devices[c->to];
        c->arrival_ns = transfer(s, e, c->to);
        if (!c->awaited)
            continue;
        if (c->arrival_ns > r->start_ns)
            r->start_ns = c->arrival_ns;
        if (--r->missing == 0)
            run_device(s, c->to);
    }
    s->devices[e.device].net++;
    run_device(s, e.device);
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

static bool allocate(simulation *s, bool want_transfers, clv_arena *arena)
{
    const clv_program *p = s->p;
    const clv_cluster *cluster = p->workload.cluster;
    s->net_delivery = CLV_NEW_ARRAY(arena, int32_t, p->n_nets + 1);
    s->edge_delivery = CLV_NEW_ARRAY(arena, int32_t, p->n_edges);
    s->devices = CLV_NEW_ARRAY(arena, device_state, cluster->n_devices);
    s->heap = CLV_NEW_ARRAY(arena, event, cluster->n_devices);
    s->port_free_ns = CLV_NEW_ARRAY(arena, int64_t, cluster->n_ports);
    s->port_busy_ns = CLV_NEW_ARRAY(arena, int64_t, cluster->n_ports);
    int32_t *last_net = CLV_NEW_ARRAY(arena, int32_t, cluster->n_devices);
    int32_t *delivery_of = CLV_NEW_ARRAY(arena, int32_t, cluster->n_devices);
    if (!s->net_delivery || !s->edge_delivery || !s->devices || !s->heap || !s->port_free_ns ||
        !s->port_busy_ns || !last_net || !delivery_of)
        return false;
    for (int32_t d = 0; d < cluster->n_devices; d++)
        last_net[d] = -1;
    int32_t n = number_deliveries(s, last_net, delivery_of);
    s->deliveries = CLV_NEW_ARRAY(arena, delivery, n);
    if (want_transfers)
        s->transfers = CLV_NEW_ARRAY(arena, clv_transfer, n);
    if (!s->deliveries || (want_transfers && !s->transfers))
        return false;
    for (int32_t edge = 0; edge < p->n_edges; edge++)
        if (s->edge_delivery[edge] >= 0)
            s->deliveries[s->edge_delivery[edge]] =
                (delivery){ .arrival_ns = -1,
                            .to = s->candidate->device_of[p->segment_unit[p->edge_segment[edge]]] };
    return true;
}

static void find_ends(const simulation *s, clv_schedule *made)
{
    int64_t first_end_ns = INT64_MAX;
    for (int32_t d = 0; d < s->p->workload.cluster->n_devices; d++) {
        const device_state *r = &s->devices[d];
        assert(r->range == s->candidate->first_range[d + 1]);
        if (!clv_candidate_uses(s->candidate, d))
            continue;
        if (r->free_ns > made->latency_ns)
            made->latency_ns = r->free_ns;
        if (!s->p->backward && r->free_ns - r->busy_ns > made->fill_ns)
            made->fill_ns = r->free_ns - r->busy_ns;
        if (r->free_ns < first_end_ns) {
            first_end_ns = r->free_ns;
            if (s->p->backward) /* the last stage is done first, after both passes */
                made->fill_ns = r->free_ns - r->busy_ns;
        }
    }
    made->drain_ns = first_end_ns < INT64_MAX ? made->latency_ns - first_end_ns : 0;
}

clv_status clv_schedule_run(const clv_candidate *candidate, bool want_transfers, clv_arena *arena,
                            clv_schedule *ret, clv_error *err)
{
    const clv_program *p = candidate->program;
    simulation s = { .p = p, .candidate = candidate };
    if (!allocate(&s, want_transfers, arena))
        return clv_fail_nomem(err, "the schedule");
    for (int32_t d = 0; d < p->workload.cluster->n_devices; d++) {
        s.devices[d].range = candidate->first_range[d];
        if (find_segment(&s, d, &s.devices[d]) && begin_segment(&s, &s.devices[d]))
            run_device(&s, d);
    }
    while (s.n_heap > 0)
        send(&s, pop(&s));
    clv_schedule made = { .transfers = s.transfers, .n_transfers = s.n_transfers };
    find_ends(&s, &made);
    for (int32_t k = 0; k < p->workload.cluster->n_ports; k++)
        if (s.port_busy_ns[k] > made.port_ns)
            made.port_ns = s.port_busy_ns[k];
    if (s.n_transfers > 1)
        qsort(s.transfers, (size_t)s.n_transfers, sizeof *s.transfers, by_start);
    *ret = made;
    return CLV_OK;
}
