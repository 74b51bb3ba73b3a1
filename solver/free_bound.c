/* free_bound.c - column generation; sets come from a dynamic program, proofs are whole numbers. */
#include "solver/free_bound.h"

#include <math.h>
#include <string.h>

#include "solver/free_lp.h"
#include "solver/random.h"
#include "solver/free_split.h"

/* Pairs kept for a state, from the first try to the last: more when sets that are too heavy, which
 * pairs made one pretend to be light enough, stand in the way of a proof. */
#define WIDTH_FIRST 200
#define WIDTH_LAST  6400
#define WIDTH_RISE  4
/* How much of the best prices so far is in the next. */
#define SMOOTH 0.7
/* Every so many rounds the prices of the linear program are tried as they are, too. */
#define PLAIN_EVERY 3
/* Penalties: this much times the time of a block and a part of the mean; and its nets. */
#define PENALTY_TIME 2.0
#define PENALTY_MEAN 0.02
/* Penalties that are only what right sides were shifted by, as a part of all. */
#define COVERED_PART 2e-4
/* All prices together in whole numbers. */
#define PRICES_SUM 1e12
/* Sets kept; then those that no mix uses go. */
#define SETS_MAX 4000
/* Sums in floating point lose less than this part. */
#define ROUNDING_PART 1e-10
/* Steps along the hull of loads and prices; any number is right, some 10 are enough. */
#define HULL_STEPS 40
/* Prices are changed by up to half of this part before a dive. */
#define DIVE_CHANGE 0.4

static const char NAME[] = "sets of blocks", NAME_WORK[] = "work";

typedef struct {
    int32_t kind, first, n; /* into members */
    int64_t load;
} set;

struct clv_free_bound {
    const clv_blocks *b;
    const int32_t *order;
    clv_arena *arena;
    clv_splitter *splitter;
    const clv_line *with_nets, *without; /* all blocks: for kinds that pay, and others */
    clv_cover *cover;
    double *penalty;
    int32_t *devices;   /* by kind: at most one a block */
    int64_t *cost;      /* [kind * n + block]: time, or CLV_SPLIT_NEVER */
    int64_t *price;     /* by block: whole */
    double *best, *now; /* by block: prices */
    double best_part;   /* what devices hold beyond all, as a part, at the best prices */
    set *sets;
    int32_t n_sets, cap_sets;
    int32_t *members, n_members, cap_members;
    int32_t *in_cover, n_in_cover, cap_in_cover; /* sets in the linear program, in its order */
    bool heavy;                                  /* some of them are above T */
    uint8_t *side;
    int32_t *list, *count;
    double *share;
    int32_t width;
};

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "a proof"); }

/* -- making it -- */

static void fill_costs(clv_free_bound *f)
{
    const clv_blocks *b = f->b;
    for (int32_t k = 0; k < b->n_kinds; k++) {
        const clv_place_kind *kind = &b->p->kinds[k];
        f->devices[k] = kind->count < b->n ? kind->count : b->n;
        for (int32_t i = 0; i < b->n; i++) {
            int64_t t = clv_block_time(b, k, i);
            bool never = t == CLV_BLOCK_NEVER ||
                         (kind->capacity_bytes >= 0 && b->bytes[i] > kind->capacity_bytes);
            f->cost[(size_t)k * (size_t)b->n + (size_t)i] = never ? CLV_SPLIT_NEVER : t;
        }
    }
}

static int64_t cost_at(const clv_free_bound *f, int32_t kind, int32_t block)
{
    return f->cost[(size_t)kind * (size_t)f->b->n + (size_t)block];
}

/* Least time of a block on any device there is; 0 where there is none. */
static int64_t least_time(const clv_free_bound *f, int32_t block)
{
    int64_t least = INT64_MAX;
    for (int32_t k = 0; k < f->b->n_kinds; k++) {
        int64_t t = cost_at(f, k, block);
        if (f->devices[k] > 0 && t != CLV_SPLIT_NEVER && t < least)
            least = t;
    }
    return least == INT64_MAX ? 0 : least;
}

/* First prices are times, so that the first try is the bound by work. */
static void fill_prices(clv_free_bound *f)
{
    const clv_blocks *b = f->b;
    double mean = 1, all = 0; /* a tick: so that no penalty is 0 */
    for (int32_t i = 0; i < b->n; i++)
        mean += (double)least_time(f, i) / b->n;
    for (int32_t i = 0; i < b->n; i++) {
        f->best[i] = (double)least_time(f, i) + mean * PENALTY_MEAN * PENALTY_MEAN;
        f->penalty[i] = PENALTY_TIME * ((double)least_time(f, i) + PENALTY_MEAN * mean);
        for (int32_t a = b->at_first[i]; a < b->at_first[i + 1]; a++)
            f->penalty[i] += (double)b->net_cost[b->at[a]];
        all += f->penalty[i] / b->n;
    }
    for (int32_t i = 0; i < b->n; i++) {
        f->best[i] /= all;
        f->penalty[i] /= all;
    }
    f->best_part = (double)INFINITY;
}

static clv_status make_lines(clv_free_bound *f, clv_error *err)
{
    clv_line_maker *maker;
    CLV_TRY(clv_line_maker_new(f->b, f->arena, &maker, err));
    CLV_TRY(clv_line_make(maker, f->order, f->b->n, true, &f->with_nets, err));
    CLV_TRY(clv_line_maker_new(f->b, f->arena, &maker, err));
    return clv_line_make(maker, f->order, f->b->n, false, &f->without, err);
}

clv_status clv_free_bound_new(const clv_blocks *b, const int32_t *order, clv_arena *arena,
                              clv_free_bound **ret, clv_error *err)
{
    clv_free_bound *f = CLV_NEW(arena, clv_free_bound);
    if (!f)
        return nomem(err);
    *f = (clv_free_bound){ .b = b, .order = order, .arena = arena, .width = WIDTH_FIRST };
    f->penalty = CLV_NEW_ARRAY(arena, double, b->n);
    f->devices = CLV_NEW_ARRAY(arena, int32_t, b->n_kinds);
    f->cost = CLV_NEW_ARRAY(arena, int64_t, (size_t)b->n_kinds * (size_t)b->n);
    f->price = CLV_NEW_ARRAY(arena, int64_t, b->n);
    f->best = CLV_NEW_ARRAY(arena, double, b->n);
    f->now = CLV_NEW_ARRAY(arena, double, b->n);
    f->side = CLV_NEW_ARRAY(arena, uint8_t, b->n);
    f->list = CLV_NEW_ARRAY(arena, int32_t, b->n);
    f->count = CLV_NEW_ARRAY(arena, int32_t, b->n_nets);
    f->share = CLV_NEW_ARRAY(arena, double, 2 * SETS_MAX);
    if (!f->penalty || !f->devices || !f->cost || !f->price || !f->best || !f->now || !f->side ||
        !f->list || !f->count || !f->share)
        return nomem(err);
    fill_costs(f);
    fill_prices(f);
    CLV_TRY(clv_cover_new(b->n, f->penalty, b->n_kinds, f->devices, arena, &f->cover, err));
    CLV_TRY(clv_splitter_new(b, arena, &f->splitter, err));
    CLV_TRY(make_lines(f, err));
    *ret = f;
    return CLV_OK;
}

/* -- work -- */

/* With the times on one kind as prices: what devices of each kind can hold in a tick. */
static double work_bound(const clv_free_bound *f, int32_t kind)
{
    const clv_blocks *b = f->b;
    double all = 0, rate = 0;
    for (int32_t i = 0; i < b->n; i++) {
        int64_t t = cost_at(f, kind, i);
        all += t == CLV_SPLIT_NEVER ? 0 : (double)t;
    }
    for (int32_t k = 0; k < b->n_kinds; k++) {
        double most = 0;
        for (int32_t i = 0; i < b->n && f->devices[k] > 0; i++) {
            int64_t t = cost_at(f, kind, i);
            int64_t u = cost_at(f, k, i);
            if (t == CLV_SPLIT_NEVER || t == 0 || u == CLV_SPLIT_NEVER)
                continue;
            double r = u == 0 ? (double)INFINITY : (double)t / (double)u;
            most = r > most ? r : most;
        }
        rate += most * f->devices[k];
    }
    return rate > 0 ? all / rate : 0;
}

void clv_free_bound_work(clv_free_bound *f, clv_place_run *run)
{
    for (int32_t k = 0; k < f->b->n_kinds; k++)
        if (f->devices[k] > 0)
            clv_run_raise(run, NAME_WORK, work_bound(f, k) * (1 - ROUNDING_PART) * f->b->tick);
}

/* -- sets -- */

/* Load of the blocks in list on a device of the kind. O(their pins). */
static int64_t load_of(clv_free_bound *f, int32_t kind, int32_t n)
{
    const clv_blocks *b = f->b;
    int64_t load = 0;
    for (int32_t i = 0; i < n; i++) {
        load += clv_block_time(b, kind, f->list[i]);
        for (int32_t a = b->at_first[f->list[i]]; a < b->at_first[f->list[i] + 1]; a++)
            f->count[b->at[a]]++;
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t a = b->at_first[f->list[i]]; a < b->at_first[f->list[i] + 1]; a++) {
            int32_t e = b->at[a];
            if (f->count[e] > 0 && f->count[e] < b->net_first[e + 1] - b->net_first[e])
                load += b->p->kinds[kind].pays ? b->net_cost[e] : 0;
            f->count[e] = 0;
        }
    }
    return load;
}

static clv_status use_set(clv_free_bound *f, int32_t s, int64_t t, clv_error *err)
{
    if (!CLV_PUSH_ROOM(f->arena, f->in_cover, f->n_in_cover, f->cap_in_cover))
        return nomem(err);
    f->in_cover[f->n_in_cover++] = s;
    f->heavy = f->heavy || f->sets[s].load > t;
    return clv_cover_add(f->cover, f->sets[s].kind, f->members + f->sets[s].first, f->sets[s].n,
                         err);
}

/* The set of side 0. */
static clv_status add_set(clv_free_bound *f, int32_t kind, int64_t t, clv_error *err)
{
    set s = { .kind = kind, .first = f->n_members };
    for (int32_t i = 0; i < f->b->n; i++)
        if (f->side[i] == 0)
            f->list[s.n++] = f->order[i];
    s.load = load_of(f, kind, s.n);
    for (int32_t i = 0; i < s.n; i++) {
        if (!CLV_PUSH_ROOM(f->arena, f->members, f->n_members, f->cap_members))
            return nomem(err);
        f->members[f->n_members++] = f->list[i];
    }
    if (!CLV_PUSH_ROOM(f->arena, f->sets, f->n_sets, f->cap_sets))
        return nomem(err);
    f->sets[f->n_sets++] = s;
    return use_set(f, f->n_sets - 1, t, err);
}

/* The linear program anew, with the sets that one device can hold within T. */
static clv_status use_light_sets(clv_free_bound *f, int64_t t, clv_error *err)
{
    clv_cover_clear(f->cover);
    f->n_in_cover = 0;
    f->heavy = false;
    for (int32_t s = 0; s < f->n_sets; s++)
        if (f->sets[s].load <= t)
            CLV_TRY(use_set(f, s, t, err));
    return CLV_OK;
}

/* -- prices -- */

/* Whole prices, and their sum; 0 where all are 0. */
static int64_t round_prices(clv_free_bound *f, const double *price)
{
    double sum = 0;
    int64_t whole = 0;
    for (int32_t i = 0; i < f->b->n; i++)
        sum += fabs(price[i]);
    for (int32_t i = 0; i < f->b->n; i++) {
        f->price[i] = sum > 0 ? (int64_t)(price[i] / sum * PRICES_SUM) : 0;
        whole += f->price[i];
    }
    return whole;
}

/* The most that a set known is worth to a device of the kind, where it may hold all of it. */
static int64_t best_known(const clv_free_bound *f, int32_t kind, int64_t t)
{
    int64_t best = 0;
    for (int32_t s = 0; s < f->n_sets; s++) {
        int64_t worth = 0;
        if (f->sets[s].kind != kind || f->sets[s].load > t)
            continue;
        for (int32_t i = f->sets[s].first; i < f->sets[s].first + f->sets[s].n; i++)
            worth += cost_at(f, kind, f->members[i]) == CLV_SPLIT_NEVER ? INT64_MIN / f->b->n / 2
                                                                        : f->price[f->members[i]];
        best = worth > best ? worth : best;
    }
    return best;
}

/* The weight of load against price at which the least sum of both says most about sets within T:
 * of the lower hull of (load, price left), the edge across T. O(states) for each step, some 10. */
static clv_status weigh_load(clv_free_bound *f, clv_split *ask, int64_t t, int64_t all,
                             clv_error *err)
{
    clv_split_pair heavy, light = { { 0, all } }, p;
    ask->weight[0] = 0;
    ask->weight[1] = 1;
    CLV_TRY(clv_splitter_least(f->splitter, ask, &heavy, err));
    if (heavy.total[0] <= t) {
        ask->weighted = (double)heavy.total[1];
        return CLV_OK;
    }
    for (int32_t i = 0; i < HULL_STEPS; i++) {
        double w =
            (double)(light.total[1] - heavy.total[1]) / (double)(heavy.total[0] - light.total[0]);
        double line = w * (double)heavy.total[0] + (double)heavy.total[1];
        ask->weight[0] = w;
        CLV_TRY(clv_splitter_least(f->splitter, ask, &p, err));
        if (w * (double)p.total[0] + (double)p.total[1] >= line - ROUNDING_PART * fabs(line))
            break;
        if (p.total[0] <= t)
            light = p;
        else
            heavy = p;
    }
    ask->weighted = (double)light.total[1] + ask->weight[0] * (double)t;
    return CLV_OK;
}

/* The most that a device of the kind can hold by price within T, into *most, and its set joins. */
static clv_status find_set(clv_free_bound *f, clv_place_run *run, int32_t kind, int64_t t,
                           int64_t all, int64_t *most, clv_error *err)
{
    const clv_split_pair *pairs;
    bool pays = f->b->p->kinds[kind].pays;
    clv_split ask = { .cost = { f->cost + (size_t)kind * (size_t)f->b->n, f->price },
                      .pays = { pays, false },
                      .limit = { t, INT64_MAX },
                      .relaxed = true,
                      .width = f->width };
    clv_splitter_take(f->splitter, pays ? f->with_nets : f->without);
    CLV_TRY(weigh_load(f, &ask, t, all, err));
    double known = (double)(all - best_known(f, kind, t)) + ask.weight[0] * (double)t;
    ask.weighted = known < ask.weighted ? known : ask.weighted;
    CLV_TRY(clv_splitter_run(f->splitter, &ask, run, err));
    int32_t n = clv_splitter_pairs(f->splitter, &pairs);
    *most = all;
    if (!clv_splitter_done(f->splitter) || n == 0)
        return CLV_OK;
    *most = all - pairs[n - 1].total[1];
    clv_splitter_sides(f->splitter, n - 1, f->side);
    return add_set(f, kind, t, err);
}

/* Tries prices: a proof, or sets that join. *part: by how much devices hold more than all blocks,
 * as a part of all. */
static clv_status try_prices(clv_free_bound *f, clv_place_run *run, const double *price, int64_t t,
                             bool *proven, double *part, clv_error *err)
{
    int64_t all = round_prices(f, price), held = 0;
    *proven = false;
    *part = (double)INFINITY;
    for (int32_t k = 0; k < f->b->n_kinds; k++) {
        int64_t most;
        if (f->devices[k] == 0)
            continue;
        CLV_TRY(find_set(f, run, k, t, all, &most, err));
        if (!clv_splitter_done(f->splitter))
            return CLV_OK;
        held += f->devices[k] * most;
    }
    *proven = held < all;
    *part = all > 0 ? (double)(held - all) / (double)all : (double)INFINITY;
    return CLV_OK;
}

static void smooth(clv_free_bound *f)
{
    const double *plain = clv_cover_prices(f->cover);
    for (int32_t i = 0; i < f->b->n; i++)
        f->now[i] = SMOOTH * f->best[i] + (1 - SMOOTH) * plain[i];
}

/* One round: smoothed prices, and now and then those of the linear program. */
static clv_status try_round(clv_free_bound *f, clv_place_run *run, int64_t t, int32_t round,
                            bool *proven, clv_error *err)
{
    double part;
    if (round == 0)
        memcpy(f->now, f->best, (size_t)f->b->n * sizeof *f->now);
    else
        smooth(f);
    CLV_TRY(try_prices(f, run, f->now, t, proven, &part, err));
    if (part < f->best_part) {
        f->best_part = part;
        memcpy(f->best, f->now, (size_t)f->b->n * sizeof *f->best);
    }
    if (*proven || round % PLAIN_EVERY != 0)
        return CLV_OK;
    memcpy(f->now, clv_cover_prices(f->cover), (size_t)f->b->n * sizeof *f->now);
    CLV_TRY(try_prices(f, run, f->now, t, proven, &part, err));
    if (part < f->best_part) {
        f->best_part = part;
        memcpy(f->best, f->now, (size_t)f->b->n * sizeof *f->best);
    }
    return CLV_OK;
}

/* All that right sides were shifted by, priced as high as can be, is not a penalty. */
static bool is_covered(const clv_free_bound *f, double penalties)
{
    return penalties <= COVERED_PART * f->b->n;
}

/* Sets that no mix uses go, when there are many. */
static clv_status drop_sets(clv_free_bound *f, int64_t t, clv_error *err)
{
    int32_t n = 0, n_members = 0;
    if (f->n_in_cover < SETS_MAX)
        return CLV_OK;
    clv_cover_shares(f->cover, f->share);
    for (int32_t i = 0; i < f->n_in_cover; i++) {
        set s = f->sets[f->in_cover[i]];
        if (f->share[i] <= 0 && i < f->n_in_cover - SETS_MAX / 4)
            continue;
        memmove(f->members + n_members, f->members + s.first, (size_t)s.n * sizeof *f->members);
        s.first = n_members;
        n_members += s.n;
        f->sets[n++] = s;
    }
    f->n_sets = n;
    f->n_members = n_members;
    return use_light_sets(f, t, err);
}

static int64_t work_done(const clv_free_bound *f)
{
    return clv_splitter_work(f->splitter) + clv_cover_work(f->cover);
}

clv_status clv_free_bound_refute(clv_free_bound *f, clv_place_run *run, int64_t t, int64_t work,
                                 clv_refutation *ret, clv_error *err)
{
    int64_t end = work_done(f) + work;
    *ret = CLV_GAVE_UP;
    f->best_part = (double)INFINITY;
    CLV_TRY(use_light_sets(f, t, err));
    clv_cover_solve(f->cover);
    for (int32_t round = 0; work_done(f) < end && !clv_run_over(run); round++) {
        bool proven;
        CLV_TRY(try_round(f, run, t, round, &proven, err));
        if (proven) {
            clv_run_raise(run, NAME, clv_blocks_unit(f->b, t + 1));
            *ret = CLV_REFUTED;
            return CLV_OK;
        }
        if (!is_covered(f, clv_cover_solve(f->cover))) {
            CLV_TRY(drop_sets(f, t, err));
            continue;
        }
        if (!f->heavy || f->width >= WIDTH_LAST) {
            *ret = CLV_COVERED;
            return CLV_OK;
        }
        f->width *= WIDTH_RISE;
        CLV_TRY(use_light_sets(f, t, err));
        clv_cover_solve(f->cover);
    }
    return CLV_OK;
}

/* -- a placement from prices -- */

/* Blocks in no set go with the block before them in the line that their kind allows. */
static void give_rest(const clv_free_bound *f, int32_t *device_of)
{
    const clv_place_kind *kinds = f->b->p->kinds;
    for (int32_t i = 0; i < f->b->n; i++) {
        int32_t block = f->order[i];
        if (device_of[block] >= 0)
            continue;
        device_of[block] = i > 0 ? device_of[f->order[i - 1]] : 0;
        int32_t kind = 0, first = 0;
        while (first + kinds[kind].count <= device_of[block])
            first += kinds[kind++].count;
        if (cost_at(f, kind, block) != CLV_SPLIT_NEVER)
            continue;
        for (kind = first = 0; kind < f->b->n_kinds; first += kinds[kind++].count)
            if (kinds[kind].count > 0 && cost_at(f, kind, block) != CLV_SPLIT_NEVER)
                device_of[block] = first;
    }
}

static double next_random(uint64_t *random)
{
    return (double)(clv_random(random) >> 11) * 0x1p-53; /* from 0 to 1 */
}

/* The best set of a device joins, of blocks that may still be had; they may not be any more. */
static clv_status dive_for(clv_free_bound *f, clv_place_run *run, int32_t kind, int32_t device,
                           int64_t t, int32_t *device_of, clv_error *err)
{
    int64_t all = 0, most;
    for (int32_t i = 0; i < f->b->n; i++)
        all += f->price[i];
    CLV_TRY(find_set(f, run, kind, t, all, &most, err));
    for (int32_t i = 0; i < f->b->n && clv_splitter_done(f->splitter); i++) {
        int32_t block = f->order[i];
        if (f->side[i] != 0)
            continue;
        device_of[block] = device;
        f->price[block] = 0;
        for (int32_t k = 0; k < f->b->n_kinds; k++)
            f->cost[(size_t)k * (size_t)f->b->n + (size_t)block] = CLV_SPLIT_NEVER;
    }
    return CLV_OK;
}

clv_status clv_free_bound_dive(clv_free_bound *f, clv_place_run *run, int64_t t, uint64_t *random,
                               int32_t *device_of, bool *found, clv_error *err)
{
    const clv_placement *p = f->b->p;
    for (int32_t i = 0; i < f->b->n; i++) {
        f->now[i] = f->best[i] * (1 + DIVE_CHANGE * (next_random(random) - 0.5));
        device_of[i] = -1;
    }
    round_prices(f, f->now);
    *found = true;
    for (int32_t k = 0, first = 0; k < f->b->n_kinds; first += p->kinds[k++].count) {
        for (int32_t d = 0; d < f->devices[k] && *found; d++) {
            CLV_TRY(dive_for(f, run, k, first + d, t, device_of, err));
            *found = clv_splitter_done(f->splitter);
        }
    }
    fill_costs(f);
    give_rest(f, device_of);
    return CLV_OK;
}
