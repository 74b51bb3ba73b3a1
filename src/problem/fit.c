#include "problem/fit.h"

#include <assert.h>
#include <stdlib.h>

#include "base/compare.h"
#include "problem/sums.h"

typedef struct {
    int64_t live, weight;
    int32_t unit;
} need;

typedef struct {
    const clv_partition_problem *p;
    need *needs;       /* most alive first */
    int64_t *capacity; /* largest first */
    int64_t weights, room;
} bound;

static int most_alive_first(const void *a, const void *b)
{
    const need *x = a, *y = b;
    if (x->live != y->live)
        return x->live < y->live ? 1 : -1;
    return x->unit - y->unit;
}

/* Weights that find room, units cut where a device is full; all devices of capacity each, or of
 * their own where that is 0. Largest first is the best order: the first so many devices then have
 * the most bytes, and take the most off what the others must hold. */
static int64_t pour(const bound *b, int64_t capacity)
{
    int64_t poured = 0, end = 0; /* end: of the weights up to needs[u] */
    int32_t u = -1, n = b->p->n_units;
    for (int32_t d = 0; d < b->p->n_devices; d++) {
        while (u < n && (u < 0 || end <= poured))
            end += ++u < n ? b->needs[u].weight : 0;
        if (u == n)
            break;
        int64_t room = (capacity ? capacity : b->capacity[d]) - b->needs[u].live;
        poured = room > 0 ? clv_add_sat(poured, room) : poured;
    }
    return poured < b->weights ? poured : b->weights;
}

/* The smallest capacity that lets all weights in. */
static int64_t least_of_all(const bound *b)
{
    int64_t low = 0, high = clv_add_sat(b->weights, b->p->n_units ? b->needs[0].live : 0);
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (middle > 0 && pour(b, middle) == b->weights)
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}

/* The plainest reason is the one that is told: all weights, then one unit, then both together. */
static clv_fit_bound look(const bound *b)
{
    clv_fit_bound ret = { .least_bytes = least_of_all(b), .unit = -1 };
    const need *worst = NULL;
    int64_t most = 0, largest = b->capacity[0], n = b->p->n_units;
    for (int32_t u = 0; u < n; u++) {
        int64_t all = clv_add_sat(b->needs[u].live, b->needs[u].weight);
        if (all > most) {
            most = all;
            worst = &b->needs[u];
        }
    }
    ret.least_bytes = most > ret.least_bytes ? most : ret.least_bytes;
    int64_t poured = pour(b, 0);
    if (b->weights > b->room)
        return (clv_fit_bound){ ret.least_bytes, true, -1, 0, b->weights, b->room };
    if (most > largest)
        return (clv_fit_bound){ ret.least_bytes, true,          worst->unit,
                                worst->live,     worst->weight, largest };
    if (poured < b->weights)
        return (clv_fit_bound){ ret.least_bytes, true, -1, b->needs[0].live, b->weights, poured };
    return ret;
}

clv_status clv_partition_fit_bound(const clv_partition_problem *p, const int64_t *live_bytes,
                                   clv_arena *arena, clv_fit_bound *ret, clv_error *err)
{
    assert(p && ret && p->n_devices > 0);
    clv_mark mark = clv_arena_mark(arena);
    bound b = { .p = p,
                .needs = CLV_NEW_ARRAY(arena, need, p->n_units),
                .capacity = CLV_NEW_ARRAY(arena, int64_t, p->n_devices) };
    if (!b.needs || !b.capacity)
        return clv_fail_nomem(err, "the memory that units need");
    for (int32_t u = 0; u < p->n_units; u++) {
        b.needs[u] = (need){ live_bytes ? live_bytes[u] : 0, p->weight_bytes[u], u };
        b.weights = clv_add_sat(b.weights, p->weight_bytes[u]);
    }
    for (int32_t d = 0; d < p->n_devices; d++) {
        b.capacity[d] = p->capacity_bytes[d];
        b.room = clv_add_sat(b.room, p->capacity_bytes[d]);
    }
    if (p->n_units > 0)
        qsort(b.needs, (size_t)p->n_units, sizeof *b.needs, most_alive_first);
    qsort(b.capacity, (size_t)p->n_devices, sizeof *b.capacity, clv_compare_int64_down);
    *ret = look(&b);
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}
