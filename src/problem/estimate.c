/* estimate.c - what an assignment would cost, from sums alone.
 *
 * Period: nothing that is used all the time can be faster than its work, so the busiest device or
 * link bounds it. Latency: units run whole and in order on each device, a net leaves when its
 * writer is done, and links are free whenever asked.
 */
#include "problem/sums.h"

#include <assert.h>

typedef struct {
    int64_t *busy, *weight, *ready; /* by device; ready: when it may start its next unit */
    int64_t *link;                  /* [from * n_devices + to]: time it is used */
    int64_t *arrives;               /* by unit: when all it reads is there */
    int64_t *first_arrival;         /* by device, of the net at hand */
    int32_t *sent;                  /* by device: last net sent there, plus 1 */
} sums;

static bool take_sums(const clv_partition *p, clv_arena *arena, sums *s)
{
    size_t d = (size_t)p->n_devices;
    *s = (sums){
        .busy = CLV_NEW_ARRAY(arena, int64_t, d),
        .weight = CLV_NEW_ARRAY(arena, int64_t, d),
        .ready = CLV_NEW_ARRAY(arena, int64_t, d),
        .link = CLV_NEW_ARRAY(arena, int64_t, d * d),
        .arrives = CLV_NEW_ARRAY(arena, int64_t, p->n_units),
        .first_arrival = CLV_NEW_ARRAY(arena, int64_t, d),
        .sent = CLV_NEW_ARRAY(arena, int32_t, d),
    };
    return s->busy && s->weight && s->ready && s->link && s->arrives && s->first_arrival && s->sent;
}

/* Delivers one net, written at time done, to its readers: once to each device. */
static void send(const clv_partition *p, const int32_t *device_of, int32_t net, int64_t done,
                 sums *s)
{
    int32_t from = device_of[p->net_from[net]];
    for (int32_t i = p->net_first[net]; i < p->net_first[net + 1]; i++) {
        int32_t reader = p->net_to[i], to = device_of[reader];
        if (s->sent[to] != net + 1) {
            s->sent[to] = net + 1;
            int64_t wire = clv_wire_ns(p, from, to, p->net_bytes[net]);
            s->first_arrival[to] = clv_add_sat(done, wire);
            size_t link = (size_t)from * (size_t)p->n_devices + (size_t)to;
            s->link[link] = clv_add_sat(s->link[link], wire);
        }
        if (s->arrives[reader] < s->first_arrival[to])
            s->arrives[reader] = s->first_arrival[to];
    }
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static clv_estimate add_up(const clv_partition *p, const int32_t *device_of, sums *s)
{
    clv_estimate e = { 0 };
    for (int32_t u = 0; u < p->n_units; u++) {
        int32_t d = device_of[u];
        int64_t ns = clv_unit_ns(p, u, d);
        s->weight[d] = clv_add_sat(s->weight[d], p->weight_bytes[u]);
        s->busy[d] = clv_add_sat(s->busy[d], ns);
        s->ready[d] = clv_add_sat(larger(s->ready[d], s->arrives[u]), ns);
        e.latency_bound_ns = larger(e.latency_bound_ns, s->ready[d]);
        for (int32_t net = p->unit_first_net[u]; net < p->unit_first_net[u + 1]; net++)
            send(p, device_of, net, s->ready[d], s);
    }
    for (int32_t a = 0; a < p->n_devices; a++) {
        e.max_weight_bytes = larger(e.max_weight_bytes, s->weight[a]);
        e.period_ns = larger(e.period_ns, s->busy[a]);
        for (int32_t b = 0; b < p->n_devices; b++)
            e.period_ns =
                larger(e.period_ns, s->link[(size_t)a * (size_t)p->n_devices + (size_t)b]);
    }
    return e;
}

clv_status clv_partition_estimate(const clv_partition *p, const int32_t *device_of,
                                  clv_arena *arena, clv_estimate *ret, clv_error *err)
{
    assert(p && ret && (device_of || p->n_units == 0));
    clv_mark mark = clv_arena_mark(arena);
    sums s;
    clv_status status = CLV_OK;
    if (take_sums(p, arena, &s))
        *ret = add_up(p, device_of, &s);
    else
        status = clv_fail_nomem(err, "the sums of an assignment");
    clv_arena_rewind(arena, mark);
    return status;
}
