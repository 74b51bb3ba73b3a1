/* sums.h - the arithmetic that the estimate and the search share, so that both mean the same by it.
 */
#ifndef CLV_PROBLEM_SUMS_H
#define CLV_PROBLEM_SUMS_H

#include <math.h>

#include "problem/partition.h"

/* No sum of real times or sizes comes near this; what is dearer counts as this, so that sums of a
 * few such numbers still hold. */
#define CLV_SUM_MAX (INT64_MAX / 4)

/* For numbers that are not negative. */
static inline int64_t clv_add_sat(int64_t a, int64_t b)
{
    return a > CLV_SUM_MAX - b ? CLV_SUM_MAX : a + b;
}

/* Time on the wire of one transfer, rounded up. 0 on one device. */
static inline int64_t clv_wire_ns(const clv_partition *p, int32_t from, int32_t to, int64_t bytes)
{
    if (from == to || bytes == 0)
        return 0;
    size_t link = (size_t)from * (size_t)p->n_devices + (size_t)to;
    double ns = ceil((double)bytes / p->link_bytes_per_s[link] * 1e9);
    if (ns >= (double)CLV_SUM_MAX || p->link_latency_ns[link] >= CLV_SUM_MAX)
        return CLV_SUM_MAX;
    return clv_add_sat(p->link_latency_ns[link], (int64_t)ns);
}

static inline int64_t clv_unit_ns(const clv_partition *p, int32_t unit, int32_t device)
{
    return p->time_ns[(size_t)p->kind_of[device] * (size_t)p->n_units + (size_t)unit];
}

/* From the start of its unit, on a device of this kind, until a net is written. */
static inline int64_t clv_net_ready_ns(const clv_partition *p, int32_t net, int32_t kind)
{
    if (p->net_ready_ns)
        return p->net_ready_ns[(size_t)kind * (size_t)p->n_nets + (size_t)net];
    return p->time_ns[(size_t)kind * (size_t)p->n_units + (size_t)p->net_from[net]];
}

/* From the start of the unit, on a device of this kind, until reads[read] is needed. */
static inline int64_t clv_read_after_ns(const clv_partition *p, int32_t read, int32_t kind)
{
    if (!p->read_after_ns)
        return 0;
    return p->read_after_ns[(size_t)kind * (size_t)p->reads_first[p->n_units] + (size_t)read];
}

#endif
