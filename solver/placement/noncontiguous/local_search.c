/* local_search.c - pairs of devices resplit, perturbations between. */
#include "solver/placement/noncontiguous/local_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/common/random.h"
#include "solver/placement/noncontiguous/pareto_dp.h"

/* The search is for a handful of devices; tables of pairs stay below 2 MiB. */
#define DEVICES_MAX 512
/* Pairs of loads kept for a state; more did not give better solutions, fewer did worse. */
#define WIDTH 300
/* Runs of blocks moved by a perturbation, and their longest, as a part of all blocks. */
#define PERTURBED_RUNS 6
#define PERTURBED_PART 12
/* Runs for each device to start elsewhere. */
#define PERTURBED_FAR 3
/* Failed perturbations before it starts elsewhere, and before it comes back. */
#define PATIENCE       60
#define PATIENCE_AFTER 15
/* Work of cutting any pair anew, however small. */
#define PAIR_WORK 1000
/* Blocks put by size, which takes time by the square of them. */
#define BY_SIZE_MAX 4096
/* A score must fall by this part to count: far above rounding, far below what shows. */
#define LEAST_PART 1e-9

static const char NAME[] = "pairs of devices";

typedef struct {
    int32_t *device_of; /* by block */
    int64_t *load;      /* by device; NULL where only the assignment is kept */
    int64_t most;
} placing;

struct clv_local_search {
    const clv_contraction *b;
    const int32_t *order;
    clv_diagram_builder *builder;
    clv_pareto_dp *dp;
    int32_t n_devices, *kind_of;
    double *worth;           /* by kind: how much faster it is than the slowest, about */
    placing now, here, best; /* here: where perturbations start; best: of all */
    int64_t *bytes;          /* by device, of now */
    int32_t *held;           /* by device, of now: blocks */
    uint32_t *version;       /* by device: new with every change; in time with clock */
    uint32_t clock;
    uint64_t *tried; /* [d * n_devices + e]: both versions when last resplit */
    int32_t *list;   /* blocks of two devices */
    uint8_t *side;
    int32_t *count; /* by net, 2: of the blocks of two devices; zero between uses */
    int32_t *stamp; /* by device */
    int32_t *of_node;
    uint64_t random;
    int64_t work, sorted; /* sorted: work outside the dp */
    int32_t failures, patience;
    bool started, flat;
};

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "the search of pairs"); }

static int32_t random_below(clv_local_search *l, int32_t n)
{
    return (int32_t)(clv_random(&l->random) % (uint64_t)n);
}

/* -- making it -- */

/* By the blocks that every kind can hold: their time on the slowest kind against that on each. */
static void weigh_kinds(clv_local_search *l)
{
    const clv_contraction *b = l->b;
    double slowest = 0;
    for (int32_t i = 0; i < b->n; i++) {
        bool all = true;
        for (int32_t k = 0; k < b->n_kinds; k++)
            all = all && clv_block_time(b, k, i) != CLV_BLOCK_NEVER;
        for (int32_t k = 0; k < b->n_kinds && all; k++)
            l->worth[k] += (double)clv_block_time(b, k, i);
    }
    for (int32_t k = 0; k < b->n_kinds; k++)
        slowest = l->worth[k] > slowest ? l->worth[k] : slowest;
    for (int32_t k = 0; k < b->n_kinds; k++)
        l->worth[k] = l->worth[k] > 0 ? slowest / l->worth[k] : 1;
}

clv_status clv_local_search_new(const clv_contraction *b, const int32_t *order, uint64_t seed,
                                clv_arena *arena, clv_local_search **ret, clv_error *err)
{
    clv_local_search *l = CLV_NEW(arena, clv_local_search);
    if (!l)
        return nomem(err);
    int32_t devices = clv_place_devices(b->p);
    l->n_devices = devices < DEVICES_MAX ? devices : DEVICES_MAX;
    l->b = b;
    l->order = order;
    l->random = seed;
    size_t d = (size_t)l->n_devices;
    placing *all[] = { &l->now, &l->here, &l->best };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        all[i]->device_of = CLV_NEW_ARRAY(arena, int32_t, b->n);
        all[i]->load = CLV_NEW_ARRAY(arena, int64_t, d);
        if (!all[i]->device_of || !all[i]->load)
            return nomem(err);
    }
    l->kind_of = CLV_NEW_ARRAY(arena, int32_t, devices);
    l->worth = CLV_NEW_ARRAY(arena, double, b->n_kinds);
    l->bytes = CLV_NEW_ARRAY(arena, int64_t, d);
    l->held = CLV_NEW_ARRAY(arena, int32_t, d);
    l->version = CLV_NEW_ARRAY(arena, uint32_t, d);
    l->tried = CLV_NEW_ARRAY(arena, uint64_t, d * d);
    l->list = CLV_NEW_ARRAY(arena, int32_t, b->n);
    l->side = CLV_NEW_ARRAY(arena, uint8_t, b->n);
    l->count = CLV_NEW_ARRAY(arena, int32_t, 2 * (size_t)b->n_nets);
    l->stamp = CLV_NEW_ARRAY(arena, int32_t, d);
    l->of_node = CLV_NEW_ARRAY(arena, int32_t, b->p->n_nodes);
    if (!l->kind_of || !l->worth || !l->bytes || !l->held || !l->version || !l->tried || !l->list ||
        !l->side || !l->count || !l->stamp || !l->of_node)
        return nomem(err);
    clv_place_kinds(b->p, l->kind_of);
    weigh_kinds(l);
    l->best.most = INT64_MAX;
    CLV_TRY(clv_diagram_builder_new(b, arena, &l->builder, err));
    CLV_TRY(clv_pareto_dp_new(b, arena, &l->dp, err));
    *ret = l;
    return CLV_OK;
}

/* -- loads -- */

static const clv_place_kind *kind_at(const clv_local_search *l, int32_t device)
{
    return &l->b->p->kinds[l->kind_of[device]];
}

static bool may_hold(const clv_local_search *l, int32_t device, int32_t block)
{
    const clv_place_kind *kind = kind_at(l, device);
    return clv_block_time(l->b, l->kind_of[device], block) != CLV_BLOCK_NEVER &&
           (kind->capacity_bytes < 0 ||
            l->bytes[device] + l->b->bytes[block] <= kind->capacity_bytes);
}

static void update_largest_load(placing *p, int32_t n_devices)
{
    p->most = 0;
    for (int32_t d = 0; d < n_devices; d++)
        p->most = p->load[d] > p->most ? p->load[d] : p->most;
}

/* Times, bytes and counts of now, from its assignment; all versions rise. False where it is not
 * legal. O(n + pins + devices). */
static bool compute_loads(clv_local_search *l)
{
    const clv_contraction *b = l->b;
    bool legal = true;
    for (int32_t d = 0; d < l->n_devices; d++) {
        l->now.load[d] = l->bytes[d] = 0;
        l->held[d] = l->stamp[d] = 0;
    }
    for (int32_t i = 0; i < b->n; i++) {
        int32_t d = l->now.device_of[i];
        legal = legal && may_hold(l, d, i);
        l->now.load[d] += clv_block_time(b, l->kind_of[d], i);
        l->bytes[d] += b->bytes[i];
        l->held[d]++;
    }
    for (int32_t e = 0; e < b->n_nets; e++) {
        bool cut = false;
        int32_t first = l->now.device_of[b->pins[b->net_first[e]]];
        for (int32_t i = b->net_first[e]; i < b->net_first[e + 1]; i++)
            cut = cut || l->now.device_of[b->pins[i]] != first;
        for (int32_t i = b->net_first[e]; cut && i < b->net_first[e + 1]; i++) {
            int32_t d = l->now.device_of[b->pins[i]];
            if (l->stamp[d] != e + 1 && kind_at(l, d)->pays)
                l->now.load[d] += b->net_cost[e];
            l->stamp[d] = e + 1;
        }
    }
    l->sorted += b->n + b->net_first[b->n_nets];
    update_largest_load(&l->now, l->n_devices);
    return legal;
}

static void renew_version(clv_local_search *l, int32_t device) { l->version[device] = ++l->clock; }

static void copy_placement(const clv_local_search *l, placing *to, const placing *from)
{
    memcpy(to->device_of, from->device_of, (size_t)l->b->n * sizeof *to->device_of);
    memcpy(to->load, from->load, (size_t)l->n_devices * sizeof *to->load);
    to->most = from->most;
}

/* Loads of two devices by the blocks in list. O(their pins). */
static void measure_loads(clv_local_search *l, const int32_t device[2], int32_t n, int64_t load[2])
{
    const clv_contraction *b = l->b;
    load[0] = load[1] = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t block = l->list[i], side = l->now.device_of[block] == device[1];
        load[side] += clv_block_time(b, l->kind_of[device[side]], block);
        for (int32_t a = b->at_first[block]; a < b->at_first[block + 1]; a++)
            l->count[2 * b->at[a] + side]++;
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t a = b->at_first[l->list[i]]; a < b->at_first[l->list[i] + 1]; a++) {
            int32_t e = b->at[a], pins = b->net_first[e + 1] - b->net_first[e];
            for (int32_t side = 0; side < 2; side++) {
                if (l->count[2 * e + side] > 0 && l->count[2 * e + side] < pins)
                    load[side] += kind_at(l, device[side])->pays ? b->net_cost[e] : 0;
                l->count[2 * e + side] = 0;
            }
        }
    }
}

/* -- a pair -- */

static double eighth_power(double x)
{
    double x2 = x * x, x4 = x2 * x2;
    return x4 * x4;
}

static double eighth_root(double x) { return sqrt(sqrt(sqrt(x))); }

static int64_t larger(const int64_t load[2]) { return load[0] > load[1] ? load[0] : load[1]; }

/* How bad two loads are: flat, the larger; else by powers, where a load counts by the blocks that a
 * device of its kind can hold for it, so that a slow device is filled as high as a fast one. */
static double pair_score(const clv_local_search *l, const int32_t device[2], const int64_t load[2])
{
    double unit = l->now.most > 0 ? (double)l->now.most : 1, sum = 0;
    if (l->flat)
        return (double)larger(load) / unit;
    for (int32_t i = 0; i < 2; i++)
        sum += l->worth[l->kind_of[device[i]]] * eighth_power((double)load[i] / unit);
    return sum;
}

static int32_t best_pair(const clv_local_search *l, const int32_t device[2], double before)
{
    const clv_pareto_pair *pairs;
    int32_t n = clv_pareto_dp_pairs(l->dp, &pairs), best = -1;
    double least = before * (1 - LEAST_PART);
    for (int32_t i = 0; i < n; i++) {
        double s = pair_score(l, device, pairs[i].total);
        if (s < least) {
            least = s;
            best = i;
        }
    }
    return best;
}

/* Swaps the sides of blocks that are not where side[] says; again, and they are back. */
static void swap_sides(clv_local_search *l, const int32_t device[2], int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t block = l->list[i], from = l->now.device_of[block], to = device[l->side[i]];
        if (from == to)
            continue;
        l->now.device_of[block] = to;
        l->bytes[from] -= l->b->bytes[block];
        l->bytes[to] += l->b->bytes[block];
        l->held[from]--;
        l->held[to]++;
        l->side[i] ^= 1; /* where it was */
    }
}

/* Takes the split if it is what it promises. */
static void apply_split(clv_local_search *l, const int32_t device[2], int32_t n, double before)
{
    int64_t load[2];
    swap_sides(l, device, n);
    measure_loads(l, device, n, load);
    if (pair_score(l, device, load) >= before) {
        swap_sides(l, device, n);
        return;
    }
    for (int32_t i = 0; i < 2; i++) {
        l->now.load[device[i]] = load[i];
        renew_version(l, device[i]);
    }
    update_largest_load(&l->now, l->n_devices);
}

static clv_status resplit_pair(clv_local_search *l, clv_place_search *search, int32_t d, int32_t e,
                               clv_error *err)
{
    const clv_contraction *b = l->b;
    const int32_t device[2] = { d, e };
    const int64_t load[2] = { l->now.load[d], l->now.load[e] };
    double before = pair_score(l, device, load), most = (double)l->now.most;
    clv_pareto_query ask = { .width = WIDTH };
    const clv_diagram *diagram;
    int32_t n = 0;
    for (int32_t i = 0; i < b->n; i++) {
        int32_t at = l->now.device_of[l->order[i]];
        if (at == d || at == e)
            l->list[n++] = l->order[i];
    }
    l->sorted += b->n + PAIR_WORK;
    CLV_TRY(clv_diagram_build(l->builder, l->list, n, true, &diagram, err));
    clv_pareto_dp_use(l->dp, diagram);
    for (int32_t i = 0; i < 2; i++) {
        ask.cost[i] = b->time + (size_t)l->kind_of[device[i]] * (size_t)b->n;
        ask.pays[i] = kind_at(l, device[i])->pays;
        ask.weight[i] = l->worth[l->kind_of[device[i]]];
        ask.limit[i] =
            l->flat ? larger(load) - 1 : (int64_t)(most * eighth_root(before / ask.weight[i])) + 1;
        ask.bytes[i] = kind_at(l, device[i])->capacity_bytes;
    }
    double worth = ask.weight[0] + ask.weight[1];
    ask.weighted = most * worth;
    if (!l->flat)
        ask.weighted *= eighth_root(before / worth); /* by means of powers */
    CLV_TRY(clv_pareto_dp_run(l->dp, &ask, search, err));
    if (!clv_pareto_dp_done(l->dp))
        return CLV_OK;
    int32_t best = best_pair(l, device, before);
    if (best >= 0) {
        clv_pareto_dp_sides(l->dp, best, l->side);
        apply_split(l, device, n, before);
    }
    return CLV_OK;
}

/* -- going down -- */

/* Of empty devices of one kind only the first is worth a look. */
static bool is_spare(const clv_local_search *l, int32_t d)
{
    return l->held[d] == 0 && d > 0 && l->held[d - 1] == 0 && l->kind_of[d] == l->kind_of[d - 1];
}

static uint64_t *tried_at(const clv_local_search *l, int32_t d, int32_t e)
{
    return &l->tried[(size_t)d * (size_t)l->n_devices + (size_t)e];
}

static uint64_t versions(const clv_local_search *l, int32_t d, int32_t e)
{
    return (uint64_t)l->version[d] << 32 | l->version[e];
}

/* Cuts pairs anew until none gets better. */
static clv_status descend(clv_local_search *l, clv_place_search *search, clv_error *err)
{
    for (bool better = true; better;) {
        better = false;
        for (int32_t d = 0; d < l->n_devices; d++) {
            for (int32_t e = d + 1; e < l->n_devices; e++) {
                uint64_t before = versions(l, d, e);
                if (*tried_at(l, d, e) == before || (l->held[d] == 0 && l->held[e] == 0) ||
                    is_spare(l, d) || is_spare(l, e))
                    continue;
                if (clv_place_over(search))
                    return CLV_OK;
                CLV_TRY(resplit_pair(l, search, d, e, err));
                *tried_at(l, d, e) = versions(l, d, e);
                better = better || versions(l, d, e) != before;
            }
        }
    }
    return CLV_OK;
}

/* Where powers cannot fall, the largest load may: the busiest device with each other, as even as
 * can be, until that does not help. */
static clv_status balance_busiest(clv_local_search *l, clv_place_search *search, clv_error *err)
{
    l->flat = true;
    for (bool better = true; better;) {
        int32_t d = 0;
        for (int32_t e = 1; e < l->n_devices; e++)
            d = l->now.load[e] > l->now.load[d] ? e : d;
        int64_t load = l->now.load[d];
        better = false;
        for (int32_t e = 0; e < l->n_devices && !better; e++) {
            if (e == d || is_spare(l, e))
                continue;
            if (clv_place_over(search))
                break;
            CLV_TRY(resplit_pair(l, search, d < e ? d : e, d < e ? e : d, err));
            better = l->now.load[d] < load;
        }
    }
    l->flat = false;
    return CLV_OK;
}

/* Goes down from now, and stays there if it is better than here. */
static clv_status descend_and_keep(clv_local_search *l, clv_place_search *search, bool *better,
                                   clv_error *err)
{
    CLV_TRY(descend(l, search, err));
    CLV_TRY(balance_busiest(l, search, err));
    if (l->now.most < l->best.most) {
        copy_placement(l, &l->best, &l->now);
        clv_contraction_project(l->b, l->now.device_of, l->of_node);
        CLV_TRY(clv_place_offer(search, NAME, l->of_node, err));
    }
    *better = l->now.most < l->here.most;
    if (l->now.most <= l->here.most)
        copy_placement(l, &l->here, &l->now);
    return CLV_OK;
}

/* -- starts and perturbations -- */

static clv_status start_from_current(clv_local_search *l, clv_place_search *search, clv_error *err)
{
    bool better;
    for (int32_t d = 0; d < l->n_devices; d++)
        renew_version(l, d);
    l->here.most = INT64_MAX;
    CLV_TRY(descend_and_keep(l, search, &better, err));
    return CLV_OK;
}

clv_status clv_local_search_start(clv_local_search *l, clv_place_search *search,
                                  const int32_t *device_of, clv_error *err)
{
    for (int32_t i = 0; i < l->b->n; i++) {
        if (device_of[i] < 0 || device_of[i] >= l->n_devices)
            return CLV_OK;
        l->now.device_of[i] = device_of[i];
    }
    if (!compute_loads(l))
        return CLV_OK;
    l->failures = 0;
    l->patience = PATIENCE_AFTER;
    return start_from_current(l, search, err);
}

/* Moves a run of the order to a device, block by block where it fits. */
static void move_run(clv_local_search *l, int32_t first, int32_t n, int32_t device)
{
    for (int32_t i = first; i < first + n && i < l->b->n; i++) {
        int32_t block = l->order[i], from = l->now.device_of[block];
        if (from == device || !may_hold(l, device, block))
            continue;
        l->now.device_of[block] = device;
        l->bytes[from] -= l->b->bytes[block];
        l->bytes[device] += l->b->bytes[block];
        renew_version(l, from);
        renew_version(l, device);
    }
}

/* far: starts elsewhere, from a large perturbation of the best. */
static clv_status perturb_and_descend(clv_local_search *l, clv_place_search *search, bool far,
                                      clv_error *err)
{
    bool better;
    int32_t longest = l->b->n / PERTURBED_PART + 1;
    copy_placement(l, &l->now, far ? &l->best : &l->here);
    compute_loads(l);
    for (int32_t d = 0; d < l->n_devices; d++) /* no pair can get better as it is now */
        for (int32_t e = d + 1; e < l->n_devices; e++)
            *tried_at(l, d, e) = versions(l, d, e);
    int32_t runs = far ? PERTURBED_FAR * l->n_devices : 1 + random_below(l, PERTURBED_RUNS);
    longest *= far ? 2 : 1;
    for (int32_t i = 0; i < runs; i++) {
        int32_t first = random_below(l, l->b->n), n = 1 + random_below(l, longest);
        move_run(l, first, n, random_below(l, l->n_devices));
    }
    compute_loads(l);
    if (far)
        l->here.most = INT64_MAX;
    CLV_TRY(descend_and_keep(l, search, &better, err));
    l->failures = better ? 0 : l->failures + 1;
    return CLV_OK;
}

/* Largest first, each where fewest bytes are: a start where memory is tight. O(n * (n + devices)).
 */
static void place_by_size(clv_local_search *l)
{
    const clv_contraction *b = l->b;
    memset(l->bytes, 0, (size_t)l->n_devices * sizeof *l->bytes);
    memset(l->side, 0, (size_t)b->n);
    for (int32_t i = 0; i < b->n; i++) {
        int32_t block = -1, device = 0;
        for (int32_t j = 0; j < b->n; j++)
            if (!l->side[j] && (block < 0 || b->bytes[j] > b->bytes[block]))
                block = j;
        for (int32_t d = 0; d < l->n_devices; d++)
            if (may_hold(l, d, block) &&
                (!may_hold(l, device, block) || l->bytes[d] < l->bytes[device]))
                device = d;
        l->side[block] = 1;
        l->now.device_of[block] = device;
        l->bytes[device] += b->bytes[block];
    }
}

static clv_status start_anywhere(clv_local_search *l, clv_place_search *search, clv_error *err)
{
    l->patience = PATIENCE;
    const int32_t *solution = clv_place_best_solution(search);
    bool usable = solution != NULL;
    for (int32_t v = 0; usable && v < l->b->p->n_nodes; v++) {
        usable = solution[v] < l->n_devices;
        if (usable)
            l->now.device_of[l->b->block_of[v]] = solution[v];
    }
    if (usable && compute_loads(l))
        CLV_TRY(start_from_current(l, search, err));
    for (int32_t d = 0; d < l->n_devices; d++) {
        if (d > 0 && l->kind_of[d] == l->kind_of[d - 1])
            continue;
        for (int32_t i = 0; i < l->b->n; i++)
            l->now.device_of[i] = d;
        if (compute_loads(l))
            CLV_TRY(start_from_current(l, search, err));
    }
    if (l->best.most == INT64_MAX && l->b->n <= BY_SIZE_MAX) {
        place_by_size(l);
        if (compute_loads(l))
            CLV_TRY(start_from_current(l, search, err));
    }
    if (l->best.most < INT64_MAX)
        copy_placement(l, &l->here, &l->best);
    l->started = true;
    return CLV_OK;
}

static int64_t work_done(const clv_local_search *l)
{
    return l->sorted + clv_pareto_dp_work(l->dp);
}

clv_status clv_local_search_run(clv_local_search *l, clv_place_search *search, int64_t work,
                                clv_error *err)
{
    int64_t end = work_done(l) + work;
    if (l->n_devices == 0 || l->b->n == 0)
        return CLV_OK;
    if (!l->started)
        CLV_TRY(start_anywhere(l, search, err));
    while (l->best.most < INT64_MAX && l->n_devices > 1 && work_done(l) < end &&
           !clv_place_over(search)) {
        bool far = false;
        if (l->failures >= l->patience) { /* elsewhere from the best, and back to it */
            far = l->here.most == l->best.most;
            l->failures = 0;
            l->patience = far ? PATIENCE_AFTER : PATIENCE;
            if (!far)
                copy_placement(l, &l->here, &l->best);
        }
        CLV_TRY(perturb_and_descend(l, search, far, err));
    }
    return CLV_OK;
}
