/* device_order.c - insertion sorts: few devices, and stable. */
#include "solver/partition/device_order.h"

#define HALF 0.5 /* of clv_line's spread, from 0 to 1 */

/* Time of all units on a device. */
static int64_t all_of(const clv_line *l, int32_t device)
{
    size_t n = (size_t)l->p->n_units + 1;
    return l->time[(size_t)l->p->kind_of[device] * n + n - 1];
}

/* The further, the faster; to the left those of the first half of their kind. */
static int64_t from_the_middle(const clv_line *l, int32_t device)
{
    int64_t ns = CLV_SUM_MAX - all_of(l, device);
    return l->spread[device] < HALF ? -ns : ns;
}

static bool comes_before(const clv_line *l, clv_device_order how, int32_t a, int32_t b)
{
    const clv_partition_problem *p = l->p;
    if (how == CLV_BY_CAPACITY)
        return p->capacity_bytes[a] > p->capacity_bytes[b];
    if (how == CLV_MIXED)
        return l->spread[a] < l->spread[b];
    if (how == CLV_FASTEST_OUTSIDE)
        return from_the_middle(l, a) < from_the_middle(l, b);
    int64_t all_a = all_of(l, a), all_b = all_of(l, b);
    return how == CLV_SLOWEST_FIRST ? all_a > all_b : all_a < all_b;
}

static bool order_by_rules(const clv_partition_problem *p, clv_obey *obey, int32_t *order)
{
    bool changed = false;
    if (!obey)
        return false;
    clv_obey_order(obey, order);
    for (int32_t d = 0; d < p->n_devices; d++)
        changed |= order[d] != d;
    return changed;
}

bool clv_order_devices(const clv_line *l, clv_obey *obey, clv_device_order how, int32_t *order)
{
    bool changed = false;
    if (how == CLV_BY_RULES)
        return order_by_rules(l->p, obey, order);
    for (int32_t d = 0; d < l->p->n_devices; d++) {
        int32_t i = d;
        for (; i > 0 && how != CLV_AS_GIVEN && comes_before(l, how, d, order[i - 1]); i--) {
            order[i] = order[i - 1];
            changed = true;
        }
        order[i] = d;
    }
    return changed;
}
