#include "solver/partition/window_program.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"

/* Where branch and bound stops in one window, whatever work is left. So many nodes are mostly
 * enough for a better plan, if there is one. */
#define NODES_MAX  400
#define PIVOTS_MAX 2000
/* A gain below this part of a load is less than what a solver's tolerance can make up. */
#define LEAST_GAIN 1e-6

static const clv_partition_problem *problem_of(const clv_window_program *w) { return w->ls->g->p; }

static int32_t device_now(const clv_window_program *w, int32_t i)
{
    return w->ls->g->device_of[w->unit[i]];
}

/* -- where units may be -- */

/* The last side that stands at this place of the order or before; -1: none. */
static int32_t last_side_until(const clv_window_program *w, int32_t at)
{
    int32_t s = w->n_sides - 1;
    while (s >= 0 && w->at[w->side[s]] > at)
        s--;
    return s;
}

bool clv_window_narrow_unit(clv_window_program *w, int32_t i)
{
    const clv_partition_problem *p = problem_of(w);
    const int32_t *device_of = w->ls->g->device_of;
    int32_t u = w->unit[i], low = w->low[i], high = w->high[i];
    for (int32_t r = p->reads_first[u]; r < p->reads_first[u + 1]; r++) {
        int32_t writer = p->net_from[p->reads[r]], j = w->place[writer];
        int32_t least = j >= 0 ? w->low[j] : last_side_until(w, w->at[device_of[writer]] - 1) + 1;
        low = least > low ? least : low;
    }
    for (int32_t net = p->unit_first_net[u]; net < p->unit_first_net[u + 1]; net++)
        for (int32_t r = p->net_first[net]; r < p->net_first[net + 1]; r++) {
            int32_t j = w->place[p->net_to[r]];
            int32_t most = j >= 0 ? w->high[j] : last_side_until(w, w->at[device_of[p->net_to[r]]]);
            high = most < high ? most : high;
        }
    bool took = low != w->low[i] || high != w->high[i];
    w->low[i] = low;
    w->high[i] = high;
    return took;
}

/* Do the user's rules let it be there? */
static bool is_allowed(const clv_window_program *w, int32_t i, int32_t side)
{
    const clv_rules *r = problem_of(w)->rules;
    return !r || clv_rules_allow(r, w->unit[i], w->side[side]);
}

void clv_window_narrow(clv_window_program *w)
{
    int32_t n = 0;
    bool took = true;
    for (int32_t i = 0; i < w->n; i++) {
        w->low[i] = 0;
        w->high[i] = w->n_sides - 1;
    }
    while (took) {
        took = false;
        for (int32_t i = 0; i < w->n; i++)
            took |= clv_window_narrow_unit(w, i);
    }
    for (int32_t i = 0; i < w->n; i++) {
        w->place[w->unit[i]] = -1;
        if (w->low[i] >= w->high[i])
            continue;
        w->place[w->unit[i]] = n;
        w->unit[n] = w->unit[i];
        w->low[n] = w->low[i];
        w->high[n++] = w->high[i];
    }
    w->n = n;
}

/* -- the nets -- */

static clv_status push_charge(clv_window_program *w, clv_window_charge charge, clv_error *err)
{
    const clv_partition_problem *p = problem_of(w);
    if (clv_wire_ns(p, charge.from, charge.to, p->net_bytes[charge.net]) == 0)
        return CLV_OK;
    if (!CLV_PUSH_ROOM(w->arena, w->charges, w->n_charges, w->cap_charges))
        return clv_fail_nomem(err, "a window of units");
    w->charges[w->n_charges++] = charge;
    return CLV_OK;
}

/* Is the net read on the device by a unit beside the window? */
static bool is_read_beside(const clv_window_program *w, int32_t net, int32_t device)
{
    const clv_groups *g = w->ls->g;
    for (int32_t k = 0; k < g->n_pins[net]; k++)
        if (g->pins[g->pin_first[net] + k].device == device)
            return g->pins[g->pin_first[net] + k].readers > w->n_readers[device];
    return false;
}

/* Units of the window that read the net and may be on this side: their number, and the first. */
static int32_t readers_at(const clv_window_program *w, int32_t net, int32_t side, int32_t *ret)
{
    const clv_partition_problem *p = problem_of(w);
    int32_t n = 0;
    for (int32_t r = p->net_first[net]; r < p->net_first[net + 1]; r++) {
        int32_t j = w->place[p->net_to[r]];
        if (j >= 0 && w->low[j] <= side && side <= w->high[j] && n++ == 0)
            *ret = j;
    }
    return n;
}

/* A net, where its writer, unit i of the window or -1, is on this device: all that it may be sent
 * to. */
static clv_status charge_from(clv_window_program *w, int32_t net, int32_t i, int32_t from,
                              clv_error *err)
{
    const clv_groups *g = w->ls->g;
    clv_window_charge c = { .net = net, .from = from, .writer = i, .reader = -1, .column = -1 };
    for (int32_t k = 0; k < g->n_pins[net] && i >= 0; k++) {
        c.to = g->pins[g->pin_first[net] + k].device;
        if (c.to != from && is_read_beside(w, net, c.to))
            CLV_TRY(push_charge(w, c, err));
    }
    for (int32_t t = 0; t < w->n_sides; t++) {
        c.to = w->side[t];
        int32_t n = readers_at(w, net, t, &c.reader);
        if (n == 0 || w->at[c.to] <= w->at[from] || is_read_beside(w, net, c.to))
            continue;
        c.needs_column = i >= 0 || n > 1;
        CLV_TRY(push_charge(w, c, err));
    }
    return CLV_OK;
}

/* What transfers the window can change. */
static clv_status list_charges(clv_window_program *w, clv_error *err)
{
    const clv_partition_problem *p = problem_of(w);
    const int32_t *device_of = w->ls->g->device_of;
    for (int32_t at = 0; at < w->nets.n; at++) {
        int32_t net = w->nets.at[at], i = w->place[p->net_from[net]];
        for (int32_t r = p->net_first[net]; r < p->net_first[net + 1]; r++)
            w->n_readers[device_of[p->net_to[r]]] += w->place[p->net_to[r]] >= 0;
        clv_status status = CLV_OK;
        if (i < 0)
            status = charge_from(w, net, i, device_of[p->net_from[net]], err);
        for (int32_t s = 0; i >= 0 && s < w->n_sides && status == CLV_OK; s++)
            if (w->low[i] <= s && s <= w->high[i])
                status = charge_from(w, net, i, w->side[s], err);
        for (int32_t r = p->net_first[net]; r < p->net_first[net + 1]; r++)
            w->n_readers[device_of[p->net_to[r]]] = 0;
        CLV_TRY(status);
    }
    return CLV_OK;
}

/* -- rows. Columns: c, T, then those of charges. -- */

static int32_t column_c(const clv_window_program *w, int32_t i, int32_t t)
{
    return i * (w->n_sides - 1) + t;
}

static int32_t column_t(const clv_window_program *w) { return w->n * (w->n_sides - 1); }

static double parts(const clv_window_program *w, int64_t ns)
{
    return (double)ns / (double)w->top_ns;
}

/* To the row at hand, which is a sum of what is added. */
static void add(clv_window_program *w, int32_t column, double value)
{
    if (!w->is_in_row[column])
        w->in_row[w->n_in_row++] = column;
    w->is_in_row[column] = true;
    w->coefficient[column] += value;
}

/* The same: value * c of unit i and side t. */
static void add_c(clv_window_program *w, int32_t i, int32_t t, double value)
{
    if (t < w->low[i])
        return;
    if (t >= w->high[i])
        w->constant += value;
    else
        add(w, column_c(w, i, t), value);
}

/* value, where unit i is on side s. */
static void add_x(clv_window_program *w, int32_t i, int32_t s, double value)
{
    add_c(w, i, s, value);
    if (s > 0)
        add_c(w, i, s - 1, -value);
}

/* The row at hand is done. */
static void end_row(clv_window_program *w, double lo, double hi)
{
    if (w->n_in_row > 0)
        clv_ilp_add_row(&w->ilp, lo - w->constant, hi - w->constant);
    for (int32_t k = 0; k < w->n_in_row; k++) {
        int32_t c = w->in_row[k];
        if (w->coefficient[c] != 0)
            clv_ilp_add_term(&w->ilp, c, w->coefficient[c]);
        w->coefficient[c] = 0;
        w->is_in_row[c] = false;
    }
    w->n_in_row = 0;
    w->constant = 0;
}

static void add_columns(clv_window_program *w, int64_t least_ns)
{
    for (int32_t i = 0; i < w->n; i++)
        for (int32_t t = 0; t + 1 < w->n_sides; t++)
            clv_ilp_add_column(&w->ilp, (clv_ilp_column){ .lo = t >= w->high[i],
                                                          .hi = t >= w->low[i],
                                                          .whole = true,
                                                          .letter = 'c',
                                                          .a = w->unit[i],
                                                          .b = w->side[t] });
    clv_ilp_add_column(&w->ilp, (clv_ilp_column){ .lo = parts(w, least_ns),
                                                  .hi = 1 - LEAST_GAIN,
                                                  .cost = 1,
                                                  .letter = 'T',
                                                  .a = -1,
                                                  .b = -1 });
}

/* What is on a side or before is on the next one or before; rules of the user. */
static void add_places(clv_window_program *w)
{
    for (int32_t i = 0; i < w->n; i++) {
        for (int32_t t = w->low[i]; t + 1 < w->high[i]; t++) {
            add_c(w, i, t + 1, 1);
            add_c(w, i, t, -1);
            end_row(w, 0, INFINITY);
        }
        for (int32_t s = w->low[i]; s <= w->high[i]; s++) {
            if (is_allowed(w, i, s))
                continue;
            add_x(w, i, s, 1);
            end_row(w, 0, 0);
        }
    }
}

/* What reads a unit of the window does not come before it. */
static void add_order(clv_window_program *w)
{
    const clv_partition_problem *p = problem_of(w);
    for (int32_t at = 0; at < w->nets.n; at++) {
        int32_t net = w->nets.at[at], i = w->place[p->net_from[net]];
        for (int32_t r = p->net_first[net]; i >= 0 && r < p->net_first[net + 1]; r++) {
            int32_t j = w->place[p->net_to[r]];
            for (int32_t t = 0; j >= 0 && t + 1 < w->n_sides; t++) {
                if (t < w->low[j] || t >= w->high[i])
                    continue;
                add_c(w, i, t, 1);
                add_c(w, j, t, -1);
                end_row(w, 0, INFINITY);
            }
        }
    }
}

/* T >= the time of each device. */
static void add_times(clv_window_program *w)
{
    const clv_groups *g = w->ls->g;
    for (int32_t s = 0; s < w->n_sides; s++) {
        int32_t d = w->side[s];
        int64_t beside = g->time_ns[d];
        add(w, column_t(w), 1);
        for (int32_t i = 0; i < w->n; i++) {
            int64_t ns = clv_unit_ns(g->p, w->unit[i], d);
            beside -= device_now(w, i) == d ? ns : 0;
            add_x(w, i, s, -parts(w, ns));
        }
        end_row(w, parts(w, beside), INFINITY);
    }
}

/* Weights fit, where they might not. What is too much now may stay. */
static void add_memory(clv_window_program *w)
{
    const clv_groups *g = w->ls->g;
    const clv_partition_problem *p = g->p;
    for (int32_t s = 0; s < w->n_sides; s++) {
        int32_t d = w->side[s];
        int64_t most = 0, beside = g->weight_bytes[d];
        int64_t room = p->capacity_bytes[d] - w->ls->reserve_bytes[d];
        room = room > beside ? room : beside;
        for (int32_t i = 0; i < w->n; i++) {
            most += p->weight_bytes[w->unit[i]];
            beside -= device_now(w, i) == d ? p->weight_bytes[w->unit[i]] : 0;
        }
        if (most <= room - beside)
            continue;
        for (int32_t i = 0; i < w->n; i++)
            add_x(w, i, s, (double)p->weight_bytes[w->unit[i]] / (double)most);
        end_row(w, -INFINITY, (double)(room - beside) / (double)most);
    }
}

/* A device that has no units beside the window keeps one of it, where all are to be used. */
static void add_use(clv_window_program *w)
{
    for (int32_t s = 0; s < w->n_sides && w->ls->moves.keep_groups; s++) {
        int32_t n_beside = w->ls->g->n_units[w->side[s]];
        for (int32_t i = 0; i < w->n; i++)
            n_beside -= device_now(w, i) == w->side[s];
        if (n_beside > 0)
            continue;
        for (int32_t i = 0; i < w->n; i++)
            add_x(w, i, s, 1);
        end_row(w, 1, INFINITY);
    }
}

/* -- ports -- */

static int64_t charge_ns(const clv_window_program *w, const clv_window_charge *c)
{
    return clv_wire_ns(problem_of(w), c->from, c->to, problem_of(w)->net_bytes[c->net]);
}

static int by_port(const void *a, const void *b)
{
    const clv_window_use *x = a, *y = b;
    return x->port != y->port ? clv_compare_int32(&x->port, &y->port)
                              : clv_compare_int32(&x->charge, &y->charge);
}

/* Which charges are on which ports. */
static clv_status list_uses(clv_window_program *w, clv_error *err)
{
    const clv_partition_problem *p = problem_of(w);
    for (int32_t k = 0; k < w->n_charges; k++) {
        int32_t link = w->charges[k].from * p->n_devices + w->charges[k].to;
        int32_t first = p->link_first_port ? p->link_first_port[link] : 0;
        int32_t end = p->link_first_port ? p->link_first_port[link + 1] : 1;
        for (int32_t i = first; i < end; i++) {
            if (!CLV_PUSH_ROOM(w->arena, w->uses, w->n_uses, w->cap_uses))
                return clv_fail_nomem(err, "a window of units");
            w->uses[w->n_uses++] =
                (clv_window_use){ p->link_first_port ? p->link_ports[i] : link, k };
        }
    }
    if (w->n_uses > 0)
        qsort(w->uses, (size_t)w->n_uses, sizeof *w->uses, by_port);
    return CLV_OK;
}

/* Where the uses of a port end that begin here. */
static int32_t end_of_port(const clv_window_program *w, int32_t first)
{
    int32_t end = first;
    while (end < w->n_uses && w->uses[end].port == w->uses[first].port)
        end++;
    return end;
}

/* Is it sent now? */
static bool is_charged(const clv_window_program *w, const clv_window_charge *c)
{
    const clv_groups *g = w->ls->g;
    bool is_read = false;
    for (int32_t k = 0; k < g->n_pins[c->net]; k++)
        is_read |= g->pins[g->pin_first[c->net] + k].device == c->to;
    return is_read && g->device_of[g->p->net_from[c->net]] == c->from;
}

/* Gives a charge its column: y >= x of the reader, for each, and where the writer is in the window
 * too, x of the writer + x of the reader - 1. */
static void add_charge_column(clv_window_program *w, clv_window_charge *c)
{
    const clv_partition_problem *p = problem_of(w);
    int32_t t = w->side_of[c->to];
    c->column = clv_ilp_add_column(
        &w->ilp, (clv_ilp_column){ .hi = 1, .letter = 'y', .a = c->net, .b = c->to });
    for (int32_t r = p->net_first[c->net]; r < p->net_first[c->net + 1]; r++) {
        int32_t j = w->place[p->net_to[r]];
        if (j < 0 || t < w->low[j] || t > w->high[j])
            continue;
        add(w, c->column, 1);
        add_x(w, j, t, -1);
        if (c->writer >= 0)
            add_x(w, c->writer, w->side_of[c->from], -1);
        end_row(w, c->writer >= 0 ? -1 : 0, INFINITY);
    }
}

/* value, where the net is sent. */
static void add_charge(clv_window_program *w, const clv_window_charge *c, double value)
{
    if (c->needs_column)
        add(w, c->column, value);
    else if (c->writer >= 0)
        add_x(w, c->writer, w->side_of[c->from], value);
    else
        add_x(w, c->reader, w->side_of[c->to], value);
}

/* T >= the time of the port, where uses [first .. end) can bring it above what T is anyway. */
static void add_port(clv_window_program *w, int32_t first, int32_t end, int64_t least_ns)
{
    int64_t beside = w->ls->g->port_ns[w->uses[first].port], most = 0;
    for (int32_t k = first; k < end; k++) {
        const clv_window_charge *c = &w->charges[w->uses[k].charge];
        beside -= is_charged(w, c) ? charge_ns(w, c) : 0;
        most = clv_add_sat(most, charge_ns(w, c));
    }
    if (clv_add_sat(beside, most) <= least_ns)
        return;
    for (int32_t k = first; k < end; k++) { /* their rows come before the port's */
        clv_window_charge *c = &w->charges[w->uses[k].charge];
        if (c->needs_column && c->column < 0)
            add_charge_column(w, c);
    }
    add(w, column_t(w), 1);
    for (int32_t k = first; k < end; k++) {
        const clv_window_charge *c = &w->charges[w->uses[k].charge];
        add_charge(w, c, -parts(w, charge_ns(w, c)));
    }
    end_row(w, parts(w, beside), INFINITY);
}

/* -- the whole -- */

/* One of the sides has at least this load: all their times shared evenly, each unit where it is
 * fastest. */
static int64_t least_top_ns(const clv_window_program *w)
{
    const clv_groups *g = w->ls->g;
    int64_t sum = 0;
    for (int32_t s = 0; s < w->n_sides; s++)
        sum += g->time_ns[w->side[s]];
    for (int32_t i = 0; i < w->n; i++) {
        int64_t least = INT64_MAX;
        for (int32_t s = w->low[i]; s <= w->high[i]; s++) {
            int64_t ns = clv_unit_ns(g->p, w->unit[i], w->side[s]);
            least = ns < least ? ns : least;
        }
        sum += least - clv_unit_ns(g->p, w->unit[i], device_now(w, i));
    }
    return sum / w->n_sides;
}

/* Can the window get below the top: does it change a load there, and is there less to do? */
static bool may_gain(const clv_window_program *w, int64_t least_ns)
{
    const clv_groups *g = w->ls->g;
    bool is_top = false;
    for (int32_t s = 0; s < w->n_sides; s++)
        is_top |= g->time_ns[w->side[s]] >= w->top_ns;
    for (int32_t k = 0; k < w->n_uses; k++)
        is_top |= g->port_ns[w->uses[k].port] >= w->top_ns;
    return is_top && parts(w, least_ns) < 1 - LEAST_GAIN;
}

static clv_status formulate(clv_window_program *w, int64_t least_ns, clv_error *err)
{
    int32_t most = column_t(w) + 1 + w->n_charges;
    w->coefficient = CLV_NEW_ARRAY(w->arena, double, most);
    w->in_row = CLV_NEW_ARRAY(w->arena, int32_t, most);
    w->is_in_row = CLV_NEW_ARRAY(w->arena, bool, most);
    if (!w->coefficient || !w->in_row || !w->is_in_row)
        return clv_fail_nomem(err, "a window of units");
    w->ilp = clv_ilp_new(w->arena);
    add_columns(w, least_ns);
    add_places(w);
    add_order(w);
    add_times(w);
    add_memory(w);
    add_use(w);
    for (int32_t first = 0; first < w->n_uses; first = end_of_port(w, first))
        add_port(w, first, end_of_port(w, first), least_ns);
    return CLV_OK;
}

static clv_status solve(clv_window_program *w, int64_t *work, int32_t *ret_side,
                        clv_ilp_end *ret_end, clv_error *err)
{
    clv_ilp_result result = { .end = CLV_ILP_INFEASIBLE };
    int64_t least_ns = least_top_ns(w);
    CLV_TRY(clv_window_nets(problem_of(w), w->unit, w->n, w->arena, &w->nets, err));
    CLV_TRY(list_charges(w, err));
    CLV_TRY(list_uses(w, err));
    if (may_gain(w, least_ns)) {
        CLV_TRY(formulate(w, least_ns, err));
        int64_t size = (int64_t)w->ilp.n_rows + w->ilp.n_columns, left = *work / (size + 1) + 1;
        clv_ilp_limits limits = { .nodes = NODES_MAX,
                                  .pivots = left < PIVOTS_MAX ? left : PIVOTS_MAX };
        CLV_TRY(clv_ilp_solve(&w->ilp, &limits, w->arena, &result, err));
        *work -= (size + 1) * result.pivots;
    }
    for (int32_t i = 0; i < w->n && result.values; i++) {
        ret_side[i] = w->low[i];
        while (ret_side[i] < w->high[i] && result.values[column_c(w, i, ret_side[i])] < 0.5)
            ret_side[i]++;
    }
    *ret_end = result.end;
    return CLV_OK;
}

clv_status clv_window_solve(clv_window_program *w, int64_t *work, int32_t *ret_side,
                            clv_ilp_end *ret_end, clv_error *err)
{
    clv_mark mark = clv_arena_mark(w->arena);
    w->charges = NULL;
    w->uses = NULL;
    w->n_charges = w->cap_charges = w->n_uses = w->cap_uses = 0;
    clv_status status = solve(w, work, ret_side, ret_end, err);
    clv_arena_rewind(w->arena, mark);
    return status;
}
