#include "solver/placement/common/fluid_bound.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

struct clv_fluid_item {
    int64_t value, time;
};

/* Sums in doubles lose less than this part; the bound has to be on the safe side. */
#define LOST_BITS 48

static int compare_items(const void *a, const void *b)
{
    const clv_fluid_item *x = a, *y = b;
    double l = (double)x->value * (double)y->time, r = (double)y->value * (double)x->time;
    return l > r ? -1 : l < r;
}

/* Most value within a time, blocks in parts: never less than whole blocks give. Items by value for
 * their time; the last one counts whole, which only makes it more. */
static int64_t knapsack(const clv_fluid_item *items, int32_t n, int64_t free_value, double time)
{
    int64_t value = free_value;
    for (int32_t i = 0; i < n && time > 0; i++) {
        double part = time / (double)items[i].time;
        if (part >= 1)
            value += items[i].value;
        else
            value += (int64_t)ceil(part * (double)items[i].value);
        time -= (double)items[i].time;
    }
    return value + (value >> LOST_BITS) + 1;
}

static void list_items(clv_fluid_bound *s, int32_t kind)
{
    int32_t n = 0;
    for (int32_t u = 0; u < s->b->n; u++) {
        int64_t t = clv_block_time(s->b, kind, u);
        if (t > 0)
            s->items[kind][n++] = (clv_fluid_item){ s->value[u], t };
        else if (t == 0)
            s->free_value[kind] += s->value[u];
    }
    qsort(s->items[kind], (size_t)n, sizeof **s->items, compare_items);
    s->n_items[kind] = n;
}

/* What so many devices of a kind do within the limit. */
static int64_t can_do(const clv_fluid_bound *s, int32_t kind, int32_t devices, int64_t limit)
{
    return knapsack(s->items[kind], s->n_items[kind], s->free_value[kind],
                    (double)devices * (double)limit);
}

void clv_fluid_bound_set_limit(clv_fluid_bound *s, int64_t limit)
{
    for (int32_t k = 0; k < s->b->n_kinds; k++)
        for (int32_t d = 1; d <= s->b->p->kinds[k].count; d++)
            s->can_do[k][d] = can_do(s, k, d, limit);
}

static bool is_enough(const clv_fluid_bound *s, int64_t limit)
{
    int64_t all = 0;
    for (int32_t k = 0; k < s->b->n_kinds; k++)
        if (s->b->p->kinds[k].count > 0)
            all += can_do(s, k, s->b->p->kinds[k].count, limit);
    return all >= s->all_value;
}

int64_t clv_fluid_bound_least_limit(const clv_fluid_bound *s)
{
    int64_t low = 0, high = CLV_TICKS_MAX;
    for (int32_t u = 0; u < s->b->n; u++)
        low = s->value[u] > low ? s->value[u] : low;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (is_enough(s, middle))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void set_values(clv_fluid_bound *s)
{
    const clv_contraction *b = s->b;
    for (int32_t u = 0; u < b->n; u++) {
        s->value[u] = s->paid_time[u] = CLV_TICKS_MAX;
        for (int32_t k = 0; k < b->n_kinds; k++) {
            int64_t t = clv_block_time(b, k, u);
            if (b->p->kinds[k].count == 0 || t == CLV_BLOCK_NEVER)
                continue;
            s->value[u] = t < s->value[u] ? t : s->value[u];
            if (b->p->kinds[k].pays && t < s->paid_time[u])
                s->paid_time[u] = t;
        }
        assert(s->value[u] < CLV_TICKS_MAX);
        s->all_value += s->value[u];
    }
}

clv_status clv_fluid_bound_new(const clv_contraction *b, clv_arena *arena, clv_fluid_bound *ret,
                               clv_error *err)
{
    clv_fluid_bound s = { .b = b,
                          .value = CLV_NEW_ARRAY(arena, int64_t, b->n),
                          .paid_time = CLV_NEW_ARRAY(arena, int64_t, b->n),
                          .can_do = CLV_NEW_ARRAY(arena, int64_t *, b->n_kinds),
                          .items = CLV_NEW_ARRAY(arena, clv_fluid_item *, b->n_kinds),
                          .n_items = CLV_NEW_ARRAY(arena, int32_t, b->n_kinds),
                          .free_value = CLV_NEW_ARRAY(arena, int64_t, b->n_kinds) };
    bool all = s.value && s.paid_time && s.can_do && s.items && s.n_items && s.free_value;
    for (int32_t k = 0; k < b->n_kinds && all; k++) {
        s.can_do[k] = CLV_NEW_ARRAY(arena, int64_t, b->p->kinds[k].count + 1);
        s.items[k] = CLV_NEW_ARRAY(arena, clv_fluid_item, b->n);
        all = s.can_do[k] && s.items[k];
    }
    if (!all)
        return clv_fail_nomem(err, "the share of each device");
    set_values(&s);
    for (int32_t k = 0; k < b->n_kinds; k++)
        list_items(&s, k);
    *ret = s;
    return CLV_OK;
}
