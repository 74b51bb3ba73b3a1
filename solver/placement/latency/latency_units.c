#include "solver/placement/latency/latency_units.h"

#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "base/union_find.h"

/* Bits that the sum of all times may take in ticks: with sums of sums it stays well below 62. */
#define TICK_BITS 54

/* Larger classes stay single nodes: joining looks at all pairs of members. Bounds stay bounds. */
#define MOST_JOINED 256

/* Least time of a node over the kinds that pay, or do not. */
static int64_t least_time(const clv_place_problem *p, int32_t node, bool pays, double tick)
{
    double best = -1;
    for (int32_t k = 0; k < p->n_kinds; k++) {
        double time = p->time[(size_t)k * (size_t)p->n_nodes + (size_t)node];
        if (p->kinds[k].pays == pays && p->kinds[k].count > 0 && time >= 0 &&
            (best < 0 || time < best))
            best = time;
    }
    return best < 0 ? CLV_UNIT_NEVER : (int64_t)floor(best / tick);
}

/* The one unit that a list of nodes is in besides own; -1: none, -2: several. */
static int32_t sole_unit(int32_t *root, const int32_t *at, int32_t n, int32_t own, int32_t so_far)
{
    for (int32_t i = 0; i < n && so_far != -2; i++) {
        int32_t unit = clv_find_root(root, at[i]);
        if (unit != own && so_far != unit)
            so_far = so_far == -1 ? unit : -2;
    }
    return so_far;
}

/* One round of the two rules for units that are never torn apart, over all classes. */
static bool join_once(const clv_latency_tables *f, int32_t *root, const bool *idle)
{
    const clv_place_problem *p = f->p;
    bool joined = false;
    for (int32_t c = 0; c < p->n_classes; c++) {
        const int32_t *member = f->members.at + f->members.first[c];
        int32_t n = f->members.first[c + 1] - f->members.first[c];
        for (int32_t i = 0; i < n && n > 1 && n <= MOST_JOINED; i++) {
            int32_t own = clv_find_root(root, member[i]), reads = -1, read_by = -1;
            bool rests = true;
            if (own != member[i])
                continue; /* each unit once, by its root */
            for (int32_t j = 0; j < n; j++) {
                int32_t v = member[j];
                if (clv_find_root(root, v) != own)
                    continue;
                rests &= idle[v];
                reads = sole_unit(root, f->in.at + f->in.first[v],
                                  f->in.first[v + 1] - f->in.first[v], own, reads);
                read_by = sole_unit(root, p->out + p->out_first[v],
                                    p->out_first[v + 1] - p->out_first[v], own, read_by);
            }
            int32_t to = reads >= 0 ? reads : reads == -1 && rests ? read_by : -1;
            if (to >= 0 && p->class_of[to] == c) {
                root[own] = to;
                joined = true;
            }
        }
    }
    return joined;
}

/* Does every node of a unit that reads from outside lead, inside, to all that are read outside?
 * Then a path through the unit is a path through its nodes, on any device. */
static bool leads_through(const clv_latency_tables *f, int32_t *root, const int32_t *member,
                          int32_t n, int32_t unit, bool *reached)
{
    const clv_place_problem *p = f->p;
    for (int32_t i = 0; i < n; i++) {
        if (clv_find_root(root, member[i]) != unit ||
            sole_unit(root, f->in.at + f->in.first[member[i]],
                      f->in.first[member[i] + 1] - f->in.first[member[i]], unit, -1) == -1)
            continue;
        for (int32_t j = 0; j < n; j++)
            reached[member[j]] = false;
        reached[member[i]] = true;
        for (int32_t j = i; j < n; j++) { /* members are in order */
            int32_t v = member[j];
            if (clv_find_root(root, v) != unit)
                continue;
            for (int32_t e = f->in.first[v]; e < f->in.first[v + 1]; e++)
                reached[v] |= clv_find_root(root, f->in.at[e]) == unit && reached[f->in.at[e]];
        }
        for (int32_t j = 0; j < n; j++)
            if (clv_find_root(root, member[j]) == unit && !reached[member[j]] &&
                sole_unit(root, p->out + p->out_first[member[j]],
                          p->out_first[member[j] + 1] - p->out_first[member[j]], unit, -1) != -1)
                return false;
    }
    return true;
}

/* Takes units apart that a path may touch without going through. */
static clv_status part_units(const clv_latency_tables *f, int32_t *root, clv_arena *arena,
                             clv_error *err)
{
    const clv_place_problem *p = f->p;
    bool *reached = CLV_NEW_ARRAY(arena, bool, p->n_nodes);
    bool *parted = CLV_NEW_ARRAY(arena, bool, p->n_nodes);
    if (!reached || !parted)
        return clv_fail_nomem(err, "the units of a placement");
    for (int32_t c = 0; c < p->n_classes; c++) {
        const int32_t *member = f->members.at + f->members.first[c];
        int32_t n = f->members.first[c + 1] - f->members.first[c];
        for (int32_t i = 0; i < n; i++)
            parted[member[i]] = root[member[i]] == member[i] &&
                                !leads_through(f, root, member, n, member[i], reached);
        for (int32_t i = 0; i < n; i++)
            root[member[i]] = clv_find_root(root, member[i]);
        for (int32_t i = 0; i < n; i++) /* roots last: others look at them */
            if (root[member[i]] != member[i] && parted[root[member[i]]])
                root[member[i]] = member[i];
    }
    return CLV_OK;
}

/* Strongly connected classes, by reachability. */
static clv_status join_circles(const clv_latency_tables *f, int32_t *root, clv_arena *arena,
                               clv_error *err)
{
    const clv_place_problem *p = f->p;
    size_t words = clv_bits_words(p->n_classes), n = (size_t)p->n_classes;
    uint64_t *reach = CLV_NEW_ARRAY(arena, uint64_t, n * words);
    if (!reach)
        return clv_fail_nomem(err, "the units of a placement");
    for (bool grows = true; grows;) { /* a few rounds: classes are nearly in order */
        grows = false;
        for (int32_t i = p->n_nodes - 1; i >= 0; i--) {
            int32_t c = p->class_of[p->order[i]];
            uint64_t *row = reach + (size_t)c * words;
            for (int32_t e = f->down.first[c]; e < f->down.first[c + 1]; e++) {
                const uint64_t *other = reach + (size_t)f->down.at[e] * words;
                grows |= !clv_bit(row, f->down.at[e]);
                clv_bit_set(row, f->down.at[e]);
                for (size_t w = 0; w < words; w++) {
                    grows |= (other[w] & ~row[w]) != 0;
                    row[w] |= other[w];
                }
            }
        }
    }
    for (int32_t a = 0; a < p->n_classes; a++) {
        if (f->members.first[a] == f->members.first[a + 1])
            continue;
        int32_t first = f->members.at[f->members.first[a]];
        for (int32_t e = f->members.first[a]; e < f->members.first[a + 1]; e++)
            root[clv_find_root(root, f->members.at[e])] = clv_find_root(root, first);
        for (int32_t b = 0; b < a; b++)
            if (clv_bit(reach + (size_t)a * words, b) && clv_bit(reach + (size_t)b * words, a))
                root[clv_find_root(root, first)] =
                    clv_find_root(root, f->members.at[f->members.first[b]]);
    }
    return CLV_OK;
}

/* Numbers the units so that edges go up, given the root of each node. */
static clv_status number_units(clv_latency_units *u, int32_t *root, clv_arena *arena,
                               clv_error *err)
{
    const clv_place_problem *p = u->tables->p;
    int32_t *id = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    int32_t *waits = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    int32_t *queue = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    int32_t *from = CLV_NEW_ARRAY(arena, int32_t, p->n_edges);
    int32_t *to = CLV_NEW_ARRAY(arena, int32_t, p->n_edges);
    clv_csr readers;
    if (!id || !waits || !queue || !from || !to)
        return clv_fail_nomem(err, "the units of a placement");
    int32_t n_edges = 0, n_done = 0, n_queued = 0;
    for (int32_t i = 0; i < p->n_nodes; i++)
        for (int32_t e = p->out_first[i]; e < p->out_first[i + 1]; e++) {
            from[n_edges] = clv_find_root(root, i);
            to[n_edges++] = clv_find_root(root, p->out[e]);
        }
    CLV_TRY(
        clv_csr_from_pairs(p->n_nodes, (clv_csr_pairs){ n_edges, from, to }, arena, &readers, err));
    for (int32_t i = 0; i < p->n_nodes; i++)
        for (int32_t e = readers.first[i]; e < readers.first[i + 1]; e++)
            waits[readers.at[e]]++;
    for (int32_t i = 0; i < p->n_nodes; i++) {
        int32_t v = p->order[i];
        if (root[v] == v && !waits[v])
            queue[n_queued++] = v;
    }
    while (n_done < n_queued) {
        int32_t v = queue[n_done];
        id[v] = n_done++;
        for (int32_t e = readers.first[v]; e < readers.first[v + 1]; e++)
            if (!--waits[readers.at[e]])
                queue[n_queued++] = readers.at[e];
    }
    u->n = n_done;
    for (int32_t i = 0; i < p->n_nodes; i++)
        u->unit_of[i] = id[clv_find_root(root, i)];
    for (int32_t e = 0; e < n_edges; e++) {
        from[e] = id[from[e]];
        to[e] = id[to[e]];
    }
    CLV_TRY(clv_csr_from_pairs(u->n, (clv_csr_pairs){ n_edges, from, to }, arena, &u->out, err));
    return clv_csr_from_pairs(u->n, (clv_csr_pairs){ n_edges, to, from }, arena, &u->in, err);
}

static clv_status find_units(clv_latency_units *u, clv_arena *arena, clv_error *err)
{
    const clv_latency_tables *f = u->tables;
    const clv_place_problem *p = f->p;
    int32_t *root = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    bool *idle = CLV_NEW_ARRAY(arena, bool, p->n_nodes), backward = false;
    u->unit_of = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    if (!root || !idle || !u->unit_of)
        return clv_fail_nomem(err, "the units of a placement");
    for (int32_t i = 0; i < p->n_nodes; i++) {
        root[i] = i;
        idle[i] = true;
        backward |= p->backward[i];
        for (int32_t k = 0; k < p->n_kinds; k++)
            idle[i] &=
                !p->kinds[k].pays || p->time[(size_t)k * (size_t)p->n_nodes + (size_t)i] <= 0;
    }
    u->whole = f->contiguous && !backward;
    if (u->whole)
        CLV_TRY(join_circles(f, root, arena, err));
    else {
        while (join_once(f, root, idle))
            ;
        CLV_TRY(part_units(f, root, arena, err));
    }
    return number_units(u, root, arena, err);
}

static clv_status sum_units(clv_latency_units *u, clv_arena *arena, clv_error *err)
{
    const clv_place_problem *p = u->tables->p;
    u->bytes = CLV_NEW_ARRAY(arena, int64_t, u->n);
    u->paying_time = CLV_NEW_ARRAY(arena, int64_t, u->n);
    u->node_free = CLV_NEW_ARRAY(arena, int64_t, p->n_nodes);
    u->node_pays = CLV_NEW_ARRAY(arena, int64_t, p->n_nodes);
    if (!u->bytes || !u->paying_time || !u->node_free || !u->node_pays)
        return clv_fail_nomem(err, "the units of a placement");
    for (int32_t i = 0; i < p->n_nodes; i++) {
        int32_t unit = u->unit_of[i];
        int64_t time = least_time(p, i, true, u->tick);
        u->bytes[unit] += p->bytes[i];
        u->node_pays[i] = time;
        u->node_free[i] = least_time(p, i, false, u->tick);
        if (time == CLV_UNIT_NEVER || u->paying_time[unit] == CLV_UNIT_NEVER)
            u->paying_time[unit] = CLV_UNIT_NEVER;
        else
            u->paying_time[unit] += time;
    }
    u->capacity = 0;
    for (int32_t k = 0; k < p->n_kinds; k++)
        if (p->kinds[k].pays && p->kinds[k].count > 0 && u->capacity != CLV_PLACE_UNLIMITED) {
            int64_t room = p->kinds[k].capacity_bytes;
            u->capacity = room == CLV_PLACE_UNLIMITED || room > u->capacity ? room : u->capacity;
        }
    return CLV_OK;
}

/* A net for each node that is read outside its unit. */
static clv_status find_nets(clv_latency_units *u, clv_arena *arena, clv_error *err)
{
    const clv_place_problem *p = u->tables->p;
    int32_t room = p->n_edges + p->n_nodes, n_pins = 0;
    int32_t *seen = CLV_NEW_ARRAY(arena, int32_t, u->n);
    u->pins.first = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes + 1);
    u->pins.at = CLV_NEW_ARRAY(arena, int32_t, room);
    u->net_cost = CLV_NEW_ARRAY(arena, int64_t, p->n_nodes);
    if (!seen || !u->pins.first || !u->pins.at || !u->net_cost)
        return clv_fail_nomem(err, "the units of a placement");
    for (int32_t v = 0; v < p->n_nodes; v++) {
        int64_t cost = (int64_t)floor(p->send_cost[v] / u->tick);
        int32_t begin = n_pins;
        if (cost == 0)
            continue;
        seen[u->unit_of[v]] = v + 1;
        u->pins.at[n_pins++] = u->unit_of[v];
        for (int32_t e = p->out_first[v]; e < p->out_first[v + 1]; e++) {
            int32_t reader = u->unit_of[p->out[e]];
            if (seen[reader] != v + 1) {
                seen[reader] = v + 1;
                u->pins.at[n_pins++] = reader;
            }
        }
        if (n_pins < begin + 2) {
            n_pins = begin;
            continue;
        }
        u->net_cost[u->n_nets++] = cost;
        u->pins.first[u->n_nets] = n_pins;
    }
    return CLV_OK;
}

clv_status clv_latency_units_new(const clv_latency_tables *tables, clv_arena *arena,
                                 clv_latency_units **ret, clv_error *err)
{
    clv_latency_units *u = CLV_NEW(arena, clv_latency_units);
    if (!u)
        return clv_fail_nomem(err, "the units of a placement");
    u->tables = tables;
    const clv_place_problem *p = tables->p;
    double sum = 0;
    for (int32_t k = 0; k < p->n_kinds; k++)
        for (int32_t i = 0; i < p->n_nodes; i++)
            sum += fmax(p->time[(size_t)k * (size_t)p->n_nodes + (size_t)i], 0);
    for (int32_t i = 0; i < p->n_nodes; i++)
        sum += 2 * p->send_cost[i];
    u->tick = sum > 0 ? ldexp(1, ilogb(sum) + 1 - TICK_BITS) : 1;
    CLV_TRY(find_units(u, arena, err));
    CLV_TRY(sum_units(u, arena, err));
    CLV_TRY(find_nets(u, arena, err));
    u->words = (int32_t)clv_bits_words(u->n);
    u->above = CLV_NEW_ARRAY(arena, uint64_t, (size_t)u->n * (size_t)u->words);
    if (!u->above)
        return clv_fail_nomem(err, "the units of a placement");
    for (int32_t i = 0; i < u->n; i++) {
        uint64_t *row = u->above + (size_t)i * (size_t)u->words;
        for (int32_t e = u->in.first[i]; e < u->in.first[i + 1]; e++) {
            const uint64_t *other = u->above + (size_t)u->in.at[e] * (size_t)u->words;
            clv_bit_set(row, u->in.at[e]);
            for (int32_t w = 0; w < u->words; w++)
                row[w] |= other[w];
        }
    }
    *ret = u;
    return CLV_OK;
}

int64_t clv_latency_ticks(const clv_latency_units *units, double time)
{
    return (int64_t)floor(fmin(time / units->tick, ldexp(1, TICK_BITS + 1)));
}

int64_t clv_latency_most_held(const clv_latency_units *u)
{
    const clv_place_problem *p = u->tables->p;
    int64_t room = 0, need = 0;
    for (int32_t k = 0; k < p->n_kinds; k++)
        for (int32_t i = 0; i < p->kinds[k].count && p->kinds[k].pays; i++) {
            int64_t more = p->kinds[k].capacity_bytes;
            if (more == CLV_PLACE_UNLIMITED || room > INT64_MAX - more)
                return CLV_PLACE_UNLIMITED;
            room += more;
        }
    for (int32_t i = 0; i < u->n; i++)
        need = u->bytes[i] > INT64_MAX - need ? INT64_MAX : need + u->bytes[i];
    return need > room ? room : CLV_PLACE_UNLIMITED;
}
