#include "solver/partition/groups.h"

#include <assert.h>
#include <string.h>

#define NOT_LISTED (-2)

static size_t link_at(const clv_groups *g, int32_t from, int32_t to)
{
    return (size_t)from * (size_t)g->p->n_devices + (size_t)to;
}

static void add_crossing(clv_groups *g, int32_t from, int32_t to, int32_t net, int32_t sign)
{
    size_t link = link_at(g, from, to);
    g->link_nets[link] += sign;
    int64_t ns = sign * clv_wire_ns(g->p, from, to, g->p->net_bytes[net]);
    g->link_ns[link] += ns;
    g->wire_ns += ns;
    if (g->port_ns != g->link_ns)
        clv_add_to_ports(g->p, from, to, ns, g->port_ns);
    if (g->link_nets[link] > 0) {
        clv_bit_set(g->out + (size_t)from * g->words, to);
        clv_bit_set(g->in + (size_t)to * g->words, from);
    } else {
        clv_bit_clear(g->out + (size_t)from * g->words, to);
        clv_bit_clear(g->in + (size_t)to * g->words, from);
    }
}

/* Adds sign readers of net on device. True when the net starts or stops being read there. */
static bool count_reader(clv_groups *g, int32_t net, int32_t device, int32_t sign)
{
    clv_pin *pins = g->pins + g->pin_first[net];
    int32_t n = g->n_pins[net], i = 0;
    while (i < n && pins[i].device != device)
        i++;
    if (i == n) {
        pins[n] = (clv_pin){ device, sign };
        g->n_pins[net]++;
        return true;
    }
    pins[i].readers += sign;
    if (pins[i].readers > 0)
        return false;
    pins[i] = pins[n - 1];
    g->n_pins[net]--;
    return true;
}

/* Puts the unit at the head of its group's list, or takes it out, unless it is so already. */
static void set_listed(clv_groups *g, clv_edge_kind kind, int32_t unit, bool listed)
{
    clv_unit_lists *list = &g->edge[kind];
    int32_t *head = &list->head[g->device_of[unit]];
    if ((list->prev[unit] != NOT_LISTED) == listed)
        return;
    if (listed) {
        list->next[unit] = *head;
        list->prev[unit] = -1;
        if (*head >= 0)
            list->prev[*head] = unit;
        *head = unit;
        return;
    }
    int32_t next = list->next[unit], prev = list->prev[unit];
    if (prev >= 0)
        list->next[prev] = next;
    else
        *head = next;
    if (next >= 0)
        list->prev[next] = prev;
    list->prev[unit] = NOT_LISTED;
}

static void add_inner_read(clv_groups *g, int32_t unit, int32_t sign)
{
    g->inner_reads[unit] += sign;
    set_listed(g, CLV_STARTING, unit, g->inner_reads[unit] == 0);
}

static void add_inner_send(clv_groups *g, int32_t unit, int32_t sign)
{
    g->inner_sends[unit] += sign;
    set_listed(g, CLV_ENDING, unit, g->inner_sends[unit] == 0);
}

static void add_sums(clv_groups *g, int32_t unit, int32_t device, int32_t sign)
{
    const clv_partition_problem *p = g->p;
    g->n_used -= g->n_units[device] > 0;
    g->n_units[device] += sign;
    g->n_used += g->n_units[device] > 0;
    g->weight_bytes[device] += sign * p->weight_bytes[unit];
    g->flops[device] += sign * p->flops[unit];
    g->time_ns[device] += sign * clv_unit_ns(p, unit, device);
    if (p->rules)
        clv_rule_counts_add(&g->counts, unit, device, sign);
}

/* The nets that unit writes now come from another device. */
static void move_written(clv_groups *g, int32_t unit, int32_t from, int32_t to)
{
    const clv_partition_problem *p = g->p;
    g->inner_sends[unit] = 0;
    for (int32_t net = p->unit_first_net[unit]; net < p->unit_first_net[unit + 1]; net++) {
        for (int32_t i = 0; i < g->n_pins[net]; i++) {
            int32_t d = g->pins[g->pin_first[net] + i].device;
            if (d != from)
                add_crossing(g, from, d, net, -1);
            if (d != to)
                add_crossing(g, to, d, net, +1);
            g->inner_sends[unit] += d == to;
        }
        for (int32_t i = p->net_first[net]; i < p->net_first[net + 1]; i++) {
            int32_t reader = p->net_to[i], d = g->device_of[reader];
            if (d == from)
                add_inner_read(g, reader, -1);
            if (d == to)
                add_inner_read(g, reader, +1);
        }
    }
}

/* The nets that unit reads are now read on another device. */
static void move_read(clv_groups *g, int32_t unit, int32_t from, int32_t to)
{
    const clv_partition_problem *p = g->p;
    g->inner_reads[unit] = 0;
    for (int32_t i = p->reads_first[unit]; i < p->reads_first[unit + 1]; i++) {
        int32_t net = p->reads[i], writer = p->net_from[net], d = g->device_of[writer];
        if (count_reader(g, net, from, -1)) {
            if (d != from)
                add_crossing(g, d, from, net, -1);
            else
                add_inner_send(g, writer, -1);
        }
        if (count_reader(g, net, to, +1)) {
            if (d != to)
                add_crossing(g, d, to, net, +1);
            else
                add_inner_send(g, writer, +1);
        }
        g->inner_reads[unit] += d == to;
    }
}

void clv_groups_move(clv_groups *g, int32_t unit, int32_t to)
{
    int32_t from = g->device_of[unit];
    assert(to >= 0 && to < g->p->n_devices);
    if (from == to)
        return;
    set_listed(g, CLV_STARTING, unit, false);
    set_listed(g, CLV_ENDING, unit, false);
    move_written(g, unit, from, to);
    move_read(g, unit, from, to);
    add_sums(g, unit, from, -1);
    add_sums(g, unit, to, +1);
    g->device_of[unit] = to;
    set_listed(g, CLV_STARTING, unit, g->inner_reads[unit] == 0);
    set_listed(g, CLV_ENDING, unit, g->inner_sends[unit] == 0);
}

/* The units that are shifted with this one: itself, or its group. */
static const int32_t *units_shifted_with(const clv_groups *g, const int32_t *unit)
{
    const clv_rules *r = g->p->rules;
    int32_t group = r && r->group_of ? r->group_of[*unit] : -1;
    return group < 0 ? unit : r->group_units + r->group_first[group];
}

int32_t clv_groups_first_shifted(const clv_groups *g, int32_t unit)
{
    return *units_shifted_with(g, &unit);
}

void clv_groups_shift(clv_groups *g, int32_t unit, int32_t to)
{
    const int32_t *units = units_shifted_with(g, &unit);
    int32_t n = clv_groups_n_shifted(g, unit);
    for (int32_t i = 0; i < n; i++)
        clv_groups_move(g, units[i], to);
}

bool clv_groups_meet_rules_at(clv_groups *g, int32_t unit)
{
    const int32_t *units = units_shifted_with(g, &unit);
    int32_t n = g->p->rules ? clv_groups_n_shifted(g, unit) : 0;
    for (int32_t i = 0; i < n; i++)
        if (!clv_rules_allow(g->p->rules, units[i], g->device_of[units[i]]) ||
            !clv_rule_counts_is_apart(&g->counts, units[i], g->device_of[units[i]]))
            return false;
    return n == 0 || clv_rule_counts_stages_satisfied(&g->counts, g->out);
}

static void clear(clv_groups *g)
{
    size_t d = (size_t)g->p->n_devices;
    memset(g->n_units, 0, d * sizeof *g->n_units);
    memset(g->weight_bytes, 0, d * sizeof *g->weight_bytes);
    memset(g->flops, 0, d * sizeof *g->flops);
    memset(g->time_ns, 0, d * sizeof *g->time_ns);
    memset(g->link_nets, 0, d * d * sizeof *g->link_nets);
    memset(g->link_ns, 0, d * d * sizeof *g->link_ns);
    memset(g->port_ns, 0, (size_t)clv_n_ports(g->p) * sizeof *g->port_ns);
    memset(g->out, 0, d * g->words * sizeof *g->out);
    memset(g->in, 0, d * g->words * sizeof *g->in);
    memset(g->n_pins, 0, (size_t)g->p->n_nets * sizeof *g->n_pins);
    memset(g->inner_reads, 0, (size_t)g->p->n_units * sizeof *g->inner_reads);
    memset(g->inner_sends, 0, (size_t)g->p->n_units * sizeof *g->inner_sends);
    g->n_used = 0;
    g->wire_ns = 0;
    if (g->p->rules)
        clv_rule_counts_clear(&g->counts);
    for (int kind = 0; kind < 2; kind++) {
        for (int32_t i = 0; i < g->p->n_devices; i++)
            g->edge[kind].head[i] = -1;
        for (int32_t u = 0; u < g->p->n_units; u++)
            g->edge[kind].prev[u] = NOT_LISTED;
    }
}

static void load_net(clv_groups *g, int32_t net)
{
    const clv_partition_problem *p = g->p;
    int32_t writer = p->net_from[net], from = g->device_of[writer];
    for (int32_t i = p->net_first[net]; i < p->net_first[net + 1]; i++) {
        int32_t to = g->device_of[p->net_to[i]];
        g->inner_reads[p->net_to[i]] += to == from;
        if (!count_reader(g, net, to, +1))
            continue;
        if (to == from)
            g->inner_sends[writer]++;
        else
            add_crossing(g, from, to, net, +1);
    }
}

void clv_groups_load(clv_groups *g, const int32_t *device_of)
{
    const clv_partition_problem *p = g->p;
    clear(g);
    if (p->n_units > 0)
        memmove(g->device_of, device_of, (size_t)p->n_units * sizeof *device_of);
    for (int32_t u = 0; u < p->n_units; u++)
        add_sums(g, u, g->device_of[u], +1);
    for (int32_t net = 0; net < p->n_nets; net++)
        load_net(g, net);
    for (int32_t u = p->n_units - 1; u >= 0; u--) {
        set_listed(g, CLV_STARTING, u, g->inner_reads[u] == 0);
        set_listed(g, CLV_ENDING, u, g->inner_sends[u] == 0);
    }
}

void clv_groups_reach(clv_groups *g, const uint64_t *rows, int32_t d, uint64_t *row)
{
    int32_t n = 0;
    memset(row, 0, g->words * sizeof *row);
    g->queue[n++] = d;
    for (int32_t i = 0; i < n; i++) {
        const uint64_t *next = rows + (size_t)g->queue[i] * g->words;
        for (size_t w = 0; w < g->words; w++) {
            uint64_t fresh = next[w] & ~row[w];
            row[w] |= next[w];
            for (; fresh; fresh &= fresh - 1) {
                int32_t b = (int32_t)(w * 64) + __builtin_ctzll(fresh);
                if (b != d)
                    g->queue[n++] = b;
            }
        }
    }
}

bool clv_groups_is_legal_at(clv_groups *g, int32_t d)
{
    clv_groups_reach(g, g->out, d, g->visited);
    return !clv_bit(g->visited, d);
}

/* Counts the nets that cross because of this unit alone, sign times. */
static void count_own_crossings(clv_groups *g, int32_t unit, int32_t sign)
{
    const clv_partition_problem *p = g->p;
    int32_t here = g->device_of[unit];
    for (int32_t net = p->unit_first_net[unit]; net < p->unit_first_net[unit + 1]; net++)
        for (int32_t i = 0; i < g->n_pins[net]; i++)
            if (g->pins[g->pin_first[net] + i].device != here)
                add_crossing(g, here, g->pins[g->pin_first[net] + i].device, net, sign);
    for (int32_t i = p->reads_first[unit]; i < p->reads_first[unit + 1]; i++) {
        int32_t net = p->reads[i], from = g->device_of[p->net_from[net]], pin = g->pin_first[net];
        while (g->pins[pin].device != here)
            pin++;
        if (from != here && g->pins[pin].readers == 1)
            add_crossing(g, from, here, net, sign);
    }
}

/* Adds to row all that any of g->sources leads to along rows; a source only where another one leads
 * to it.
 */
static void reach_from_sources(clv_groups *g, const uint64_t *rows, uint64_t *row)
{
    int32_t n = 0;
    for (size_t w = 0; w < g->words; w++)
        for (uint64_t bits = g->sources[w]; bits; bits &= bits - 1)
            g->queue[n++] = (int32_t)(w * 64) + __builtin_ctzll(bits);
    for (int32_t i = 0; i < n; i++) {
        const uint64_t *next = rows + (size_t)g->queue[i] * g->words;
        for (size_t w = 0; w < g->words; w++) {
            uint64_t fresh = next[w] & ~row[w];
            row[w] |= next[w];
            for (fresh &= ~g->sources[w]; fresh; fresh &= fresh - 1)
                g->queue[n++] = (int32_t)(w * 64) + __builtin_ctzll(fresh);
        }
    }
}

void clv_groups_barred(clv_groups *g, int32_t unit, uint64_t *barred)
{
    const clv_partition_problem *p = g->p;
    memset(barred, 0, g->words * sizeof *barred);
    if (g->inner_reads[unit] > 0 &&
        g->inner_sends[unit] > 0) { /* its group would wait for itself */
        for (int32_t d = 0; d < p->n_devices; d++)
            if (d != g->device_of[unit])
                clv_bit_set(barred, d);
        return;
    }
    memset(g->sources, 0, g->words * sizeof *g->sources);
    count_own_crossings(g, unit, -1);
    for (int32_t i = p->reads_first[unit]; i < p->reads_first[unit + 1]; i++)
        clv_bit_set(g->sources, g->device_of[p->net_from[p->reads[i]]]);
    reach_from_sources(g, g->in, barred);
    memset(g->sources, 0, g->words * sizeof *g->sources);
    memset(g->visited, 0, g->words * sizeof *g->visited);
    for (int32_t net = p->unit_first_net[unit]; net < p->unit_first_net[unit + 1]; net++)
        for (int32_t i = 0; i < g->n_pins[net]; i++)
            clv_bit_set(g->sources, g->pins[g->pin_first[net] + i].device);
    reach_from_sources(g, g->out, g->visited);
    for (size_t w = 0; w < g->words; w++)
        barred[w] |= g->visited[w];
    count_own_crossings(g, unit, +1);
}

int64_t clv_groups_period_ns(const clv_groups *g)
{
    int64_t period = 0;
    for (int32_t d = 0; d < g->p->n_devices; d++)
        period = g->time_ns[d] > period ? g->time_ns[d] : period;
    for (int32_t i = 0; i < clv_n_ports(g->p); i++)
        period = g->port_ns[i] > period ? g->port_ns[i] : period;
    return period;
}

/* Time that the links from one device use a port. */
static int64_t sent_through_ns(const clv_groups *g, int32_t from, int32_t port)
{
    const clv_partition_problem *p = g->p;
    int64_t sum = 0;
    for (int32_t to = 0; to < p->n_devices; to++) {
        size_t link = link_at(g, from, to);
        if (g->link_ns[link] == 0)
            continue;
        if (!p->link_first_port) {
            sum += link == (size_t)port ? g->link_ns[link] : 0;
            continue;
        }
        for (int32_t i = p->link_first_port[link]; i < p->link_first_port[link + 1]; i++)
            sum += p->link_ports[i] == port ? g->link_ns[link] : 0;
    }
    return sum;
}

int32_t clv_groups_busiest_sender(const clv_groups *g)
{
    int32_t port = 0, busiest = 0;
    int64_t most = -1;
    for (int32_t i = 1; i < clv_n_ports(g->p); i++)
        port = g->port_ns[i] > g->port_ns[port] ? i : port;
    for (int32_t d = 0; d < g->p->n_devices; d++) {
        int64_t ns = sent_through_ns(g, d, port);
        busiest = ns > most ? d : busiest;
        most = ns > most ? ns : most;
    }
    return busiest;
}

int64_t clv_groups_serial_ns(const clv_groups *g)
{
    int64_t sum = g->wire_ns;
    for (int32_t d = 0; d < g->p->n_devices; d++)
        sum = clv_add_sat(sum, g->time_ns[d]);
    return sum;
}

static bool allocate_lists(const clv_partition_problem *p, clv_arena *arena, clv_unit_lists *list)
{
    *list = (clv_unit_lists){ CLV_NEW_ARRAY(arena, int32_t, p->n_units),
                              CLV_NEW_ARRAY(arena, int32_t, p->n_units),
                              CLV_NEW_ARRAY(arena, int32_t, p->n_devices) };
    return list->next && list->prev && list->head;
}

static bool allocate_pins(const clv_partition_problem *p, clv_arena *arena, clv_groups *g)
{
    g->pin_first = CLV_NEW_ARRAY(arena, int32_t, (size_t)p->n_nets + 1);
    g->n_pins = CLV_NEW_ARRAY(arena, int32_t, p->n_nets);
    if (!g->pin_first || !g->n_pins)
        return false;
    for (int32_t net = 0; net < p->n_nets; net++) {
        int32_t readers = p->net_first[net + 1] - p->net_first[net];
        g->pin_first[net + 1] =
            g->pin_first[net] + (readers < p->n_devices ? readers : p->n_devices);
    }
    g->pins = CLV_NEW_ARRAY(arena, clv_pin, g->pin_first[p->n_nets]);
    return g->pins != NULL;
}

static bool allocate_sums(const clv_partition_problem *p, clv_arena *arena, clv_groups *g)
{
    size_t d = (size_t)p->n_devices;
    g->device_of = CLV_NEW_ARRAY(arena, int32_t, p->n_units);
    g->n_units = CLV_NEW_ARRAY(arena, int32_t, d);
    g->weight_bytes = CLV_NEW_ARRAY(arena, int64_t, d);
    g->flops = CLV_NEW_ARRAY(arena, int64_t, d);
    g->time_ns = CLV_NEW_ARRAY(arena, int64_t, d);
    g->link_nets = CLV_NEW_ARRAY(arena, int32_t, d * d);
    g->link_ns = CLV_NEW_ARRAY(arena, int64_t, d * d);
    g->port_ns = p->link_first_port ? CLV_NEW_ARRAY(arena, int64_t, p->n_ports) : g->link_ns;
    g->out = CLV_NEW_ARRAY(arena, uint64_t, d * g->words);
    g->in = CLV_NEW_ARRAY(arena, uint64_t, d * g->words);
    g->visited = CLV_NEW_ARRAY(arena, uint64_t, g->words);
    g->sources = CLV_NEW_ARRAY(arena, uint64_t, g->words);
    g->queue = CLV_NEW_ARRAY(arena, int32_t, d);
    g->inner_reads = CLV_NEW_ARRAY(arena, int32_t, p->n_units);
    g->inner_sends = CLV_NEW_ARRAY(arena, int32_t, p->n_units);
    return g->device_of && g->n_units && g->weight_bytes && g->flops && g->time_ns &&
           g->link_nets && g->link_ns && g->port_ns && g->out && g->in && g->visited &&
           g->sources && g->queue && g->inner_reads && g->inner_sends;
}

clv_status clv_groups_new(const clv_partition_problem *p, clv_arena *arena, clv_groups **ret,
                          clv_error *err)
{
    clv_groups *g = CLV_NEW(arena, clv_groups);
    if (!g)
        return clv_fail_nomem(err, "the groups of a search");
    g->p = p;
    g->words = clv_bits_words(p->n_devices);
    if (!allocate_sums(p, arena, g) || !allocate_pins(p, arena, g) ||
        !allocate_lists(p, arena, &g->edge[CLV_STARTING]) ||
        !allocate_lists(p, arena, &g->edge[CLV_ENDING]))
        return clv_fail_nomem(err, "the groups of a search");
    if (p->rules)
        CLV_TRY(clv_rule_counts_new(p, arena, &g->counts, err));
    *ret = g;
    return CLV_OK;
}
