#include "solver/partition/bound_broadcast.h"

#include "problem/sums.h"

#include <stdlib.h>
#include <string.h>

/* Units, pins and links looked at for all writers together: some tens of milliseconds. */
#define STEPS_MAX INT64_C(4000000)
/* Pairs of a port and a time of sending that are kept apart, for one device. */
#define WAYS_MAX 32
/* Periods that are tried for a net, about. */
#define BISECTIONS 40

typedef struct {
    int32_t port, n; /* n devices, reached in ns each through this port; port -1: in no time */
    int64_t ns;
} way;

typedef struct {
    const clv_partition_problem *p;
    int64_t *time_ns; /* by unit, where it is fastest */
    /* by unit, scratch: comes after the last reader of the chain; leads to the next one */
    uint8_t *before, *leads;
    /* by reader of the chain, the writer first: its time, and that of the units on the way to the
     * next */
    int64_t *reader_ns, *gap_ns;
    int32_t n_readers;
    way *ways; /* [device * WAYS_MAX] */
    int32_t *n_ways;
    int64_t steps;
} sender;

/* Of each unit where it is fastest. O(units * devices). */
static void find_times(sender *s)
{
    const clv_partition_problem *p = s->p;
    for (int32_t u = 0; u < p->n_units; u++) {
        s->time_ns[u] = INT64_MAX;
        for (int32_t d = 0; d < p->n_devices; d++) {
            if (d > 0 && p->kind_of[d] == p->kind_of[d - 1])
                continue;
            int64_t ns = clv_unit_ns(p, u, d);
            s->time_ns[u] = ns < s->time_ns[u] ? ns : s->time_ns[u];
        }
    }
}

/* -- the chain of readers -- */

/* Marks what unit from leads to, up to unit to. True: to is among it. */
static bool mark_behind(sender *s, int32_t from, int32_t to)
{
    const clv_partition_problem *p = s->p;
    memset(s->before + from, 0, (size_t)(to - from) + 1);
    s->before[from] = 1;
    for (int32_t u = from + 1; u <= to; u++)
        for (int32_t i = p->reads_first[u]; i < p->reads_first[u + 1] && !s->before[u]; i++) {
            int32_t writer = p->net_from[p->reads[i]];
            s->before[u] = writer >= from && s->before[writer];
        }
    s->steps -= to - from + p->reads_first[to + 1] - p->reads_first[from + 1];
    return s->before[to];
}

/* Time of the units between the two, of those marked, that lead to the second. */
static int64_t time_between(sender *s, int32_t from, int32_t to)
{
    const clv_partition_problem *p = s->p;
    int64_t sum = 0;
    memset(s->leads + from, 0, (size_t)(to - from) + 1);
    s->leads[to] = 1;
    for (int32_t u = to; u > from; u--) {
        if (!s->leads[u] || !s->before[u])
            continue;
        sum += u < to ? s->time_ns[u] : 0;
        for (int32_t i = p->reads_first[u]; i < p->reads_first[u + 1]; i++)
            if (p->net_from[p->reads[i]] >= from)
                s->leads[p->net_from[p->reads[i]]] = 1;
    }
    return sum;
}

/* The writer, and readers of its net each of which leads to the next. */
static void find_chain(sender *s, int32_t net)
{
    const clv_partition_problem *p = s->p;
    int32_t last = p->net_from[net];
    s->n_readers = 0;
    s->reader_ns[s->n_readers++] = s->time_ns[last];
    for (int32_t i = p->net_first[net]; i < p->net_first[net + 1] && s->steps > 0; i++) {
        int32_t next = p->net_to[i];
        if (!mark_behind(s, last, next))
            continue;
        s->gap_ns[s->n_readers - 1] = time_between(s, last, next);
        s->reader_ns[s->n_readers++] = s->time_ns[next];
        last = next;
    }
}

/* The least number of devices that the chain needs; more than there are where one reader takes
 * longer than the period. */
static int32_t least_devices(const sender *s, int64_t period_ns)
{
    int64_t sum = 0;
    int32_t n = 0;
    for (int32_t i = 0; i < s->n_readers; i++) {
        int64_t more = s->reader_ns[i] + (i > 0 ? s->gap_ns[i - 1] : 0);
        if (n == 0 || sum + more > period_ns) {
            n++;
            sum = 0;
            more = s->reader_ns[i];
        }
        if (more > period_ns)
            return INT32_MAX;
        sum += more;
    }
    return n;
}

/* -- how many a device can send to -- */

static int by_port(const void *a, const void *b)
{
    const way *x = a, *y = b;
    if (x->port != y->port)
        return x->port < y->port ? -1 : 1;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

static void add_way(sender *s, int32_t device, int32_t port, int64_t ns)
{
    way *ways = s->ways + (size_t)device * WAYS_MAX;
    int32_t i = 0, n = s->n_ways[device];
    while (i < n && (ways[i].port != port || ways[i].ns != ns))
        i++;
    if (i == n && n == WAYS_MAX)
        i = 0; /* too many: this one counts as free */
    else if (i == n)
        ways[s->n_ways[device]++] = (way){ port, 0, ns };
    ways[i].n++;
}

/* Times to send the nets, which the same units read, from each device to each other one. Only the
 * first port of a route counts: the others may be shared with other devices. */
static void find_ways(sender *s, int32_t first_net, int32_t end_net)
{
    const clv_partition_problem *p = s->p;
    for (int32_t from = 0; from < p->n_devices; from++) {
        s->ways[(size_t)from * WAYS_MAX] = (way){ -1, 0, 0 };
        s->n_ways[from] = 1;
        for (int32_t to = 0; to < p->n_devices; to++) {
            size_t link = (size_t)from * (size_t)p->n_devices + (size_t)to;
            int32_t port = (int32_t)link;
            int64_t ns = 0;
            if (to == from)
                continue;
            for (int32_t net = first_net; net < end_net; net++)
                ns = clv_add_sat(ns, clv_wire_ns(p, from, to, p->net_bytes[net]));
            if (p->link_first_port) {
                int32_t i = p->link_first_port[link];
                port = i < p->link_first_port[link + 1] ? p->link_ports[i] : -1;
            }
            add_way(s, from, port, port < 0 ? 0 : ns);
        }
        qsort(s->ways + (size_t)from * WAYS_MAX, (size_t)s->n_ways[from], sizeof *s->ways, by_port);
    }
}

/* How many devices one can send to within a period: the fastest first through each port. */
static int64_t most_receivers(const sender *s, int32_t device, int64_t period_ns)
{
    const way *ways = s->ways + (size_t)device * WAYS_MAX;
    int64_t n = 0, left = 0;
    for (int32_t i = 0; i < s->n_ways[device]; i++) {
        if (i == 0 || ways[i].port != ways[i - 1].port)
            left = period_ns;
        int64_t can = ways[i].ns > 0 ? left / ways[i].ns : ways[i].n;
        can = can < ways[i].n ? can : ways[i].n;
        left -= can * ways[i].ns;
        n += can;
    }
    return n;
}

/* -- all writers -- */

static bool same_readers(const clv_partition_problem *p, int32_t a, int32_t b)
{
    int32_t n = p->net_first[a + 1] - p->net_first[a];
    return n == p->net_first[b + 1] - p->net_first[b] &&
           memcmp(p->net_to + p->net_first[a], p->net_to + p->net_first[b],
                  (size_t)n * sizeof *p->net_to) == 0;
}

/* The dearest way to send one byte, and one tensor. */
static void find_dearest(const clv_partition_problem *p, double *byte_ns, double *net_ns)
{
    size_t n = (size_t)p->n_devices * (size_t)p->n_devices;
    *byte_ns = *net_ns = 0;
    for (size_t link = 0; link < n; link++) {
        if (link % (size_t)(p->n_devices + 1) == 0)
            continue;
        double byte = 1e9 / p->link_bytes_per_s[link], net = (double)p->link_latency_ns[link] + 1;
        *byte_ns = byte > *byte_ns ? byte : *byte_ns;
        *net_ns = net > *net_ns ? net : *net_ns;
    }
}

/* Raises low by the nets [first, end), which the same units read. */
static void raise_bound(sender *s, int32_t first, int32_t end, int64_t *low, int64_t best_ns)
{
    int64_t high = best_ns;
    find_chain(s, first);
    find_ways(s, first, end);
    s->steps -= s->p->n_devices * (int64_t)s->p->n_devices +
                BISECTIONS * ((int64_t)s->n_readers + s->p->n_devices);
    while (*low < high) {
        int64_t middle = *low + (high - *low) / 2;
        int64_t need = (int64_t)least_devices(s, middle) - 1; /* beside the writer's */
        bool can_send = false;
        for (int32_t d = 0; d < s->p->n_devices && !can_send; d++)
            can_send = most_receivers(s, d, middle) >= need;
        if (can_send)
            high = middle;
        else
            *low = middle + 1;
    }
}

clv_status clv_bound_broadcast(const clv_partition_problem *p, int64_t low_ns, int64_t best_ns,
                               clv_arena *arena, int64_t *ret_ns, clv_error *err)
{
    sender s = { .p = p, .steps = STEPS_MAX };
    double byte_ns, net_ns;
    size_t n = (size_t)p->n_units;
    *ret_ns = low_ns;
    if (p->n_devices < 2)
        return CLV_OK;
    s.time_ns = CLV_NEW_ARRAY(arena, int64_t, n);
    s.before = CLV_NEW_ARRAY(arena, uint8_t, n);
    s.leads = CLV_NEW_ARRAY(arena, uint8_t, n);
    s.reader_ns = CLV_NEW_ARRAY(arena, int64_t, n);
    s.gap_ns = CLV_NEW_ARRAY(arena, int64_t, n);
    s.ways = CLV_NEW_ARRAY(arena, way, (size_t)p->n_devices * WAYS_MAX);
    s.n_ways = CLV_NEW_ARRAY(arena, int32_t, p->n_devices);
    if (!s.time_ns || !s.before || !s.leads || !s.reader_ns || !s.gap_ns || !s.ways || !s.n_ways)
        return clv_fail_nomem(err, "a bound");
    find_times(&s);
    find_dearest(p, &byte_ns, &net_ns);
    for (int32_t net = 0, end = 0; net < p->n_nets && low_ns < best_ns; net = end) {
        int32_t unit_end = p->unit_first_net[p->net_from[net] + 1];
        double most = net_ns + byte_ns * (double)p->net_bytes[net];
        int32_t readers = p->net_first[net + 1] - p->net_first[net];
        for (end = net + 1; end < unit_end && same_readers(p, net, end); end++)
            most += net_ns + byte_ns * (double)p->net_bytes[end];
        if (s.steps > 0 && readers > 1 && most * readers > (double)low_ns)
            raise_bound(&s, net, end, &low_ns, best_ns);
    }
    *ret_ns = low_ns;
    return CLV_OK;
}
