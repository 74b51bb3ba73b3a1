/* runs.c - ended[cell][node]: the earliest end of the node as the last of its run. A run of a class
 * that begins at node s ends at node e at (when s ends) + (whole stretches from s to e), if it
 * fits: for each e the least over s is that of a sliding window, as a shorter run fits where a
 * longer one does. When the next run's first node ends depends on the kind of this one, and on when
 * the node before the last was there; what this adds is in ended, by the kind of the next run.
 */
#include <math.h>
#include <string.h>

#include "solver/plans/runs_walk.h"

/* Steps of a walk: some tenths of a second. */
#define STEPS_MAX 6e7

static double lesser(double a, double b) { return a < b ? a : b; }

/* -- the walk -- */

static double *row(const clv_runs_walk *w, double *of, int32_t cell, int32_t slot)
{
    return of + ((ptrdiff_t)cell * w->n_slots + slot) * w->n_nodes;
}

/* When node i ends at the earliest on a device of the kind, the last run ending at the node before,
 * with so many devices used besides. how: may be NULL. */
static double after_parting(const clv_runs_walk *w, int32_t cell, const int32_t *digits, int32_t i,
                            int32_t kind, int32_t *how)
{
    double *from = w->is_open[i] ? w->least : w->ended;
    int32_t slot = w->slot_of[kind],
            least = w->first_parting[i]; /* the first has none of its own */
    double best = row(w, from, cell, slot)[i - 1] + w->partings[least].ns[kind];
    for (int32_t k = least + 1; k < w->first_parting[i + 1]; k++) {
        const clv_runs_parting *it = &w->partings[k];
        bool enough = true;
        for (int32_t c = 0; c < w->n_classes; c++)
            enough = enough && it->own[c] <= digits[c];
        if (!enough)
            continue;
        double at = row(w, from, cell - it->cells, slot)[i - 1] + it->ns[kind];
        least = at < best ? k : least;
        best = lesser(at, best);
    }
    if (how)
        *how = least;
    return best;
}

double clv_runs_begin(const clv_runs_walk *w, int32_t cell, const int32_t *digits, int32_t c,
                      int32_t s, int32_t *how)
{
    const clv_runs_class *it = &w->classes[c];
    double share = w->toll_ns / w->part_size;
    if (s == 0)
        return cell == it->stride ? share : INFINITY;
    int32_t before[CLV_CLASSES_MAX];
    memcpy(before, digits, sizeof before);
    before[c]--;
    return after_parting(w, cell - it->stride, before, s, it->kind, how) - it->whole[s] + share;
}

/* n_used: the sum of digits. */
static void walk_class(clv_runs_walk *w, int32_t cell, const int32_t *digits, int32_t n_used,
                       int32_t c)
{
    const clv_runs_class *it = &w->classes[c];
    int32_t head = 0, tail = 0;
    for (int32_t e = w->low[n_used]; e <= w->high[n_used]; e++) {
        while (head < tail && it->far[w->window[head]] < e)
            head++;
        double longer = head < tail ? w->key[w->window[head]] : INFINITY, single = INFINITY;
        if (e < w->n_nodes - 1) { /* a run does not begin at the end of all */
            single = it->far[e] >= e ? clv_runs_begin(w, cell, digits, c, e, NULL) : INFINITY;
            while (head < tail && w->key[w->window[tail - 1]] >= single)
                tail--;
            w->key[e] = single;
            w->window[tail++] = e;
        }
        for (int32_t slot = 0; slot < w->n_slots && e > 0; slot++) {
            double *ended = &row(w, w->ended, cell, slot)[e];
            int32_t i = slot * w->n_nodes + e;
            double at = lesser(single + it->wait[0][i], longer + it->wait[1][i]) + it->whole[e];
            *ended = lesser(at, *ended);
        }
    }
}

static void walk_cell(clv_runs_walk *w, int32_t cell)
{
    int32_t digits[CLV_CLASSES_MAX] = { 0 }, n = w->n_slots * w->n_nodes, n_used = 0;
    double *ended = row(w, w->ended, cell, 0);
    clv_runs_digits(w, cell, digits);
    for (int32_t c = 0; c < w->n_classes; c++)
        n_used += digits[c];
    for (int32_t e = 0; e < n; e++)
        ended[e] = cell == 0 && e % w->n_nodes == 0 ? 0 : INFINITY;
    for (int32_t c = 0; c < w->n_classes; c++)
        if (digits[c] > 0)
            walk_class(w, cell, digits, n_used, c);
    if (!w->least)
        return;
    double *least = row(w, w->least, cell, 0);
    memcpy(least, ended, (size_t)n * sizeof *least);
    for (int32_t c = 0; c < w->n_classes; c++)
        for (int32_t e = 0; digits[c] > 0 && e < n; e++)
            least[e] = lesser(least[e], row(w, w->least, cell - w->classes[c].stride, 0)[e]);
}

/* What the tolls paid lack, or have too much: no part is left before the first visit. With devices
 * that are no runs it is not known how many runs there were, but that they paid enough. */
static double last_toll(const clv_runs_walk *w, int32_t n_used)
{
    double n_visits = (double)n_used / w->part_size;
    return w->use_all || n_used == 0 ? -w->toll_ns : w->toll_ns * (ceil(n_visits) - n_visits - 1);
}

/* The cell that all ends with, and the least end. Where all devices are to be used, those that the
 * trunk is not on have units outside it. */
static double end_walk(const clv_runs_walk *w, clv_runs_end *ret)
{
    int32_t end = w->n_nodes - 1, digits[CLV_CLASSES_MAX] = { 0 };
    double best = INFINITY;
    for (int32_t cell = 0; cell < w->n_cells; cell++) {
        int32_t idle = w->b->p->n_devices, how = -1;
        clv_runs_digits(w, cell, digits);
        for (int32_t c = 0; c < w->n_classes; c++)
            idle -= digits[c];
        if (w->use_all && idle > w->n_others)
            continue;
        double toll = last_toll(w, w->b->p->n_devices - idle);
        double on = row(w, w->ended, cell, 0)[end];
        double off = INFINITY;
        for (int32_t k = 0; k < w->b->p->n_kinds && off == INFINITY; k++)
            if (w->b->used[k]) /* all kinds are the same at the end of all */
                off = after_parting(w, cell, digits, end, k, &how);
        if (lesser(on, off) + toll < best) {
            best = lesser(on, off) + toll;
            *ret =
                on <= off ? (clv_runs_end){ cell, end, -1 } : (clv_runs_end){ cell, end - 1, how };
        }
    }
    return best;
}

/* -- the call -- */

static clv_status open_walk(clv_runs_walk *w, clv_error *err)
{
    const clv_trunk *t = &w->b->trunk;
    w->place = CLV_NEW_ARRAY(w->arena, int32_t, t->n + 2);
    if (!w->place)
        return clv_fail_nomem(err, "a bound");
    w->place[w->n_nodes++] = -1;
    for (int32_t i = 0; i < t->n; i++)
        if (t->cut[i])
            w->place[w->n_nodes++] = i;
    w->place[w->n_nodes++] = t->n;
    w->first_parting = CLV_NEW_ARRAY(w->arena, int32_t, w->n_nodes + 1);
    w->is_open = CLV_NEW_ARRAY(w->arena, bool, w->n_nodes);
    w->key = CLV_NEW_ARRAY(w->arena, double, w->n_nodes);
    w->window = CLV_NEW_ARRAY(w->arena, int32_t, w->n_nodes);
    w->b->only = CLV_NEW_ARRAY(w->arena, int8_t, t->n);
    w->slot_of = CLV_NEW_ARRAY(w->arena, int32_t, w->b->p->n_kinds);
    if (!w->slot_of || !w->first_parting || !w->is_open || !w->key || !w->window || !w->b->only)
        return clv_fail_nomem(err, "a bound");
    memset(w->b->only, -1, (size_t)t->n);
    for (int32_t k = 0; k < w->b->p->n_kinds; k++)
        w->slot_of[k] = -1;
    return CLV_OK;
}

/* Devices that can have units up to each node; then which nodes can end a run, with so many used.
 */
static bool find_range(clv_runs_walk *w)
{
    int32_t n = w->b->p->n_devices, end = w->n_nodes - 1;
    int32_t *units = CLV_NEW_ARRAY(w->arena, int32_t, w->n_nodes);
    w->low = CLV_NEW_ARRAY(w->arena, int32_t, n + 1);
    w->high = CLV_NEW_ARRAY(w->arena, int32_t, n + 1);
    if (!units || !w->low || !w->high)
        return false;
    for (int32_t i = 1; i < w->n_nodes; i++) /* the end of all is none, but has those before it */
        units[i] = units[i - 1] + 1 + clv_runs_between(w, i);
    for (int32_t used = 0; used <= n; used++) {
        int32_t least = w->use_all ? n - used - w->n_others : 0; /* behind the node */
        w->high[used] = end;
        while (w->low[used] < end && units[w->low[used]] + 1 < used)
            w->low[used]++;
        while (w->high[used] > 0 && units[end] - units[w->high[used]] < least)
            w->high[used]--;
    }
    return true;
}

static clv_status walk_all(clv_runs_walk *w, clv_error *err)
{
    ptrdiff_t n = (ptrdiff_t)w->n_cells * w->n_slots * w->n_nodes;
    w->ended = CLV_NEW_ARRAY(w->arena, double, n);
    w->least = w->any_open ? CLV_NEW_ARRAY(w->arena, double, n) : NULL;
    if (!w->ended || (w->any_open && !w->least) || !find_range(w))
        return clv_fail_nomem(err, "a bound");
    for (int32_t cell = 0; cell < w->n_cells; cell++)
        walk_cell(w, cell);
    return CLV_OK;
}

clv_status clv_runs_bound(clv_stretches *b, const clv_bound_options *o, clv_arena *scratch,
                          int32_t *order, int32_t *device_of, clv_runs *ret, clv_error *err)
{
    clv_runs_walk w = { .b = b,
                        .arena = scratch,
                        .n_others = b->p->n_units - b->trunk.n,
                        .use_all = o->use_all && b->p->n_units >= b->p->n_devices,
                        .reserve_bytes = o->reserve_bytes };
    clv_runs_end end = { 0 };
    bool few;
    *ret = (clv_runs){ 0 };
    CLV_TRY(open_walk(&w, err));
    if (w.n_nodes < 3 || b->p->n_kinds > INT8_MAX)
        return CLV_OK;
    CLV_TRY(clv_runs_classes(&w, &few, err));
    if (!few)
        return CLV_OK;
    CLV_TRY(clv_runs_links(&w, err));
    CLV_TRY(clv_runs_partings(&w, err));
    b->only = NULL;
    if ((double)w.n_cells * (double)(w.n_partings + w.n_nodes) * w.n_classes > STEPS_MAX)
        return CLV_OK;
    CLV_TRY(walk_all(&w, err));
    ret->walked = true;
    ret->ns = end_walk(&w, &end);
    if (ret->ns < INFINITY)
        CLV_TRY(clv_runs_plan(&w, &end, order, device_of, &ret->found, err));
    return CLV_OK;
}
