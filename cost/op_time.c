#include "cost/op_time.h"

#include <assert.h>
#include <math.h>

#include "cluster/kernel_times.h"

#define NS_PER_S 1e9
/* Nanoseconds that no real operator takes; sums of a few such times still fit 64 bits. */
#define TIME_MAX_NS (INT64_MAX / 4)

static double longest(double a, double b) { return a > b ? a : b; }

/* The device's own numbers where it says nothing of this operator. */
static clv_op_speed speed_of(const clv_device_kind *kind, int32_t speed)
{
    clv_op_speed all = { kind->matrix_efficiency, kind->vector_efficiency, kind->memory_efficiency,
                         kind->launch_ns };
    if (!kind->operators || speed == 0)
        return all;
    clv_op_speed one = kind->operators[speed - 1];
    if (one.matrix_efficiency <= 0)
        one.matrix_efficiency = all.matrix_efficiency;
    if (one.vector_efficiency <= 0)
        one.vector_efficiency = all.vector_efficiency;
    if (one.memory_efficiency <= 0)
        one.memory_efficiency = all.memory_efficiency;
    if (one.launch_ns < 0)
        one.launch_ns = all.launch_ns;
    return one;
}

/* The roofline model, nanoseconds, without the start. */
static double roofline_ns(const clv_op_cost *cost, const clv_device_kind *kind, clv_op_speed s,
                          double bytes)
{
    double moves = bytes / (kind->memory_bytes_per_s * s.memory_efficiency);
    double matrix = (double)cost->matmul_flops * clv_shape_seen(&cost->shape) /
                    (clv_device_matrix_rate(kind, cost->math) *
                     (s.matrix_efficiency / kind->matrix_efficiency));
    double vector = (double)(cost->flops - cost->matmul_flops) /
                    (clv_device_vector_rate(kind, cost->math) *
                     (s.vector_efficiency / kind->vector_efficiency));
    return longest(longest(matrix, vector), moves) * NS_PER_S;
}

/* Of a product or attention by the device's measured times, its start included; that of a product
 * that is packed with others is its share of theirs. */
static bool measured_ns(const clv_op_cost *cost, const clv_device_kind *kind, double *ret)
{
    clv_kernel_shape shape = cost->shape;
    const clv_roofline floor = { clv_device_matrix_rate(kind, cost->math) / kind->matrix_efficiency,
                                 kind->memory_bytes_per_s, kind->cache_bytes };
    if (shape.kind == CLV_SHAPE_NONE)
        return false;
    shape.n = (int64_t)((double)shape.n / cost->share);
    if (!clv_kernel_times_ns(kind->times, &shape, cost->math, &floor, ret))
        return false;
    *ret *= cost->share;
    return true;
}

/* What a kernel in a captured graph takes on a device that was measured: of what is not measured by
 * its kind, the roofline, and at least what it takes to move as many bytes. */
static double captured_ns(const clv_op_cost *cost, const clv_device_kind *kind, double bytes)
{
    clv_op_speed s = speed_of(kind, cost->speed);
    double start = (double)s.launch_ns, moves = 0, ns;
    if (measured_ns(cost, kind, &ns))
        return ns;
    (void)clv_start_ns(kind->times, &start);
    if (cost->result)
        bytes -= (double)cost->write_bytes; /* the product's time has it */
    ns = roofline_ns(cost, kind, s, bytes) + start * cost->starts;
    if (cost->starts == 1 && bytes > 0 && clv_memory_ns(kind->times, bytes, &moves))
        ns = longest(ns, moves);
    return ns;
}

static int64_t time_on(const clv_op_cost *cost, const clv_device_kind *kind,
                       int64_t workspace_bytes)
{
    if (cost->flops == 0 && cost->read_bytes == 0 && cost->write_bytes == 0)
        return cost->link_ns; /* a collective; 0 for views, constants, what is folded */
    int64_t wanted = cost->workspace_bytes, passes = 1;
    if (wanted > workspace_bytes && wanted != 0) { /* cut into passes, each reads all inputs anew */
        assert(workspace_bytes >= 1);
        passes = wanted / workspace_bytes + (wanted % workspace_bytes != 0);
    }
    double read = (double)cost->read_bytes, write = (double)cost->write_bytes;
    clv_op_speed s = speed_of(kind, cost->speed);
    double ns, by_passes = roofline_ns(cost, kind, s, read * (double)passes + write);
    if (cost->captured && kind->times) {
        ns = captured_ns(cost, kind, read + write);
        if (passes > 1) /* which nobody measured */
            ns = longest(ns, by_passes);
    } else
        ns = ceil(by_passes) + (double)s.launch_ns * cost->starts;
    ns = ceil(ns) + (double)cost->link_ns;
    return ns < (double)TIME_MAX_NS ? (int64_t)ns : TIME_MAX_NS;
}

int64_t clv_op_time_ns(const clv_op_cost *cost, const clv_device_kind *kind,
                       int64_t workspace_bytes)
{
    int64_t most = 0;
    for (; kind; kind = kind->beside) {
        int64_t ns = time_on(cost, kind, workspace_bytes);
        most = ns > most ? ns : most;
    }
    return most;
}

int64_t clv_op_workspace(const clv_op_cost *cost, const clv_device_kind *kind, double proportion)
{
    double usable = (double)(kind->memory_bytes - kind->reserved_bytes);
    double most = floor(usable * proportion);
    if (cost->workspace_bytes == 0 || (double)cost->workspace_bytes <= most)
        return cost->workspace_bytes;
    return most >= 1 ? (int64_t)most : 1;
}
