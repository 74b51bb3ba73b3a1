/* runs_plan.c - the plan behind a walk: from its end back to its start, each time the run that gave
 * the least.
 */
#include <math.h>
#include <string.h>

#include "solver/plans/runs_walk.h"

typedef struct {
    int32_t class, first, last; /* nodes; class -1: no device */
    int32_t how;                /* the parting after it; -1: none */
} run;

/* The run that ends at a node of a cell, one of the slot's kind being next, and where the one
 * before it ended. */
static run trace_run(const clv_runs_walk *w, int32_t *cell, int32_t *node, int32_t slot,
                     int32_t *ret_how)
{
    int32_t digits[CLV_CLASSES_MAX] = { 0 };
    run best = { .class = -1, .last = *node };
    double least = INFINITY;
    clv_runs_digits(w, *cell, digits);
    for (int32_t c = 0; c < w->n_classes; c++)
        for (int32_t s = *node < w->n_nodes - 1 ? *node : *node - 1; digits[c] > 0 && s >= 0; s--) {
            int32_t how = -1;
            if (w->classes[c].far[s] < *node)
                break;
            const double *waits = w->classes[c].wait[s < *node];
            double wait = waits[slot * w->n_nodes + *node];
            double at =
                clv_runs_begin(w, *cell, digits, c, s, &how) + wait + w->classes[c].whole[*node];
            if (at < least) {
                least = at;
                best = (run){ .class = c, .first = s, .last = *node };
                *ret_how = how;
            }
        }
    if (best.class < 0)
        return best;
    *cell -= w->classes[best.class].stride;
    if (*ret_how >= 0)
        *cell -= w->partings[*ret_how].cells;
    *node = best.first - 1;
    return best;
}

/* From the last to the first, into runs; n_devices at most. */
static int32_t trace(const clv_runs_walk *w, const clv_runs_end *end, run *runs)
{
    int32_t cell = end->cell, node = end->node, how = end->how;
    int32_t n = 0, slot = 0; /* at the end of all they are the same */
    if (how >= 0)
        cell -= w->partings[how].cells;
    while (node > 0) {
        int32_t before = -1;
        run it = trace_run(w, &cell, &node, slot, &before);
        if (it.class < 0)
            return 0;
        slot = w->slot_of[w->classes[it.class].kind];
        it.how = how;
        how = before;
        runs[n++] = it;
    }
    for (int32_t i = 0; i < n / 2; i++) {
        run swap = runs[i];
        runs[i] = runs[n - 1 - i];
        runs[n - 1 - i] = swap;
    }
    return n;
}

typedef struct {
    const clv_runs_walk *w;
    bool *taken; /* n_devices */
    int32_t *device_of;
} builder;

static int32_t take_device(builder *t, const clv_runs_class *c)
{
    const clv_partition *p = t->w->b->p;
    for (int32_t d = 0; d < p->n_devices; d++)
        if (!t->taken[d] && p->kind_of[d] == c->kind &&
            p->capacity_bytes[d] - t->w->reserve_bytes == c->capacity) {
            t->taken[d] = true;
            return d;
        }
    return -1;
}

/* Of a unit between two nodes, the next one on a device of a kind. -1: any. */
static int8_t wanted(const clv_runs_parting *it, int32_t kind, int32_t index)
{
    return index < CLV_RUNS_TRIED ? it->kinds[kind * CLV_RUNS_TRIED + index] : -1;
}

/* The places between a run and the next one. */
static int32_t first_between(const clv_runs_walk *w, const run *a) { return w->place[a->last] + 1; }

static int32_t end_between(const clv_runs_walk *w, const run *a)
{
    return a->last + 1 < w->n_nodes - 1 ? w->place[a->last + 1] : w->b->trunk.n;
}

/* Those that the parting has on devices of their own, which are near that of the run: taken in
 * turn. kind: of the next run. */
static void place_own(builder *t, const run *a, int32_t kind)
{
    const clv_runs_walk *w = t->w;
    const clv_runs_parting *it = &w->partings[a->how];
    int32_t own[CLV_CLASSES_MAX], first = first_between(w, a);
    memcpy(own, it->own, sizeof own);
    for (int32_t i = first; i < end_between(w, a); i++) {
        int8_t want = wanted(it, kind, i - first);
        for (int32_t c = 0; c < w->n_classes; c++) {
            if (own[c] == 0 || (want >= 0 && w->classes[c].kind != want))
                continue;
            own[c]--;
            t->device_of[w->b->trunk.unit[i]] = take_device(t, &w->classes[c]);
            break;
        }
    }
}

/* The others on the device of the run before or behind, in turn, so that two may run at a time. */
static void place_between(builder *t, const run *a, int32_t from, int32_t to, int32_t kind)
{
    const clv_partition *p = t->w->b->p;
    int32_t first = first_between(t->w, a), turn = 0;
    for (int32_t i = first; i < end_between(t->w, a); i++) {
        int32_t *d = &t->device_of[t->w->b->trunk.unit[i]];
        int8_t want = wanted(&t->w->partings[a->how], kind, i - first);
        bool is_near = want < 0 || p->kind_of[from] == want;
        bool is_far = to >= 0 && (want < 0 || p->kind_of[to] == want);
        if (*d < 0)
            *d = is_near && (!is_far || turn++ % 2 == 0) ? from : to >= 0 ? to : from;
    }
}

static void place_run(builder *t, const run *r, int32_t device)
{
    const clv_runs_walk *w = t->w;
    int32_t first = w->place[r->first], last = w->place[r->last];
    for (int32_t i = first < 0 ? 0 : first; i <= last && i < w->b->trunk.n; i++)
        t->device_of[w->b->trunk.unit[i]] = device;
}

/* Units outside the trunk: one each for devices that are to be used and have none; else where the
 * last unit that they wait for is. */
static void place_others(builder *t, int32_t first_device)
{
    const clv_partition *p = t->w->b->p;
    int32_t idle = 0;
    for (int32_t u = 0; u < p->n_units; u++) {
        if (t->device_of[u] >= 0)
            continue;
        while (idle < p->n_devices && t->taken[idle])
            idle++;
        int32_t last = -1;
        for (int32_t i = p->reads_first[u]; i < p->reads_first[u + 1]; i++)
            last = p->net_from[p->reads[i]] > last ? p->net_from[p->reads[i]] : last;
        t->device_of[u] = last >= 0 ? t->device_of[last] : first_device;
        if (t->w->use_all && idle < p->n_devices) {
            t->taken[idle] = true;
            t->device_of[u] = idle;
        }
    }
}

/* The devices of the runs, then the others. is_run: scratch, n_devices, all false. */
static void fill_order(const clv_partition *p, const int32_t *device, int32_t n, bool *is_run,
                       int32_t *order)
{
    for (int32_t i = 0; i < n; i++) {
        order[i] = device[i];
        is_run[device[i]] = true;
    }
    for (int32_t d = 0; d < p->n_devices; d++)
        if (!is_run[d])
            order[n++] = d;
}

clv_status clv_runs_plan(const clv_runs_walk *w, const clv_runs_end *end, int32_t *order,
                         int32_t *device_of, bool *ret, clv_error *err)
{
    const clv_partition *p = w->b->p;
    run *runs = CLV_NEW_ARRAY(w->arena, run, p->n_devices + 1);
    int32_t *device = CLV_NEW_ARRAY(w->arena, int32_t, p->n_devices + 1);
    bool *is_run = CLV_NEW_ARRAY(w->arena, bool, p->n_devices);
    builder t = { w, CLV_NEW_ARRAY(w->arena, bool, p->n_devices), device_of };
    if (!runs || !device || !t.taken || !is_run)
        return clv_fail_nomem(err, "a bound");
    int32_t n = trace(w, end, runs);
    *ret = n > 0;
    if (n == 0)
        return CLV_OK;
    for (int32_t u = 0; u < p->n_units; u++)
        device_of[u] = -1;
    for (int32_t i = 0; i < n; i++) {
        const clv_runs_class *next = &w->classes[runs[i + 1 < n ? i + 1 : i].class];
        device[i] = take_device(&t, &w->classes[runs[i].class]);
        place_run(&t, &runs[i], device[i]);
        if (runs[i].how >= 0)
            place_own(&t, &runs[i], next->kind);
    }
    for (int32_t i = 0; i < n; i++)
        if (runs[i].how >= 0) {
            int32_t to = i + 1 < n ? device[i + 1] : -1;
            place_between(&t, &runs[i], device[i], to, p->kind_of[to >= 0 ? to : device[i]]);
        }
    place_others(&t, device[0]);
    fill_order(p, device, n, is_run, order);
    return CLV_OK;
}
