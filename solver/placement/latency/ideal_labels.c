#include "solver/placement/latency/ideal_labels.h"

#include <string.h>

#include "solver/common/random.h"

#define FIRST_SLOTS 1024

clv_status clv_ideal_labels_new(const clv_latency_units *units, clv_arena *arena,
                                clv_ideal_labels *ret, clv_error *err)
{
    *ret = (clv_ideal_labels){ .units = units, .arena = arena, .words = units->words };
    ret->n_slots = FIRST_SLOTS;
    ret->slots = CLV_NEW_ARRAY(arena, int32_t, ret->n_slots);
    ret->by_size = CLV_NEW_ARRAY(arena, int32_t, units->n + 1);
    ret->key = CLV_NEW_ARRAY(arena, uint64_t, units->n);
    if (!ret->slots || !ret->by_size || !ret->key)
        return clv_fail_nomem(err, "a table of ideals");
    for (int32_t i = 0; i <= units->n; i++)
        ret->by_size[i] = -1;
    uint64_t state = 0;
    for (int32_t i = 0; i < units->n; i++)
        ret->key[i] = clv_random(&state);
    return CLV_OK;
}

static int32_t slot_of(const clv_ideal_labels *f, uint64_t hash)
{
    return (int32_t)(hash & (uint64_t)(f->n_slots - 1));
}

int32_t clv_ideal_labels_find(const clv_ideal_labels *f, const uint64_t *set, uint64_t hash)
{
    size_t bytes = (size_t)f->words * sizeof *set;
    for (int32_t s = slot_of(f, hash); f->slots[s]; s = (s + 1) & (f->n_slots - 1)) {
        int32_t i = f->slots[s] - 1;
        if (f->ideals[i].hash == hash && memcmp(clv_ideal_labels_set(f, i), set, bytes) == 0)
            return i;
    }
    return -1;
}

static void insert_slot(clv_ideal_labels *f, int32_t ideal)
{
    int32_t s = slot_of(f, f->ideals[ideal].hash);
    while (f->slots[s])
        s = (s + 1) & (f->n_slots - 1);
    f->slots[s] = ideal + 1;
}

/* At most half of the slots are taken. */
static clv_status grow_slots(clv_ideal_labels *f, clv_error *err)
{
    if (f->n_ideals * 2 < f->n_slots)
        return CLV_OK;
    int32_t *slots = CLV_NEW_ARRAY(f->arena, int32_t, f->n_slots * 2);
    if (!slots)
        return clv_fail_nomem(err, "a table of ideals");
    f->slots = slots;
    f->n_slots *= 2;
    for (int32_t i = 0; i < f->n_ideals; i++)
        insert_slot(f, i);
    return CLV_OK;
}

clv_status clv_ideal_labels_add(clv_ideal_labels *f, const clv_ideal_set *set, int32_t *ret,
                                clv_error *err)
{
    CLV_TRY(grow_slots(f, err));
    if (f->n_ideals == f->cap_sets) {
        int32_t cap = f->cap_sets ? 2 * f->cap_sets : FIRST_SLOTS / 2;
        uint64_t *sets = clv_arena_grow(f->arena, f->sets, (size_t)f->cap_sets, (size_t)cap,
                                        (size_t)f->words * sizeof *sets);
        if (!sets)
            return clv_fail_nomem(err, "a table of ideals");
        f->sets = sets;
        f->cap_sets = cap;
    }
    if (!CLV_PUSH_ROOM(f->arena, f->ideals, f->n_ideals, f->cap_ideals))
        return clv_fail_nomem(err, "a table of ideals");
    int32_t i = f->n_ideals++;
    f->ideals[i] = (clv_ideal){ .hash = set->hash,
                                .n_units = set->n_units,
                                .places = set->places,
                                .next = f->by_size[set->n_units],
                                .front = f->n_front,
                                .label = -1 };
    f->by_size[set->n_units] = i;
    memcpy(clv_ideal_labels_set(f, i), set->bits, (size_t)f->words * sizeof *set->bits);
    insert_slot(f, i);
    *ret = i;
    return CLV_OK;
}

clv_status clv_ideal_labels_add_node(clv_ideal_labels *f, int32_t node, int64_t rest,
                                     clv_error *err)
{
    if (!CLV_PUSH_ROOM(f->arena, f->front_node, f->n_front, f->cap_front) ||
        !CLV_PUSH_ROOM(f->arena, f->front_rest, f->n_front, f->cap_rest))
        return clv_fail_nomem(err, "a table of ideals");
    f->front_node[f->n_front] = node;
    f->front_rest[f->n_front++] = rest;
    f->ideals[f->n_ideals - 1].n_front++;
    return CLV_OK;
}

clv_status clv_ideal_labels_draft(clv_ideal_labels *f, int32_t ideal, int32_t *ret, clv_error *err)
{
    int32_t n = f->ideals[ideal].n_front;
    if (!CLV_PUSH_ROOM(f->arena, f->labels, f->n_labels, f->cap_labels))
        return clv_fail_nomem(err, "a table of ideals");
    while (f->cap_times < f->n_times + n) {
        int32_t cap = f->cap_times ? 2 * f->cap_times : FIRST_SLOTS;
        int64_t *times =
            clv_arena_grow(f->arena, f->times, (size_t)f->cap_times, (size_t)cap, sizeof *times);
        if (!times)
            return clv_fail_nomem(err, "a table of ideals");
        f->times = times;
        f->cap_times = cap;
    }
    f->labels[f->n_labels] = (clv_ideal_label){ .next = -1, .ideal = ideal, .times = f->n_times };
    *ret = f->n_labels;
    return CLV_OK;
}

/* Is a nowhere worse than b? */
static bool dominates(const clv_ideal_labels *f, const clv_ideal_label *a, const clv_ideal_label *b,
                      bool counts)
{
    if (a->end > b->end)
        return false;
    if (counts && (a->held > b->held || a->pieces > b->pieces ||
                   a->segments + (b->open && !a->open) > b->segments))
        return false;
    int32_t n = f->ideals[a->ideal].n_front;
    for (int32_t i = 0; i < n; i++)
        if (f->times[a->times + i] > f->times[b->times + i])
            return false;
    return true;
}

bool clv_ideal_labels_keep(clv_ideal_labels *f, int32_t draft, bool counts)
{
    clv_ideal_label *new = f->labels + draft;
    clv_ideal *ideal = f->ideals + new->ideal;
    for (int32_t i = ideal->label; i >= 0; i = f->labels[i].next)
        if (dominates(f, f->labels + i, new, counts))
            return false;
    int32_t *link = &ideal->label;
    while (*link >= 0)
        if (dominates(f, new, f->labels + *link, counts))
            *link = f->labels[*link].next;
        else
            link = &f->labels[*link].next;
    *link = draft;
    f->n_labels++;
    f->n_times += ideal->n_front;
    return true;
}
