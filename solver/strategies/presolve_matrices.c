#include "solver/strategies/presolve_matrices.h"

#include <string.h>

enum { FIRST_SLOTS = 64, FIRST_ENTRIES = 1024 };

bool clv_pre_matrices_new(clv_pre_matrices *set, clv_arena *arena)
{
    *set = (clv_pre_matrices){ .arena = arena,
                               .n_slots = FIRST_SLOTS,
                               .slot = CLV_NEW_ARRAY(arena, int32_t, FIRST_SLOTS),
                               .cap_entry = FIRST_ENTRIES,
                               .entry = CLV_NEW_ARRAY(arena, int64_t, FIRST_ENTRIES) };
    if (!set->slot || !set->entry || !CLV_PUSH_ROOM(arena, set->first, 0, set->cap_first))
        return false;
    memset(set->slot, 0xff, FIRST_SLOTS * sizeof *set->slot);
    set->first[0] = 0;
    return true;
}

/* Multiply and fold: every bit of an entry reaches the low bits, which choose the slot. */
static uint64_t hash_of(int64_t n, int32_t rows, const int64_t *entry)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15); /* 2^64 over the golden ratio */
    uint64_t h = (uint64_t)n * odd ^ (uint64_t)rows;

    for (int64_t i = 0; i < n; i++) {
        h = (h ^ (uint64_t)entry[i]) * odd;
        h ^= h >> 32;
    }
    return h;
}

static bool more_slots(clv_pre_matrices *set)
{
    int32_t n = set->n_slots * 2;
    int32_t *slot = CLV_NEW_ARRAY(set->arena, int32_t, n);

    if (!slot)
        return false;
    memset(slot, 0xff, (size_t)n * sizeof *slot);
    for (int32_t m = 0; m < set->n; m++) {
        uint64_t at = set->hash[m] & (uint64_t)(n - 1);

        while (slot[at] >= 0)
            at = (at + 1) & (uint64_t)(n - 1);
        slot[at] = m;
    }
    set->slot = slot;
    set->n_slots = n;
    return true;
}

static bool room(clv_pre_matrices *set, int64_t n)
{
    int64_t need = set->first[set->n] + n, cap = set->cap_entry;

    if (!CLV_PUSH_ROOM(set->arena, set->first, set->n + 1, set->cap_first) ||
        !CLV_PUSH_ROOM(set->arena, set->hash, set->n, set->cap_hash) ||
        !CLV_PUSH_ROOM(set->arena, set->rows_of, set->n, set->cap_rows))
        return false;
    if (2 * set->n >= set->n_slots && !more_slots(set))
        return false;
    if (need <= cap)
        return true;
    while (cap < need)
        cap *= 2;
    set->entry = clv_arena_grow(set->arena, set->entry, (size_t)set->cap_entry, (size_t)cap,
                                sizeof *set->entry);
    set->cap_entry = cap;
    return set->entry != NULL;
}

bool clv_pre_matrices_put(clv_pre_matrices *set, int64_t n, int32_t rows, const int64_t *entry,
                          int32_t *ret)
{
    uint64_t h = hash_of(n, rows, entry), at;

    if (!room(set, n))
        return false;
    at = h & (uint64_t)(set->n_slots - 1);
    for (; set->slot[at] >= 0; at = (at + 1) & (uint64_t)(set->n_slots - 1)) {
        int32_t m = set->slot[at];

        if (set->hash[m] == h && set->rows_of[m] == rows &&
            set->first[m + 1] - set->first[m] == n &&
            memcmp(set->entry + set->first[m], entry, (size_t)n * sizeof *entry) == 0) {
            *ret = m;
            return true;
        }
    }
    *ret = set->slot[at] = set->n;
    set->hash[set->n] = h;
    set->rows_of[set->n] = rows;
    if (n)
        memcpy(set->entry + set->first[set->n], entry, (size_t)n * sizeof *entry);
    set->first[set->n + 1] = set->first[set->n] + n;
    set->n++;
    return true;
}
