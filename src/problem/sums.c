/* sums.c - do all sums over a problem fit 64 bits? */
#include "problem/sums.h"

/* All transfers one after the other over the worst of all links. */
static double worst_wire_ns(const clv_partition_problem *p)
{
    double latency = 0, per_byte = 0, sum = 0;
    for (int32_t a = 0; a < p->n_devices; a++) {
        for (int32_t b = 0; b < p->n_devices; b++) {
            size_t link = (size_t)a * (size_t)p->n_devices + (size_t)b;
            double ns = (double)p->link_latency_ns[link], byte = 1e9 / p->link_bytes_per_s[link];
            latency = a != b && ns > latency ? ns : latency;
            per_byte = a != b && byte > per_byte ? byte : per_byte;
        }
    }
    for (int32_t n = 0; n < p->n_nets; n++) {
        int32_t readers = p->net_first[n + 1] - p->net_first[n];
        sum += (latency + per_byte * (double)p->net_bytes[n]) *
               (readers < p->n_devices ? readers : p->n_devices);
    }
    return sum;
}

clv_status clv_partition_check_sums(const clv_partition_problem *p, clv_error *err)
{
    double weights = 0, flops = 0, time = 0, bytes = 0;
    for (int32_t u = 0; u < p->n_units; u++) {
        weights += (double)p->weight_bytes[u];
        flops += (double)p->flops[u];
        for (int32_t k = 0; k < p->n_kinds; k++)
            time += (double)p->time_ns[(size_t)k * (size_t)p->n_units + (size_t)u];
    }
    for (int32_t n = 0; n < p->n_nets; n++)
        bytes += (double)p->net_bytes[n];
    const double max = (double)(CLV_SUM_MAX / 4);
    if (weights > max || bytes > max)
        return clv_fail(err, CLV_ELIMIT,
                        "the tensors take %.3g bytes in all, at most %.3g can be counted",
                        weights > bytes ? weights : bytes, max);
    if (flops > max)
        return clv_fail(err, CLV_ELIMIT,
                        "the operators take %.3g FLOPs in all, at most %.3g can be counted", flops,
                        max);
    if (time > max || worst_wire_ns(p) > max)
        return clv_fail(err, CLV_ELIMIT, "the operators or transfers may take more than %.3g ns",
                        max);
    return CLV_OK;
}
