#include "solver/placement/contiguous/pareto_labels.h"

#include <string.h>

#define FIRST_CAP 1024 /* a power of two */

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "the search over ideals"); }

static clv_status grow_slots(clv_pareto_labels *l, clv_error *err)
{
    size_t n = l->n_slots ? 2 * l->n_slots : FIRST_CAP;
    int32_t *slot = CLV_NEW_ARRAY(l->arena, int32_t, n);
    if (!slot)
        return nomem(err);
    for (int32_t i = 0; i < l->n_states; i++) {
        size_t at = l->states[i].hash & (n - 1);
        while (slot[at])
            at = (at + 1) & (n - 1);
        slot[at] = i + 1;
    }
    l->slot = slot;
    l->n_slots = n;
    return CLV_OK;
}

static clv_status push_state(clv_pareto_labels *l, const clv_pareto_state *key, const uint64_t *row,
                             clv_error *err)
{
    if (l->n_states == l->cap_states) {
        int32_t cap = l->cap_states ? 2 * l->cap_states : FIRST_CAP;
        clv_pareto_state *states =
            clv_arena_grow(l->arena, l->states, (size_t)l->cap_states, (size_t)cap, sizeof *states);
        uint64_t *rows = states
                             ? clv_arena_grow(l->arena, l->rows, (size_t)l->cap_states * l->words,
                                              (size_t)cap * l->words, sizeof *rows)
                             : NULL;
        if (!states || !rows)
            return nomem(err);
        l->states = states;
        l->rows = rows;
        l->cap_states = cap;
    }
    memcpy(l->rows + (size_t)l->n_states * l->words, row, l->words * sizeof *row);
    l->states[l->n_states] =
        (clv_pareto_state){ key->hash, l->of_size[key->size], -1, key->size, key->rest };
    l->of_size[key->size] = l->n_states++;
    return CLV_OK;
}

clv_status clv_pareto_labels_find_state(clv_pareto_labels *l, const clv_pareto_state *key,
                                        const uint64_t *row, int32_t *ret, clv_error *err)
{
    if (2 * ((size_t)l->n_states + 1) > l->n_slots)
        CLV_TRY(grow_slots(l, err));
    size_t at = key->hash & (l->n_slots - 1);
    for (; l->slot[at]; at = (at + 1) & (l->n_slots - 1)) {
        int32_t i = l->slot[at] - 1;
        if (l->states[i].hash == key->hash &&
            memcmp(clv_pareto_labels_row(l, i), row, l->words * sizeof *row) == 0) {
            *ret = i;
            return CLV_OK;
        }
    }
    CLV_TRY(push_state(l, key, row, err));
    l->slot[at] = l->n_states;
    *ret = l->n_states - 1;
    return CLV_OK;
}

/* Is a label no worse than one with these counts, one more of kind, and this load? */
static bool beats(const clv_pareto_labels *l, int32_t label, const int32_t *counts, int32_t kind,
                  int64_t load)
{
    const int32_t *own = clv_pareto_labels_counts(l, label);
    if (l->labels[label].load > load)
        return false;
    for (int32_t k = 0; k < l->n_kinds; k++)
        if (own[k] > counts[k] + (k == kind))
            return false;
    return true;
}

/* The other way round. */
static bool is_beaten(const clv_pareto_labels *l, int32_t label, const int32_t *counts,
                      int32_t kind, int64_t load)
{
    const int32_t *own = clv_pareto_labels_counts(l, label);
    if (l->labels[label].load < load)
        return false;
    for (int32_t k = 0; k < l->n_kinds; k++)
        if (own[k] < counts[k] + (k == kind))
            return false;
    return true;
}

static clv_status push_label(clv_pareto_labels *l, int32_t to, int32_t from, int32_t kind,
                             int64_t load, clv_error *err)
{
    int32_t n_kinds = l->n_kinds;
    if (l->n_labels == l->cap_labels) {
        int32_t cap = l->cap_labels ? 2 * l->cap_labels : FIRST_CAP;
        clv_pareto_label *labels =
            clv_arena_grow(l->arena, l->labels, (size_t)l->cap_labels, (size_t)cap, sizeof *labels);
        int32_t *counts =
            labels ? clv_arena_grow(l->arena, l->counts, (size_t)l->cap_labels * (size_t)n_kinds,
                                    (size_t)cap * (size_t)n_kinds, sizeof *counts)
                   : NULL;
        if (!labels || !counts)
            return nomem(err);
        l->labels = labels;
        l->counts = counts;
        l->cap_labels = cap;
    }
    int32_t *own = l->counts + (size_t)l->n_labels * (size_t)n_kinds;
    for (int32_t k = 0; k < n_kinds; k++)
        own[k] = (from < 0 ? 0 : clv_pareto_labels_counts(l, from)[k]) + (k == kind);
    l->labels[l->n_labels] = (clv_pareto_label){ l->states[to].first, from, to, kind, load };
    l->states[to].first = l->n_labels++;
    return CLV_OK;
}

clv_status clv_pareto_labels_add(clv_pareto_labels *l, int32_t to, int32_t from, int32_t kind,
                                 int64_t load, clv_error *err)
{
    if (from < 0)
        return push_label(l, to, from, kind, load, err);
    const int32_t *counts = clv_pareto_labels_counts(l, from);
    for (int32_t label = l->states[to].first; label >= 0; label = l->labels[label].next)
        if (beats(l, label, counts, kind, load))
            return CLV_OK;
    int32_t *link = &l->states[to].first;
    while (*link >= 0) {
        if (is_beaten(l, *link, counts, kind, load))
            *link = l->labels[*link].next;
        else
            link = &l->labels[*link].next;
    }
    return push_label(l, to, from, kind, load, err);
}

clv_status clv_pareto_labels_new(int32_t n_blocks, int32_t n_kinds, clv_arena *arena,
                                 clv_pareto_labels *ret, clv_error *err)
{
    clv_pareto_labels l = { .arena = arena,
                            .n_blocks = n_blocks,
                            .n_kinds = n_kinds,
                            .words = ((size_t)n_blocks + 63) / 64,
                            .of_size = CLV_NEW_ARRAY(arena, int32_t, n_blocks + 1) };
    if (!l.of_size)
        return nomem(err);
    for (int32_t i = 0; i <= n_blocks; i++)
        l.of_size[i] = -1;
    CLV_TRY(grow_slots(&l, err));
    *ret = l;
    return CLV_OK;
}
