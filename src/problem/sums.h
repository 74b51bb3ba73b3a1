/* sums.h - the arithmetic that the estimate and the search share, so that both mean the same by it.
 */
#ifndef CLV_PROBLEM_SUMS_H
#define CLV_PROBLEM_SUMS_H

#include <math.h>

#include "problem/partition_problem.h"

/* No sum of real times or sizes comes near this; what is dearer counts as this, so that sums of a
 * few such numbers still hold. */
#define CLV_SUM_MAX (INT64_MAX / 4)

/* CLV_ELIMIT where weights, FLOPs, times or transfers, added up in the dearest way, come near 64
 * bits: if this is well, nothing that the search adds up has to be checked. O(units * kinds + nets
 * + devices^2). */
clv_status clv_partition_check_sums(const clv_partition_problem *p, clv_error *err);

/* For numbers that are not negative. */
static inline int64_t clv_add_sat(int64_t a, int64_t b)
{
    return a > CLV_SUM_MAX - b ? CLV_SUM_MAX : a + b;
}

/* Time on the wire of one transfer, rounded up. 0 on one device. */
static inline int64_t clv_wire_ns(const clv_partition_problem *p, int32_t from, int32_t to,
                                  int64_t bytes)
{
    if (from == to || bytes == 0)
        return 0;
    size_t link = (size_t)from * (size_t)p->n_devices + (size_t)to;
    double ns = ceil((double)bytes / p->link_bytes_per_s[link] * 1e9);
    if (ns >= (double)CLV_SUM_MAX || p->link_latency_ns[link] >= CLV_SUM_MAX)
        return CLV_SUM_MAX;
    return clv_add_sat(p->link_latency_ns[link], (int64_t)ns);
}

/* How many times clv_add_to_ports() adds to. */
static inline int32_t clv_n_ports(const clv_partition_problem *p)
{
    return p->link_first_port ? p->n_ports : p->n_devices * p->n_devices;
}

/* A transfer of so long, or with a negative time one less, on all ports that it occupies. */
static inline void clv_add_to_ports(const clv_partition_problem *p, int32_t from, int32_t to,
                                    int64_t ns, int64_t *port_ns)
{
    size_t link = (size_t)from * (size_t)p->n_devices + (size_t)to;
    if (!p->link_first_port) {
        port_ns[link] = ns < 0 ? port_ns[link] + ns : clv_add_sat(port_ns[link], ns);
        return;
    }
    for (int32_t i = p->link_first_port[link]; i < p->link_first_port[link + 1]; i++) {
        int64_t *port = &port_ns[p->link_ports[i]];
        *port = ns < 0 ? *port + ns : clv_add_sat(*port, ns);
    }
}

/* How long a device takes for a unit. */
static inline int64_t clv_unit_ns(const clv_partition_problem *p, int32_t unit, int32_t device)
{
    return p->time_ns[(size_t)p->kind_of[device] * (size_t)p->n_units + (size_t)unit];
}

/* From the start of its unit, on a device of this kind, until a net is written. */
static inline int64_t clv_net_ready_ns(const clv_partition_problem *p, int32_t net, int32_t kind)
{
    if (p->net_ready_ns)
        return p->net_ready_ns[(size_t)kind * (size_t)p->n_nets + (size_t)net];
    return p->time_ns[(size_t)kind * (size_t)p->n_units + (size_t)p->net_from[net]];
}

/* From the start of the unit, on a device of this kind, until reads[read] is needed. */
static inline int64_t clv_read_after_ns(const clv_partition_problem *p, int32_t read, int32_t kind)
{
    if (!p->read_after_ns)
        return 0;
    return p->read_after_ns[(size_t)kind * (size_t)p->reads_first[p->n_units] + (size_t)read];
}

#endif
