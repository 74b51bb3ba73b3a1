#include "solver/intra_op/presolve_matrices.h"

#include <string.h>

enum {
    FIRST_SLOTS = 64,
    /* A set is tidied when less than one part in so many is in use, and when it is not small. */
    USED_PART = 3,
    SMALL_SET = 1 << 12,
    SMALL_ENTRIES = 1 << 20, /* eight bytes each */
};

static bool new_slots(clv_pre_matrices *set, int32_t n)
{
    set->slot = CLV_NEW_ARRAY(set->arena, int32_t, n);
    set->n_slots = n;
    if (set->slot)
        memset(set->slot, 0xff, (size_t)n * sizeof *set->slot);
    return set->slot != NULL;
}

clv_status clv_pre_matrices_new(clv_pre_matrices *set, const clv_intra_op_problem *p,
                                const clv_alloc *alloc, clv_error *err)
{
    *set = (clv_pre_matrices){ .arena = clv_arena_new(alloc, 0) };
    if (!set->arena || !new_slots(set, FIRST_SLOTS))
        return clv_fail_nomem(err, "the matrices of a strategy problem");
    set->cap = p->n_matrices;
    set->of = CLV_NEW_ARRAY(set->arena, clv_pre_matrix, set->cap);
    if (!set->of)
        return clv_fail_nomem(err, "the matrices of a strategy problem");
    for (int32_t m = 0; m < p->n_matrices; m++)
        set->of[m] = (clv_pre_matrix){ .entry = p->entry + p->first_entry[m],
                                       .n = p->first_entry[m + 1] - p->first_entry[m],
                                       .given = true };
    set->n = p->n_matrices;
    for (int32_t e = 0; e < p->n_edges; e++)
        set->of[p->matrix_of[e]].rows = clv_intra_op_n_choices(p, p->end[p->first_end[e]]);
    return CLV_OK;
}

void clv_pre_matrices_free(clv_pre_matrices *set)
{
    clv_arena_free(set->arena);
    set->arena = NULL;
}

/* Multiply and fold: every bit of an entry reaches the low bits, which choose the slot. Four sums
 * side by side, as a multiplication takes its time. */
static uint64_t hash_of(int64_t n, int32_t rows, const int64_t *entry)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15); /* 2^64 over the golden ratio */
    uint64_t h[4] = { (uint64_t)n, (uint64_t)rows, 1, 2 }, all = 0;
    int64_t i = 0;

    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) {
            h[k] = (h[k] ^ (uint64_t)entry[i + k]) * odd;
            h[k] ^= h[k] >> 32;
        }
    for (; i < n; i++) {
        h[0] = (h[0] ^ (uint64_t)entry[i]) * odd;
        h[0] ^= h[0] >> 32;
    }
    for (int k = 0; k < 4; k++) {
        all = (all ^ h[k]) * odd;
        all ^= all >> 32;
    }
    return all;
}

static uint64_t free_slot(const clv_pre_matrices *set, uint64_t hash)
{
    uint64_t mask = (uint64_t)set->n_slots - 1, at = hash & mask;

    while (set->slot[at] >= 0)
        at = (at + 1) & mask;
    return at;
}

static bool more_slots(clv_pre_matrices *set)
{
    if (!new_slots(set, set->n_slots * 2))
        return false;
    for (int32_t m = 0; m < set->n; m++)
        if (!set->of[m].given)
            set->slot[free_slot(set, set->of[m].hash)] = m;
    return true;
}

static bool copy_entries(clv_pre_matrices *set, clv_pre_matrix *x)
{
    int64_t *entry = CLV_NEW_ARRAY(set->arena, int64_t, x->n);

    if (!entry)
        return false;
    memcpy(entry, x->entry, (size_t)x->n * sizeof *entry);
    x->entry = entry;
    set->n_entries += x->n;
    return true;
}

bool clv_pre_matrices_intern(clv_pre_matrices *set, int64_t n, int32_t rows, const int64_t *entry,
                             int32_t *ret)
{
    clv_pre_matrix x = { .entry = entry, .n = n, .rows = rows, .hash = hash_of(n, rows, entry) };
    uint64_t at;

    if ((2 * set->n >= set->n_slots && !more_slots(set)) ||
        !CLV_PUSH_ROOM(set->arena, set->of, set->n, set->cap))
        return false;
    at = x.hash & (uint64_t)(set->n_slots - 1);
    for (; set->slot[at] >= 0; at = (at + 1) & (uint64_t)(set->n_slots - 1)) {
        const clv_pre_matrix *y = &set->of[set->slot[at]];

        if (y->hash == x.hash && y->rows == rows && y->n == n &&
            memcmp(y->entry, entry, (size_t)n * sizeof *entry) == 0) {
            *ret = set->slot[at];
            return true;
        }
    }
    if (!copy_entries(set, &x))
        return false;
    for (int64_t i = 0; i < n; i++) {
        bool never = x.entry[i] >= CLV_INTRA_OP_NEVER;

        x.never |= never;
        x.largest = !never && x.entry[i] > x.largest ? x.entry[i] : x.largest;
    }
    *ret = set->slot[at] = set->n;
    set->of[set->n++] = x;
    return true;
}

/* The matrices with number[m] >= 0, under that number, in an arena of their own. */
static bool renumber(clv_pre_matrices *set, const int32_t *number, int32_t n)
{
    clv_pre_matrices next = { .arena = clv_arena_new(clv_arena_alloc(set->arena), 0),
                              .cap = n,
                              .n = n };
    int32_t slots = FIRST_SLOTS;
    bool ok = next.arena != NULL;

    while (slots < 4 * n)
        slots *= 2;
    next.of = ok ? CLV_NEW_ARRAY(next.arena, clv_pre_matrix, n) : NULL;
    ok = next.of && new_slots(&next, slots);
    for (int32_t m = 0; ok && m < set->n; m++) {
        clv_pre_matrix *x = number[m] < 0 ? NULL : &next.of[number[m]];

        if (!x)
            continue;
        *x = set->of[m];
        if (x->given)
            continue;
        ok = copy_entries(&next, x);
        next.slot[free_slot(&next, x->hash)] = number[m];
    }
    if (ok) {
        clv_arena_free(set->arena);
        *set = next;
    } else {
        clv_arena_free(next.arena);
    }
    return ok;
}

clv_status clv_pre_matrices_tidy(clv_pre_matrices *set, int32_t n_edges, int32_t *matrix_of,
                                 clv_error *err)
{
    clv_mark mark = clv_arena_mark(set->arena);
    int32_t *number = CLV_NEW_ARRAY(set->arena, int32_t, set->n);
    int64_t entries = 0;
    int32_t n = 0;
    bool ok;

    if (!number)
        return clv_fail_nomem(err, "the matrices of a strategy problem");
    for (int32_t e = 0; e < n_edges; e++)
        number[matrix_of[e]] = 1;
    for (int32_t m = 0; m < set->n; m++) {
        entries += number[m] && !set->of[m].given ? set->of[m].n : 0;
        number[m] = number[m] ? n++ : -1;
    }
    if (set->n <= USED_PART * (int64_t)n + SMALL_SET &&
        set->n_entries <= USED_PART * entries + SMALL_ENTRIES) {
        clv_arena_rewind(set->arena, mark);
        return CLV_OK;
    }
    for (int32_t e = 0; e < n_edges; e++)
        matrix_of[e] = number[matrix_of[e]];
    ok = renumber(set, number, n);
    return ok ? CLV_OK : clv_fail_nomem(err, "the matrices of a strategy problem");
}

/* Each of n lines of `width` entries has one that is not never. */
static bool one_each(const int64_t *m, int64_t n, int64_t line, int64_t width, int64_t step)
{
    for (int64_t i = 0; i < n; i++) {
        int found = 0;

        for (int64_t j = 0; j < width && found < 2; j++)
            found += m[i * line + j * step] < CLV_INTRA_OP_NEVER;
        if (found != 1)
            return false;
    }
    return true;
}

bool clv_pre_matrix_forces(clv_pre_matrices *set, int32_t m, int side)
{
    clv_pre_matrix *x = &set->of[m];

    if (!x->asked) {
        int64_t columns = x->n / x->rows;

        x->forces[0] = x->never && one_each(x->entry, x->rows, columns, columns, 1);
        x->forces[1] = x->never && one_each(x->entry, columns, 1, x->rows, columns);
        x->asked = true;
    }
    return x->forces[side];
}
