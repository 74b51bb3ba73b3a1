#include "solver/partition/device_swap.h"

#include "problem/rules.h"
#include "problem/sums.h"

#include <string.h>

typedef struct {
    int32_t from, to; /* groups */
    int64_t bytes;
} transfer;

typedef struct {
    int32_t port;
    int64_t ns; /* what it was before */
} change;

typedef struct {
    const clv_partition_problem *p;
    /* A group is named by the device that it came from. */
    int32_t *device; /* by group: where it is now */
    transfer *sent;
    int32_t *first, *incident;   /* by group, + 1: the transfers from and to it */
    int32_t *unit_first, *units; /* by group, + 1: its units */
    int64_t *port_ns;
    change *changes; /* of the exchange at hand */
    int32_t *seen;   /* by port: the last exchange that changed it */
    int32_t n_sent, n_changes, exchange;
    int32_t busiest;           /* port */
    int64_t most_ns;           /* what it carries */
    int64_t busiest_device_ns; /* ports with less do not matter */
    int64_t steps;
} swapper;

/* -- what is sent -- */

/* seen is by device here: the last net sent there, plus 1. */
static void list_transfers(swapper *s, const int32_t *device_of, int32_t *seen)
{
    const clv_partition_problem *p = s->p;
    for (int32_t net = 0; net < p->n_nets; net++) {
        int32_t from = device_of[p->net_from[net]];
        for (int32_t i = p->net_first[net]; i < p->net_first[net + 1] && p->net_bytes[net]; i++) {
            int32_t to = device_of[p->net_to[i]];
            if (to != from && seen[to] != net + 1)
                s->sent[s->n_sent++] = (transfer){ from, to, p->net_bytes[net] };
            seen[to] = net + 1;
        }
    }
}

/* Prefix sums: turns counts at [group + 1] into where each group's part begins. */
static void sum_prefixes(int32_t *first, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        first[i + 1] += first[i];
}

/* fill is scratch: n_devices. */
static void list_by_group(swapper *s, const int32_t *device_of, int32_t *fill)
{
    const clv_partition_problem *p = s->p;
    size_t row = (size_t)p->n_devices * sizeof *fill;
    for (int32_t t = 0; t < s->n_sent; t++) {
        s->first[s->sent[t].from + 1]++;
        s->first[s->sent[t].to + 1]++;
    }
    for (int32_t u = 0; u < p->n_units; u++)
        s->unit_first[device_of[u] + 1]++;
    sum_prefixes(s->first, p->n_devices);
    sum_prefixes(s->unit_first, p->n_devices);
    memcpy(fill, s->first, row);
    for (int32_t t = 0; t < s->n_sent; t++) {
        s->incident[fill[s->sent[t].from]++] = t;
        s->incident[fill[s->sent[t].to]++] = t;
    }
    memcpy(fill, s->unit_first, row);
    for (int32_t u = 0; u < p->n_units; u++)
        s->units[fill[device_of[u]]++] = u;
}

/* -- one exchange, and back -- */

static void save_port(swapper *s, int32_t port)
{
    if (s->seen[port] == s->exchange)
        return;
    s->seen[port] = s->exchange;
    s->changes[s->n_changes++] = (change){ port, s->port_ns[port] };
}

static void add_transfer(swapper *s, int32_t t, int64_t sign)
{
    const clv_partition_problem *p = s->p;
    int32_t from = s->device[s->sent[t].from], to = s->device[s->sent[t].to];
    size_t link = (size_t)from * (size_t)p->n_devices + (size_t)to;
    if (!p->link_first_port)
        save_port(s, (int32_t)link);
    else
        for (int32_t i = p->link_first_port[link]; i < p->link_first_port[link + 1]; i++)
            save_port(s, p->link_ports[i]);
    clv_add_to_ports(p, from, to, sign * clv_wire_ns(p, from, to, s->sent[t].bytes), s->port_ns);
}

static void add_transfers(swapper *s, int32_t a, int32_t b, int64_t sign)
{
    for (int32_t i = s->first[a]; i < s->first[a + 1]; i++)
        add_transfer(s, s->incident[i], sign);
    for (int32_t i = s->first[b]; i < s->first[b + 1]; i++) {
        const transfer *t = &s->sent[s->incident[i]];
        if (t->from != a && t->to != a)
            add_transfer(s, s->incident[i], sign);
    }
    s->steps -= s->first[a + 1] - s->first[a] + s->first[b + 1] - s->first[b];
}

static void exchange(swapper *s, int32_t a, int32_t b)
{
    s->n_changes = 0;
    s->exchange++;
    int32_t at_a = s->device[a];
    add_transfers(s, a, b, -1);
    s->device[a] = s->device[b];
    s->device[b] = at_a;
    add_transfers(s, a, b, +1);
}

/* -- which exchange -- */

static bool goes_through(const swapper *s, int32_t from, int32_t to, int32_t port)
{
    const clv_partition_problem *p = s->p;
    size_t link = (size_t)from * (size_t)p->n_devices + (size_t)to;
    if (!p->link_first_port)
        return port == (int32_t)link;
    for (int32_t i = p->link_first_port[link]; i < p->link_first_port[link + 1]; i++)
        if (p->link_ports[i] == port)
            return true;
    return false;
}

static bool may_be_on(const swapper *s, int32_t group, int32_t device)
{
    const clv_rules *rules = s->p->rules;
    for (int32_t i = s->unit_first[group]; rules && i < s->unit_first[group + 1]; i++)
        if (!clv_rules_allow(rules, s->units[i], device))
            return false;
    return true;
}

/* Does some transfer of a leave the busiest port when a and b exchange devices? */
static bool relieves_port(swapper *s, int32_t a, int32_t b)
{
    for (int32_t i = s->first[a]; i < s->first[a + 1]; i++) {
        const transfer *t = &s->sent[s->incident[i]];
        int32_t from = s->device[t->from], to = s->device[t->to];
        s->steps--;
        if (!goes_through(s, from, to, s->busiest))
            continue;
        from = t->from == a ? s->device[b] : t->from == b ? s->device[a] : from;
        to = t->to == a ? s->device[b] : t->to == b ? s->device[a] : to;
        if (!goes_through(s, from, to, s->busiest))
            return true;
    }
    return false;
}

typedef struct {
    int32_t a, b;
    int64_t left_ns, worst_ns; /* of the busiest port; of the busiest one that got more */
} swap;

/* The loads after the exchange at hand. False: it is no better. */
static bool measure_exchange(const swapper *s, swap *o)
{
    o->left_ns = s->port_ns[s->busiest];
    o->worst_ns = 0;
    for (int32_t i = 0; i < s->n_changes; i++) {
        int64_t ns = s->port_ns[s->changes[i].port];
        if (ns > s->changes[i].ns && ns > o->worst_ns)
            o->worst_ns = ns;
    }
    return o->left_ns < s->most_ns && o->worst_ns < s->most_ns;
}

/* Tries group a with each other on a device of the same kind and capacity. */
static void try_exchanges(swapper *s, int32_t a, swap *best)
{
    const clv_partition_problem *p = s->p;
    for (int32_t b = 0; b < p->n_devices && s->steps > 0; b++) {
        swap o = { .a = a, .b = b };
        int32_t at_a = s->device[a], at_b = s->device[b];
        if (a == b || p->kind_of[at_a] != p->kind_of[at_b] ||
            p->capacity_bytes[at_a] != p->capacity_bytes[at_b] || !may_be_on(s, a, at_b) ||
            !may_be_on(s, b, at_a) || !relieves_port(s, a, b))
            continue;
        exchange(s, a, b);
        if (measure_exchange(s, &o) &&
            (best->a < 0 || o.left_ns < best->left_ns ||
             (o.left_ns == best->left_ns && o.worst_ns < best->worst_ns)))
            *best = o;
        s->device[a] = at_a;
        s->device[b] = at_b;
        for (int32_t i = 0; i < s->n_changes; i++)
            s->port_ns[s->changes[i].port] = s->changes[i].ns;
    }
}

/* Does the group send or get anything through the busiest port? */
static bool uses_busiest(const swapper *s, int32_t group)
{
    for (int32_t i = s->first[group]; i < s->first[group + 1]; i++) {
        const transfer *t = &s->sent[s->incident[i]];
        if (goes_through(s, s->device[t->from], s->device[t->to], s->busiest))
            return true;
    }
    return false;
}

/* Makes the best exchange. False: there is none. Each makes the maximum of the loads less or the
 * ports that reach it fewer, so the search ends. */
static bool apply_best_exchange(swapper *s)
{
    swap best = { .a = -1 };
    s->busiest = 0;
    for (int32_t port = 1; port < clv_n_ports(s->p); port++)
        if (s->port_ns[port] > s->port_ns[s->busiest])
            s->busiest = port;
    s->most_ns = s->port_ns[s->busiest];
    if (s->most_ns <= s->busiest_device_ns)
        return false;
    for (int32_t a = 0; a < s->p->n_devices && s->steps > 0; a++)
        if (uses_busiest(s, a))
            try_exchanges(s, a, &best);
    if (best.a >= 0)
        exchange(s, best.a, best.b);
    return best.a >= 0;
}

/* -- the call -- */

static bool allocate(swapper *s, clv_arena *arena)
{
    const clv_partition_problem *p = s->p;
    size_t n = (size_t)p->n_units, d = (size_t)p->n_devices, ports = (size_t)clv_n_ports(p);
    size_t pins = p->n_nets > 0 ? (size_t)p->net_first[p->n_nets] : 0;
    s->device = CLV_NEW_ARRAY(arena, int32_t, d);
    s->sent = CLV_NEW_ARRAY(arena, transfer, pins);
    s->first = CLV_NEW_ARRAY(arena, int32_t, d + 1);
    s->incident = CLV_NEW_ARRAY(arena, int32_t, 2 * pins);
    s->unit_first = CLV_NEW_ARRAY(arena, int32_t, d + 1);
    s->units = CLV_NEW_ARRAY(arena, int32_t, n);
    s->port_ns = CLV_NEW_ARRAY(arena, int64_t, ports);
    s->changes = CLV_NEW_ARRAY(arena, change, ports);
    s->seen = CLV_NEW_ARRAY(arena, int32_t, ports);
    return s->device && s->sent && s->first && s->incident && s->unit_first && s->units &&
           s->port_ns && s->changes && s->seen;
}

static clv_status swap_devices(swapper *s, int32_t *device_of, clv_arena *arena, int64_t *ret_ns,
                               clv_error *err)
{
    const clv_partition_problem *p = s->p;
    int32_t *by_device = CLV_NEW_ARRAY(arena, int32_t, p->n_devices);
    int64_t *time_ns = CLV_NEW_ARRAY(arena, int64_t, p->n_devices);
    if (!allocate(s, arena) || !by_device || !time_ns)
        return clv_fail_nomem(err, "the seats of groups");
    for (int32_t d = 0; d < p->n_devices; d++)
        s->device[d] = d;
    for (int32_t u = 0; u < p->n_units; u++) {
        int32_t d = device_of[u];
        time_ns[d] = clv_add_sat(time_ns[d], clv_unit_ns(p, u, d));
        s->busiest_device_ns =
            time_ns[d] > s->busiest_device_ns ? time_ns[d] : s->busiest_device_ns;
    }
    list_transfers(s, device_of, by_device);
    list_by_group(s, device_of, by_device);
    for (int32_t t = 0; t < s->n_sent; t++)
        add_transfer(s, t, +1);
    while (s->n_sent > 0 && apply_best_exchange(s))
        ;
    *ret_ns = s->most_ns > s->busiest_device_ns ? s->most_ns : s->busiest_device_ns;
    for (int32_t u = 0; u < p->n_units; u++)
        device_of[u] = s->device[device_of[u]];
    return CLV_OK;
}

clv_status clv_device_swap(const clv_partition_problem *p, int32_t *device_of, clv_arena *scratch,
                           int64_t *work, int64_t *ret_ns, clv_error *err)
{
    swapper s = { .p = p, .steps = *work };
    clv_arena *arena = clv_arena_new(clv_arena_alloc(scratch), 0);
    if (!arena)
        return clv_fail_nomem(err, "the seats of groups");
    clv_status status = swap_devices(&s, device_of, arena, ret_ns, err);
    *work = s.steps;
    clv_arena_free(arena);
    return status;
}
