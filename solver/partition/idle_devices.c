#include "solver/partition/idle_devices.h"

#include <stdlib.h>

#include "problem/sums.h"

typedef struct {
    clv_groups *g;
    int32_t *unit, *first; /* units of each device in order of their numbers: first[d] .. */
    int32_t *at;           /* scratch: n_devices */
} filler;

/* The device without units that is nearest to d and has room for its last unit: of its kind, if
 * there is one, by the fastest link; -1: none. O(devices). */
static int32_t nearest(const filler *f, int32_t d)
{
    const clv_partition_problem *p = f->g->p;
    int64_t bytes = p->weight_bytes[f->unit[f->first[d + 1] - 1]];
    int32_t best = -1;
    for (int32_t e = 0; e < p->n_devices; e++) {
        if (f->g->n_units[e] > 0 || p->capacity_bytes[e] < bytes)
            continue;
        const double *speed = p->link_bytes_per_s + (ptrdiff_t)d * p->n_devices;
        bool is_like = p->kind_of[e] == p->kind_of[d];
        bool best_is = best >= 0 && p->kind_of[best] == p->kind_of[d];
        if (best < 0 || is_like > best_is || (is_like == best_is && speed[e] > speed[best]))
            best = e;
    }
    return best;
}

/* The later units of d go to e: of all cuts for which e has room and the period keeps within the
 * limit, the one that adds the least time on links. Units are numbered in an order in which they
 * can run, so the two parts are legal where the group was. False: there is no such cut, and nothing
 * is changed. */
static bool split_group(filler *f, int32_t d, int32_t e, int64_t limit_ns)
{
    clv_groups *g = f->g;
    const int32_t *unit = f->unit + f->first[d];
    int32_t n = f->first[d + 1] - f->first[d], cut = n;
    int64_t least = INT64_MAX;
    for (int32_t i = n - 1; i > 0; i--) {
        clv_groups_move(g, unit[i], e);
        if (g->wire_ns >= least || g->weight_bytes[e] > g->p->capacity_bytes[e] ||
            clv_groups_period_ns(g) > limit_ns)
            continue;
        least = g->wire_ns;
        cut = i;
    }
    for (int32_t i = 1; i < cut; i++)
        clv_groups_move(g, unit[i], d);
    return cut < n;
}

typedef struct {
    int64_t time_ns;
    int32_t device;
} busy;

static int by_time(const void *a, const void *b)
{
    const busy *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? 1 : -1;
    return (x->device > y->device) - (x->device < y->device);
}

/* Splits each group that can be, the busiest first, as long as there are empty devices. Returns how
 * many were. O(units + devices), and the moves. */
static int32_t split_all(filler *f, busy *order, int64_t limit_ns)
{
    clv_groups *g = f->g;
    int32_t n = 0, n_split = 0;
    f->first[0] = 0;
    for (int32_t d = 0; d < g->p->n_devices; d++)
        f->first[d + 1] = (f->at[d] = f->first[d]) + g->n_units[d];
    for (int32_t u = 0; u < g->p->n_units; u++)
        f->unit[f->at[g->device_of[u]]++] = u;
    for (int32_t d = 0; d < g->p->n_devices; d++)
        if (g->n_units[d] > 1)
            order[n++] = (busy){ g->time_ns[d], d };
    qsort(order, (size_t)n, sizeof *order, by_time);
    for (int32_t i = 0; i < n; i++) {
        int32_t e = nearest(f, order[i].device);
        if (e >= 0)
            n_split += split_group(f, order[i].device, e, limit_ns);
    }
    return n_split;
}

clv_status clv_idle_devices_use(clv_groups *g, clv_arena *arena, clv_error *err)
{
    size_t n = (size_t)g->p->n_devices;
    clv_mark mark = clv_arena_mark(arena);
    filler f = { .g = g,
                 .unit = CLV_NEW_ARRAY(arena, int32_t, g->p->n_units),
                 .first = CLV_NEW_ARRAY(arena, int32_t, n + 1),
                 .at = CLV_NEW_ARRAY(arena, int32_t, n) };
    busy *order = CLV_NEW_ARRAY(arena, busy, n);
    if (!f.unit || !f.first || !f.at || !order)
        return clv_fail_nomem(err, "a search");
    int64_t limit_ns = clv_groups_period_ns(g);
    while (split_all(&f, order, limit_ns) > 0)
        ;
    while (split_all(&f, order, INT64_MAX) > 0)
        ;
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}
