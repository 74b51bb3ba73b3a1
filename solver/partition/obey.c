/* obey.c - the cheap ways first: near some balanced spreading, in some sensible order of devices.
 */
#include "solver/partition/obey_blobs.h"

#include <stdlib.h>
#include <string.h>

#include "problem/quotient.h"

static clv_status take_scratch(clv_obey *o, clv_error *err)
{
    const clv_partition_problem *p = o->p;
    size_t d = (size_t)p->n_devices;
    o->found = CLV_NEW_ARRAY(o->arena, int32_t, p->n_units);
    o->trial = CLV_NEW_ARRAY(o->arena, int32_t, p->n_units);
    o->other = CLV_NEW_ARRAY(o->arena, int32_t, p->n_units);
    o->given = CLV_NEW_ARRAY(o->arena, int32_t, d);
    o->at = CLV_NEW_ARRAY(o->arena, int32_t, o->n);
    o->high = CLV_NEW_ARRAY(o->arena, int32_t, o->n);
    o->wish = CLV_NEW_ARRAY(o->arena, int32_t, o->n);
    o->owner = clv_arena_take_array(o->arena, (size_t)o->rules->n_families * d, sizeof(int32_t));
    o->floor = CLV_NEW_ARRAY(o->arena, int32_t, o->rules->n_families);
    o->ceiling = CLV_NEW_ARRAY(o->arena, int32_t, o->rules->n_families);
    o->position = CLV_NEW_ARRAY(o->arena, int32_t, d);
    o->pin_order = CLV_NEW_ARRAY(o->arena, int32_t, d);
    if (!o->found || !o->trial || !o->at || !o->high || !o->wish || !o->owner || !o->floor ||
        !o->ceiling || !o->position || !o->pin_order || !o->other || !o->given)
        return clv_fail_nomem(err, "the rules of a search");
    for (int32_t i = 0; i < p->n_devices; i++)
        o->given[i] = i;
    return CLV_OK;
}

/* -- an order of devices -- */

/* The stage nearest to wish that a blob may have, from low on; -1: none. */
static int32_t nearest_stage(const clv_obey *o, int32_t b, int32_t low, int32_t wish)
{
    int32_t best = -1;
    for (int32_t s = low; s < o->p->n_devices; s++)
        if (clv_bit(o->stages + (size_t)b * o->words, s) &&
            (best < 0 || abs(s - wish) < abs(best - wish)))
            best = s;
    return best;
}

static bool is_bound_to_stages(const clv_obey *o, int32_t b)
{
    for (int32_t s = 0; s < o->p->n_devices; s++)
        if (!clv_bit(o->stages + (size_t)b * o->words, s))
            return true;
    return false;
}

/* Where in the line of stages a blob stands, from 0 to 1: by its stage, or by its place in the
 * order. */
static double place_of(const clv_obey *o, int32_t b)
{
    int32_t n = o->p->n_devices;
    double place = ((double)b + 0.5) / o->n;
    int32_t stage =
        o->stages && is_bound_to_stages(o, b) ? nearest_stage(o, b, 0, (int32_t)(place * n)) : -1;
    return stage < 0 ? place : (stage + 0.5) / n;
}

/* Where the blobs are, on average, that may be on few devices, this one among them; negative: no
 * such blobs. */
static double pin_place(const clv_obey *o, int32_t device, const int32_t *n_allowed)
{
    double sum = 0, weight = 0;
    for (int32_t b = 0; b < o->n; b++) {
        if (n_allowed[b] * 2 > o->p->n_devices || !clv_blob_allows(o, b, device))
            continue;
        sum += place_of(o, b) / n_allowed[b];
        weight += 1.0 / n_allowed[b];
    }
    return weight > 0 ? sum / weight : -1;
}

/* Devices with pins take the position nearest to theirs, in order; the others fill what is left. */
static void fill_order(clv_obey *o, const double *place, const int32_t *pinned, int32_t n_pinned)
{
    int32_t n = o->p->n_devices, first = 0, next = 0;
    for (int32_t i = 0; i < n; i++)
        o->pin_order[i] = -1;
    for (int32_t i = 0; i < n_pinned; i++) {
        int32_t at = (int32_t)(place[pinned[i]] * n);
        at = at < first ? first : at;
        at = at > n - (n_pinned - i) ? n - (n_pinned - i) : at;
        o->pin_order[at] = pinned[i];
        first = at + 1;
    }
    for (int32_t i = 0; i < n; i++) {
        if (o->pin_order[i] >= 0)
            continue;
        while (place[next] >= 0)
            next++;
        o->pin_order[i] = next++;
    }
}

static clv_status make_order(clv_obey *o, clv_error *err)
{
    int32_t n = o->p->n_devices, n_pinned = 0;
    clv_mark mark = clv_arena_mark(o->arena);
    double *place = CLV_NEW_ARRAY(o->arena, double, n);
    int32_t *pinned = CLV_NEW_ARRAY(o->arena, int32_t, n);
    int32_t *n_allowed = CLV_NEW_ARRAY(o->arena, int32_t, o->n);
    if (!place || !pinned || !n_allowed)
        return clv_fail_nomem(err, "the rules of a search");
    for (int32_t b = 0; b < o->n; b++)
        for (size_t w = 0; w < o->words; w++)
            n_allowed[b] += __builtin_popcountll(o->devices[(size_t)b * o->words + w]);
    for (int32_t d = 0; d < n; d++) {
        place[d] = pin_place(o, d, n_allowed);
        int32_t i = n_pinned;
        if (place[d] < 0)
            continue;
        for (; i > 0 && place[d] < place[pinned[i - 1]]; i--)
            pinned[i] = pinned[i - 1];
        pinned[i] = d;
        n_pinned++;
    }
    fill_order(o, place, pinned, n_pinned);
    clv_arena_rewind(o->arena, mark);
    return CLV_OK;
}

void clv_obey_order(const clv_obey *o, int32_t *order)
{
    memcpy(order, o->pin_order, (size_t)o->p->n_devices * sizeof *order);
}

clv_status clv_obey_new(const clv_partition_problem *p, clv_arena *arena, clv_obey **ret,
                        clv_error *err)
{
    clv_obey *o = CLV_NEW(arena, clv_obey);
    if (!o)
        return clv_fail_nomem(err, "the rules of a search");
    *o = (clv_obey){ .p = p, .rules = p->rules, .arena = arena, .words = p->rules->words };
    CLV_TRY(clv_blobs_join(o, err));
    CLV_TRY(take_scratch(o, err));
    CLV_TRY(make_order(o, err));
    *ret = o;
    return CLV_OK;
}

/* -- near a given assignment -- */

/* *ret_off: by how many positions the blobs are off their wishes, in all. */
static bool try_near(clv_obey *o, const int32_t *order, int32_t *device_of, int64_t *ret_off)
{
    if (!clv_blobs_near(o, order))
        return false;
    *ret_off = 0;
    for (int32_t i = 0; i < o->p->n_devices; i++)
        o->position[order[i]] = i;
    for (int32_t b = 0; b < o->n; b++)
        *ret_off += abs(o->position[o->at[b]] - o->wish[b]);
    clv_blobs_spread(o, o->at, o->trial);
    if (!clv_partition_satisfies_rules(o->p, o->trial, o->arena) ||
        !clv_partition_is_acyclic(o->p, o->trial, o->arena))
        return false;
    if (o->p->n_units > 0)
        memcpy(device_of, o->trial, (size_t)o->p->n_units * sizeof *device_of);
    return true;
}

/* Positions by number of the device in the order: "the third device of the cut" stays the third. */
static void wish_for(clv_obey *o, const int32_t *order, const int32_t *device_of)
{
    for (int32_t i = 0; i < o->p->n_devices; i++)
        o->position[order[i]] = i;
    for (int32_t b = 0; b < o->n; b++)
        o->wish[b] = o->position[device_of[o->units[o->unit_first[b]]]];
}

bool clv_obey_mend(clv_obey *o, const int32_t *order, int32_t *device_of)
{
    if (o->impossible)
        return false;
    if (clv_partition_satisfies_rules(o->p, device_of, o->arena))
        return true;
    int64_t off = 0, pinned_off = 0;
    wish_for(o, order, device_of);
    bool near = try_near(o, order, device_of, &off);
    bool pinned = try_near(o, o->pin_order, o->other, &pinned_off);
    if (pinned && (!near || pinned_off < off) && o->p->n_units > 0)
        memcpy(device_of, o->other, (size_t)o->p->n_units * sizeof *device_of);
    return near || pinned;
}

/* -- any -- */

/* As many positions as parts, of equal numbers of units. */
static bool try_spread(clv_obey *o, const int32_t *order, int32_t parts, int32_t *device_of)
{
    int64_t off;
    for (int32_t b = 0; b < o->n; b++)
        o->wish[b] = (int32_t)((int64_t)b * parts / o->n);
    return try_near(o, order, device_of, &off);
}

/* [first, end) spread over the positions low to high - 1, none of them empty if there are enough.
 */
static void spread_over(clv_obey *o, int32_t first, int32_t end, int32_t low, int32_t high)
{
    for (int32_t b = first; b < end; b++)
        o->wish[b] = low + (int32_t)((int64_t)(b - first) * (high - low) / (end - first));
}

/* A position is a stage only if all before it have units. So between blobs that are bound to stages
 * the others are spread over all stages between. */
static bool try_stages(clv_obey *o, const int32_t *order, int32_t parts, int32_t *device_of)
{
    int32_t from = 0, stage = 0;
    int64_t off;
    for (int32_t b = 0; b < o->n; b++) {
        if (!is_bound_to_stages(o, b))
            continue;
        int32_t at = nearest_stage(o, b, stage, (int32_t)((int64_t)b * parts / o->n));
        if (at < 0)
            return false;
        spread_over(o, from, b, stage, at > stage ? at : stage + 1);
        o->wish[b] = stage = at;
        from = b + 1;
    }
    spread_over(o, from, o->n, stage, parts > stage ? parts : stage + 1);
    return try_near(o, order, device_of, &off);
}

static clv_obey_outcome find(clv_obey *o)
{
    int32_t parts = o->p->n_devices;
    if (o->impossible || !clv_blobs_stages_fit(o))
        return CLV_OBEY_NONE;
    if (o->rules->max_stages > 0 && o->rules->max_stages < parts)
        parts = o->rules->max_stages;
    if (o->stages &&
        (try_stages(o, o->pin_order, parts, o->found) || try_stages(o, o->given, parts, o->found)))
        return CLV_OBEY_FOUND;
    for (; parts > 0; parts /= 2) { /* 1: each as early as it may be */
        if (try_spread(o, o->pin_order, parts, o->found))
            return CLV_OBEY_FOUND;
        if (try_spread(o, o->given, parts, o->found))
            return CLV_OBEY_FOUND;
    }
    return clv_blobs_search(o, o->found);
}

clv_obey_outcome clv_obey_find(clv_obey *o, int32_t *device_of)
{
    if (!o->searched)
        o->outcome = find(o);
    o->searched = true;
    if (o->outcome == CLV_OBEY_FOUND && o->p->n_units > 0)
        memcpy(device_of, o->found, (size_t)o->p->n_units * sizeof *device_of);
    return o->outcome;
}
