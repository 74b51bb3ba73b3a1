/* measured_lines.c - measured times are lines for ranges of sizes: latency, and the protocols of a
 * library one after the other. The lower envelope of a few lines is within some percent of them,
 * and joins other lines in hierarchies.
 */
#include "cost/measured_lines.h"

#include <math.h>

#define N_SIZES CLV_POINTS_MAX /* 256 B to 1 GiB, by twos */
/* Lines are parts of hierarchies only: a few, through every second size, are near enough. */
#define STRIDE 2
/* A line more is worth it if the mean square of the error falls by so much. */
#define WORTH 1e-4
/* How much of a route's peak a collective reaches where it was measured over such routes: NCCL
 * over NVLink and PCIe reaches 0.6 to 0.95, and a few percent more where sizes are in cache. */
#define LEAST_OF_ROUTE 0.4
#define MOST_OF_ROUTE  1.1

static double size_at(int32_t i) { return (double)(CLV_POINTS_FROM << i); }

/* Of several libraries the fastest may not rise: never less for more bytes. */
static bool take_times(const clv_kernel_times *times, clv_timed_operation operation, int32_t p,
                       double ret[static N_SIZES])
{
    for (int32_t i = 0; i < N_SIZES; i++) {
        const clv_timed_collective what = { operation, p, CLV_POINTS_FROM << i };
        if (!clv_collective_ns(times, &what, &ret[i]))
            return false;
        if (i > 0 && ret[i] < ret[i - 1])
            ret[i] = ret[i - 1];
    }
    return true;
}

/* The mean square of the logarithmic error with a line more. best: the error of the best line so
 * far, by size; keep: with this one too. */
static double error_with(const double *ns, const clv_line *line, double *best, bool keep)
{
    double sum = 0;
    for (int32_t i = 0; i < N_SIZES; i += STRIDE) {
        double at = (double)line->latency_ns + line->ns_per_byte * size_at(i);
        double log_ratio = log((at > 1 ? at : 1) / ns[i]);
        double least = log_ratio < best[i] ? log_ratio : best[i];
        sum += least * least;
        if (keep)
            best[i] = least;
    }
    return sum * STRIDE / N_SIZES;
}

/* The line through two sizes; false: it falls, or begins below 0. */
static bool line_through(const double *ns, int32_t i, int32_t j, clv_line *ret)
{
    double slope = (ns[j] - ns[i]) / (size_at(j) - size_at(i));
    double at_0 = ns[i] - slope * size_at(i);
    *ret = (clv_line){ (int64_t)at_0, slope, CLV_BY_LIBRARY, 0 };
    return slope >= 0 && at_0 >= 0;
}

/* Lines through two of the sizes each, the one first that takes away most of the error. */
static void fit_lines(clv_measured_collective *c)
{
    double best[N_SIZES], before = INFINITY;
    for (int32_t i = 0; i < N_SIZES; i++)
        best[i] = INFINITY;
    for (c->n_lines = 0; c->n_lines < CLV_FITTED_LINES; c->n_lines++) {
        clv_line *next = &c->line[c->n_lines], line;
        double least = INFINITY;
        for (int32_t i = 0; i < N_SIZES; i += STRIDE)
            for (int32_t j = i + STRIDE; j < N_SIZES; j += STRIDE) {
                double error = line_through(c->ns, i, j, &line)
                                   ? error_with(c->ns, &line, best, false)
                                   : INFINITY;
                if (error < least) {
                    least = error;
                    *next = line;
                }
            }
        if (!(least < before - WORTH))
            return;
        before = error_with(c->ns, next, best, true);
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

/* The peak of all routes inside groups; 0: they differ. */
static double peak_inside(const clv_rounds *r)
{
    double rate = 0;
    for (int32_t g = 0; g < r->n_groups; g++)
        for (int32_t i = 0; i < r->p; i++)
            for (int32_t j = 0; j < r->p; j++) {
                const int32_t *member = &r->member[g * r->p];
                double one = clv_route_between(r->cluster, member[i], member[j])->peak_bytes_per_s;
                if (i == j)
                    continue;
                if (rate > 0 && one != rate)
                    return 0;
                rate = one;
            }
    return rate;
}

/* Were they measured over routes like these? By what an all-gather of the largest size reaches. */
static bool are_like(const clv_rounds *r, const double *gather_ns)
{
    double sent = size_at(N_SIZES - 1) * (r->p - 1) / r->p;
    double reached = sent / gather_ns[N_SIZES - 1] * 1e9, rate = peak_inside(r);
    return reached >= LEAST_OF_ROUTE * rate && reached <= MOST_OF_ROUTE * rate;
}

static const clv_timed_operation OPERATIONS[CLV_N_COLLECTIVES] = {
    [CLV_ALL_GATHER] = CLV_TIMED_ALL_GATHER,
    [CLV_REDUCE_SCATTER] = CLV_TIMED_REDUCE_SCATTER,
    [CLV_ALL_REDUCE] = CLV_TIMED_ALL_REDUCE,
    [CLV_ALL_TO_ALL] = CLV_TIMED_ALLTOALL,
};

static clv_measured_group measure(const clv_kernel_times *times, int32_t p)
{
    clv_measured_group group = { .times = times, .p = p };
    for (int32_t k = 0; k < CLV_BROADCAST; k++) {
        clv_measured_collective *c = &group.of[k];
        c->known = take_times(times, OPERATIONS[k], p, c->ns);
        if (c->known)
            fit_lines(c);
    }
    return group;
}

static const clv_measured_group *look_up(const clv_measured_groups *groups,
                                         const clv_kernel_times *times, int32_t p)
{
    for (int32_t i = 0; i < groups->n; i++)
        if (groups->at[i].times == times && groups->at[i].p == p)
            return &groups->at[i];
    return NULL;
}

clv_status clv_measured_groups_make(const clv_cluster *cluster, clv_arena *arena,
                                    const clv_measured_groups **ret, clv_error *err)
{
    clv_measured_groups *groups = CLV_NEW(arena, clv_measured_groups);
    clv_measured_group *at = NULL;
    int32_t cap = 0;
    for (int32_t k = 0; k < cluster->n_kinds && groups; k++)
        for (int32_t p = 2; p <= cluster->n_devices; p++) {
            const clv_kernel_times *times = cluster->kinds[k].times;
            if (!times || cluster->n_devices % p != 0 || look_up(groups, times, p))
                continue;
            if (!CLV_PUSH_ROOM(arena, at, groups->n, cap))
                return clv_fail_nomem(err, "the times of collectives");
            at[groups->n++] = measure(times, p);
            groups->at = at;
        }
    if (!groups)
        return clv_fail_nomem(err, "the times of collectives");
    *ret = groups;
    return CLV_OK;
}

const clv_measured_group *clv_measured_group_of(const clv_rounds *r,
                                                const clv_measured_groups *groups)
{
    const clv_kernel_times *times = times_of(r);
    const clv_measured_group *group = times ? look_up(groups, times, r->p) : NULL;
    bool like =
        group && group->of[CLV_ALL_GATHER].known && are_like(r, group->of[CLV_ALL_GATHER].ns);
    return like ? group : NULL;
}

void clv_measured_lines(const clv_measured_group *group, clv_line_set *ret)
{
    for (int32_t k = 0; k < CLV_N_COLLECTIVES; k++) {
        const clv_measured_collective *c = &group->of[k];
        if (c->known)
            ret->of[k].n = 0;
        for (int32_t i = 0; c->known && i < c->n_lines; i++)
            clv_lines_add(&ret->of[k], c->line[i]);
    }
}

void clv_measured_points(const clv_measured_group *group, double overlap,
                         clv_curve ret[static CLV_N_COLLECTIVES])
{
    for (int32_t k = 0; k < CLV_N_COLLECTIVES; k++) {
        const clv_measured_collective *c = &group->of[k];
        ret[k].n_points = c->known ? N_SIZES : 0;
        for (int32_t i = 0; i < ret[k].n_points; i++)
            ret[k].ns[i] = c->ns[0] + (c->ns[i] - c->ns[0]) * (1 - overlap);
    }
}
