/* synthetic.h - small partition problems for tests, and a judge made of sums.
 *
 * The judge shares no code with the product: it adds up memory and simulates one sample with links
 * that carry one net at a time.
 */
#ifndef TEST_SOLVER_PARTITION_SYNTHETIC_H
#define TEST_SOLVER_PARTITION_SYNTHETIC_H

#include "problem/estimate.h"
#include "problem/partition_problem.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

/* -- building a problem -- */

typedef struct {
    clv_arena *arena;
    clv_partition_problem p;
    int32_t *kind_of;
    int64_t *capacity, *weight, *flops, *time, *net_bytes, *link_latency;
    double *link_bandwidth;
    int32_t *net_from, *net_first, *net_to, n_to;
} synthetic;

static inline void *synthetic_take(clv_arena *arena, size_t n, size_t size)
{
    void *p = clv_arena_take_array(arena, n, size);
    cr_assert_not_null(p);
    return p;
}

/* All weights, FLOPs and times are 1; memory is plenty; links take 1 ns a byte and no latency. */
static inline synthetic synthetic_new(clv_arena *arena, int32_t units, int32_t devices,
                                      int32_t kinds, int32_t max_nets, int32_t max_pins)
{
    size_t n = (size_t)units, d = (size_t)devices;
    synthetic s = { .arena = arena };
    s.kind_of = synthetic_take(arena, d, sizeof(int32_t));
    s.capacity = synthetic_take(arena, d, sizeof(int64_t));
    s.weight = synthetic_take(arena, n, sizeof(int64_t));
    s.flops = synthetic_take(arena, n, sizeof(int64_t));
    s.time = synthetic_take(arena, n * (size_t)kinds, sizeof(int64_t));
    s.net_bytes = synthetic_take(arena, (size_t)max_nets, sizeof(int64_t));
    s.net_from = synthetic_take(arena, (size_t)max_nets, sizeof(int32_t));
    s.net_first = synthetic_take(arena, (size_t)max_nets + 1, sizeof(int32_t));
    s.net_to = synthetic_take(arena, (size_t)max_pins, sizeof(int32_t));
    s.link_latency = synthetic_take(arena, d * d, sizeof(int64_t));
    s.link_bandwidth = synthetic_take(arena, d * d, sizeof(double));
    for (size_t i = 0; i < d * d; i++)
        s.link_bandwidth[i] = 1e9;
    for (size_t i = 0; i < d; i++)
        s.capacity[i] = INT64_C(1) << 40;
    for (size_t i = 0; i < n; i++)
        s.weight[i] = s.flops[i] = 1;
    for (size_t i = 0; i < n * (size_t)kinds; i++)
        s.time[i] = 1;
    s.p.n_units = units;
    s.p.n_devices = devices;
    s.p.n_kinds = kinds;
    return s;
}

/* Nets in ascending order of their writer. */
static inline void synthetic_net(synthetic *s, int32_t from, int32_t n, const int32_t *to,
                                 int64_t bytes)
{
    int32_t net = s->p.n_nets++;
    s->net_from[net] = from;
    s->net_bytes[net] = bytes;
    for (int32_t i = 0; i < n; i++)
        s->net_to[s->n_to++] = to[i];
    s->net_first[net + 1] = s->n_to;
}

static inline const clv_partition_problem *synthetic_done(synthetic *s)
{
    clv_partition_problem *p = &s->p;
    int32_t *first = synthetic_take(s->arena, (size_t)p->n_units + 1, sizeof(int32_t));
    int32_t *reads_first = synthetic_take(s->arena, (size_t)p->n_units + 2, sizeof(int32_t));
    int32_t *reads = synthetic_take(s->arena, (size_t)s->n_to, sizeof(int32_t));
    for (int32_t n = 0; n < p->n_nets; n++)
        first[s->net_from[n] + 1]++;
    for (int32_t i = 0; i < s->n_to; i++)
        reads_first[s->net_to[i] + 2]++;
    for (int32_t u = 0; u < p->n_units; u++) {
        first[u + 1] += first[u];
        reads_first[u + 2] += reads_first[u + 1];
    }
    for (int32_t n = 0; n < p->n_nets; n++)
        for (int32_t i = s->net_first[n]; i < s->net_first[n + 1]; i++)
            reads[reads_first[s->net_to[i] + 1]++] = n;
    p->kind_of = s->kind_of;
    p->capacity_bytes = s->capacity;
    p->weight_bytes = s->weight;
    p->flops = s->flops;
    p->time_ns = s->time;
    p->net_from = s->net_from;
    p->net_bytes = s->net_bytes;
    p->net_first = s->net_first;
    p->net_to = s->net_to;
    p->unit_first_net = first;
    p->reads_first = reads_first;
    p->reads = reads;
    p->link_latency_ns = s->link_latency;
    p->link_bytes_per_s = s->link_bandwidth;
    return p;
}

/* Each device has a port out, its own number, and a port in, behind those of all: what it sends to
 * many goes through one port. */
static inline void synthetic_ports(synthetic *s)
{
    int32_t d = s->p.n_devices;
    int32_t *first = synthetic_take(s->arena, (size_t)d * (size_t)d + 1, sizeof *first);
    int32_t *ports = synthetic_take(s->arena, 2 * (size_t)d * (size_t)d, sizeof *ports);
    for (int32_t link = 0; link < d * d; link++) {
        first[link + 1] = first[link];
        if (link / d == link % d)
            continue;
        ports[first[link + 1]++] = link / d;
        ports[first[link + 1]++] = d + link % d;
    }
    s->p.n_ports = 2 * d;
    s->p.link_first_port = first;
    s->p.link_ports = ports;
}

/* A chain: unit i writes one net of these bytes to unit i + 1. */
static inline synthetic synthetic_chain(clv_arena *arena, int32_t units, int32_t devices,
                                        int64_t bytes)
{
    synthetic s = synthetic_new(arena, units, devices, 1, units, units);
    for (int32_t u = 0; u + 1 < units; u++)
        synthetic_net(&s, u, 1, (int32_t[]){ u + 1 }, bytes);
    return s;
}

/* -- random problems -- */

static inline uint64_t synthetic_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static inline int64_t synthetic_below(uint64_t *seed, int64_t n)
{
    return (int64_t)(synthetic_random(seed) % (uint64_t)n);
}

/* Up to a few nets a unit, some of them skipping far; two kinds; memory for weights is scarce:
 * percent of what all devices together would need. */
static inline synthetic synthetic_any(clv_arena *arena, uint64_t seed, int32_t units,
                                      int32_t devices, int64_t percent)
{
    seed = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    for (int i = 0; i < 8; i++)
        synthetic_random(&seed);
    synthetic s = synthetic_new(arena, units, devices, 2, units, units * 3);
    int64_t all = 0;
    for (int32_t u = 0; u < units; u++) {
        s.weight[u] = synthetic_below(&seed, 100);
        s.flops[u] = 1 + synthetic_below(&seed, 100);
        s.time[u] = s.flops[u] * 10;
        s.time[units + u] = s.flops[u] * (5 + synthetic_below(&seed, 10));
        all += s.weight[u];
    }
    for (int32_t u = 0; u + 1 < units; u++) {
        int32_t to[3], n = 0, next = u;
        while (n < 3 && next + 1 < units) {
            int64_t step = synthetic_below(&seed, 4) ? 1 : 1 + synthetic_below(&seed, units - next);
            next = next + step < units ? next + (int32_t)step : units - 1;
            to[n++] = next;
            if (synthetic_below(&seed, 3))
                break;
        }
        if (n > 0 && synthetic_below(&seed, 8))
            synthetic_net(&s, u, n, to, synthetic_below(&seed, 200));
    }
    bool mixed = synthetic_below(&seed, 3) == 0;
    for (int32_t d = 0; d < devices; d++) {
        s.kind_of[d] = mixed ? (int32_t)synthetic_below(&seed, 2) : 0;
        s.capacity[d] =
            1 + all * percent / 100 / devices + (mixed ? synthetic_below(&seed, 50) : 0);
    }
    for (int32_t i = 0; i < devices * devices; i++)
        s.link_latency[i] = 20;
    return s;
}

/* -- the judge -- */

/* Counts what it is asked, and can be made to misbehave. */
typedef struct {
    const clv_partition_problem *p;
    int32_t n_asked, n_calls, largest_batch;
    int64_t net_percent; /* of the bytes of the nets that a device sends or receives */
    int64_t extra_bytes; /* needed on each device that is used, times the proportion */
    int32_t fail_every;  /* every so many plans crash the compiler; 0: none */
    bool all_fail;
    clv_status status; /* what the call itself returns */
} synthetic_judge;

static inline int64_t synthetic_wire(const clv_partition_problem *p, int32_t a, int32_t b,
                                     int64_t bytes)
{
    return p->link_latency_ns[a * p->n_devices + b] +
           (int64_t)ceil((double)bytes / p->link_bytes_per_s[a * p->n_devices + b] * 1e9);
}

static inline void synthetic_memory(const synthetic_judge *j, const clv_assignment *a,
                                    int64_t *need)
{
    const clv_partition_problem *p = j->p;
    double proportion = a->proportion > 0 ? a->proportion : 1;
    bool *used = calloc((size_t)p->n_devices, sizeof *used);
    for (int32_t u = 0; u < p->n_units; u++) {
        need[a->device_of[u]] += p->weight_bytes[u];
        used[a->device_of[u]] = true;
    }
    for (int32_t n = 0; n < p->n_nets; n++) {
        int32_t from = a->device_of[p->net_from[n]];
        for (int32_t d = 0; d < p->n_devices; d++) {
            bool reads = false;
            for (int32_t i = p->net_first[n]; i < p->net_first[n + 1]; i++)
                reads |= a->device_of[p->net_to[i]] == d;
            if (!reads || d == from)
                continue;
            need[d] += p->net_bytes[n] * j->net_percent / 100;
            need[from] += p->net_bytes[n] * j->net_percent / 100;
        }
    }
    for (int32_t d = 0; d < p->n_devices; d++)
        need[d] += used[d] ? (int64_t)((double)j->extra_bytes * proportion) : 0;
    free(used);
}

static inline void synthetic_times(const clv_partition_problem *p, const int32_t *device_of,
                                   clv_verdict *v)
{
    size_t d = (size_t)p->n_devices;
    int64_t *busy = calloc(d, sizeof *busy), *free_at = calloc(d, sizeof *free_at);
    int64_t *link_busy = calloc(d * d, sizeof *link_busy),
            *link_free = calloc(d * d, sizeof *link_free);
    int64_t *arrives = calloc((size_t)p->n_units + 1, sizeof *arrives);
    bool *sent = calloc(d, sizeof *sent);
    for (int32_t u = 0; u < p->n_units; u++) {
        int32_t a = device_of[u];
        int64_t ns = p->time_ns[p->kind_of[a] * p->n_units + u];
        int64_t start = free_at[a] > arrives[u] ? free_at[a] : arrives[u];
        busy[a] += ns;
        free_at[a] = start + ns;
        v->latency_ns = free_at[a] > v->latency_ns ? free_at[a] : v->latency_ns;
        for (int32_t n = p->unit_first_net[u]; n < p->unit_first_net[u + 1]; n++) {
            memset(sent, 0, d * sizeof *sent);
            for (int32_t i = p->net_first[n]; i < p->net_first[n + 1]; i++) {
                int32_t b = device_of[p->net_to[i]];
                int64_t *when = &link_free[(size_t)a * d + (size_t)b];
                if (a == b)
                    *when = free_at[a];
                else if (!sent[b]) {
                    int64_t wire = synthetic_wire(p, a, b, p->net_bytes[n]);
                    *when = (*when > free_at[a] ? *when : free_at[a]) + wire;
                    link_busy[(size_t)a * d + (size_t)b] += wire;
                }
                sent[b] = true;
                if (arrives[p->net_to[i]] < *when)
                    arrives[p->net_to[i]] = *when;
            }
        }
    }
    for (size_t i = 0; i < d; i++)
        v->period_ns = busy[i] > v->period_ns ? busy[i] : v->period_ns;
    for (size_t i = 0; i < d * d; i++)
        v->period_ns = link_busy[i] > v->period_ns ? link_busy[i] : v->period_ns;
    free(busy);
    free(free_at);
    free(link_busy);
    free(link_free);
    free(arrives);
    free(sent);
}

static inline clv_verdict synthetic_verdict(const synthetic_judge *j, const clv_assignment *a)
{
    clv_verdict v = { .outcome = CLV_FITS };
    int64_t *need = calloc((size_t)j->p->n_devices, sizeof *need);
    synthetic_memory(j, a, need);
    for (int32_t d = 0; d < j->p->n_devices; d++) {
        int64_t lacks = need[d] - j->p->capacity_bytes[d];
        if (lacks <= 0)
            continue;
        v.outcome = CLV_OOM;
        v.total_short_bytes += lacks;
        if (lacks > v.short_bytes) {
            v.short_bytes = lacks;
            v.device = d;
        }
    }
    free(need);
    if (v.outcome == CLV_FITS)
        synthetic_times(j->p, a->device_of, &v);
    return v;
}

static inline clv_status synthetic_ask(void *ctx, const clv_assignment *a, int32_t n,
                                       clv_verdict *v, clv_error *err)
{
    synthetic_judge *j = ctx;
    if (j->status != CLV_OK)
        return clv_fail(err, j->status, "the judge fails on purpose");
    j->n_calls++;
    j->largest_batch = n > j->largest_batch ? n : j->largest_batch;
    for (int32_t i = 0; i < n; i++) {
        j->n_asked++;
        if (j->all_fail || (j->fail_every && j->n_asked % j->fail_every == 0))
            v[i] = (clv_verdict){ .outcome = CLV_FAILED, .reason = "crashed" };
        else
            v[i] = synthetic_verdict(j, &a[i]);
    }
    return CLV_OK;
}

static inline clv_partition_judge synthetic_as_judge(synthetic_judge *j, int32_t batch)
{
    return (clv_partition_judge){ .judge = synthetic_ask, .ctx = j, .batch = batch };
}

/* Acyclic quotient, by walking from each device; no code of the product. */
static inline bool synthetic_legal(const clv_partition_problem *p, const int32_t *device_of)
{
    size_t d = (size_t)p->n_devices;
    bool *edge = calloc(d * d, sizeof *edge), legal = true;
    for (int32_t n = 0; n < p->n_nets; n++)
        for (int32_t i = p->net_first[n]; i < p->net_first[n + 1]; i++) {
            size_t a = (size_t)device_of[p->net_from[n]], b = (size_t)device_of[p->net_to[i]];
            if (a != b)
                edge[a * d + b] = true;
        }
    for (size_t k = 0; k < d; k++)
        for (size_t a = 0; a < d; a++)
            for (size_t b = 0; b < d; b++)
                edge[a * d + b] = edge[a * d + b] || (edge[a * d + k] && edge[k * d + b]);
    for (size_t a = 0; a < d; a++)
        legal = legal && !edge[a * d + a];
    free(edge);
    return legal;
}

/* Ports that any links share, none to two each. */
static inline void synthetic_any_ports(synthetic *s, uint64_t *random)
{
    int32_t d = s->p.n_devices, n = 1 + (int32_t)synthetic_below(random, 2 * d);
    int32_t *first = synthetic_take(s->arena, (size_t)(d * d + 1), sizeof *first);
    int32_t *ports = synthetic_take(s->arena, (size_t)(2 * d * d), sizeof *ports);
    for (int32_t link = 0; link < d * d; link++) {
        int32_t at = first[link], port = (int32_t)synthetic_below(random, n);
        for (int64_t more = link / d == link % d ? 0 : synthetic_below(random, 3); more > 0; more--)
            if (at == first[link] || n > 1) {
                ports[at++] = port;
                port = (port + 1) % n;
            }
        first[link + 1] = at;
    }
    s->p.n_ports = n;
    s->p.link_first_port = first;
    s->p.link_ports = ports;
}

/* The least period of all legal assignments of at most 16 units. */
static inline int64_t synthetic_least_period(const synthetic *s)
{
    const clv_partition_problem *p = &s->p;
    int64_t best = INT64_MAX;
    int32_t device_of[16] = { 0 };
    for (int32_t u = 0; u < p->n_units;) {
        clv_estimate e = { .period_ns = INT64_MAX };
        if (synthetic_legal(p, device_of)) {
            cr_assert_eq(clv_partition_estimate(p, device_of, s->arena, &e, NULL), CLV_OK);
            best = e.period_ns < best ? e.period_ns : best;
        }
        for (u = 0; u < p->n_units && ++device_of[u] == p->n_devices; u++)
            device_of[u] = 0;
    }
    return best;
}

#endif
