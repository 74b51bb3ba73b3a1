/* lessons.c - iterative proportional fitting: each group's units are scaled to what was told of it,
 * group after group and plan after plan, some times over. Where the groups of different plans
 * overlap, that settles which of the units are slow: it ends at the times nearest to the model's,
 * in the sense of relative entropy, with which all of it comes out.
 */
#include "solver/partition/lessons.h"

#include "problem/sums.h"

#include <math.h>
#include <string.h>

/* What is told is taken for the model's own number up to this part of it: answers are rounded. */
#define SAME_PART 1e-3
/* Turns over all plans, and units looked at in all of them: some tens of milliseconds. */
#define TURNS_MAX  50
#define TURNS_WORK INT64_C(10000000)
/* No device is believed to take longer (28 hours): sums of the search stay in 64 bits. */
#define TOLD_MAX 1e14

clv_status clv_lessons_new(const clv_partition_problem *p, clv_arena *arena, clv_lessons **ret,
                           clv_error *err)
{
    size_t kinds = (size_t)p->n_kinds, units = (size_t)p->n_units;
    size_t nets = p->net_ready_ns ? (size_t)p->n_nets : 0;
    size_t reads = p->read_after_ns ? (size_t)p->reads_first[p->n_units] : 0;
    clv_lessons *l = CLV_NEW(arena, clv_lessons);
    if (!l)
        return clv_fail_nomem(err, "a search");
    *l = (clv_lessons){ .model = p,
                        .corrected = *p,
                        .time_ns = CLV_NEW_ARRAY(arena, int64_t, kinds * units),
                        .net_ready_ns = CLV_NEW_ARRAY(arena, int64_t, kinds * nets),
                        .read_after_ns = CLV_NEW_ARRAY(arena, int64_t, kinds * reads),
                        .time = CLV_NEW_ARRAY(arena, double, kinds *units),
                        .sum = CLV_NEW_ARRAY(arena, double, p->n_devices),
                        .n_units = CLV_NEW_ARRAY(arena, int32_t, p->n_devices) };
    if (!l->time_ns || !l->net_ready_ns || !l->read_after_ns || !l->time || !l->sum || !l->n_units)
        return clv_fail_nomem(err, "a search");
    if (kinds * units > 0)
        memcpy(l->time_ns, p->time_ns, kinds * units * sizeof *l->time_ns);
    if (kinds * nets > 0)
        memcpy(l->net_ready_ns, p->net_ready_ns, kinds * nets * sizeof *l->net_ready_ns);
    if (kinds * reads > 0)
        memcpy(l->read_after_ns, p->read_after_ns, kinds * reads * sizeof *l->read_after_ns);
    l->corrected.time_ns = l->time_ns;
    l->corrected.net_ready_ns = p->net_ready_ns ? l->net_ready_ns : NULL;
    l->corrected.read_after_ns = p->read_after_ns ? l->read_after_ns : NULL;
    *ret = l;
    return CLV_OK;
}

static double *time_at(clv_lessons *l, int32_t device, int32_t unit)
{
    const clv_partition_problem *p = l->model;
    return l->time + (size_t)p->kind_of[device] * (size_t)p->n_units + (size_t)unit;
}

/* Of a plan, by device. */
static void add_up(clv_lessons *l, const int32_t *device_of)
{
    memset(l->sum, 0, (size_t)l->model->n_devices * sizeof *l->sum);
    memset(l->n_units, 0, (size_t)l->model->n_devices * sizeof *l->n_units);
    for (int32_t u = 0; u < l->model->n_units; u++) {
        l->sum[device_of[u]] += *time_at(l, device_of[u], u);
        l->n_units[device_of[u]]++;
    }
}

/* Does it tell anything? Other proportions have other times. */
static bool tells(const clv_desk *desk, int32_t plan)
{
    const clv_tried *t = &desk->tried[plan];
    if (t->verdict.outcome != CLV_FITS || t->proportion > 0)
        return false;
    for (int32_t d = 0; d < desk->p->n_devices; d++)
        if (desk->busy_ns[plan][d] >= 0)
            return true;
    return false;
}

/* Is anything told of a plan not what the times at hand say? */
static bool is_news(clv_lessons *l, const clv_desk *desk, int32_t plan)
{
    add_up(l, desk->tried[plan].device_of);
    for (int32_t d = 0; d < l->model->n_devices; d++) {
        double told = (double)desk->busy_ns[plan][d];
        if (told >= 0 && l->n_units[d] > 0 && fabs(told - l->sum[d]) > SAME_PART * l->sum[d] + 1)
            return true;
    }
    return false;
}

/* Scales each group of a plan to what was told of it; a group of no time shares it evenly. */
static void scale(clv_lessons *l, const clv_desk *desk, int32_t plan)
{
    const int32_t *device_of = desk->tried[plan].device_of;
    add_up(l, device_of);
    for (int32_t u = 0; u < l->model->n_units; u++) {
        int32_t d = device_of[u];
        double told = fmin((double)desk->busy_ns[plan][d], TOLD_MAX);
        if (told < 0)
            continue;
        double *time = time_at(l, d, u);
        /* a part of the sum, so that it stays a number however small the sum is */
        *time = l->sum[d] > 0 ? *time / l->sum[d] * told : told / l->n_units[d];
    }
}

static void fit(clv_lessons *l, const clv_desk *desk)
{
    const clv_partition_problem *p = l->model;
    int64_t work = 0;
    for (size_t i = 0; i < (size_t)p->n_kinds * (size_t)p->n_units; i++)
        l->time[i] = (double)p->time_ns[i];
    for (int32_t turn = 0; turn < TURNS_MAX && (turn == 0 || work < TURNS_WORK); turn++) {
        for (int32_t i = 0; i < desk->n_judged; i++) {
            if (!tells(desk, i) || i == desk->best)
                continue;
            scale(l, desk, i);
            work += p->n_units;
        }
        if (tells(desk, desk->best)) /* last, so that it comes out exactly */
            scale(l, desk, desk->best);
    }
}

/* Times within a unit are stretched with it. */
static int64_t stretched(const clv_lessons *l, int32_t kind, int32_t unit, int64_t ns)
{
    size_t at = (size_t)kind * (size_t)l->model->n_units + (size_t)unit;
    int64_t was = l->model->time_ns[at];
    return was > 0 ? (int64_t)llround((double)ns * (l->time[at] / (double)was)) : ns;
}

static void write_back(clv_lessons *l)
{
    const clv_partition_problem *p = l->model;
    for (size_t i = 0; i < (size_t)p->n_kinds * (size_t)p->n_units; i++)
        l->time_ns[i] = (int64_t)llround(l->time[i]);
    for (int32_t k = 0; k < p->n_kinds; k++) {
        for (int32_t net = 0; p->net_ready_ns && net < p->n_nets; net++) {
            size_t at = (size_t)k * (size_t)p->n_nets + (size_t)net;
            l->net_ready_ns[at] = stretched(l, k, p->net_from[net], p->net_ready_ns[at]);
        }
        for (int32_t u = 0; p->read_after_ns && u < p->n_units; u++) {
            size_t at = (size_t)k * (size_t)p->reads_first[p->n_units];
            for (int32_t i = p->reads_first[u]; i < p->reads_first[u + 1]; i++)
                l->read_after_ns[at + (size_t)i] =
                    stretched(l, k, u, p->read_after_ns[at + (size_t)i]);
        }
    }
}

bool clv_lessons_learn(clv_lessons *l, const clv_desk *desk)
{
    bool news = false;
    for (size_t i = 0; i < (size_t)l->model->n_kinds * (size_t)l->model->n_units; i++)
        l->time[i] = (double)l->time_ns[i];
    for (; l->n_seen < desk->n_judged; l->n_seen++)
        news |= tells(desk, l->n_seen) && is_news(l, desk, l->n_seen);
    if (!news)
        return false;
    l->differs = true;
    fit(l, desk);
    write_back(l);
    return true;
}
