#include "solver/partition/device_order.h"

#define HALF 0.5 /* of clv_unit_chain's spread, from 0 to 1 */

/* Time of all units on a device. */
static int64_t all_units_ns(const clv_unit_chain *c, int32_t device)
{
    size_t n = (size_t)c->p->n_units + 1;
    return c->time_ns[(size_t)c->p->kind_of[device] * n + n - 1];
}

/* For CLV_FASTEST_OUTSIDE: the faster, the further from 0; negative in the first half of each kind.
 */
static int64_t distance_from_middle(const clv_unit_chain *c, int32_t device)
{
    int64_t ns = CLV_SUM_MAX - all_units_ns(c, device);
    return c->spread[device] < HALF ? -ns : ns;
}

static bool comes_before(const clv_unit_chain *c, clv_device_order how, int32_t a, int32_t b)
{
    const clv_partition_problem *p = c->p;
    if (how == CLV_BY_CAPACITY)
        return p->capacity_bytes[a] > p->capacity_bytes[b];
    if (how == CLV_MIXED)
        return c->spread[a] < c->spread[b];
    if (how == CLV_FASTEST_OUTSIDE)
        return distance_from_middle(c, a) < distance_from_middle(c, b);
    int64_t all_a = all_units_ns(c, a), all_b = all_units_ns(c, b);
    return how == CLV_SLOWEST_FIRST ? all_a > all_b : all_a < all_b;
}

bool clv_order_devices(const clv_unit_chain *c, clv_rule_repair *repair, clv_device_order how,
                       int32_t *order)
{
    bool changed = false;
    if (how == CLV_BY_RULES) {
        if (!repair)
            return false;
        clv_rule_repair_order(repair, order);
        for (int32_t d = 0; d < c->p->n_devices; d++)
            changed |= order[d] != d;
        return changed;
    }
    /* insertion sort: few devices, and stable */
    for (int32_t d = 0; d < c->p->n_devices; d++) {
        int32_t i = d;
        for (; i > 0 && how != CLV_AS_GIVEN && comes_before(c, how, d, order[i - 1]); i--) {
            order[i] = order[i - 1];
            changed = true;
        }
        order[i] = d;
    }
    return changed;
}
