#include "solver/partition/anneal.h"

#include <math.h>
#include <string.h>

#include "problem/quotient.h"
#include "solver/common/annealing.h"
#include "solver/common/random.h"

/* Temperatures at the start and at the end, as parts of the energy at the start. */
#define HOT  0.3
#define COLD 0.001
/* Draws of a unit and a device, until the move is legal and has room, in one step. */
#define DRAWS 16
/* A unit is drawn from so many at the head of a list of units. */
#define NEAR_HEAD 16

/* One move in FEEDERS_IN takes along the units that only feed it, FEEDERS_MAX at most. */
#define FEEDERS_IN  4
#define FEEDERS_MAX 8

/* One step in EXCHANGE_IN exchanges all units of two devices: single moves on the way would be
 * illegal. */
#define EXCHANGE_IN 128

typedef struct {
    clv_groups *g;
    const clv_anneal_options *o;
    uint64_t *barred;
    int32_t *exchanged;             /* n_units: scratch */
    int32_t *reader_of;             /* n_units: the only unit that reads any of its nets, or -1 */
    int32_t moved[1 + FEEDERS_MAX]; /* what the step at hand moves */
    bool *is_moved;                 /* n_units: scratch, all false */
    uint64_t random;
    double scale; /* of loads: 1 / the period at the start */
} annealer;

typedef struct {
    int32_t n_moved, from, to; /* n_moved units of the annealer; 0: two devices exchange all */
} step;

static int32_t below(annealer *an, int32_t n) { return clv_random_below(&an->random, n); }

/* The 8th root of the sum of 8th powers: near the largest, and falls with each. */
static double energy(const annealer *an)
{
    const clv_groups *g = an->g;
    double sum = 0;
    for (int32_t d = 0; d < g->p->n_devices; d++) {
        double x = (double)g->time_ns[d] * an->scale;
        x *= x;
        x *= x;
        sum += x * x;
    }
    for (int32_t i = 0; i < clv_n_ports(g->p); i++) {
        double x = (double)g->port_ns[i] * an->scale;
        x *= x;
        x *= x;
        sum += x * x;
    }
    return sqrt(sqrt(sqrt(sum)));
}

static int32_t busiest_device(const clv_groups *g)
{
    int32_t busiest = 0;
    for (int32_t d = 1; d < g->p->n_devices; d++)
        busiest = g->time_ns[d] > g->time_ns[busiest] ? d : busiest;
    return busiest;
}

/* Any unit, or in every other draw one at an end of the busiest device, near the head of the list
 * of those: most units have next to no load, and their moves change nothing. */
static int32_t draw_unit(annealer *an, int32_t busiest)
{
    const clv_groups *g = an->g;
    if (below(an, 2) == 0)
        return below(an, g->p->n_units);
    const clv_unit_lists *ends = &g->edge[below(an, 2)];
    int32_t unit = ends->head[busiest];
    for (int32_t skip = below(an, NEAR_HEAD); skip > 0 && unit >= 0; skip--)
        unit = ends->next[unit];
    return unit >= 0 ? unit : below(an, g->p->n_units);
}

static bool has_room(const annealer *an, const step *s)
{
    const clv_groups *g = an->g;
    int64_t bytes = g->weight_bytes[s->to];
    for (int32_t i = 0; i < s->n_moved; i++)
        bytes += g->p->weight_bytes[an->moved[i]];
    return bytes <= an->o->room_bytes[s->to] &&
           (!an->o->keep_groups || g->n_units[s->from] > s->n_moved);
}

/* Adds to a move of one unit those at the start of its group that only feed it, as weights computed
 * in the model: a move of one of them alone would add a transfer, or a cycle of devices. False: the
 * group has units before them and after them, so that the move would make a cycle too. O(pins of
 * the unit). */
static bool add_feeders(annealer *an, step *s)
{
    const clv_groups *g = an->g;
    const clv_partition_problem *p = g->p;
    int32_t unit = an->moved[0];
    bool reads = false;
    for (int32_t i = p->reads_first[unit]; i < p->reads_first[unit + 1]; i++) {
        int32_t feeder = p->net_from[p->reads[i]];
        if (g->device_of[feeder] != s->from || an->is_moved[feeder])
            continue;
        if (an->reader_of[feeder] != unit || g->inner_reads[feeder] > 0 ||
            s->n_moved > FEEDERS_MAX) {
            reads = true;
            continue;
        }
        an->is_moved[feeder] = true;
        an->moved[s->n_moved++] = feeder;
    }
    for (int32_t k = 1; k < s->n_moved; k++)
        an->is_moved[an->moved[k]] = false;
    return !reads || g->inner_sends[unit] == 0;
}

static void move(annealer *an, const step *s, int32_t to)
{
    for (int32_t i = 0; i < s->n_moved; i++)
        clv_groups_move(an->g, an->moved[i], to);
}

/* False: that would make a cycle of devices, and is not made. */
static bool make_move(annealer *an, const step *s)
{
    clv_groups *g = an->g;
    if (s->n_moved == 1) {
        clv_groups_barred(g, an->moved[0], an->barred);
        if (clv_bit(an->barred, s->to))
            return false;
        clv_groups_move(g, an->moved[0], s->to);
        return true;
    }
    move(an, s, s->to);
    if (clv_groups_is_legal_at(g, s->to))
        return true;
    move(an, s, s->from);
    return false;
}

/* Makes a legal move that memory allows. False: none was drawn. */
static bool draw_move(annealer *an, step *ret)
{
    const clv_groups *g = an->g;
    int32_t busiest = busiest_device(g);
    for (int32_t i = 0; i < DRAWS; i++) {
        an->moved[0] = draw_unit(an, busiest);
        *ret = (step){ 1, g->device_of[an->moved[0]], below(an, g->p->n_devices) };
        if (ret->to == ret->from)
            continue;
        bool takes_feeders = below(an, FEEDERS_IN) == 0;
        if (!has_room(an, ret))
            continue;
        if (takes_feeders && (!add_feeders(an, ret) || !has_room(an, ret)))
            continue;
        if (make_move(an, ret))
            return true;
    }
    return false;
}

static void exchange(annealer *an, int32_t a, int32_t b)
{
    clv_groups *g = an->g;
    for (int32_t u = 0; u < g->p->n_units; u++) {
        int32_t d = g->device_of[u];
        an->exchanged[u] = d == a ? b : d == b ? a : d;
    }
    clv_groups_load(g, an->exchanged);
}

static bool draw_exchange(annealer *an, step *ret)
{
    const clv_groups *g = an->g;
    int32_t a = below(an, g->p->n_devices), b = below(an, g->p->n_devices);
    *ret = (step){ 0, a, b };
    if (a == b || g->weight_bytes[a] > an->o->room_bytes[b] ||
        g->weight_bytes[b] > an->o->room_bytes[a])
        return false;
    exchange(an, a, b);
    return true;
}

/* O(pins). */
static void find_readers(const clv_partition_problem *p, int32_t *reader_of)
{
    for (int32_t u = 0; u < p->n_units; u++) {
        int32_t first = p->net_first[p->unit_first_net[u]];
        int32_t end = p->net_first[p->unit_first_net[u + 1]];
        reader_of[u] = first < end ? p->net_to[first] : -1;
        for (int32_t i = first; i < end; i++)
            reader_of[u] = p->net_to[i] == reader_of[u] ? reader_of[u] : -1;
    }
}

clv_status clv_anneal(clv_groups *g, const clv_anneal_options *o, clv_arena *arena, int32_t *best,
                      int64_t *ret_ns, clv_error *err)
{
    int64_t least = clv_groups_period_ns(g);
    annealer an = { .g = g,
                    .o = o,
                    .barred = CLV_NEW_ARRAY(arena, uint64_t, g->words),
                    .exchanged = CLV_NEW_ARRAY(arena, int32_t, g->p->n_units),
                    .reader_of = CLV_NEW_ARRAY(arena, int32_t, g->p->n_units),
                    .is_moved = CLV_NEW_ARRAY(arena, bool, g->p->n_units),
                    .random = o->seed,
                    .scale = least > 0 ? 1 / (double)least : 1 };
    if (!an.barred || !an.exchanged || !an.reader_of || !an.is_moved)
        return clv_fail_nomem(err, "a search");
    find_readers(g->p, an.reader_of);
    size_t bytes = (size_t)g->p->n_units * sizeof *best;
    double here = energy(&an), temperature = HOT * here;
    double cooling = clv_annealing_cooling(COLD / HOT, (double)o->steps);
    memcpy(best, g->device_of, bytes);
    for (int64_t i = 0; i < o->steps; i++, temperature *= cooling) {
        step s;
        if (!(below(&an, EXCHANGE_IN) == 0 ? draw_exchange(&an, &s) : draw_move(&an, &s)))
            continue;
        double there = energy(&an);
        if (!clv_annealing_takes(there - here, temperature, clv_random_unit(&an.random))) {
            if (s.n_moved == 0)
                exchange(&an, s.from, s.to);
            else
                move(&an, &s, s.from);
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
