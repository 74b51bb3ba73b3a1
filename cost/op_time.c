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
typedef struct {
    double computes, moves;
} roofline;

static roofline roofline_of(const clv_op_cost *cost, const clv_device_kind *kind, clv_op_speed s,
                            double bytes)
{
    double moves = bytes / (kind->memory_bytes_per_s * s.memory_efficiency);
    double matrix = (double)cost->matmul_flops * clv_shape_seen(&cost->shape) /
                    (clv_device_matrix_rate(kind, cost->math) *
                     (s.matrix_efficiency / kind->matrix_efficiency));
    double vector = (double)(cost->flops - cost->matmul_flops) /
                    (clv_device_vector_rate(kind, cost->math) *
                     (s.vector_efficiency / kind->vector_efficiency));
    return (roofline){ longest(matrix, vector) * NS_PER_S, moves * NS_PER_S };
}

/* Of a product or attention by the device's measured times, its start included, as if its operands
 * of its own type were of this one; that of a product that is packed with others is its share of
 * theirs. */
static bool measured_ns(const clv_op_cost *cost, const clv_device_kind *kind, clv_dtype math,
                        double *ret)
{
    if (cost->shape.kind == CLV_SHAPE_NONE)
        return false;
    clv_kernel_shape shape = cost->shape;
    const clv_roofline floor = { clv_device_matrix_rate(kind, math) / kind->matrix_efficiency,
                                 kind->memory_bytes_per_s, kind->cache_bytes };
    if (shape.weights == cost->math)
        shape.weights = math;
    if (shape.kind == CLV_SHAPE_PRODUCT)
        shape.n = (int64_t)((double)shape.n / cost->share);
    if (!clv_kernel_times_ns(kind->times, &shape, math, &floor, ret))
        return false;
    if (cost->quantised && shape.kind == CLV_SHAPE_PRODUCT)
        *ret = longest(
            *ret - clv_quantising_ns(kind->times, math, shape.weights,
                                     (double)shape.batch * (double)shape.m * (double)shape.k),
            clv_roofline_ns(&floor, clv_kernel_shape_work(&shape, math)));
    *ret *= cost->share;
    return true;
}

/* Nanoseconds, the start included. */
typedef struct {
    double ns, start;
    bool moves; /* bound by memory */
    clv_basis basis;
} timed;

/* What a kernel in a captured graph takes on a device that was measured, r by its roofline: of what
 * is not measured by its kind, that, and at least what it takes to move as many bytes; in FLOAT at
 * least what it takes in BFLOAT16, which has half the bytes and twice the rate. */
static timed captured(const clv_op_cost *cost, const clv_device_kind *kind, clv_op_speed s,
                      roofline r)
{
    double bytes = (double)cost->read_bytes + (double)cost->write_bytes;
    double start = (double)s.launch_ns, moves = 0, half, ns;
    (void)clv_start_ns(kind->times, &start);
    start *= cost->starts;
    if (measured_ns(cost, kind, cost->math, &ns))
        return (timed){ ns, start, r.moves > r.computes, CLV_MEASURED };
    if (cost->result) {
        bytes -= (double)cost->write_bytes; /* the product's time has it */
        r = roofline_of(cost, kind, s, bytes);
    }
    ns = longest(r.computes, r.moves) + start;
    if (cost->math == CLV_DT_FLOAT && measured_ns(cost, kind, CLV_DT_BFLOAT16, &half) && half > ns)
        return (timed){ half, start, r.moves > r.computes, CLV_FITTED };
    if (cost->starts == 1 && bytes > 0 && clv_memory_ns(kind->times, bytes, &moves) && moves > ns)
        return (timed){ moves, start, true, CLV_FITTED };
    return (timed){ ns, start, r.moves > r.computes, kind->basis };
}

static timed time_alone(const clv_op_cost *cost, const clv_device_kind *kind,
                        int64_t workspace_bytes)
{
    int64_t wanted = cost->workspace_bytes, passes = 1;
    if (wanted > workspace_bytes && wanted != 0) { /* cut into passes, each reads all inputs anew */
        assert(workspace_bytes >= 1);
        passes = wanted / workspace_bytes + (wanted % workspace_bytes != 0);
    }
    double read = (double)cost->read_bytes, write = (double)cost->write_bytes;
    clv_op_speed s = speed_of(kind, cost->speed);
    roofline once = roofline_of(cost, kind, s, read + write), r = once;
    if (passes > 1)
        r = roofline_of(cost, kind, s, read * (double)passes + write);
    double by_passes = longest(r.computes, r.moves), start = (double)s.launch_ns * cost->starts;
    timed alone = { ceil(by_passes) + start, start, r.moves > r.computes, kind->basis };
    if (!cost->captured || !kind->times)
        return alone;
    timed ret = captured(cost, kind, s, once);
    if (passes > 1 && by_passes > ret.ns) { /* which nobody measured */
        alone.ns = by_passes;
        return alone;
    }
    return ret;
}

static clv_time_parts parts_on(const clv_op_cost *cost, const clv_device_kind *kind,
                               int64_t workspace_bytes)
{
    clv_time_parts ret = { .basis = kind->basis, .communication_basis = cost->link_basis };
    ret.ns[CLV_TIME_COMMUNICATION] = cost->link_ns;
    if (cost->flops == 0 && cost->read_bytes == 0 && cost->write_bytes == 0)
        return ret; /* a collective; 0 for views, constants, what is folded */
    timed t = time_alone(cost, kind, workspace_bytes);
    double ns = ceil(t.ns), most = (double)TIME_MAX_NS - (double)cost->link_ns;
    int64_t all = ns < most ? (int64_t)ns : TIME_MAX_NS - cost->link_ns;
    int64_t start = t.start < (double)all ? (int64_t)t.start : all;
    ret.ns[CLV_TIME_LAUNCH] = start;
    ret.ns[t.moves ? CLV_TIME_MEMORY : CLV_TIME_COMPUTE] = all - start;
    ret.basis = t.basis;
    return ret;
}

static int64_t sum_of(const clv_time_parts *parts)
{
    int64_t sum = 0;
    for (int32_t c = 0; c < CLV_N_TIME_CAUSES; c++)
        sum += parts->ns[c];
    return sum;
}

clv_time_parts clv_op_time_parts(const clv_op_cost *cost, const clv_device_kind *kind,
                                 int64_t workspace_bytes)
{
    clv_time_parts slowest = parts_on(cost, kind, workspace_bytes);
    for (kind = kind->beside; kind; kind = kind->beside) {
        clv_time_parts parts = parts_on(cost, kind, workspace_bytes);
        if (sum_of(&parts) > sum_of(&slowest))
            slowest = parts;
    }
    return slowest;
}

int64_t clv_op_time_ns(const clv_op_cost *cost, const clv_device_kind *kind,
                       int64_t workspace_bytes)
{
    clv_time_parts parts = clv_op_time_parts(cost, kind, workspace_bytes);
    return sum_of(&parts);
}

int64_t clv_op_workspace(int64_t wanted, const clv_device_kind *kind, double proportion)
{
    if (wanted == 0)
        return 0;
    double most = floor((double)clv_device_capacity(kind) * clv_proportion_of(proportion, kind));
    if ((double)wanted <= most)
        return wanted;
    return most >= 1 ? (int64_t)most : 1;
}
