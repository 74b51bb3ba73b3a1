/* measured_lines.c - measured times are lines for ranges of sizes: latency, and the protocols of a
 * library one after the other. The lower envelope of a few lines is within some percent of them,
 * and joins other lines in hierarchies.
 */
#include "cost/measured_lines.h"

#include <math.h>

#include "cluster/kernel_times.h"

#define N_SIZES CLV_POINTS_MAX /* 256 B to 1 GiB, by twos */
/* Lines are parts of hierarchies only, and are found anew for each mesh: a few, through every
 * second size, are near enough. */
#define LINES_FITTED 4
#define STRIDE       2
/* A line more is worth it if the mean square of the error falls by so much. */
#define WORTH 1e-4
/* How much of a route's bandwidth a collective reaches where it was measured over such routes: NCCL
 * over NVLink and PCIe reaches 0.6 to 0.95, and a few percent more where sizes are in cache. */
#define LEAST_OF_ROUTE 0.4
#define MOST_OF_ROUTE  1.1

typedef struct {
    double bytes[N_SIZES], ns[N_SIZES],
        logs[N_SIZES]; /* logs: of the best line so far, beside ns */
    int32_t n;
} samples;

static bool take_samples(const clv_kernel_times *times, clv_timed_operation operation, int32_t n,
                         samples *s)
{
    double most = 0;
    s->n = N_SIZES;
    for (int32_t i = 0; i < N_SIZES; i++) {
        double ns;
        clv_timed_collective what = { operation, n, CLV_POINTS_FROM << i };
        if (!clv_collective_ns(times, &what, &ns))
            return false;
        most = ns > most ? ns : most; /* of several libraries the fastest may not rise */
        s->bytes[i] = (double)what.bytes;
        s->ns[i] = most;
        s->logs[i] = INFINITY;
    }
    return true;
}

/* The mean square of the error with a line more; set: keeps it. */
static double error_with(samples *s, const clv_line *line, bool set)
{
    double sum = 0;
    for (int32_t i = 0; i < s->n; i += STRIDE) {
        double at = (double)line->latency_ns + line->ns_per_byte * s->bytes[i];
        double log_ratio = log((at > 1 ? at : 1) / s->ns[i]);
        double best = log_ratio < s->logs[i] ? log_ratio : s->logs[i];
        sum += best * best;
        if (set)
            s->logs[i] = best;
    }
    return sum * STRIDE / s->n;
}

/* The line through two samples; false: it falls, or begins below 0. */
static bool line_through(const samples *s, int32_t i, int32_t j, clv_line *ret)
{
    double slope = (s->ns[j] - s->ns[i]) / (s->bytes[j] - s->bytes[i]);
    double at_0 = s->ns[i] - slope * s->bytes[i];
    *ret = (clv_line){ (int64_t)at_0, slope, CLV_BY_LIBRARY, 0 };
    return slope >= 0 && at_0 >= 0;
}

/* Lines through two of the samples each, the one first that takes away most of the error. */
static void fit_lines(samples *s, clv_lines *ret)
{
    double before = INFINITY;
    ret->n = 0;
    for (int32_t k = 0; k < LINES_FITTED; k++) {
        clv_line best = { 0 }, line;
        double least = INFINITY;
        for (int32_t i = 0; i < s->n; i += STRIDE)
            for (int32_t j = i + STRIDE; j < s->n; j += STRIDE) {
                double error =
                    line_through(s, i, j, &line) ? error_with(s, &line, false) : INFINITY;
                if (error < least) {
                    least = error;
                    best = line;
                }
            }
        if (!(least < before - WORTH))
            return;
        before = error_with(s, &best, true);
        clv_lines_add(ret, best);
    }
}

/* Times of all devices, if they are the same; NULL. */
static const clv_kernel_times *times_of(const clv_rounds *r)
{
    const clv_kernel_times *times = clv_device_kind_of(r->cluster, r->member[0])->times;
    for (int32_t i = 1; i < r->n_groups * r->p && times; i++)
        if (clv_device_kind_of(r->cluster, r->member[i])->times != times)
            times = NULL;
    return times;
}

/* The bandwidth of all routes inside groups; 0: they differ. */
static double bandwidth_inside(const clv_rounds *r)
{
    double rate = 0;
    for (int32_t g = 0; g < r->n_groups; g++)
        for (int32_t i = 0; i < r->p; i++)
            for (int32_t j = 0; j < r->p; j++) {
                const int32_t *member = &r->member[g * r->p];
                double one = clv_route_between(r->cluster, member[i], member[j])->bytes_per_s;
                if (i == j)
                    continue;
                if (rate > 0 && one != rate)
                    return 0;
                rate = one;
            }
    return rate;
}

/* Were they measured over routes like these? By what an all-gather of the largest size reaches. */
static bool are_like(const clv_rounds *r, const samples *gather)
{
    double sent = gather->bytes[N_SIZES - 1] * (r->p - 1) / r->p;
    double reached = sent / gather->ns[N_SIZES - 1] * 1e9, rate = bandwidth_inside(r);
    return reached >= LEAST_OF_ROUTE * rate && reached <= MOST_OF_ROUTE * rate;
}

static const clv_timed_operation OPERATIONS[CLV_N_COLLECTIVES] = {
    [CLV_ALL_GATHER] = CLV_TIMED_ALL_GATHER,
    [CLV_REDUCE_SCATTER] = CLV_TIMED_REDUCE_SCATTER,
    [CLV_ALL_REDUCE] = CLV_TIMED_ALL_REDUCE,
    [CLV_ALL_TO_ALL] = CLV_TIMED_ALLTOALL,
};

/* Those that were measured between such devices; NULL. */
static const clv_kernel_times *measured_between(const clv_rounds *r, samples *s)
{
    const clv_kernel_times *times = times_of(r);
    bool like = times && take_samples(times, CLV_TIMED_ALL_GATHER, r->p, s) && are_like(r, s);
    return like ? times : NULL;
}

void clv_measured_lines(const clv_rounds *r, clv_line_set *ret)
{
    samples s;
    const clv_kernel_times *times = measured_between(r, &s);
    for (int32_t k = 0; times && k < CLV_BROADCAST; k++)
        if (take_samples(times, OPERATIONS[k], r->p, &s))
            fit_lines(&s, &ret->of[k]);
}

void clv_measured_points(const clv_rounds *r, clv_collective collective, double overlap,
                         clv_curve *ret)
{
    samples s;
    const clv_kernel_times *times = measured_between(r, &s);
    if (!times || collective == CLV_BROADCAST ||
        !take_samples(times, OPERATIONS[collective], r->p, &s))
        return;
    ret->n_points = s.n;
    for (int32_t i = 0; i < s.n; i++)
        ret->ns[i] = s.ns[0] + (s.ns[i] - s.ns[0]) * (1 - overlap);
}
