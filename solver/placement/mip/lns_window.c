/* lns_window.c - columns x, T, then those of nets as they come. */
#include "solver/placement/mip/lns_window.h"

#include <math.h>

static int32_t column_t(const clv_lns_window *w) { return w->n * w->n_sides; }

static double parts(const clv_lns_window *w, int64_t ticks) { return (double)ticks / w->scale; }

static void fix_at_zero(clv_lns_window *w, int32_t column)
{
    if (!w->ilp.failed)
        w->ilp.columns[column].hi = 0;
}

static void add_placing(clv_lns_window *w)
{
    for (int32_t i = 0; i < w->n; i++)
        for (int32_t s = 0; s < w->n_sides; s++) {
            bool can = clv_lns_window_time(w, w->block[i], w->device[s]) != CLV_BLOCK_NEVER;
            clv_ilp_add_column(&w->ilp, (clv_ilp_column){ .hi = can ? 1 : 0,
                                                          .whole = true,
                                                          .letter = 'x',
                                                          .a = w->block[i],
                                                          .b = w->device[s] });
        }
    clv_ilp_add_column(
        &w->ilp,
        (clv_ilp_column){ .hi = 1 - CLV_LNS_GAIN, .cost = 1, .letter = 'T', .a = -1, .b = -1 });
    for (int32_t i = 0; i < w->n; i++) {
        clv_ilp_add_row(&w->ilp, 1, 1);
        for (int32_t s = 0; s < w->n_sides; s++)
            clv_ilp_add_term(&w->ilp, clv_lns_window_x(w, i, s), 1);
    }
}

static clv_charge charge_of(const clv_lns_window *w, int32_t net, int32_t device)
{
    const clv_contraction *b = w->b;
    int32_t here = 0, elsewhere = 0, moving = 0;
    if (!clv_lns_window_kind(w, device)->pays)
        return CLV_CHARGE_NEVER;
    for (int32_t i = b->net_first[net]; i < b->net_first[net + 1]; i++) {
        if (w->index_of[b->pins[i]] >= 0)
            moving++;
        else if (w->device_of[b->pins[i]] == device)
            here++;
        else
            elsewhere++;
    }
    if (here > 0)
        return elsewhere > 0 ? CLV_CHARGE_ALWAYS : CLV_CHARGE_SOME;
    if (elsewhere > 0)
        return CLV_CHARGE_ANY;
    return moving == 2 ? CLV_CHARGE_PAIR : CLV_CHARGE_SPREAD;
}

static int32_t add_part(clv_lns_window *w, char letter, int32_t net, int32_t side)
{
    return clv_ilp_add_column(
        &w->ilp, (clv_ilp_column){ .hi = 1, .letter = letter, .a = net, .b = w->device[side] });
}

/* a + b >= lo */
static void add_link(clv_lns_window *w, clv_ilp_term a, clv_ilp_term b, double lo)
{
    clv_ilp_add_row(&w->ilp, lo, INFINITY);
    clv_ilp_add_term(&w->ilp, a.column, a.value);
    clv_ilp_add_term(&w->ilp, b.column, b.value);
}

static void add_pair(clv_lns_window *w, int32_t column, int32_t i, int32_t j, int32_t side)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        clv_ilp_add_row(&w->ilp, 0, INFINITY);
        clv_ilp_add_term(&w->ilp, column, 1);
        clv_ilp_add_term(&w->ilp, clv_lns_window_x(w, i, side), sign);
        clv_ilp_add_term(&w->ilp, clv_lns_window_x(w, j, side), -sign);
    }
}

static void add_net(clv_lns_window *w, int32_t at, int32_t side)
{
    const clv_contraction *b = w->b;
    int32_t net = w->nets[at], other = -1, low = -1, first = b->net_first[net];
    clv_charge form = charge_of(w, net, w->device[side]);
    w->form[at * CLV_LNS_SIDES + side] = form;
    if (form == CLV_CHARGE_NEVER || form == CLV_CHARGE_ALWAYS)
        return;
    int32_t column = add_part(w, form == CLV_CHARGE_SPREAD ? 'h' : 'y', net, side);
    w->column[at * CLV_LNS_SIDES + side] = column;
    if (form == CLV_CHARGE_SPREAD)
        low = add_part(w, 'l', net, side);
    for (int32_t p = first; p < b->net_first[net + 1]; p++) {
        int32_t i = w->index_of[b->pins[p]];
        if (i < 0)
            continue;
        int32_t x = clv_lns_window_x(w, i, side);
        if (form == CLV_CHARGE_ANY || form == CLV_CHARGE_SPREAD)
            add_link(w, (clv_ilp_term){ column, 1 }, (clv_ilp_term){ x, -1 }, 0);
        if (form == CLV_CHARGE_SOME)
            add_link(w, (clv_ilp_term){ column, 1 }, (clv_ilp_term){ x, 1 }, 1);
        if (form == CLV_CHARGE_SPREAD)
            add_link(w, (clv_ilp_term){ low, -1 }, (clv_ilp_term){ x, 1 }, 0);
        if (form == CLV_CHARGE_PAIR && other >= 0)
            add_pair(w, column, i, other, side);
        other = i;
    }
}

/* T - times - charges >= what is there without the window. */
static void add_load(clv_lns_window *w, int32_t side)
{
    const clv_contraction *b = w->b;
    int32_t device = w->device[side], row = clv_ilp_add_row(&w->ilp, 0, INFINITY);
    int64_t fixed = w->load[device];
    clv_ilp_add_term(&w->ilp, column_t(w), 1);
    for (int32_t i = 0; i < w->n; i++) {
        int64_t t = clv_lns_window_time(w, w->block[i], device);
        if (w->device_of[w->block[i]] == device)
            fixed -= t;
        if (t > 0)
            clv_ilp_add_term(&w->ilp, clv_lns_window_x(w, i, side), -parts(w, t));
    }
    for (int32_t at = 0; at < w->n_nets; at++) {
        int32_t net = w->nets[at], column = w->column[at * CLV_LNS_SIDES + side];
        double cost = parts(w, b->net_cost[net]);
        bool here = false, elsewhere = false; /* what it pays for the net now */
        for (int32_t i = b->net_first[net]; i < b->net_first[net + 1]; i++) {
            here |= w->device_of[b->pins[i]] == device;
            elsewhere |= w->device_of[b->pins[i]] != device;
        }
        fixed -= here && elsewhere && clv_lns_window_kind(w, device)->pays ? b->net_cost[net] : 0;
        switch (w->form[at * CLV_LNS_SIDES + side]) {
        case CLV_CHARGE_NEVER:
            break;
        case CLV_CHARGE_ALWAYS:
            fixed += b->net_cost[net];
            break;
        case CLV_CHARGE_SPREAD:
            clv_ilp_add_term(&w->ilp, column + 1, cost); /* its low */
            clv_ilp_add_term(&w->ilp, column, -cost);
            break;
        case CLV_CHARGE_ANY:
        case CLV_CHARGE_SOME:
        case CLV_CHARGE_PAIR:
            clv_ilp_add_term(&w->ilp, column, -cost);
            break;
        }
    }
    if (!w->ilp.failed)
        w->ilp.rows[row].lo = parts(w, fixed);
}

/* Bytes of the window on a device, in parts of its capacity. */
static void add_memory(clv_lns_window *w, int32_t side)
{
    int32_t device = w->device[side];
    int64_t capacity = clv_lns_window_kind(w, device)->capacity_bytes, fixed = w->bytes[device],
            most = 0;
    if (capacity < 0)
        return;
    for (int32_t i = 0; i < w->n; i++) {
        most += w->b->bytes[w->block[i]];
        if (w->device_of[w->block[i]] == device)
            fixed -= w->b->bytes[w->block[i]];
    }
    if (most <= capacity - fixed)
        return;
    double unit = capacity > 0 ? (double)capacity : 1;
    clv_ilp_add_row(&w->ilp, -INFINITY, (double)(capacity - fixed) / unit);
    for (int32_t i = 0; i < w->n; i++)
        if (w->b->bytes[w->block[i]] > 0)
            clv_ilp_add_term(&w->ilp, clv_lns_window_x(w, i, side),
                             (double)w->b->bytes[w->block[i]] / unit);
}

/* v must not come before u in the line; the sides are in its order. */
static void add_arc(clv_lns_window *w, int32_t u, int32_t v)
{
    int32_t i = w->index_of[u], j = w->index_of[v];
    int32_t side_u = w->side_of[w->device_of[u]], side_v = w->side_of[w->device_of[v]];
    if (side_u < 0 || side_v < 0)
        return; /* that one stays before or behind all of these devices */
    for (int32_t t = 0; t + 1 < w->n_sides; t++) {
        if (i < 0 && t < side_u)
            fix_at_zero(w, clv_lns_window_x(w, j, t));
        if (j < 0 && t + 1 > side_v)
            fix_at_zero(w, clv_lns_window_x(w, i, t + 1));
        if (i < 0 || j < 0)
            continue;
        clv_ilp_add_row(&w->ilp, 0, INFINITY);
        for (int32_t s = 0; s <= t; s++) {
            clv_ilp_add_term(&w->ilp, clv_lns_window_x(w, i, s), 1);
            clv_ilp_add_term(&w->ilp, clv_lns_window_x(w, j, s), -1);
        }
    }
}

static void add_arcs(clv_lns_window *w)
{
    const clv_contraction *b = w->b;
    for (int32_t i = 0; i < w->n; i++) {
        int32_t u = w->block[i];
        for (int32_t a = b->after_first[u]; a < b->after_first[u + 1]; a++)
            add_arc(w, u, b->after[a]);
        for (int32_t a = b->before_first[u]; a < b->before_first[u + 1]; a++)
            if (w->index_of[b->before[a]] < 0)
                add_arc(w, b->before[a], u);
    }
}

void clv_lns_window_formulate(clv_lns_window *w)
{
    w->ilp = clv_ilp_new(w->arena);
    add_placing(w);
    for (int32_t at = 0; at < w->n_nets; at++)
        for (int32_t s = 0; s < w->n_sides; s++)
            add_net(w, at, s);
    for (int32_t s = 0; s < w->n_sides; s++) {
        add_load(w, s);
        add_memory(w, s);
    }
    if (w->rules->contiguous)
        add_arcs(w);
}
