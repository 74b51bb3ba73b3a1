#include "solver/partition/rule_repair.h"

#include <stdlib.h>
#include <string.h>

#include "solver/partition/rule_nearest.h"
#include "solver/partition/rule_stages.h"

struct clv_rule_repair {
    clv_supernodes g;
    clv_rule_nearest near;
    bool is_searched;
    clv_rule_outcome outcome;   /* once it is searched */
    int32_t *found;             /* by unit: the assignment behind it */
    int32_t *pin_order, *given; /* by position; given: as they are numbered */
    /* scratch */
    int32_t *trial, *other; /* by unit */
    int32_t *position;      /* by device */
};

/* -- an order of devices -- */

/* The stage nearest to wish that a supernode may have, from low on; -1: none. */
static int32_t nearest_stage(const clv_rule_repair *r, int32_t b, int32_t low, int32_t wish)
{
    int32_t best = -1;
    for (int32_t s = low; s < r->g.p->n_devices; s++)
        if (clv_bit(r->g.stages + (size_t)b * r->g.words, s) &&
            (best < 0 || abs(s - wish) < abs(best - wish)))
            best = s;
    return best;
}

static bool is_bound_to_stages(const clv_rule_repair *r, int32_t b)
{
    for (int32_t s = 0; s < r->g.p->n_devices; s++)
        if (!clv_bit(r->g.stages + (size_t)b * r->g.words, s))
            return true;
    return false;
}

/* Where the supernodes are, on average, that may be on few devices, this one among them, from 0 to
 * 1: by their stage, or by their place in the order. Negative: no such supernodes. */
static double pin_place(const clv_rule_repair *r, int32_t device, const int32_t *n_allowed)
{
    int32_t n = r->g.p->n_devices;
    double sum = 0, weight = 0;
    for (int32_t b = 0; b < r->g.n; b++) {
        if (n_allowed[b] * 2 > n || !clv_supernode_allows(&r->g, b, device))
            continue;
        double place = ((double)b + 0.5) / r->g.n;
        int32_t stage = r->g.stages && is_bound_to_stages(r, b)
                            ? nearest_stage(r, b, 0, (int32_t)(place * n))
                            : -1;
        sum += (stage < 0 ? place : (stage + 0.5) / n) / n_allowed[b];
        weight += 1.0 / n_allowed[b];
    }
    return weight > 0 ? sum / weight : -1;
}

/* Devices with pins take the position nearest to theirs, in order; the others fill what is left. */
static void place_devices(clv_rule_repair *r, const double *place, const int32_t *pinned,
                          int32_t n_pinned)
{
    int32_t n = r->g.p->n_devices, first = 0, next = 0;
    for (int32_t i = 0; i < n; i++)
        r->pin_order[i] = -1;
    for (int32_t i = 0; i < n_pinned; i++) {
        int32_t at = (int32_t)(place[pinned[i]] * n);
        at = at < first ? first : at;
        at = at > n - (n_pinned - i) ? n - (n_pinned - i) : at;
        r->pin_order[at] = pinned[i];
        first = at + 1;
    }
    for (int32_t i = 0; i < n; i++) {
        if (r->pin_order[i] >= 0)
            continue;
        while (place[next] >= 0)
            next++;
        r->pin_order[i] = next++;
    }
}

static clv_status make_order(clv_rule_repair *r, clv_error *err)
{
    int32_t n = r->g.p->n_devices, n_pinned = 0;
    clv_mark mark = clv_arena_mark(r->g.arena);
    double *place = CLV_NEW_ARRAY(r->g.arena, double, n);
    int32_t *pinned = CLV_NEW_ARRAY(r->g.arena, int32_t, n);
    int32_t *n_allowed = CLV_NEW_ARRAY(r->g.arena, int32_t, r->g.n);
    if (!place || !pinned || !n_allowed)
        return clv_fail_nomem(err, "the rules of a search");
    for (int32_t b = 0; b < r->g.n; b++)
        for (size_t w = 0; w < r->g.words; w++)
            n_allowed[b] += __builtin_popcountll(r->g.devices[(size_t)b * r->g.words + w]);
    for (int32_t d = 0; d < n; d++) {
        place[d] = pin_place(r, d, n_allowed);
        int32_t i = n_pinned;
        if (place[d] < 0)
            continue;
        for (; i > 0 && place[d] < place[pinned[i - 1]]; i--)
            pinned[i] = pinned[i - 1];
        pinned[i] = d;
        n_pinned++;
    }
    place_devices(r, place, pinned, n_pinned);
    clv_arena_rewind(r->g.arena, mark);
    return CLV_OK;
}

void clv_rule_repair_order(const clv_rule_repair *r, int32_t *order)
{
    memcpy(order, r->pin_order, (size_t)r->g.p->n_devices * sizeof *order);
}

clv_status clv_rule_repair_new(const clv_partition_problem *p, clv_arena *arena,
                               clv_rule_repair **ret, clv_error *err)
{
    clv_rule_repair *r = CLV_NEW(arena, clv_rule_repair);
    if (!r)
        return clv_fail_nomem(err, "the rules of a search");
    CLV_TRY(clv_supernodes_new(p, arena, &r->g, err));
    CLV_TRY(clv_rule_nearest_new(&r->g, &r->near, err));
    r->found = CLV_NEW_ARRAY(arena, int32_t, p->n_units);
    r->trial = CLV_NEW_ARRAY(arena, int32_t, p->n_units);
    r->other = CLV_NEW_ARRAY(arena, int32_t, p->n_units);
    r->given = CLV_NEW_ARRAY(arena, int32_t, p->n_devices);
    r->position = CLV_NEW_ARRAY(arena, int32_t, p->n_devices);
    r->pin_order = CLV_NEW_ARRAY(arena, int32_t, p->n_devices);
    if (!r->found || !r->trial || !r->other || !r->given || !r->position || !r->pin_order)
        return clv_fail_nomem(err, "the rules of a search");
    for (int32_t d = 0; d < p->n_devices; d++)
        r->given[d] = d;
    CLV_TRY(make_order(r, err));
    *ret = r;
    return CLV_OK;
}

/* -- near a given assignment -- */

/* *ret_off: the sum of distances, in positions, of supernodes from those wished for. */
static bool try_near(clv_rule_repair *r, const int32_t *order, int32_t *device_of, int64_t *ret_off)
{
    if (!clv_rule_nearest_find(&r->near, order))
        return false;
    *ret_off = 0;
    for (int32_t i = 0; i < r->g.p->n_devices; i++)
        r->position[order[i]] = i;
    for (int32_t b = 0; b < r->g.n; b++)
        *ret_off += abs(r->position[r->near.at[b]] - r->near.wish[b]);
    clv_supernodes_expand(&r->g, r->near.at, r->trial);
    if (!clv_partition_satisfies_rules(r->g.p, r->trial, r->g.arena) ||
        !clv_partition_is_acyclic(r->g.p, r->trial, r->g.arena))
        return false;
    if (r->g.p->n_units > 0)
        memcpy(device_of, r->trial, (size_t)r->g.p->n_units * sizeof *device_of);
    return true;
}

bool clv_rule_repair_plan(clv_rule_repair *r, const int32_t *order, int32_t *device_of)
{
    if (r->g.is_impossible)
        return false;
    if (clv_partition_satisfies_rules(r->g.p, device_of, r->g.arena))
        return true;
    int64_t off = 0, pinned_off = 0;
    /* positions by number of the device in the order: "the third device of the cut" stays third */
    for (int32_t i = 0; i < r->g.p->n_devices; i++)
        r->position[order[i]] = i;
    for (int32_t b = 0; b < r->g.n; b++)
        r->near.wish[b] = r->position[device_of[r->g.units[r->g.unit_first[b]]]];
    bool near = try_near(r, order, device_of, &off);
    bool pinned = try_near(r, r->pin_order, r->other, &pinned_off);
    if (pinned && (!near || pinned_off < off) && r->g.p->n_units > 0)
        memcpy(device_of, r->other, (size_t)r->g.p->n_units * sizeof *device_of);
    return near || pinned;
}

/* -- any -- */

/* As many positions as parts, of equal numbers of units. */
static bool try_spread(clv_rule_repair *r, const int32_t *order, int32_t parts, int32_t *device_of)
{
    int64_t off;
    for (int32_t b = 0; b < r->g.n; b++)
        r->near.wish[b] = (int32_t)((int64_t)b * parts / r->g.n);
    return try_near(r, order, device_of, &off);
}

/* [first, end) spread over the positions low to high - 1, none of them empty if there are enough.
 */
static void spread_over(clv_rule_repair *r, int32_t first, int32_t end, int32_t low, int32_t high)
{
    for (int32_t b = first; b < end; b++)
        r->near.wish[b] = low + (int32_t)((int64_t)(b - first) * (high - low) / (end - first));
}

/* A position is a stage only if all before it have units. So between supernodes that are bound to
 * stages the others are spread over all stages between. */
static bool try_stages(clv_rule_repair *r, const int32_t *order, int32_t parts, int32_t *device_of)
{
    int32_t from = 0, stage = 0;
    int64_t off;
    for (int32_t b = 0; b < r->g.n; b++) {
        if (!is_bound_to_stages(r, b))
            continue;
        int32_t at = nearest_stage(r, b, stage, (int32_t)((int64_t)b * parts / r->g.n));
        if (at < 0)
            return false;
        spread_over(r, from, b, stage, at > stage ? at : stage + 1);
        r->near.wish[b] = stage = at;
        from = b + 1;
    }
    spread_over(r, from, r->g.n, stage, parts > stage ? parts : stage + 1);
    return try_near(r, order, device_of, &off);
}

static clv_rule_outcome search(clv_rule_repair *r)
{
    int32_t parts = r->g.p->n_devices;
    if (r->g.is_impossible || !clv_rule_stages_fit(&r->g))
        return CLV_RULES_INFEASIBLE;
    if (r->g.rules->max_stages > 0 && r->g.rules->max_stages < parts)
        parts = r->g.rules->max_stages;
    if (r->g.stages &&
        (try_stages(r, r->pin_order, parts, r->found) || try_stages(r, r->given, parts, r->found)))
        return CLV_RULES_FEASIBLE;
    for (; parts > 0; parts /= 2) { /* 1: each as early as it may be */
        if (try_spread(r, r->pin_order, parts, r->found))
            return CLV_RULES_FEASIBLE;
        if (try_spread(r, r->given, parts, r->found))
            return CLV_RULES_FEASIBLE;
    }
    return clv_rule_exact(&r->g, r->found);
}

clv_rule_outcome clv_rule_repair_find(clv_rule_repair *r, int32_t *device_of)
{
    if (!r->is_searched)
        r->outcome = search(r);
    r->is_searched = true;
    if (r->outcome == CLV_RULES_FEASIBLE && r->g.p->n_units > 0)
        memcpy(device_of, r->found, (size_t)r->g.p->n_units * sizeof *device_of);
    return r->outcome;
}
