/* runs_parts.c - what a walk along runs is made of: classes of devices and how far each reaches,
 * and the ways to part a stretch.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/partition/runs_walk.h"

/* Numbers that a walk keeps. */
#define CELLS_MAX INT64_C(20000000)
/* Devices of their own that units between two nodes may be on; beyond, as many as there are. */
#define OWN_MAX 8
/* Times that kinds are tried, in all stretches together: some tenths of a second. */
#define TRIES_MAX INT64_C(1000000)

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
        w->kind_at[*slot] = w->classes[i].kind;
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
    bool enough = m.sum && m.live;
    for (int32_t i = 0; i < w->n_classes; i++) {
        w->classes[i].whole = CLV_NEW_ARRAY(arena, double, w->n_nodes);
        w->classes[i].far = CLV_NEW_ARRAY(arena, int32_t, w->n_nodes);
        enough = enough && w->classes[i].whole && w->classes[i].far;
        w->whole_of[w->slot_of[w->classes[i].kind]] = w->classes[i].whole;
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

/* The kinds tried for the units between, all tries of a stretch, and of all stretches. */
typedef struct {
    clv_stretch s;
    int32_t i, n;                 /* the stretch, and units in it that are given kinds */
    int8_t kinds[CLV_RUNS_TRIED]; /* of those; -1: any */
    int32_t before, longer;       /* slot of the run before, and has it the node before its last? */
} attempt;

static bool add_parting(clv_runs_walk *w, const int32_t *own)
{
    int32_t n_ways = 2 * w->n_slots * w->n_slots;
    clv_runs_parting new = { .ns = CLV_NEW_ARRAY(w->arena, double, n_ways),
                             .stay_ns = CLV_NEW_ARRAY(w->arena, double, n_ways),
                             .leave_ns = CLV_NEW_ARRAY(w->arena, double, n_ways),
                             .kinds = CLV_NEW_ARRAY(w->arena, int8_t, n_ways * CLV_RUNS_TRIED) };
    if (!new.ns || !new.stay_ns || !new.leave_ns || !new.kinds ||
        !CLV_PUSH_ROOM(w->arena, w->partings, w->n_partings, w->cap_partings))
        return false;
    for (int32_t i = 0; i < w->n_classes; i++) {
        new.own[i] = own[i];
        new.cells += own[i] * w->classes[i].stride;
    }
    for (int32_t i = 0; i < n_ways; i++)
        new.stay_ns[i] = new.leave_ns[i] = INFINITY;
    memset(new.kinds, -1, (size_t)n_ways * CLV_RUNS_TRIED);
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
static bool has_units(const clv_runs_walk *w, const clv_runs_parting *it, const attempt *t)
{
    for (int32_t slot = 0; slot < w->n_slots; slot++) {
        int32_t left = 0, kind = w->kind_at[slot];
        for (int32_t i = 0; i < w->n_classes; i++)
            left += w->classes[i].kind == kind ? it->own[i] : 0;
        for (int32_t i = 0; i < t->n; i++)
            left -= t->kinds[i] == kind;
        if (left > 0)
            return false;
    }
    return true;
}

static void note_split(clv_runs_walk *w, const attempt *t, int32_t slot, double ns, double leave_ns)
{
    int32_t way = clv_runs_way(w, t->before, t->longer, slot);
    for (int32_t i = w->first_parting[t->i]; i < w->first_parting[t->i + 1]; i++) {
        clv_runs_parting *it = &w->partings[i];
        if (t->n > 0 && !has_units(w, it, t))
            continue;
        it->leave_ns[way] = fmin(leave_ns, it->leave_ns[way]);
        if (ns >= it->stay_ns[way])
            continue;
        it->stay_ns[way] = ns;
        memcpy(it->kinds + (ptrdiff_t)way * CLV_RUNS_TRIED, t->kinds, sizeof t->kinds);
    }
}

/* When the stretch ends on a kind, its ends no nearer to each other than by a link of that speed.
 */
static double split_at(clv_runs_walk *w, const clv_stretch *s, int32_t slot, clv_runs_link speed)
{
    clv_stretches *b = w->b;
    if (s->first >= s->last)
        return 0; /* nothing behind the last node */
    clv_stretch_slow(b, speed.latency_ns, speed.byte_ns, speed.is_one);
    clv_stretch_split(b, s);
    clv_stretch_slow(b, 0, 0, true);
    return b->split[w->kind_at[slot]];
}

/* A stretch parted, the run before it on one kind and the next on another. Where a part of the
 * cluster is left as well, a slow link is between the two. */
static void try_slots(clv_runs_walk *w, attempt *t)
{
    bool is_between = t->i > 1 && t->i < w->n_nodes - 1;
    for (int32_t k = 0; k < w->n_slots; k++) {
        clv_runs_link speed = { .is_one = true };
        if (is_between)
            speed = w->pair[t->before * w->n_slots + k];
        double ns = split_at(w, &t->s, k, speed), leave_ns = ns;
        if (is_between && w->has_parts)
            leave_ns = split_at(w, &t->s, k, clv_runs_slower(speed, w->across));
        note_split(w, t, k, ns, leave_ns);
    }
}

/* The run before on each kind, one node of it in the stretch's sight or two. */
static void try_before(clv_runs_walk *w, attempt *t)
{
    bool is_between = t->i > 1 && t->i < w->n_nodes - 1;
    for (int32_t q = 0; q < w->n_slots; q++)
        for (int32_t longer = 0; longer < 2; longer++) {
            const double *whole = w->whole_of[q];
            t->before = q;
            t->longer = longer;
            if (is_between) {
                t->s.is_known = true;
                t->s.kind = w->kind_at[q];
                t->s.before = w->place[t->i - 2];
                t->s.whole_ns = longer ? whole[t->i - 1] - whole[t->i - 2] : 0;
            }
            try_slots(w, t);
        }
}

/* The times of all partings of a stretch, the kinds of its first n units given in all ways. */
static void try_kinds(clv_runs_walk *w, int32_t i, int32_t n)
{
    attempt t = { .s = stretch_of(w, i), .i = i, .n = n };
    int8_t *only = w->b->only + t.s.first + 1;
    int32_t slots[CLV_RUNS_TRIED] = { 0 };
    memset(t.kinds, -1, sizeof t.kinds);
    for (int32_t k = 0; k < n || n == 0;) {
        for (k = 0; k < n; k++)
            only[k] = t.kinds[k] = (int8_t)w->kind_at[slots[k]];
        try_before(w, &t);
        if (n == 0)
            break;
        for (k = 0; k < n && ++slots[k] == w->n_slots; k++)
            slots[k] = 0;
    }
    for (int32_t k = 0; k < n; k++)
        only[k] = -1;
}

/* Of how many units between two nodes kinds are tried. */
static int32_t most_tried(const clv_runs_walk *w)
{
    int64_t tries = (int64_t)w->n_nodes * w->n_slots * w->n_slots * 4;
    int32_t n = 0;
    while (n < CLV_RUNS_TRIED && (tries *= w->n_slots) <= TRIES_MAX)
        n++;
    return w->use_all ? n : 0;
}

clv_status clv_runs_partings(clv_runs_walk *w, clv_error *err)
{
    int32_t tried = most_tried(w);
    for (int32_t i = 1; i < w->n_nodes; i++) {
        int32_t n = clv_runs_between(w, i);
        w->first_parting[i] = w->n_partings;
        w->is_open[i] = w->use_all && n > OWN_MAX;
        w->any_open |= w->is_open[i];
        if (!add_partings(w, w->use_all && n <= OWN_MAX ? n : 0))
            return clv_fail_nomem(err, "a bound");
        w->first_parting[i + 1] = w->n_partings;
        try_kinds(w, i, n <= tried ? n : 0);
    }
    return CLV_OK;
}
