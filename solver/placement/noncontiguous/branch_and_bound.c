/* branch_and_bound.c - depth first, with a block put and taken back. */
#include "solver/placement/noncontiguous/branch_and_bound.h"

#include <math.h>

/* Sums in floating point lose less than this part. */
#define ROUNDING_PART 1e-10

static const char NAME[] = "all placements";

typedef struct {
    const clv_contraction *b;
    const int32_t *order;
    clv_place_search *search;
    int32_t n_devices;
    int32_t *kind_of, *device_of, *of_node;
    int64_t *load, *bytes;
    int32_t *held;   /* by device: blocks */
    int32_t *count;  /* [net * n_devices + device]: blocks put */
    int32_t *spread; /* by net: devices with blocks of it */
    double *rate;    /* by kind: least time of a block against that on it, at most */
    double *rest;    /* by place: least times of the blocks from here on */
    double rates;    /* of all devices */
    int64_t best, tries;
} exact_search;

/* -- what bounds need -- */

static double least_time(const exact_search *s, int32_t block)
{
    double least = (double)INFINITY;
    for (int32_t k = 0; k < s->b->n_kinds; k++) {
        int64_t t = clv_block_time(s->b, k, block);
        if (t != CLV_BLOCK_NEVER && s->b->p->kinds[k].count > 0)
            least = fmin(least, (double)t);
    }
    return isinf(least) ? 0 : least;
}

static void find_rates(exact_search *s)
{
    const clv_contraction *b = s->b;
    for (int32_t k = 0; k < b->n_kinds; k++) {
        for (int32_t i = 0; i < b->n; i++) {
            int64_t t = clv_block_time(b, k, i);
            double least = least_time(s, i);
            if (t > 0 && least > 0)
                s->rate[k] = fmax(s->rate[k], least / (double)t);
        }
        s->rates += s->rate[k] * b->p->kinds[k].count;
    }
    s->rest[b->n] = 0;
    for (int32_t i = b->n - 1; i >= 0; i--)
        s->rest[i] = s->rest[i + 1] + least_time(s, s->order[i]);
}

/* The work left is too much for less than the best. */
static bool exceeds_work_bound(const exact_search *s, int32_t place)
{
    double done = s->rest[place];
    for (int32_t d = 0; d < s->n_devices; d++)
        done += s->rate[s->kind_of[d]] * (double)s->load[d];
    return done > 0 && done * (1 - ROUNDING_PART) >= (double)s->best * s->rates;
}

/* -- a block on a device, and back -- */

static void add_send_cost(exact_search *s, int32_t device, int64_t cost)
{
    if (s->b->p->kinds[s->kind_of[device]].pays)
        s->load[device] += cost;
}

/* The device is the only one with blocks of the net: it pays once another has some. */
static void add_first_sender_cost(exact_search *s, int32_t net, int32_t but, int64_t cost)
{
    for (int32_t d = 0; d < s->n_devices; d++)
        if (d != but && s->count[net * s->n_devices + d] > 0)
            add_send_cost(s, d, cost);
}

static void assign(exact_search *s, int32_t block, int32_t device)
{
    const clv_contraction *b = s->b;
    s->device_of[block] = device;
    s->load[device] += clv_block_time(b, s->kind_of[device], block);
    s->bytes[device] += b->bytes[block];
    s->held[device]++;
    for (int32_t a = b->at_first[block]; a < b->at_first[block + 1]; a++) {
        int32_t e = b->at[a], *count = &s->count[e * s->n_devices + device];
        if ((*count)++ > 0)
            continue;
        if (s->spread[e] == 1)
            add_first_sender_cost(s, e, device, b->net_cost[e]);
        if (s->spread[e]++ > 0)
            add_send_cost(s, device, b->net_cost[e]);
    }
}

static void unassign(exact_search *s, int32_t block)
{
    const clv_contraction *b = s->b;
    int32_t device = s->device_of[block];
    for (int32_t a = b->at_first[block]; a < b->at_first[block + 1]; a++) {
        int32_t e = b->at[a], *count = &s->count[e * s->n_devices + device];
        if (--(*count) > 0)
            continue;
        if (--s->spread[e] > 0)
            add_send_cost(s, device, -b->net_cost[e]);
        if (s->spread[e] == 1)
            add_first_sender_cost(s, e, device, -b->net_cost[e]);
    }
    s->load[device] -= clv_block_time(b, s->kind_of[device], block);
    s->bytes[device] -= b->bytes[block];
    s->held[device]--;
}

static bool may_assign(const exact_search *s, int32_t block, int32_t device)
{
    const clv_place_kind *kind = &s->b->p->kinds[s->kind_of[device]];
    if (clv_block_time(s->b, s->kind_of[device], block) == CLV_BLOCK_NEVER)
        return false;
    if (kind->capacity_bytes >= 0 && s->bytes[device] + s->b->bytes[block] > kind->capacity_bytes)
        return false;
    return device == 0 || s->held[device] > 0 || s->held[device - 1] > 0 ||
           s->kind_of[device] != s->kind_of[device - 1];
}

/* -- the search -- */

static int64_t largest_load(const exact_search *s)
{
    int64_t most = 0;
    for (int32_t d = 0; d < s->n_devices; d++)
        most = s->load[d] > most ? s->load[d] : most;
    return most;
}

/* next[place]: the device to try there. */
static clv_status enumerate(exact_search *s, int32_t *next, clv_error *err)
{
    int32_t place = 0;
    next[0] = 0;
    while (place >= 0 && s->tries > 0) {
        if (place == s->b->n || next[place] == s->n_devices) {
            if (place == s->b->n) {
                s->best = largest_load(s);
                clv_contraction_project(s->b, s->device_of, s->of_node);
                CLV_TRY(clv_place_offer(s->search, NAME, s->of_node, err));
            }
            if (--place >= 0)
                unassign(s, s->order[place]);
            continue;
        }
        int32_t block = s->order[place], device = next[place]++;
        if (!may_assign(s, block, device))
            continue;
        s->tries--;
        assign(s, block, device);
        if (largest_load(s) >= s->best || exceeds_work_bound(s, place + 1))
            unassign(s, block);
        else
            next[++place] = 0;
    }
    return CLV_OK;
}

static clv_status alloc_search(exact_search *s, clv_arena *arena, clv_error *err)
{
    const clv_place_problem *p = s->b->p;
    size_t d = (size_t)s->n_devices, n = (size_t)s->b->n, nets = (size_t)s->b->n_nets;
    s->kind_of = CLV_NEW_ARRAY(arena, int32_t, d);
    s->device_of = CLV_NEW_ARRAY(arena, int32_t, n);
    s->of_node = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    s->load = CLV_NEW_ARRAY(arena, int64_t, d);
    s->bytes = CLV_NEW_ARRAY(arena, int64_t, d);
    s->held = CLV_NEW_ARRAY(arena, int32_t, d);
    s->count = CLV_NEW_ARRAY(arena, int32_t, nets * d);
    s->spread = CLV_NEW_ARRAY(arena, int32_t, nets);
    s->rate = CLV_NEW_ARRAY(arena, double, p->n_kinds);
    s->rest = CLV_NEW_ARRAY(arena, double, n + 1);
    if (!s->kind_of || !s->device_of || !s->of_node || !s->load || !s->bytes || !s->held ||
        !s->count || !s->spread || !s->rate || !s->rest)
        return clv_fail_nomem(err, "trying all placements");
    clv_place_kinds(p, s->kind_of);
    find_rates(s);
    return CLV_OK;
}

clv_status clv_noncontiguous_exact(clv_place_search *search, const clv_contraction *b,
                                   const int32_t *order, int64_t tries, clv_arena *arena,
                                   clv_error *err)
{
    exact_search s = {
        .b = b, .order = order, .search = search, .tries = tries, .best = INT64_MAX
    };
    s.n_devices = clv_place_devices(b->p);
    int32_t *next = CLV_NEW_ARRAY(arena, int32_t, b->n + 1);
    if (!next)
        return clv_fail_nomem(err, "trying all placements");
    CLV_TRY(alloc_search(&s, arena, err));
    if (clv_place_best_solution(search))
        s.best = clv_contraction_to_ticks(b, clv_place_best(search));
    CLV_TRY(enumerate(&s, next, err));
    if (s.tries > 0)
        clv_place_raise(search, NAME,
                        s.best == INT64_MAX ? (double)INFINITY
                                            : clv_contraction_from_ticks(b, s.best));
    return CLV_OK;
}
