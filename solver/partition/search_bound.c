/* search_bound.c - how good the best plan is, and the plan behind that. */
#include <string.h>

#include "problem/micro.h"
#include "problem/quotient.h"
#include "solver/partition/fill.h"
#include "solver/partition/seeker.h"

static clv_bound_options bound_options(const clv_seeker *s)
{
    const clv_desk *desk = &s->desk;
    return (clv_bound_options){ .live_bytes = desk->judge->live_bytes,
                                .held_bytes = desk->judge->held_bytes,
                                /* rules may leave a device without units */
                                .use_all = desk->options->use_all_devices && !desk->p->rules };
}

/* What the device that lacks most needs besides what units are known to need; at least something
 * more than before. */
static int64_t untold_bytes(const clv_seeker *s, const clv_tried *plan, int64_t before)
{
    const clv_partition_problem *p = s->desk.p;
    const clv_partition_judge *judge = s->desk.judge;
    int64_t known = 0, most = 0;
    for (int32_t u = 0; u < p->n_units; u++) {
        if (plan->device_of[u] != plan->verdict.device)
            continue;
        int64_t held = judge->held_bytes ? judge->held_bytes[u] : 0;
        int64_t live = judge->live_bytes ? judge->live_bytes[u] - held : 0;
        known += p->weight_bytes[u] + held;
        most = live > most ? live : most;
    }
    int64_t needs = p->capacity_bytes[plan->verdict.device] + plan->verdict.short_bytes;
    int64_t untold = needs - known - most, least = before + plan->verdict.short_bytes;
    return untold > least ? untold : least;
}

/* The bound of the objective, and the plan behind it. */
static clv_status ask_bound(clv_seeker *s, const clv_bound_options *o, clv_bound *ret,
                            clv_error *err)
{
    clv_desk *desk = &s->desk;
    if (desk->options->objective == CLV_LATENCY)
        return clv_bound_latency(desk->p, o, desk->arena, s->bound_orders, s->bound_device_of, ret,
                                 err);
    int64_t best = desk->tried[desk->best].verdict.period_ns;
    return clv_bound_period(desk->p, o, best, desk->arena, s->bound_device_of, ret, err);
}

/* Is a device left without units that all are to be used? */
static bool leaves_out(const clv_seeker *s, const int32_t *device_of)
{
    const clv_desk *desk = &s->desk;
    int32_t n_used = 0;
    if (!desk->options->use_all_devices)
        return false;
    memset(s->room_bytes, 0, (size_t)desk->p->n_devices * sizeof *s->room_bytes);
    for (int32_t u = 0; u < desk->p->n_units; u++)
        n_used += s->room_bytes[device_of[u]]++ == 0;
    return n_used < desk->p->n_devices && n_used < desk->p->n_units;
}

/* Adds the plan behind a bound and judges it. *ret_new: it is legal, and none that was known. */
static clv_status judge_bound_plan(clv_seeker *s, const char *label, bool *ret_new, clv_error *err)
{
    clv_desk *desk = &s->desk;
    int32_t before = desk->n;
    *ret_new = false;
    if (!clv_partition_is_acyclic(desk->p, s->bound_device_of, desk->arena))
        return CLV_OK;
    memcpy(s->device_of, s->bound_device_of, (size_t)desk->p->n_units * sizeof *s->device_of);
    if (leaves_out(s, s->device_of)) {
        if (desk->options->objective == CLV_LATENCY || desk->p->rules)
            return CLV_OK; /* the bound was one for plans that use all */
        clv_groups_load(s->improver.g, s->device_of);
        CLV_TRY(clv_fill(s->improver.g, desk->arena, err));
        memcpy(s->device_of, s->improver.g->device_of,
               (size_t)desk->p->n_units * sizeof *s->device_of);
    }
    CLV_TRY(clv_seeker_add(s, label, err));
    *ret_new = desk->n > before;
    return *ret_new ? clv_seeker_judge(s, err) : CLV_OK;
}

/* Judges the plan behind a bound. Where it lacks memory, that of devices with less, as much as the
 * verdict taught to leave; and once that fits, of devices with something between. */
clv_status clv_seeker_try_bound_plan(clv_seeker *s, const char *label, clv_error *err)
{
    clv_desk *desk = &s->desk;
    clv_bound_options options = bound_options(s);
    int64_t too_little = 0, enough = INT64_MAX; /* to leave */
    for (int32_t i = 0; i < CLV_SEEKER_RECUTS && s->has_bound_plan && !clv_desk_over(desk); i++) {
        bool is_new;
        clv_bound bound;
        CLV_TRY(judge_bound_plan(s, label, &is_new, err));
        if (!is_new || clv_desk_over(desk))
            return CLV_OK;
        const clv_tried *tried = &desk->tried[desk->n - 1];
        if (tried->verdict.outcome == CLV_OOM) {
            too_little = options.reserve_bytes;
            options.reserve_bytes = untold_bytes(s, tried, options.reserve_bytes);
        } else {
            enough = options.reserve_bytes;
        }
        if (enough == 0 || tried->verdict.outcome > CLV_OOM)
            return CLV_OK;
        if (enough < INT64_MAX)
            options.reserve_bytes = too_little + (enough - too_little) / 2;
        CLV_TRY(ask_bound(s, &options, &bound, err));
        s->has_bound_plan = bound.found;
        s->n_orders = bound.n_orders;
    }
    return CLV_OK;
}

/* Of the share of a number of micro-batches: no plan has less latency, none less period. */
static clv_status bound_share(clv_seeker *s, const clv_bound_options *options, int64_t *ns,
                              clv_error *err)
{
    const clv_desk *desk = &s->desk;
    int32_t n = desk->options->microbatches;
    clv_bound latency;
    if (desk->options->objective == CLV_LATENCY || n == 0 || desk->options->only_period_is_bounded)
        return CLV_OK;
    CLV_TRY(clv_bound_latency(desk->p, options, desk->arena, s->bound_orders, s->bound_device_of,
                              &latency, err));
    *ns = clv_micro_share_ns(latency.ns, *ns, n);
    return CLV_OK;
}

/* Once there is a plan that fits: what is proven of the best one, and, for the period, a plan that
 * would reach it if transfers took no time. */
clv_status clv_seeker_find_bound(clv_seeker *s, clv_error *err)
{
    clv_desk *desk = &s->desk;
    clv_bound_options options = bound_options(s);
    clv_bound bound = { 0 };
    if (s->is_bounded || !clv_desk_fits(desk))
        return CLV_OK;
    s->is_bounded = true;
    if (!(desk->judge->bounded_at > 0) ||
        desk->tried[desk->best].proportion > desk->judge->bounded_at)
        return CLV_OK;
    CLV_TRY(ask_bound(s, &options, &bound, err));
    s->n_orders = bound.n_orders;
    s->has_bound_plan = bound.found;
    CLV_TRY(bound_share(s, &options, &bound.ns, err));
    clv_desk_raise_bound(desk, bound.ns, "bound");
    if (desk->options->objective == CLV_LATENCY)
        return CLV_OK; /* later, so that it is only more that is tried */
    return clv_seeker_try_bound_plan(s, "least period by order and memory", err);
}
