/* runs_parts.c - what a walk along runs is made of: classes of devices and how far each reaches,
 * and the ways to part a stretch.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/plans/runs_walk.h"

/* Numbers that a walk keeps. */
#define CELLS_MAX INT64_C(20000000)
/* Devices of their own that units between two nodes may be on; beyond, as many as there are. */
#define OWN_MAX 8

/* -- classes -- */

static bool find_classes(clv_runs_walk *w)
{
    clv_device_class found[CLV_CLASSES_MAX];
    w->n_classes = clv_find_classes(w->b->p, found);
    for (int32_t i = 0; i < w->n_classes; i++)
        w->classes[i] = (clv_runs_class){ .kind = found[i].kind,
                                          .n = found[i].n,
                                          .capacity = found[i].capacity - w->reserve_bytes };
    int64_t cells = 1;
    for (int32_t i = 0; i < w->n_classes; i++) {
        int32_t *slot = &w->slot_of[w->classes[i].kind];
        *slot = *slot < 0 ? w->n_slots++ : *slot;
    }
    for (int32_t i = 0; i < w->n_classes && cells * w->n_slots * w->n_nodes <= CELLS_MAX; i++) {
        w->classes[i].stride = (int32_t)cells;
        cells *= w->classes[i].n + 1;
    }
    w->n_cells = (int32_t)cells;
    return w->n_classes > 0 && cells * w->n_slots * w->n_nodes <= CELLS_MAX;
}

static clv_stretch stretch_of(const clv_runs_walk *w, int32_t i)
{
    bool is_end = i == w->n_nodes - 1;
    return (clv_stretch){ .first = w->place[i - 1],
                          .last = is_end ? w->b->trunk.n - 1 : w->place[i],
                          .parted = w->place[i - 1] >= 0 && !is_end,
                          .is_end = is_end };
}

/* What the stretch holds; and the most that is alive there. */
static int64_t weigh(const clv_runs_walk *w, int32_t i, int64_t *ret_live)
{
    const clv_stretches *b = w->b;
    int64_t sum = 0;
    *ret_live = 0;
    for (int32_t k = w->place[i - 1] + 1; k <= w->place[i] && k < b->trunk.n; k++) {
        int32_t u = b->trunk.unit[k];
        sum += b->weight[u];
        *ret_live = b->live[u] > *ret_live ? b->live[u] : *ret_live;
    }
    return sum;
}

typedef struct {
    int64_t *sum;  /* n_nodes: of all stretches up to the node */
    int64_t *live; /* n_nodes: the most in the stretch that ends there */
} burden;

/* Two ends that only go on; window: nodes with the most alive of those behind them. */
static void find_far(clv_runs_walk *w, clv_runs_class *c, const burden *m)
{
    const clv_stretches *b = w->b;
    int32_t head = 0, tail = 0, end = 0; /* nodes head .. tail - 1 of the window; run: s .. end */
    for (int32_t s = 0; s < w->n_nodes; s++) {
        bool is_unit = s > 0 && s < w->n_nodes - 1;
        int32_t unit = is_unit ? b->trunk.unit[w->place[s]] : -1;
        int64_t own = is_unit ? b->weight[unit] : 0, alive = is_unit ? b->live[unit] : 0;
        while (head < tail && w->window[head] <= s)
            head++;
        if (end <= s) {
            end = s;
            head = tail = 0;
        }
        while (end + 1 < w->n_nodes) {
            int64_t most = m->live[end + 1] > alive ? m->live[end + 1] : alive;
            if (head < tail && m->live[w->window[head]] > most)
                most = m->live[w->window[head]];
            if (own + m->sum[end + 1] - m->sum[s] + most > c->capacity)
                break;
            end++;
            while (head < tail && m->live[w->window[tail - 1]] <= m->live[end])
                tail--;
            w->window[tail++] = end;
        }
        c->far[s] = own + alive > c->capacity ? s - 1 : end;
    }
}

clv_status clv_runs_classes(clv_runs_walk *w, bool *ret_few, clv_error *err)
{
    clv_arena *arena = w->arena;
    burden m = { CLV_NEW_ARRAY(arena, int64_t, w->n_nodes),
                 CLV_NEW_ARRAY(arena, int64_t, w->n_nodes) };
    *ret_few = find_classes(w);
    if (!*ret_few)
        return CLV_OK;
    w->known_ns = CLV_NEW_ARRAY(arena, double, w->n_nodes * w->n_slots);
    bool enough = m.sum && m.live && w->known_ns;
    for (int32_t i = 0; i < w->n_classes; i++) {
        w->classes[i].whole = CLV_NEW_ARRAY(arena, double, w->n_nodes);
        w->classes[i].far = CLV_NEW_ARRAY(arena, int32_t, w->n_nodes);
        enough = enough && w->classes[i].whole && w->classes[i].far;
        for (int k = 0; k < 2; k++) {
            w->classes[i].wait[k] = CLV_NEW_ARRAY(arena, double, w->n_nodes * w->n_slots);
            w->classes[i].leave[k] = CLV_NEW_ARRAY(arena, double, w->n_nodes * w->n_slots);
            enough = enough && w->classes[i].wait[k] && w->classes[i].leave[k];
        }
    }
    if (!enough)
        return clv_fail_nomem(err, "a bound");
    for (int32_t i = 1; i < w->n_nodes; i++) {
        clv_stretch s = stretch_of(w, i);
        clv_stretch_whole(w->b, &s);
        for (int32_t k = 0; k < w->n_classes; k++)
            w->classes[k].whole[i] = w->classes[k].whole[i - 1] + w->b->whole[w->classes[k].kind];
        m.sum[i] = m.sum[i - 1] + weigh(w, i, &m.live[i]);
    }
    for (int32_t i = 0; i < w->n_classes; i++)
        find_far(w, &w->classes[i], &m);
    return CLV_OK;
}

/* -- ways to part a stretch -- */

static bool add_parting(clv_runs_walk *w, const int32_t *own)
{
    int32_t n_kinds = w->b->p->n_kinds;
    clv_runs_parting new = { .ns = CLV_NEW_ARRAY(w->arena, double, n_kinds),
                             .across_ns = CLV_NEW_ARRAY(w->arena, double, n_kinds),
                             .kinds = CLV_NEW_ARRAY(w->arena, int8_t, n_kinds * CLV_RUNS_TRIED) };
    if (!new.ns || !new.across_ns || !new.kinds ||
        !CLV_PUSH_ROOM(w->arena, w->partings, w->n_partings, w->cap_partings))
        return false;
    for (int32_t i = 0; i < w->n_classes; i++) {
        new.own[i] = own[i];
        new.cells += own[i] * w->classes[i].stride;
    }
    for (int32_t k = 0; k < n_kinds; k++)
        new.ns[k] = new.across_ns[k] = INFINITY;
    memset(new.kinds, -1, (size_t)n_kinds * CLV_RUNS_TRIED);
    w->partings[w->n_partings++] = new;
    return true;
}

/* All ways to have up to most devices of their own. */
static bool add_partings(clv_runs_walk *w, int32_t most)
{
    int32_t own[CLV_CLASSES_MAX] = { 0 }, sum = 0;
    for (int32_t i = 0; i < w->n_classes;) {
        if (!add_parting(w, own))
            return false;
        for (i = 0; i < w->n_classes; i++) {
            if (sum < most && own[i] < w->classes[i].n) {
                own[i]++;
                sum++;
                break;
            }
            sum -= own[i];
            own[i] = 0;
        }
    }
    return true;
}

/* Has each device of its own a unit of its kind? */
static bool has_units(const clv_runs_walk *w, const clv_runs_parting *it, const int8_t *kinds,
                      int32_t n)
{
    for (int32_t k = 0; k < w->b->p->n_kinds; k++) {
        int32_t left = 0;
        for (int32_t i = 0; i < w->n_classes; i++)
            left += w->classes[i].kind == k ? it->own[i] : 0;
        for (int32_t i = 0; i < n; i++)
            left -= kinds[i] == k;
        if (left > 0)
            return false;
    }
    return true;
}

static void note_split(clv_runs_walk *w, int32_t stretch, const int8_t *kinds, int32_t n,
                       bool is_across)
{
    for (int32_t i = w->first_parting[stretch]; i < w->n_partings; i++) {
        clv_runs_parting *it = &w->partings[i];
        if (n > 0 && !has_units(w, it, kinds, n))
            continue;
        for (int32_t k = 0; k < w->b->p->n_kinds; k++) {
            double *ns = is_across ? it->across_ns : it->ns;
            if (!w->b->used[k] || w->b->split[k] >= ns[k])
                continue;
            ns[k] = w->b->split[k];
            if (!is_across)
                memcpy(it->kinds + (ptrdiff_t)k * CLV_RUNS_TRIED, kinds, CLV_RUNS_TRIED);
        }
    }
}

/* A stretch parted, its ends no nearer to each other than by a link of that speed. */
static void split_at(clv_stretches *b, const clv_stretch *s, clv_runs_link speed)
{
    clv_stretch_slow(b, speed.latency_ns, speed.byte_ns);
    if (s->first < s->last)
        clv_stretch_split(b, s);
    else /* nothing behind the last node */
        memset(b->split, 0, (size_t)b->p->n_kinds * sizeof *b->split);
    clv_stretch_slow(b, 0, 0);
}

/* The times of all partings of a stretch, the kinds of its units given in all ways. */
static void try_kinds(clv_runs_walk *w, int32_t stretch, int32_t n)
{
    clv_stretches *b = w->b;
    clv_stretch s = stretch_of(w, stretch);
    int8_t kinds[CLV_RUNS_TRIED], *only = b->only + s.first + 1;
    memset(kinds, -1, sizeof kinds);
    for (int32_t i = 0; i < n; i++)
        only[i] = kinds[i] = 0;
    for (int32_t i = 0; i < n || n == 0;) {
        bool all_used = true;
        for (int32_t k = 0; k < n; k++)
            all_used = all_used && b->used[kinds[k]];
        if (all_used) {
            split_at(b, &s, w->across);
            note_split(w, stretch, kinds, n, true);
            split_at(b, &s, (clv_runs_link){ 0 });
            note_split(w, stretch, kinds, n, false);
        }
        if (n == 0)
            break;
        for (i = 0; i < n && ++kinds[i] == b->p->n_kinds; i++)
            kinds[i] = 0;
        for (int32_t k = 0; k < n; k++)
            only[k] = kinds[k];
    }
    for (int32_t i = 0; i < n; i++)
        only[i] = -1;
}

/* The fewest runs that there may be: where all devices are to be used, mostly one each. */
static int32_t likely_runs(const clv_runs_walk *w)
{
    return w->use_all ? w->b->p->n_devices : w->b->least_devices;
}

/* How much later stretch i + 1 ends than when nothing is known of the run before it; and how much
 * later still if a part of the cluster is left there. */
static void find_wait(clv_runs_walk *w, clv_runs_class *c, int32_t i, int32_t kind, bool is_longer)
{
    int32_t slot = w->slot_of[kind], at = slot * w->n_nodes + i;
    clv_runs_link speed = w->pair[w->slot_of[c->kind] * w->n_slots + slot];
    clv_stretch s = stretch_of(w, i + 1);
    s.is_known = true;
    s.kind = c->kind;
    s.before = w->place[i - 1];
    s.whole_ns = is_longer ? c->whole[i] - c->whole[i - 1] : 0;
    split_at(w->b, &s, speed);
    double here = w->b->split[kind], known = w->known_ns[at];
    c->wait[is_longer][at] = isfinite(known) ? here - known : 0;
    split_at(w->b, &s, clv_runs_slower(speed, w->across));
    c->leave[is_longer][at] = isfinite(here) ? w->b->split[kind] - here : 0;
}

static void find_waits(clv_runs_walk *w, int32_t i)
{
    clv_stretches *b = w->b;
    clv_stretch s = stretch_of(w, i + 1);
    clv_stretch_split(b, &s);
    for (int32_t k = 0; k < b->p->n_kinds; k++)
        if (w->slot_of[k] >= 0)
            w->known_ns[w->slot_of[k] * w->n_nodes + i] = b->split[k];
    for (int32_t k = 0; k < b->p->n_kinds; k++)
        for (int32_t c = 0; c < w->n_classes && w->slot_of[k] >= 0; c++) {
            find_wait(w, &w->classes[c], i, k, false);
            find_wait(w, &w->classes[c], i, k, true);
        }
}

/* With the longest waits and leaves of stretch i + 1 for a kind a parting must not seem to take
 * longer than it does: the later of what it takes and of what they ask for counts, not both. */
static void limit_partings(clv_runs_walk *w, int32_t i, int32_t kind)
{
    int32_t at = w->slot_of[kind] * w->n_nodes + i;
    double wait = 0, leave = 0, known = w->known_ns[at];
    for (int32_t c = 0; c < w->n_classes; c++)
        for (int k = 0; k < 2; k++) {
            wait = fmax(wait, w->classes[c].wait[k][at]);
            leave = fmax(leave, w->classes[c].leave[k][at]);
        }
    leave = fmin(leave, w->toll_ns);
    for (int32_t m = w->first_parting[i + 1]; m < w->first_parting[i + 2]; m++) {
        clv_runs_parting *it = &w->partings[m];
        it->ns[kind] = fmax(known, fmin(it->ns[kind], it->across_ns[kind] - leave) - wait);
    }
}

static int32_t own_slot(const clv_runs_walk *w, int32_t class)
{
    return w->slot_of[w->classes[class].kind];
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* So many runs visit so many parts, and leave all but one. For any toll that each visit costs and
 * each leave gives back a bound is a bound; that of the last leave that there must be proves most,
 * where the cheapest are taken. key: scratch. */
static void find_toll(clv_runs_walk *w)
{
    int32_t n_leaves = (likely_runs(w) + w->part_size - 1) / w->part_size - 1, n = 0;
    for (int32_t i = 1; i + 2 < w->n_nodes; i++) {
        double least = INFINITY;
        for (int32_t c = 0; c < w->n_classes; c++)
            for (int k = 0; k < 2; k++)
                least = fmin(least, w->classes[c].leave[k][own_slot(w, c) * w->n_nodes + i]);
        w->key[n++] = least;
    }
    if (n_leaves < 1 || n_leaves > n)
        return;
    qsort(w->key, (size_t)n, sizeof *w->key, by_size);
    w->toll_ns = w->key[n_leaves - 1];
}

/* A run pays its share of a visit; a stretch where a part is left gives it back, if that is what is
 * cheaper. */
static void add_tolls(clv_runs_walk *w, clv_runs_class *c)
{
    for (int32_t slot = 0; slot < w->n_slots; slot++)
        for (int32_t i = 1; i + 2 < w->n_nodes; i++)
            for (int k = 0; k < 2; k++) {
                int32_t at = slot * w->n_nodes + i;
                c->wait[k][at] += fmin(0, c->leave[k][at] - w->toll_ns);
            }
}

clv_status clv_runs_partings(clv_runs_walk *w, clv_error *err)
{
    for (int32_t i = 1; i < w->n_nodes; i++) {
        int32_t n = clv_runs_between(w, i);
        w->first_parting[i] = w->n_partings;
        w->is_open[i] = w->use_all && n > OWN_MAX;
        w->any_open |= w->is_open[i];
        if (!add_partings(w, w->use_all && n <= OWN_MAX ? n : 0))
            return clv_fail_nomem(err, "a bound");
        try_kinds(w, i, w->use_all && n <= CLV_RUNS_TRIED ? n : 0);
    }
    w->first_parting[w->n_nodes] = w->n_partings;
    for (int32_t i = 1; i + 2 < w->n_nodes; i++)
        find_waits(w, i);
    find_toll(w);
    for (int32_t i = 1; i + 2 < w->n_nodes; i++)
        for (int32_t k = 0; k < w->b->p->n_kinds; k++)
            if (w->slot_of[k] >= 0)
                limit_partings(w, i, k);
    for (int32_t c = 0; c < w->n_classes; c++)
        add_tolls(w, &w->classes[c]);
    return CLV_OK;
}
