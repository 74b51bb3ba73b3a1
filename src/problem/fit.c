#include "problem/fit.h"

#include <assert.h>
#include <stdlib.h>

#include "base/compare.h"
#include "problem/sums.h"

typedef struct {
    int64_t live_bytes, weight_bytes;
    int32_t unit;
} need;

typedef struct {
    const clv_partition_problem *p;
    need *needs;                       /* most alive first */
    int64_t *capacity_bytes;           /* largest first */
    int64_t weights_bytes, room_bytes; /* all weights, all devices */
} bound;

static int most_alive_first(const void *a, const void *b)
{
    const need *x = a, *y = b;
    if (x->live_bytes != y->live_bytes)
        return x->live_bytes < y->live_bytes ? 1 : -1;
    return x->unit - y->unit;
}

/* Fractional packing: weights that find room, units cut where a device is full; all devices of one
 * capacity, or of their own where that is 0. Largest first is the best order: the first so many
 * devices then have the most bytes, and take the most off what the others must hold. */
static int64_t packable_bytes(const bound *b, int64_t capacity_bytes)
{
    int64_t packed = 0, end = 0; /* end: of the weights up to needs[u] */
    int32_t u = -1, n = b->p->n_units;
    for (int32_t d = 0; d < b->p->n_devices; d++) {
        while (u < n && (u < 0 || end <= packed))
            end += ++u < n ? b->needs[u].weight_bytes : 0;
        if (u == n)
            break;
        int64_t room =
            (capacity_bytes ? capacity_bytes : b->capacity_bytes[d]) - b->needs[u].live_bytes;
        packed = room > 0 ? clv_add_sat(packed, room) : packed;
    }
    return packed < b->weights_bytes ? packed : b->weights_bytes;
}

/* The plainest reason is the one reported: all weights, then one unit, then both together. */
static clv_fit_bound bound_of(const bound *b)
{
    const need *worst = NULL;
    int64_t most = 0, largest = b->capacity_bytes[0], n = b->p->n_units;
    for (int32_t u = 0; u < n; u++) {
        int64_t all = clv_add_sat(b->needs[u].live_bytes, b->needs[u].weight_bytes);
        if (all > most) {
            most = all;
            worst = &b->needs[u];
        }
    }
    /* by bisection the smallest capacity that lets all weights in */
    int64_t low = 0, high = clv_add_sat(b->weights_bytes, n ? b->needs[0].live_bytes : 0);
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (middle > 0 && packable_bytes(b, middle) == b->weights_bytes)
            high = middle;
        else
            low = middle + 1;
    }
    int64_t least = most > high ? most : high, packed = packable_bytes(b, 0);
    if (b->weights_bytes > b->room_bytes)
        return (clv_fit_bound){ least, true, -1, 0, b->weights_bytes, b->room_bytes };
    if (most > largest)
        return (clv_fit_bound){ least,  true, worst->unit, worst->live_bytes, worst->weight_bytes,
                                largest };
    if (packed < b->weights_bytes)
        return (clv_fit_bound){ least, true, -1, b->needs[0].live_bytes, b->weights_bytes, packed };
    return (clv_fit_bound){ .least_bytes = least, .unit = -1 };
}

clv_status clv_partition_fit_bound(const clv_partition_problem *p, const int64_t *live_bytes,
                                   clv_arena *arena, clv_fit_bound *ret, clv_error *err)
{
    assert(p && ret && p->n_devices > 0);
    clv_mark mark = clv_arena_mark(arena);
    bound b = { .p = p,
                .needs = CLV_NEW_ARRAY(arena, need, p->n_units),
                .capacity_bytes = CLV_NEW_ARRAY(arena, int64_t, p->n_devices) };
    if (!b.needs || !b.capacity_bytes)
        return clv_fail_nomem(err, "the memory that units need");
    for (int32_t u = 0; u < p->n_units; u++) {
        b.needs[u] = (need){ live_bytes ? live_bytes[u] : 0, p->weight_bytes[u], u };
        b.weights_bytes = clv_add_sat(b.weights_bytes, p->weight_bytes[u]);
    }
    for (int32_t d = 0; d < p->n_devices; d++) {
        b.capacity_bytes[d] = p->capacity_bytes[d];
        b.room_bytes = clv_add_sat(b.room_bytes, p->capacity_bytes[d]);
    }
    if (p->n_units > 0)
        qsort(b.needs, (size_t)p->n_units, sizeof *b.needs, most_alive_first);
    qsort(b.capacity_bytes, (size_t)p->n_devices, sizeof *b.capacity_bytes, clv_compare_int64_down);
    *ret = bound_of(&b);
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}
