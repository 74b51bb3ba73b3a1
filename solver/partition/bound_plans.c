#include "solver/partition/bound_plans.h"

#include <string.h>

#include "problem/micro.h"
#include "solver/partition/bound_latency.h"
#include "solver/partition/bound_period.h"
#include "solver/partition/idle_devices.h"

static clv_bound_options bound_options(const clv_search_state *s)
{
    const clv_candidate_queue *queue = &s->queue;
    return (clv_bound_options){ .live_bytes = queue->judge->live_bytes,
                                .held_bytes = queue->judge->held_bytes,
                                /* rules may leave a device without units */
                                .use_all = queue->options->use_all_devices && !queue->p->rules };
}

/* What the device of an OOM verdict needs besides what its units are known to need; more than
 * before in any case. */
static int64_t unknown_bytes(const clv_search_state *s, const clv_candidate *plan, int64_t before)
{
    const clv_partition_problem *p = s->queue.p;
    const clv_partition_judge *judge = s->queue.judge;
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
    int64_t unknown = needs - known - most, least = before + plan->verdict.short_bytes;
    return unknown > least ? unknown : least;
}

/* The bound of the objective, and the plan behind it, into s->bound. */
static clv_status compute_bound(clv_search_state *s, const clv_bound_options *o, clv_error *err)
{
    clv_candidate_queue *queue = &s->queue;
    if (queue->options->objective == CLV_LATENCY)
        return clv_bound_latency(queue->p, o, queue->arena, &s->bound, err);
    int64_t best_ns = queue->tried[queue->best].verdict.period_ns;
    return clv_bound_period(queue->p, o, best_ns, queue->arena, &s->bound, err);
}

/* Adds the plan behind a bound and judges it. *ret_new: it is legal and was not judged before. */
static clv_status judge_bound_plan(clv_search_state *s, const char *label, bool *ret_new,
                                   clv_error *err)
{
    clv_candidate_queue *queue = &s->queue;
    int32_t before = queue->n;
    bool leaves_out;
    *ret_new = false;
    if (!clv_partition_is_acyclic(queue->p, s->bound.device_of, queue->arena))
        return CLV_OK;
    memcpy(s->device_of, s->bound.device_of, (size_t)queue->p->n_units * sizeof *s->device_of);
    CLV_TRY(clv_candidates_leave_out(queue, s->device_of, &leaves_out, err));
    if (leaves_out) {
        if (queue->options->objective == CLV_LATENCY || queue->p->rules)
            return CLV_OK; /* the bound was one for plans that use all */
        clv_groups_load(s->local.g, s->device_of);
        CLV_TRY(clv_idle_devices_use(s->local.g, queue->arena, err));
        memcpy(s->device_of, s->local.g->device_of,
               (size_t)queue->p->n_units * sizeof *s->device_of);
    }
    CLV_TRY(clv_search_add(s, label, err));
    *ret_new = queue->n > before;
    return *ret_new ? clv_search_judge(s, err) : CLV_OK;
}

clv_status clv_search_try_bound_plan(clv_search_state *s, const char *label, clv_error *err)
{
    clv_candidate_queue *queue = &s->queue;
    clv_bound_options options = bound_options(s);
    int64_t too_little = 0, enough = INT64_MAX; /* to leave */
    for (int32_t i = 0; i < CLV_SEARCH_RECUTS && s->bound.found && !clv_candidates_is_over(queue);
         i++) {
        bool is_new;
        CLV_TRY(judge_bound_plan(s, label, &is_new, err));
        if (!is_new || clv_candidates_is_over(queue))
            return CLV_OK;
        const clv_candidate *tried = &queue->tried[queue->n - 1];
        if (tried->verdict.outcome == CLV_OOM) {
            too_little = options.reserve_bytes;
            options.reserve_bytes = unknown_bytes(s, tried, options.reserve_bytes);
        } else {
            enough = options.reserve_bytes;
        }
        if (enough == 0 || tried->verdict.outcome > CLV_OOM)
            return CLV_OK;
        if (enough < INT64_MAX)
            options.reserve_bytes = too_little + (enough - too_little) / 2;
        CLV_TRY(compute_bound(s, &options, err));
    }
    return CLV_OK;
}

clv_status clv_search_find_bound(clv_search_state *s, clv_error *err)
{
    clv_candidate_queue *queue = &s->queue;
    const clv_partition_options *asked = queue->options;
    clv_bound_options options = bound_options(s);
    if (s->is_bounded || !clv_candidates_has_fit(queue))
        return CLV_OK;
    s->is_bounded = true;
    if (!(queue->judge->bounded_at > 0) ||
        queue->tried[queue->best].proportion > queue->judge->bounded_at)
        return CLV_OK;
    CLV_TRY(compute_bound(s, &options, err));
    int64_t bound_ns = s->bound.ns;
    if (asked->objective != CLV_LATENCY && asked->microbatches > 0 &&
        !asked->only_period_is_bounded) { /* a share has no less latency and no less period */
        clv_bound latency = s->bound;     /* its arrays are used here, too */
        CLV_TRY(clv_bound_latency(queue->p, &options, queue->arena, &latency, err));
        bound_ns = clv_micro_share_ns(latency.ns, bound_ns, asked->microbatches);
    }
    clv_candidates_raise_bound(queue, bound_ns, "bound");
    if (asked->objective == CLV_LATENCY)
        return CLV_OK; /* later, so that it is only more that is tried */
    return clv_search_try_bound_plan(s, "least period by order and memory", err);
}
