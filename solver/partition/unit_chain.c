#include "solver/partition/unit_chain.h"

#include <string.h>

static bool allocate(const clv_partition_problem *p, clv_arena *arena, clv_unit_chain *c)
{
    size_t n = (size_t)p->n_units + 1, d = (size_t)p->n_devices + 1;
    if (n > SIZE_MAX / sizeof(int64_t) / d || n > SIZE_MAX / sizeof(int64_t) / 2)
        return false;
    *c = (clv_unit_chain){
        .p = p,
        .weight_bytes = CLV_NEW_ARRAY(arena, int64_t, n),
        .held_bytes = CLV_NEW_ARRAY(arena, int64_t, n),
        .time_ns = CLV_NEW_ARRAY(arena, int64_t, n * (size_t)p->n_kinds),
        .spread = CLV_NEW_ARRAY(arena, double, p->n_devices),
        .fanout_ns = CLV_NEW_ARRAY(arena, int64_t, n),
        .cut_bytes = CLV_NEW_ARRAY(arena, int64_t, n),
        .cut_nets = CLV_NEW_ARRAY(arena, int32_t, n),
        .reach = CLV_NEW_ARRAY(arena, bool, n *d),
        .from = CLV_NEW_ARRAY(arena, int32_t, n * d),
        .wire_ns = CLV_NEW_ARRAY(arena, int64_t, n * d),
        .arrival_ns = CLV_NEW_ARRAY(arena, int64_t, p->n_nets),
        .cost_ns = CLV_NEW_ARRAY(arena, int64_t, 2 * n),
        .window = CLV_NEW_ARRAY(arena, int32_t, n),
        .start_ns = CLV_NEW_ARRAY(arena, int64_t, n),
        .low = CLV_NEW_ARRAY(arena, int32_t, d),
        .high = CLV_NEW_ARRAY(arena, int32_t, d),
    };
    return c->weight_bytes && c->held_bytes && c->time_ns && c->spread && c->fanout_ns &&
           c->cut_bytes && c->cut_nets && c->reach && c->from && c->wire_ns && c->arrival_ns &&
           c->cost_ns && c->window && c->start_ns && c->low && c->high;
}

/* A net crosses all positions after its writer up to its last reader. */
static void add_cuts(const clv_partition_problem *p, clv_unit_chain *c)
{
    for (int32_t net = 0; net < p->n_nets; net++) {
        if (p->net_first[net] == p->net_first[net + 1])
            continue;
        int32_t first = p->net_from[net] + 1, end = p->net_to[p->net_first[net + 1] - 1] + 1;
        c->cut_bytes[first] += p->net_bytes[net];
        c->cut_bytes[end] -= p->net_bytes[net];
        c->cut_nets[first]++;
        c->cut_nets[end]--;
    }
    for (int32_t i = 1; i <= p->n_units; i++) {
        c->cut_bytes[i] += c->cut_bytes[i - 1];
        c->cut_nets[i] += c->cut_nets[i - 1];
    }
}

static clv_status add_rules(const clv_partition_problem *p, clv_arena *arena, clv_unit_chain *c,
                            clv_error *err)
{
    const clv_rules *r = p->rules;
    size_t n = (size_t)p->n_units + 1;
    c->rules = r;
    c->start = CLV_NEW_ARRAY(arena, int32_t, n * (size_t)p->n_devices);
    c->apart = CLV_NEW_ARRAY(arena, int32_t, n);
    c->seen = CLV_NEW_ARRAY(arena, clv_last_tag, r->n_families);
    c->is_inside = CLV_NEW_ARRAY(arena, bool, n);
    if (!c->start || !c->apart || !c->seen || !c->is_inside)
        return clv_fail_nomem(err, "the line of units");
    for (int32_t g = 0; g < r->n_groups; g++) {
        int32_t first = r->group_units[r->group_first[g]];
        int32_t last = r->group_units[r->group_first[g + 1] - 1];
        for (int32_t i = first + 1; i <= last; i++)
            c->is_inside[i] = true;
    }
    return CLV_OK;
}

/* The i-th of n devices of a kind comes at (2 i + 1) / (2 n). */
static void spread_kinds(clv_unit_chain *c)
{
    const clv_partition_problem *p = c->p;
    for (int32_t d = 0; d < p->n_devices; d++) {
        int32_t before = 0, n = 0;
        for (int32_t other = 0; other < p->n_devices; other++) {
            bool alike = p->kind_of[other] == p->kind_of[d];
            n += alike;
            before += alike && other < d;
        }
        c->spread[d] = (2.0 * before + 1) / (2.0 * n);
    }
}

void clv_unit_chain_update_times(clv_unit_chain *c)
{
    const clv_partition_problem *p = c->p;
    for (int32_t k = 0; k < p->n_kinds; k++) {
        int64_t *time = c->time_ns + (size_t)k * ((size_t)p->n_units + 1);
        const int64_t *unit = p->time_ns + (size_t)k * (size_t)p->n_units;
        for (int32_t u = 0; u < p->n_units; u++)
            time[u + 1] = time[u] + unit[u];
    }
}

clv_status clv_unit_chain_new(const clv_partition_problem *p, const int64_t *held_bytes,
                              clv_arena *arena, clv_unit_chain **ret, clv_error *err)
{
    clv_unit_chain *c = CLV_NEW(arena, clv_unit_chain);
    if (!c || !allocate(p, arena, c))
        return clv_fail_nomem(err, "the line of units");
    for (int32_t u = 0; u < p->n_units; u++) {
        c->weight_bytes[u + 1] = c->weight_bytes[u] + p->weight_bytes[u];
        c->held_bytes[u + 1] =
            c->held_bytes[u] + p->weight_bytes[u] + (held_bytes ? held_bytes[u] : 0);
    }
    spread_kinds(c);
    clv_unit_chain_update_times(c);
    add_cuts(p, c);
    if (p->rules)
        CLV_TRY(add_rules(p, arena, c, err));
    *ret = c;
    return CLV_OK;
}

typedef struct {
    const clv_partition_problem *p;
    const int32_t *device_of;
    int64_t *port_ns; /* by port: of the unit at hand; 0 between units */
    int32_t *sent;    /* by device: last net sent there, plus 1 */
} fanout;

/* The most of the ports from one device to another. */
static int64_t busiest_port_ns(const fanout *f, int32_t from, int32_t to)
{
    const clv_partition_problem *p = f->p;
    size_t link = (size_t)from * (size_t)p->n_devices + (size_t)to;
    int64_t most = 0;
    if (!p->link_first_port)
        return f->port_ns[link];
    for (int32_t i = p->link_first_port[link]; i < p->link_first_port[link + 1]; i++)
        most = f->port_ns[p->link_ports[i]] > most ? f->port_ns[p->link_ports[i]] : most;
    return most;
}

/* A net goes to each device that reads it; the first is left out. Returns the busiest port. */
static int64_t send_net(const fanout *f, int32_t net, int64_t sign, int64_t most)
{
    const clv_partition_problem *p = f->p;
    int32_t from = f->device_of[p->net_from[net]], n_sent = 0;
    for (int32_t i = p->net_first[net]; i < p->net_first[net + 1]; i++) {
        int32_t to = f->device_of[p->net_to[i]];
        int32_t mark = sign > 0 ? net + 1 : -net - 1;
        if (to == from || f->sent[to] == mark)
            continue;
        f->sent[to] = mark;
        if (n_sent++ == 0)
            continue;
        clv_add_to_ports(p, from, to, sign * clv_wire_ns(p, from, to, p->net_bytes[net]),
                         f->port_ns);
        int64_t busy = busiest_port_ns(f, from, to);
        most = busy > most ? busy : most;
    }
    return most;
}

clv_status clv_unit_chain_measure_fanout(clv_unit_chain *c, const int32_t *device_of,
                                         clv_arena *scratch, clv_error *err)
{
    const clv_partition_problem *p = c->p;
    fanout f = { p, device_of, CLV_NEW_ARRAY(scratch, int64_t, clv_n_ports(p)),
                 CLV_NEW_ARRAY(scratch, int32_t, p->n_devices) };
    if (!f.port_ns || !f.sent)
        return clv_fail_nomem(err, "the line of units");
    for (int32_t u = 0; u < p->n_units; u++) {
        int64_t most = 0;
        for (int32_t net = p->unit_first_net[u]; net < p->unit_first_net[u + 1]; net++)
            most = send_net(&f, net, +1, most);
        for (int32_t net = p->unit_first_net[u]; net < p->unit_first_net[u + 1]; net++)
            send_net(&f, net, -1, 0);
        c->fanout_ns[u + 1] = c->fanout_ns[u] + most;
    }
    return CLV_OK;
}

/* end[g] is the position after run g. Returns the number of runs; the last one ends at n_units. */
static int32_t cut_at_average(const clv_unit_chain *c, int32_t *end)
{
    const clv_partition_problem *p = c->p;
    double average = (double)c->weight_bytes[p->n_units] / p->n_devices;
    int64_t sum = 0;
    int32_t n = 0;
    for (int32_t u = 0; u < p->n_units - 1 && n < p->n_devices - 1; u++) {
        sum += p->weight_bytes[u];
        if ((double)sum >= average) {
            end[n++] = u + 1;
            sum = 0;
        }
    }
    end[n++] = p->n_units;
    return n;
}

/* The run that has most weight among those with two units or more; -1: none. */
static int32_t heaviest_run(const clv_unit_chain *c, const int32_t *end, int32_t n)
{
    int32_t best = -1;
    int64_t best_weight = -1;
    for (int32_t g = 0; g < n; g++) {
        int32_t first = g > 0 ? end[g - 1] : 0;
        int64_t weight = c->weight_bytes[end[g]] - c->weight_bytes[first];
        if (end[g] - first >= 2 && weight > best_weight) {
            best = g;
            best_weight = weight;
        }
    }
    return best;
}

/* First position inside (first, end) that has half of the run's weight before it. */
static int32_t half_weight_position(const clv_unit_chain *c, int32_t first, int32_t end)
{
    int64_t half = (c->weight_bytes[first] + c->weight_bytes[end] + 1) / 2;
    int32_t low = first + 1, high = end - 1;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (c->weight_bytes[middle] >= half)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void clv_cut_by_weight(const clv_unit_chain *c, bool use_all, int32_t *device_of)
{
    const clv_partition_problem *p = c->p;
    if (p->n_units == 0)
        return;
    int32_t *end = c->window; /* at most n_units runs */
    int32_t n = cut_at_average(c, end);
    while (use_all && n < p->n_devices) {
        int32_t g = heaviest_run(c, end, n);
        if (g < 0)
            break; /* a unit each */
        int32_t at = half_weight_position(c, g > 0 ? end[g - 1] : 0, end[g]);
        memmove(end + g + 1, end + g, (size_t)(n - g) * sizeof *end);
        end[g] = at;
        n++;
    }
    for (int32_t g = 0, u = 0; g < n; g++)
        for (; u < end[g]; u++)
            device_of[u] = g;
}
