/* estimate.c - what an assignment would cost, from sums alone.
 *
 * Period: nothing that is used all the time can be faster than its work, so the busiest device or
 * port bounds it. Latency: operators run in order on each device, a net leaves when it is written,
 * and links are free whenever asked.
 */
#include "problem/estimate.h"

#include <assert.h>

#include "problem/latency_estimate.h"
#include "problem/sums.h"

typedef struct {
    int64_t *busy_ns, *weight_bytes; /* by device */
    int64_t *port_ns;                /* by port: time it is used */
    int32_t *sent;                   /* by device: last net sent there, plus 1 */
} sums;

static bool allocate(const clv_partition_problem *p, clv_arena *arena, sums *s)
{
    size_t d = (size_t)p->n_devices;
    *s = (sums){
        .busy_ns = CLV_NEW_ARRAY(arena, int64_t, d),
        .weight_bytes = CLV_NEW_ARRAY(arena, int64_t, d),
        .port_ns = CLV_NEW_ARRAY(arena, int64_t, clv_n_ports(p)),
        .sent = CLV_NEW_ARRAY(arena, int32_t, d),
    };
    return s->busy_ns && s->weight_bytes && s->port_ns && s->sent;
}

/* Uses the ports for one net: once to each device that reads it. */
static void add_transfers(const clv_partition_problem *p, const int32_t *device_of, int32_t net,
                          sums *s)
{
    int32_t from = device_of[p->net_from[net]];
    for (int32_t i = p->net_first[net]; i < p->net_first[net + 1]; i++) {
        int32_t to = device_of[p->net_to[i]];
        if (to == from || s->sent[to] == net + 1)
            continue;
        s->sent[to] = net + 1;
        clv_add_to_ports(p, from, to, clv_wire_ns(p, from, to, p->net_bytes[net]), s->port_ns);
    }
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static clv_estimate sum_up(const clv_partition_problem *p, const int32_t *device_of, sums *s)
{
    clv_estimate e = { 0 };
    for (int32_t u = 0; u < p->n_units; u++) {
        int32_t d = device_of[u];
        int64_t ns = clv_unit_ns(p, u, d);
        s->weight_bytes[d] = clv_add_sat(s->weight_bytes[d], p->weight_bytes[u]);
        s->busy_ns[d] = clv_add_sat(s->busy_ns[d], ns);
    }
    for (int32_t net = 0; net < p->n_nets; net++)
        add_transfers(p, device_of, net, s);
    for (int32_t a = 0; a < p->n_devices; a++) {
        e.max_weight_bytes = larger(e.max_weight_bytes, s->weight_bytes[a]);
        e.period_ns = larger(e.period_ns, s->busy_ns[a]);
    }
    for (int32_t port = 0; port < clv_n_ports(p); port++)
        e.period_ns = larger(e.period_ns, s->port_ns[port]);
    return e;
}

clv_status clv_partition_estimate(const clv_partition_problem *p, const int32_t *device_of,
                                  clv_arena *arena, clv_estimate *ret, clv_error *err)
{
    assert(p && ret && (device_of || p->n_units == 0));
    clv_mark mark = clv_arena_mark(arena);
    clv_latency_estimate latency;
    sums s;
    clv_status status = clv_latency_estimate_new(p, arena, &latency, err);
    if (status == CLV_OK && !allocate(p, arena, &s))
        status = clv_fail_nomem(err, "the sums of an assignment");
    if (status == CLV_OK) {
        *ret = sum_up(p, device_of, &s);
        ret->latency_bound_ns = clv_latency_estimate_whole(&latency, device_of);
    }
    clv_arena_rewind(arena, mark);
    return status;
}
