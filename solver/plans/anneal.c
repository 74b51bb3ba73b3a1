#include "solver/plans/anneal.h"

#include <math.h>
#include <string.h>

#include "problem/quotient.h"
#include "solver/random.h"

/* Temperatures at the start and the end, as a part of the energy at the start. */
#define HOT  0.3
#define COLD 0.001
/* A draw of a unit and a device that may not be is tried again so often. */
#define DRAWS     16
#define NEAR_HEAD 16

/* One draw in so many exchanges all units of two devices: single moves would have to pass through
 * plans that are no pipelines. */
#define EXCHANGE_IN 128

typedef struct {
    clv_groups *g;
    const clv_anneal_options *o;
    uint64_t *barred;
    int32_t *exchanged; /* n_units: scratch */
    uint64_t random;
    double scale; /* of loads: 1 / the period at the start */
} furnace;

static uint32_t below(furnace *f, int32_t n)
{
    return (uint32_t)((clv_random(&f->random) >> 32) * (uint64_t)n >> 32);
}

/* The 8th root of the sum of 8th powers: near the largest, and falls with each. */
static double energy(const furnace *f)
{
    const clv_groups *g = f->g;
    double sum = 0;
    for (int32_t d = 0; d < g->p->n_devices; d++) {
        double x = (double)g->time_ns[d] * f->scale;
        x *= x;
        x *= x;
        sum += x * x;
    }
    for (int32_t i = 0; i < clv_n_ports(g->p); i++) {
        double x = (double)g->port_ns[i] * f->scale;
        x *= x;
        x *= x;
        sum += x * x;
    }
    return sqrt(sqrt(sqrt(sum)));
}

/* Any unit, or in every other draw one at an end of the busiest device, near the head of the list
 * of those: most units have next to no load, and their moves change nothing. */
static int32_t draw_unit(furnace *f)
{
    const clv_groups *g = f->g;
    int32_t busiest = 0;
    if (below(f, 2) == 0)
        return (int32_t)below(f, g->p->n_units);
    for (int32_t d = 1; d < g->p->n_devices; d++)
        busiest = g->time_ns[d] > g->time_ns[busiest] ? d : busiest;
    const clv_unit_lists *ends = &g->edge[below(f, 2)];
    int32_t unit = ends->head[busiest];
    for (uint32_t skip = below(f, NEAR_HEAD); skip > 0 && unit >= 0; skip--)
        unit = ends->next[unit];
    return unit >= 0 ? unit : (int32_t)below(f, g->p->n_units);
}

/* A legal move that memory allows. False: none was drawn. */
static bool draw_move(furnace *f, int32_t *ret_unit, int32_t *ret_to)
{
    clv_groups *g = f->g;
    for (int32_t i = 0; i < DRAWS; i++) {
        int32_t unit = draw_unit(f), to = (int32_t)below(f, g->p->n_devices);
        int32_t from = g->device_of[unit];
        bool is_inner = g->inner_reads[unit] > 0 && g->inner_sends[unit] > 0;
        if (to == from || is_inner || (f->o->keep_groups && g->n_units[from] == 1) ||
            g->weight_bytes[to] + g->p->weight_bytes[unit] > f->o->room_bytes[to])
            continue;
        clv_groups_barred(g, unit, f->barred);
        if (clv_bit(f->barred, to))
            continue;
        *ret_unit = unit;
        *ret_to = to;
        return true;
    }
    return false;
}

static void exchange(furnace *f, int32_t a, int32_t b)
{
    clv_groups *g = f->g;
    for (int32_t u = 0; u < g->p->n_units; u++) {
        int32_t d = g->device_of[u];
        f->exchanged[u] = d == a ? b : d == b ? a : d;
    }
    clv_groups_load(g, f->exchanged);
}

typedef struct {
    int32_t unit, from, to; /* unit -1: two devices exchange all */
} step;

static bool draw_exchange(furnace *f, step *ret)
{
    const clv_groups *g = f->g;
    int32_t a = (int32_t)below(f, g->p->n_devices), b = (int32_t)below(f, g->p->n_devices);
    *ret = (step){ -1, a, b };
    return a != b && g->weight_bytes[a] <= f->o->room_bytes[b] &&
           g->weight_bytes[b] <= f->o->room_bytes[a];
}

static bool draw_step(furnace *f, step *ret)
{
    if (below(f, EXCHANGE_IN) == 0)
        return draw_exchange(f, ret);
    if (!draw_move(f, &ret->unit, &ret->to))
        return false;
    ret->from = f->g->device_of[ret->unit];
    return true;
}

static void make_step(furnace *f, const step *s, bool undo)
{
    if (s->unit < 0)
        exchange(f, s->from, s->to);
    else
        clv_groups_move(f->g, s->unit, undo ? s->from : s->to);
}

static bool is_taken(furnace *f, double more, double heat)
{
    double draw = (double)(clv_random(&f->random) >> 11) * 0x1p-53;
    return more <= 0 || draw < exp(-more / heat);
}

clv_status clv_anneal(clv_groups *g, const clv_anneal_options *o, clv_arena *arena, int32_t *best,
                      int64_t *ret_ns, clv_error *err)
{
    int64_t least = clv_groups_period_ns(g);
    furnace f = { .g = g,
                  .o = o,
                  .barred = CLV_NEW_ARRAY(arena, uint64_t, g->words),
                  .exchanged = CLV_NEW_ARRAY(arena, int32_t, g->p->n_units),
                  .random = o->seed,
                  .scale = least > 0 ? 1 / (double)least : 1 };
    if (!f.barred || !f.exchanged)
        return clv_fail_nomem(err, "a search");
    size_t bytes = (size_t)g->p->n_units * sizeof *best;
    double here = energy(&f), heat = HOT * here;
    double cooling = o->steps > 0 ? pow(COLD / HOT, 1 / (double)o->steps) : 1;
    memcpy(best, g->device_of, bytes);
    for (int64_t i = 0; i < o->steps; i++, heat *= cooling) {
        step s;
        if (!draw_step(&f, &s))
            continue;
        make_step(&f, &s, false);
        double there = energy(&f);
        if (!is_taken(&f, there - here, heat)) {
            make_step(&f, &s, true);
            continue;
        }
        here = there;
        int64_t ns = clv_groups_period_ns(g);
        if (ns >= least)
            continue;
        least = ns;
        memcpy(best, g->device_of, bytes);
    }
    *ret_ns = least;
    return CLV_OK;
}
