#include "problem/latency_estimate.h"

#include <string.h>

#include "problem/sums.h"

#define STATES 256 /* kept at most: more hardly make a run of a changed assignment shorter */

clv_status clv_latency_estimate_new(const clv_partition_problem *p, clv_arena *arena,
                                    clv_latency_estimate *ret, clv_error *err)
{
    size_t d = (size_t)p->n_devices;
    *ret = (clv_latency_estimate){ .p = p,
                                   .stride = p->n_units / STATES + 1,
                                   .states = CLV_NEW_ARRAY(arena, int64_t, d * STATES),
                                   .ready_ns = CLV_NEW_ARRAY(arena, int64_t, d),
                                   .done_ns = CLV_NEW_ARRAY(arena, int64_t, p->n_nets),
                                   .changed_ns = CLV_NEW_ARRAY(arena, int64_t, p->n_nets) };
    if (!ret->states || !ret->ready_ns || !ret->done_ns || !ret->changed_ns)
        return clv_fail_nomem(err, "the latency of assignments");
    return CLV_OK;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* The earliest start of a unit on a device so that the net of this read is there when needed. What
 * the device wrote itself is there: it has run that unit. */
static int64_t start_for(const clv_latency_estimate *l, const int32_t *device_of, int32_t device,
                         int32_t read)
{
    const clv_partition_problem *p = l->p;
    int32_t net = p->reads[read], from = device_of[p->net_from[net]];
    if (from == device || (p->net_known && p->net_known[net]))
        return 0;
    int64_t done_ns = net < l->first_changed ? l->done_ns[net] : l->changed_ns[net];
    int64_t arrival = clv_add_sat(done_ns, clv_wire_ns(p, from, device, p->net_bytes[net]));
    return arrival - clv_read_after_ns(p, read, p->kind_of[device]);
}

/* Runs one unit: it stalls at each read that is not there yet, and all that follows is later. */
static void run_unit(clv_latency_estimate *l, const int32_t *device_of, int32_t u, int64_t *done_ns)
{
    const clv_partition_problem *p = l->p;
    int32_t d = device_of[u], read = p->reads_first[u], end = p->reads_first[u + 1];
    int64_t start = l->ready_ns[d];
    for (int32_t net = p->unit_first_net[u]; net < p->unit_first_net[u + 1]; net++) {
        int32_t before = p->net_reads ? p->reads_first[u] + p->net_reads[net] : end;
        for (; read < before; read++)
            start = larger(start, start_for(l, device_of, d, read));
        done_ns[net] = clv_add_sat(start, clv_net_ready_ns(p, net, p->kind_of[d]));
    }
    for (; read < end; read++)
        start = larger(start, start_for(l, device_of, d, read));
    l->ready_ns[d] = clv_add_sat(start, clv_unit_ns(p, u, d));
}

/* Devices are never ready earlier than before, so the end of all is in the last state. */
static int64_t latest(const clv_latency_estimate *l)
{
    int64_t ns = 0;
    for (int32_t d = 0; d < l->p->n_devices; d++)
        ns = larger(ns, l->ready_ns[d]);
    return ns;
}

int64_t clv_latency_estimate_whole(clv_latency_estimate *l, const int32_t *device_of)
{
    size_t d = (size_t)l->p->n_devices, bytes = d * sizeof *l->ready_ns;
    l->first_changed = l->p->n_nets;
    memset(l->ready_ns, 0, bytes);
    for (int32_t u = 0; u < l->p->n_units; u++) {
        if (u % l->stride == 0)
            memcpy(l->states + (size_t)(u / l->stride) * d, l->ready_ns, bytes);
        run_unit(l, device_of, u, l->done_ns);
    }
    return latest(l);
}

int64_t clv_latency_estimate_changed(clv_latency_estimate *l, const int32_t *device_of,
                                     int32_t first_unit)
{
    size_t d = (size_t)l->p->n_devices;
    int32_t state = first_unit / l->stride, u = state * l->stride;
    l->first_changed = l->p->unit_first_net[u];
    memcpy(l->ready_ns, l->states + (size_t)state * d, d * sizeof *l->ready_ns);
    for (; u < l->p->n_units; u++)
        run_unit(l, device_of, u, l->changed_ns);
    return latest(l);
}
