/* device_order.c - insertion sorts: few devices, and stable. */
#include "solver/device_order.h"

static bool comes_before(const clv_line *l, clv_device_order how, int32_t a, int32_t b)
{
    const clv_partition *p = l->p;
    if (how == CLV_BY_CAPACITY)
        return p->capacity_bytes[a] > p->capacity_bytes[b];
    if (how == CLV_MIXED)
        return l->spread[a] < l->spread[b];
    size_t n = (size_t)p->n_units + 1;
    int64_t all_a = l->time[(size_t)p->kind_of[a] * n + n - 1];
    int64_t all_b = l->time[(size_t)p->kind_of[b] * n + n - 1];
    return how == CLV_SLOWEST_FIRST ? all_a > all_b : all_a < all_b;
}

static bool order_by_rules(const clv_partition *p, clv_obey *obey, int32_t *order)
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
