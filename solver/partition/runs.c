/* runs.c - begun[cell][kind][node]: the earliest end of the node as the first of a run on the kind,
 * the cell's devices before it. A run of a class that begins at node s ends at node e at (when s
 * ends) + (whole stretches from s to e), if it fits: for each e the least over s is that of a
 * sliding window, as a shorter run fits where a longer one does. What it leads to depends on its
 * kind, on that of the next run, and on when the node before the last was there; all this is told
 * as soon as a cell's runs have ended, so nothing of them is kept but begun of the next ones.
 */
#include <math.h>
#include <string.h>

#include "solver/partition/runs_walk.h"

/* Steps of a walk: some tenths of a second. */
#define STEPS_MAX 6e7
/* Steps of all walks with different tolls. */
#define TOLL_STEPS 1e7

static double lesser(double a, double b) { return a < b ? a : b; }

/* -- the walk -- */

static double *begun_row(const clv_runs_walk *w, int32_t cell, int32_t slot)
{
    return w->begun + ((ptrdiff_t)cell * w->n_slots + slot) * w->n_nodes;
}

static double *ended_row(const clv_runs_walk *w, int32_t slot, int32_t longer)
{
    return w->ended + ((ptrdiff_t)slot * 2 + longer) * w->n_nodes;
}

/* n_used: the sum of digits. */
static void walk_class(clv_runs_walk *w, int32_t cell, int32_t n_used, int32_t c)
{
    const clv_runs_class *it = &w->classes[c];
    int32_t head = 0, tail = 0, slot = w->slot_of[it->kind];
    double *alone = ended_row(w, slot, 0), *ended = ended_row(w, slot, 1);
    for (int32_t e = w->low[n_used]; e <= w->high[n_used]; e++) {
        while (head < tail && it->far[w->window[head]] < e)
            head++;
        double longer = head < tail ? w->key[w->window[head]] : INFINITY, single = INFINITY;
        if (e < w->n_nodes - 1) { /* a run does not begin at the end of all */
            single = it->far[e] >= e ? clv_runs_begin(w, cell, c, e) : INFINITY;
            while (head < tail && w->key[w->window[tail - 1]] >= single)
                tail--;
            w->key[e] = single;
            w->window[tail++] = e;
        }
        if (e == 0) /* the start of all is no run */
            continue;
        alone[e] = lesser(single + it->whole[e], alone[e]);
        ended[e] = lesser(longer + it->whole[e], ended[e]);
    }
}

/* When runs end with the node, in the cell at hand, by the first number of clv_runs_way(). False:
 * none does. */
static bool find_ends(const clv_runs_walk *w, int32_t node, double *ends)
{
    double least = INFINITY;
    for (int32_t q = 0; q < 2 * w->n_slots; q++) {
        ends[q] = w->ended[(ptrdiff_t)q * w->n_nodes + node];
        least = lesser(least, ends[q]);
    }
    return least < INFINITY;
}

/* What follows runs with these ends in the cell: stretch i parted in that way, whatever the kinds.
 */
static void part(clv_runs_walk *w, int32_t cell, int32_t i, const clv_runs_parting *it,
                 const double *ends)
{
    int32_t n_slots = w->n_slots, n_before = 2 * n_slots;
    double *begun = &begun_row(w, cell + it->cells, 0)[i];
    for (int32_t k = 0; k < n_slots; k++, begun += w->n_nodes) {
        const double *ns = it->ns + k;
        double least = *begun;
        for (int32_t q = 0; q < n_before; q++, ns += n_slots)
            least = lesser(least, ends[q] + *ns);
        *begun = least;
    }
}

/* An open stretch may have any number of devices of its own. */
static void leave_open(clv_runs_walk *w, int32_t cell, const int32_t *digits, int32_t i)
{
    for (int32_t c = 0; c < w->n_classes; c++)
        for (int32_t k = 0; k < w->n_slots && digits[c] > 0; k++) {
            double *begun = &begun_row(w, cell, k)[i];
            *begun = lesser(*begun, begun_row(w, cell - w->classes[c].stride, k)[i]);
        }
}

static void walk_cell(clv_runs_walk *w, int32_t cell)
{
    int32_t digits[CLV_CLASSES_MAX] = { 0 }, room[CLV_CLASSES_MAX], n_used = 0;
    int32_t n = 2 * w->n_slots * w->n_nodes, end = w->n_nodes - 1;
    double ends[2 * CLV_CLASSES_MAX];
    clv_runs_digits(w, cell, digits);
    for (int32_t c = 0; c < w->n_classes; c++) {
        room[c] = w->classes[c].n - digits[c];
        n_used += digits[c];
    }
    for (int32_t e = 0; e < n; e++)
        w->ended[e] = cell == 0 && e == 0 ? 0 : INFINITY;
    for (int32_t c = 0; c < w->n_classes; c++)
        if (digits[c] > 0)
            walk_class(w, cell, n_used, c);
    for (int32_t i = w->low[n_used] + 1; i <= end && i <= w->high[n_used] + 1; i++) {
        if (!find_ends(w, i - 1, ends))
            continue;
        for (int32_t m = w->first_parting[i]; m < w->first_parting[i + 1]; m++)
            if (clv_runs_has(w, &w->partings[m], room))
                part(w, cell, i, &w->partings[m], ends);
    }
    for (int32_t i = 1; i <= end && w->any_open; i++)
        if (w->is_open[i])
            leave_open(w, cell, digits, i);
    w->all[cell] = INFINITY;
    for (int32_t q = 0; q < 2 * w->n_slots; q++)
        w->all[cell] = lesser(w->all[cell], w->ended[(ptrdiff_t)q * w->n_nodes + end]);
}

/* What the tolls paid lack: a part is not visited in part. With devices that are no runs it is not
 * known how many runs there were, but that they paid enough. */
static double last_toll(const clv_runs_walk *w, const int32_t *digits)
{
    double n_visits[CLV_CLASSES_MAX] = { 0 }, lacks = 0;
    if (w->use_all || !w->has_parts)
        return 0;
    for (int32_t c = 0; c < w->n_classes; c++) {
        int32_t slot = w->slot_of[w->classes[c].kind];
        n_visits[w->is_pure ? slot : 0] += (double)digits[c] / w->part_size[slot];
    }
    for (int32_t k = 0; k < w->n_slots; k++)
        lacks += ceil(n_visits[k] - CLV_BOUND_MARGIN) - n_visits[k];
    return lacks * w->toll_ns;
}

/* The cell that all ends with, and the least end. Where all devices are to be used, those that the
 * trunk is not on have units outside it. */
static double end_walk(const clv_runs_walk *w, clv_runs_end *ret)
{
    int32_t end = w->n_nodes - 1, digits[CLV_CLASSES_MAX] = { 0 };
    double best = INFINITY;
    for (int32_t cell = 0; cell < w->n_cells; cell++) {
        int32_t idle = w->b->p->n_devices;
        clv_runs_digits(w, cell, digits);
        for (int32_t c = 0; c < w->n_classes; c++)
            idle -= digits[c];
        if (w->use_all && idle > w->n_others)
            continue;
        double toll = last_toll(w, digits);
        if (w->all[cell] + toll < best) {
            best = w->all[cell] + toll;
            *ret = (clv_runs_end){ cell, -1 };
        }
        for (int32_t k = 0; k < w->n_slots; k++)
            if (begun_row(w, cell, k)[end] + toll < best) {
                best = begun_row(w, cell, k)[end] + toll;
                *ret = (clv_runs_end){ cell, k };
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

static clv_status take_walk(clv_runs_walk *w, clv_error *err)
{
    w->begun = CLV_NEW_ARRAY(w->arena, double, (ptrdiff_t)w->n_cells * w->n_slots * w->n_nodes);
    w->ended = CLV_NEW_ARRAY(w->arena, double, 2 * w->n_slots * w->n_nodes);
    w->all = CLV_NEW_ARRAY(w->arena, double, w->n_cells);
    if (!w->begun || !w->ended || !w->all || !find_range(w))
        return clv_fail_nomem(err, "a bound");
    return CLV_OK;
}

/* What is proven with that toll. */
static double walk_with(clv_runs_walk *w, double toll_ns, clv_runs_end *end)
{
    ptrdiff_t n = (ptrdiff_t)w->n_cells * w->n_slots * w->n_nodes;
    clv_runs_set_toll(w, toll_ns);
    for (ptrdiff_t i = 0; i < n; i++)
        w->begun[i] = INFINITY;
    for (int32_t cell = 0; cell < w->n_cells; cell++)
        walk_cell(w, cell);
    return end_walk(w, end);
}

/* The best of ascending tolls: what they prove rises up to it, then falls. */
static double walk_all(clv_runs_walk *w, const double *tolls, int32_t n_tolls, clv_runs_end *end)
{
    int32_t low = 0, high = n_tolls - 1;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        double here = walk_with(w, tolls[middle], end), next = walk_with(w, tolls[middle + 1], end);
        if (here < next)
            low = middle + 1;
        else
            high = middle;
    }
    return walk_with(w, tolls[low], end);
}

/* False in *ret: too many kinds, devices or units. */
static clv_status open_parts(clv_runs_walk *w, bool *ret, clv_error *err)
{
    clv_stretches *b = w->b;
    CLV_TRY(clv_runs_classes(w, ret, err));
    if (!*ret)
        return CLV_OK;
    CLV_TRY(clv_runs_links(w, err));
    clv_status status = clv_runs_partings(w, err);
    b->only = NULL;
    b->direct_latency_ns = b->direct_bytes_ns = NULL;
    return status;
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
    const double *tolls;
    int32_t n_tolls;
    bool few;
    *ret = (clv_runs){ 0 };
    CLV_TRY(open_walk(&w, err));
    if (w.n_nodes < 3 || b->p->n_kinds > INT8_MAX)
        return CLV_OK;
    CLV_TRY(open_parts(&w, &few, err));
    double steps = (double)w.n_cells * (double)(w.n_partings + w.n_nodes) * w.n_classes;
    if (!few || steps > STEPS_MAX)
        return CLV_OK;
    CLV_TRY(clv_runs_tolls(&w, (int32_t)(TOLL_STEPS / steps), &tolls, &n_tolls, err));
    CLV_TRY(take_walk(&w, err));
    ret->walked = true;
    ret->ns = walk_all(&w, tolls, n_tolls, &end);
    if (ret->ns < INFINITY)
        CLV_TRY(clv_runs_plan(&w, &end, order, device_of, &ret->found, err));
    return CLV_OK;
}
