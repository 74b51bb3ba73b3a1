/* runs_plan.c - the plan behind a walk: from its end back to its start, each time the run that gave
 * the least.
 */
#include <math.h>
#include <string.h>

#include "solver/runs_walk.h"

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
    int32_t *order, *device_of;
    int32_t n;
} builder;

static int32_t take_device(builder *t, const clv_runs_class *c)
{
    const clv_partition *p = t->w->b->p;
    for (int32_t d = 0; d < p->n_devices; d++)
        if (!t->taken[d] && p->kind_of[d] == c->kind &&
            p->capacity_bytes[d] - t->w->reserve_bytes == c->capacity) {
            t->taken[d] = true;
            t->order[t->n++] = d;
            return d;
        }
    return -1;
}

/* Units between two runs: on devices of their own as the parting has them; else on that of the run
 * before or behind, in turn, so that two may run at a time. */
static void place_between(builder *t, const run *a, int32_t from, int32_t to, int32_t kind)
{
    const clv_runs_walk *w = t->w;
    const clv_trunk *trunk = &w->b->trunk;
    const clv_runs_parting *it = &w->partings[a->how];
    int32_t own[CLV_CLASSES_MAX], first = w->place[a->last] + 1, turn = 0;
    int32_t end = a->last + 1 < w->n_nodes - 1 ? w->place[a->last + 1] : trunk->n;
    memcpy(own, it->own, sizeof own);
    for (int32_t i = first; i < end; i++) {
        int32_t unit = trunk->unit[i], d = -1;
        int8_t want =
            i - first < CLV_RUNS_TRIED ? it->kinds[kind * CLV_RUNS_TRIED + i - first] : -1;
        for (int32_t c = 0; c < w->n_classes && d < 0; c++)
            if (own[c] > 0 && (want < 0 || w->classes[c].kind == want)) {
                own[c]--;
                d = take_device(t, &w->classes[c]);
            }
        const clv_partition *p = w->b->p;
        bool is_near = from >= 0 && (want < 0 || p->kind_of[from] == want);
        bool is_far = to >= 0 && (want < 0 || p->kind_of[to] == want);
        if (d < 0)
            d = is_near && (!is_far || turn++ % 2 == 0) ? from : to >= 0 ? to : from;
        t->device_of[unit] = d;
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
static void place_others(builder *t)
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
        t->device_of[u] = last >= 0 ? t->device_of[last] : t->order[0];
        if (t->w->use_all && idle < p->n_devices) {
            t->taken[idle] = true;
            t->order[t->n++] = t->device_of[u] = idle;
        }
    }
    for (int32_t d = 0; d < p->n_devices; d++)
        if (!t->taken[d])
            t->order[t->n++] = d;
}

clv_status clv_runs_plan(const clv_runs_walk *w, const clv_runs_end *end, int32_t *order,
                         int32_t *device_of, bool *ret, clv_error *err)
{
    const clv_partition *p = w->b->p;
    run *runs = CLV_NEW_ARRAY(w->arena, run, p->n_devices + 1);
    int32_t *device = CLV_NEW_ARRAY(w->arena, int32_t, p->n_devices + 1);
    builder t = { w, CLV_NEW_ARRAY(w->arena, bool, p->n_devices), order, device_of, 0 };
    if (!runs || !device || !t.taken)
        return clv_fail_nomem(err, "a bound");
    int32_t n = trace(w, end, runs);
    *ret = n > 0;
    for (int32_t u = 0; u < p->n_units; u++)
        device_of[u] = -1;
    for (int32_t i = 0; i < n; i++) {
        device[i] = take_device(&t, &w->classes[runs[i].class]);
        place_run(&t, &runs[i], device[i]);
    }
    for (int32_t i = 0; i < n; i++)
        if (runs[i].how >= 0) {
            int32_t to = i + 1 < n ? device[i + 1] : -1;
            place_between(&t, &runs[i], device[i], to, p->kind_of[to >= 0 ? to : device[i]]);
        }
    if (n > 0)
        place_others(&t);
    return CLV_OK;
}
