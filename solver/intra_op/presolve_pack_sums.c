/* presolve_pack_sums.c - see presolve_pack_sums.h. */
#include "solver/intra_op/presolve_pack_sums.h"

#include <string.h>

enum { FIRST_SLOTS = 64 };

static int32_t *new_slots(clv_arena *arena, int32_t n)
{
    int32_t *slot = CLV_NEW_ARRAY(arena, int32_t, n);

    if (slot)
        memset(slot, 0xff, (size_t)n * sizeof *slot);
    return slot;
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 over the golden ratio */
    return h ^ h >> 32;
}

bool clv_pack_sums_new(clv_pack_sums *s, clv_pre_matrices *set, clv_arena *arena)
{
    *s = (clv_pack_sums){ .set = set,
                          .arena = arena,
                          .n_maps = CLV_PACK_SAME + 1,
                          .cap_maps = FIRST_SLOTS,
                          .map = CLV_NEW_ARRAY(arena, clv_pack_map, FIRST_SLOTS),
                          .map_slot = new_slots(arena, FIRST_SLOTS),
                          .n_map_slots = FIRST_SLOTS,
                          .sum_slot = new_slots(arena, FIRST_SLOTS),
                          .n_sum_slots = FIRST_SLOTS };
    return s->map && s->map_slot && s->sum_slot;
}

static uint64_t hash_of_map(const int32_t *at, int32_t n)
{
    uint64_t h = (uint64_t)n;

    for (int32_t i = 0; i < n; i++)
        h = mix(h, (uint64_t)at[i]);
    return h;
}

static uint64_t hash_of_sum(const clv_pack_part *x, int32_t n)
{
    uint64_t h = (uint64_t)n;

    for (int32_t i = 0; i < n; i++) {
        h = mix(h, (uint64_t)x[i].matrix << 1 | x[i].turned);
        h = mix(h, (uint64_t)x[i].map_a << 32 | (uint64_t)x[i].map_b);
    }
    return h;
}

static void insert_slot(int32_t *slot, int32_t n, uint64_t hash, int32_t number)
{
    uint64_t at = hash & (uint64_t)(n - 1);

    while (slot[at] >= 0)
        at = (at + 1) & (uint64_t)(n - 1);
    slot[at] = number;
}

static bool room_for_map(clv_pack_sums *s)
{
    int32_t n = s->n_map_slots * 2;

    if (!CLV_PUSH_ROOM(s->arena, s->map, s->n_maps, s->cap_maps))
        return false;
    if (2 * s->n_maps < s->n_map_slots)
        return true;
    s->map_slot = new_slots(s->arena, n);
    s->n_map_slots = n;
    for (int32_t i = CLV_PACK_SAME + 1; s->map_slot && i < s->n_maps; i++)
        insert_slot(s->map_slot, n, hash_of_map(s->map[i].at, s->map[i].n), i);
    return s->map_slot != NULL;
}

bool clv_pack_map_intern(clv_pack_sums *s, const int32_t *at, int32_t n, int32_t *ret)
{
    uint64_t hash = hash_of_map(at, n), k;

    if (!room_for_map(s))
        return false;
    k = hash & (uint64_t)(s->n_map_slots - 1);
    for (; s->map_slot[k] >= 0; k = (k + 1) & (uint64_t)(s->n_map_slots - 1)) {
        const clv_pack_map *map = &s->map[s->map_slot[k]];

        if (map->n == n && memcmp(map->at, at, (size_t)n * sizeof *at) == 0) {
            *ret = s->map_slot[k];
            return true;
        }
    }
    *ret = s->map_slot[k] = s->n_maps;
    s->map[s->n_maps++] = (clv_pack_map){ at, n };
    return true;
}

static bool room_for_sum(clv_pack_sums *s)
{
    int32_t n = s->n_sum_slots * 2;

    if (!CLV_PUSH_ROOM(s->arena, s->sum, s->n_sums, s->cap_sums))
        return false;
    if (2 * s->n_sums < s->n_sum_slots)
        return true;
    s->sum_slot = new_slots(s->arena, n);
    s->n_sum_slots = n;
    for (int32_t i = 0; s->sum_slot && i < s->n_sums; i++)
        insert_slot(s->sum_slot, n, hash_of_sum(s->sum[i].part, s->sum[i].n_parts), i);
    return s->sum_slot != NULL;
}

/* A sum of two in which never stays never; both may be more than it. *big: the sum reached never
 * without one. */
static inline int64_t add(int64_t a, int64_t b, bool *big)
{
    bool never = (a >= CLV_INTRA_OP_NEVER) | (b >= CLV_INTRA_OP_NEVER);
    int64_t sum = never ? CLV_INTRA_OP_NEVER : a + b;

    *big |= !never & (sum >= CLV_INTRA_OP_NEVER);
    return sum;
}

/* The part's entries for choice i of a, one for each of b. */
static void read_row(const clv_pack_sums *s, const clv_pack_part *x, int32_t i, int32_t n_b,
                     int64_t *to)
{
    const int32_t *map_a = s->map[x->map_a].at, *map_b = s->map[x->map_b].at;
    const clv_pre_matrix *m = &s->set->of[x->matrix];
    int64_t columns = m->n / m->rows, own = map_a ? map_a[i] : i;
    const int64_t *row = m->entry + (x->turned ? own : columns * own);
    int64_t step = x->turned ? columns : 1;

    if (!map_b && !x->turned)
        memcpy(to, row, (size_t)n_b * sizeof *to);
    else
        for (int32_t j = 0; j < n_b; j++)
            to[j] = row[step * (map_b ? map_b[j] : j)];
}

/* The parts added up in the scratch, which has room for one more row. */
static void add_up(clv_pack_sums *s, const clv_pack_part *x, int32_t n, int32_t n_a, int32_t n_b)
{
    int64_t *more = s->scratch + (int64_t)n_a * n_b;
    bool big = s->big;

    for (int32_t i = 0; i < n_a; i++) {
        int64_t *to = s->scratch + (int64_t)i * n_b;

        read_row(s, x, i, n_b, to);
        for (int32_t j = 0; j < n_b; j++) /* a given never may be more than it */
            to[j] = to[j] < CLV_INTRA_OP_NEVER ? to[j] : CLV_INTRA_OP_NEVER;
        for (int32_t k = 1; k < n; k++) {
            read_row(s, x + k, i, n_b, more);
            for (int32_t j = 0; j < n_b; j++)
                to[j] = add(to[j], more[j], &big);
        }
    }
    s->big = big;
}

/* An entry less what goes to a node; never, where the node's cost is never, says that already. */
static inline int64_t less(int64_t entry, int64_t least)
{
    if (least == CLV_INTRA_OP_NEVER)
        return 0;
    return entry < CLV_INTRA_OP_NEVER ? entry - least : entry;
}

/* Takes the least of each row and then of each column out of the scratch. False: nothing is left.
 */
static bool settle(clv_pack_sums *s, int32_t n_a, int32_t n_b, int64_t *rows, int64_t *columns)
{
    int64_t any = 0;

    for (int32_t j = 0; j < n_b; j++)
        columns[j] = CLV_INTRA_OP_NEVER;
    for (int32_t i = 0; i < n_a; i++) {
        int64_t *row = s->scratch + (int64_t)i * n_b, least = CLV_INTRA_OP_NEVER;

        for (int32_t j = 0; j < n_b; j++)
            least = row[j] < least ? row[j] : least;
        rows[i] = least;
        for (int32_t j = 0; j < n_b; j++) {
            row[j] = less(row[j], least);
            columns[j] = row[j] < columns[j] ? row[j] : columns[j];
        }
    }
    for (int32_t i = 0; i < n_a; i++) {
        int64_t *row = s->scratch + (int64_t)i * n_b;

        for (int32_t j = 0; j < n_b; j++) {
            row[j] = less(row[j], columns[j]);
            any |= row[j];
        }
    }
    return any != 0;
}

static bool make(clv_pack_sums *s, clv_pack_sum *x, int32_t n_a, int32_t n_b)
{
    int64_t room = ((int64_t)n_a + 1) * n_b;

    x->rows = CLV_NEW_ARRAY(s->arena, int64_t, n_a);
    x->columns = CLV_NEW_ARRAY(s->arena, int64_t, n_b);
    if (!x->rows || !x->columns)
        return false;
    if (room > s->cap_scratch) {
        s->cap_scratch = 2 * room;
        s->scratch = CLV_NEW_ARRAY(s->arena, int64_t, s->cap_scratch);
        if (!s->scratch)
            return false;
    }
    add_up(s, x->part, x->n_parts, n_a, n_b);
    x->matrix = -1;
    if (!settle(s, n_a, n_b, x->rows, x->columns))
        return true;
    if (!clv_pre_matrices_intern(s->set, (int64_t)n_a * n_b, n_a, s->scratch, &x->matrix))
        return false;
    s->set->of[x->matrix].settled = true;
    return true;
}

const clv_pack_sum *clv_pack_sum_of(clv_pack_sums *s, const clv_pack_part *part, int32_t n,
                                    int32_t n_a, int32_t n_b)
{
    uint64_t hash = hash_of_sum(part, n), k;
    clv_pack_sum *x;

    if (!room_for_sum(s))
        return NULL;
    k = hash & (uint64_t)(s->n_sum_slots - 1);
    for (; s->sum_slot[k] >= 0; k = (k + 1) & (uint64_t)(s->n_sum_slots - 1)) {
        x = &s->sum[s->sum_slot[k]];
        bool equal = x->n_parts == n;
        for (int32_t i = 0; equal && i < n; i++)
            equal = x->part[i].matrix == part[i].matrix && x->part[i].turned == part[i].turned &&
                    x->part[i].map_a == part[i].map_a && x->part[i].map_b == part[i].map_b;
        if (equal)
            return x;
    }
    x = &s->sum[s->n_sums];
    *x = (clv_pack_sum){ .part = part, .n_parts = n };
    if (!make(s, x, n_a, n_b))
        return NULL;
    s->sum_slot[k] = s->n_sums++;
    return x;
}
