#include "solver/partition/time_calibration.h"

#include "problem/sums.h"

#include <math.h>
#include <string.h>

/* A measured time that differs from the model's by up to this part is the same: it is rounded. */
#define SAME_PART 1e-3
/* Turns over all plans, and units looked at in all of them: some tens of milliseconds. */
#define TURNS_MAX  50
#define TURNS_WORK INT64_C(10000000)
/* Measured times are cut off here (28 hours), so that sums stay in 64 bits. */
#define MEASURED_MAX_NS 1e14

clv_status clv_time_calibration_new(const clv_partition_problem *p, clv_arena *arena,
                                    clv_time_calibration **ret, clv_error *err)
{
    size_t kinds = (size_t)p->n_kinds, units = (size_t)p->n_units;
    size_t nets = p->net_ready_ns ? (size_t)p->n_nets : 0;
    size_t reads = p->read_after_ns ? (size_t)p->reads_first[p->n_units] : 0;
    clv_time_calibration *c = CLV_NEW(arena, clv_time_calibration);
    if (!c)
        return clv_fail_nomem(err, "a search");
    *c = (clv_time_calibration){ .model = p,
                                 .corrected = *p,
                                 .time_ns = CLV_NEW_ARRAY(arena, int64_t, kinds * units),
                                 .net_ready_ns = CLV_NEW_ARRAY(arena, int64_t, kinds * nets),
                                 .read_after_ns = CLV_NEW_ARRAY(arena, int64_t, kinds * reads),
                                 .fitted_ns = CLV_NEW_ARRAY(arena, double, kinds *units),
                                 .sum_ns = CLV_NEW_ARRAY(arena, double, p->n_devices),
                                 .n_units = CLV_NEW_ARRAY(arena, int32_t, p->n_devices) };
    if (!c->time_ns || !c->net_ready_ns || !c->read_after_ns || !c->fitted_ns || !c->sum_ns ||
        !c->n_units)
        return clv_fail_nomem(err, "a search");
    if (kinds * units > 0)
        memcpy(c->time_ns, p->time_ns, kinds * units * sizeof *c->time_ns);
    if (kinds * nets > 0)
        memcpy(c->net_ready_ns, p->net_ready_ns, kinds * nets * sizeof *c->net_ready_ns);
    if (kinds * reads > 0)
        memcpy(c->read_after_ns, p->read_after_ns, kinds * reads * sizeof *c->read_after_ns);
    c->corrected.time_ns = c->time_ns;
    c->corrected.net_ready_ns = p->net_ready_ns ? c->net_ready_ns : NULL;
    c->corrected.read_after_ns = p->read_after_ns ? c->read_after_ns : NULL;
    *ret = c;
    return CLV_OK;
}

static double *time_at(clv_time_calibration *c, int32_t device, int32_t unit)
{
    const clv_partition_problem *p = c->model;
    return c->fitted_ns + (size_t)p->kind_of[device] * (size_t)p->n_units + (size_t)unit;
}

/* Time and units of a plan, by device. */
static void sum_devices(clv_time_calibration *c, const int32_t *device_of)
{
    memset(c->sum_ns, 0, (size_t)c->model->n_devices * sizeof *c->sum_ns);
    memset(c->n_units, 0, (size_t)c->model->n_devices * sizeof *c->n_units);
    for (int32_t u = 0; u < c->model->n_units; u++) {
        c->sum_ns[device_of[u]] += *time_at(c, device_of[u], u);
        c->n_units[device_of[u]]++;
    }
}

/* Was any device of the plan measured? Other proportions have other times. */
static bool is_measured(const clv_candidate_queue *queue, int32_t plan)
{
    const clv_candidate *t = &queue->tried[plan];
    if (t->verdict.outcome != CLV_FITS || t->proportion > 0)
        return false;
    for (int32_t d = 0; d < queue->p->n_devices; d++)
        if (queue->busy_ns[plan][d] >= 0)
            return true;
    return false;
}

/* Is anything measured of a plan not what the times at hand say? */
static bool differs_from_measured(clv_time_calibration *c, const clv_candidate_queue *queue,
                                  int32_t plan)
{
    sum_devices(c, queue->tried[plan].device_of);
    for (int32_t d = 0; d < c->model->n_devices; d++) {
        double measured_ns = (double)queue->busy_ns[plan][d];
        if (measured_ns >= 0 && c->n_units[d] > 0 &&
            fabs(measured_ns - c->sum_ns[d]) > SAME_PART * c->sum_ns[d] + 1)
            return true;
    }
    return false;
}

/* Scales each group of a plan to what was measured of it; a group of no time shares it evenly. */
static void scale_groups(clv_time_calibration *c, const clv_candidate_queue *queue, int32_t plan)
{
    const int32_t *device_of = queue->tried[plan].device_of;
    sum_devices(c, device_of);
    for (int32_t u = 0; u < c->model->n_units; u++) {
        int32_t d = device_of[u];
        double measured_ns = fmin((double)queue->busy_ns[plan][d], MEASURED_MAX_NS);
        if (measured_ns < 0)
            continue;
        double *time = time_at(c, d, u);
        /* a part of the sum, so that it stays a number however small the sum is */
        *time = c->sum_ns[d] > 0 ? *time / c->sum_ns[d] * measured_ns : measured_ns / c->n_units[d];
    }
}

static void fit_times(clv_time_calibration *c, const clv_candidate_queue *queue)
{
    const clv_partition_problem *p = c->model;
    int64_t work = 0;
    for (size_t i = 0; i < (size_t)p->n_kinds * (size_t)p->n_units; i++)
        c->fitted_ns[i] = (double)p->time_ns[i];
    for (int32_t turn = 0; turn < TURNS_MAX && (turn == 0 || work < TURNS_WORK); turn++) {
        for (int32_t i = 0; i < queue->n_judged; i++) {
            if (!is_measured(queue, i) || i == queue->best_judged)
                continue;
            scale_groups(c, queue, i);
            work += p->n_units;
        }
        if (is_measured(queue, queue->best_judged)) /* last, so that it comes out exactly */
            scale_groups(c, queue, queue->best_judged);
    }
}

/* Times within a unit are scaled with it. */
static int64_t scaled_ns(const clv_time_calibration *c, int32_t kind, int32_t unit, int64_t ns)
{
    size_t at = (size_t)kind * (size_t)c->model->n_units + (size_t)unit;
    int64_t was = c->model->time_ns[at];
    return was > 0 ? (int64_t)llround((double)ns * (c->fitted_ns[at] / (double)was)) : ns;
}

static void write_back(clv_time_calibration *c)
{
    const clv_partition_problem *p = c->model;
    for (size_t i = 0; i < (size_t)p->n_kinds * (size_t)p->n_units; i++)
        c->time_ns[i] = (int64_t)llround(c->fitted_ns[i]);
    for (int32_t k = 0; k < p->n_kinds; k++) {
        for (int32_t net = 0; p->net_ready_ns && net < p->n_nets; net++) {
            size_t at = (size_t)k * (size_t)p->n_nets + (size_t)net;
            c->net_ready_ns[at] = scaled_ns(c, k, p->net_from[net], p->net_ready_ns[at]);
        }
        for (int32_t u = 0; p->read_after_ns && u < p->n_units; u++) {
            size_t at = (size_t)k * (size_t)p->reads_first[p->n_units];
            for (int32_t i = p->reads_first[u]; i < p->reads_first[u + 1]; i++)
                c->read_after_ns[at + (size_t)i] =
                    scaled_ns(c, k, u, p->read_after_ns[at + (size_t)i]);
        }
    }
}

bool clv_time_calibration_update(clv_time_calibration *c, const clv_candidate_queue *queue)
{
    bool changed = false;
    for (size_t i = 0; i < (size_t)c->model->n_kinds * (size_t)c->model->n_units; i++)
        c->fitted_ns[i] = (double)c->time_ns[i];
    for (; c->n_seen < queue->n_judged; c->n_seen++)
        changed |= is_measured(queue, c->n_seen) && differs_from_measured(c, queue, c->n_seen);
    if (!changed)
        return false;
    c->differs = true;
    fit_times(c, queue);
    write_back(c);
    return true;
}
