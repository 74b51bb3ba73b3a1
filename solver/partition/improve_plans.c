#include "solver/partition/improve_plans.h"

#include <string.h>

#include "problem/sums.h"
#include "solver/partition/anneal.h"
#include "solver/partition/bound_plans.h"
#include "solver/partition/refine_ilp.h"
#include "solver/partition/refine_window.h"
#include "solver/partition/seed_plans.h"

/* As CLV_SEARCH_PATIENCE while nothing fits, when there is nothing to lose. */
#define PATIENCE_OOM 40
/* Problems of ANNEALED_UNITS at most are annealed, ANNEALINGS times where the first gains (of 48
 * plans where it did not, another one did once, by 0.2 %), with ANNEALED_STEPS moves at most,
 * fewer where there are few places (a unit and a device) or many loads to add up: some tenths of a
 * second. */
#define ANNEALED_UNITS 1000
#define ANNEALED_PLACE 1000
#define ANNEALINGS     4
#define ANNEALED_STEPS 300000
#define ANNEALED_LOADS INT64_C(20000000)
/* A plan by throughput that is above its bound by a smaller part is good enough. */
#define GOOD_GAP 1e-4
/* Rounds of exact refinement. */
#define REFINES 3
/* All windows of a search, in pivots times rows and columns of a program: about 0.05 s. */
#define ALL_WINDOWS_WORK INT64_C(400000)

static clv_status mark_new_plans(clv_search_state *s, clv_error *err)
{
    const clv_candidate_queue *queue = &s->queue;
    for (; s->n_marked < queue->n; s->n_marked++) {
        if (!CLV_PUSH_ROOM(queue->arena, s->is_expanded, s->n_marked, s->cap_expanded) ||
            !CLV_PUSH_ROOM(queue->arena, s->is_exhausted, s->n_marked, s->cap_exhausted))
            return clv_fail_nomem(err, "the plans of a search");
        s->is_expanded[s->n_marked] = s->is_exhausted[s->n_marked] = false;
    }
    return CLV_OK;
}

/* The best plan that has not got the mark; one that fits, once there is one. -1: none. */
static int32_t best_without(const clv_search_state *s, const bool *mark)
{
    const clv_candidate_queue *queue = &s->queue;
    clv_outcome want = clv_candidates_has_fit(queue) ? CLV_FITS : CLV_OOM;
    int32_t plan = -1;
    for (int32_t i = 0; i < queue->n_known; i++)
        if (queue->tried[i].verdict.outcome == want && !mark[i] &&
            (plan < 0 || clv_candidates_better(queue, i, plan)))
            plan = i;
    return plan;
}

clv_status clv_plans_climb(clv_search_state *s, clv_error *err)
{
    clv_candidate_queue *queue = &s->queue;
    int32_t batch = queue->judge->batch > 0 ? queue->judge->batch : 1, stale = 0;
    while (!clv_candidates_is_over(queue) &&
           stale < (clv_candidates_has_fit(queue) ? CLV_SEARCH_PATIENCE : PATIENCE_OOM)) {
        CLV_TRY(mark_new_plans(s, err));
        int32_t plan = best_without(s, s->is_expanded), best = queue->best, added;
        if (plan < 0)
            return CLV_OK;
        CLV_TRY(clv_iterated_search_expand(&s->local, plan, batch, &added, err));
        s->is_expanded[plan] = added == 0;
        CLV_TRY(clv_search_judge(s, err));
        stale = queue->best != best ? 0 : stale + added;
    }
    if (!queue->is_done && clv_candidates_is_over(queue))
        queue->is_full = true; /* there was more to try */
    return CLV_OK;
}

static clv_status climb_if_better(clv_search_state *s, int32_t best_before, clv_error *err)
{
    return s->queue.best != best_before ? clv_plans_climb(s, err) : CLV_OK;
}

clv_status clv_plans_start_elsewhere(clv_search_state *s, clv_error *err)
{
    clv_candidate_queue *queue = &s->queue;
    /* the other objective's cuts: they were not judged, and may lie near a better optimum */
    clv_objective other = queue->options->objective == CLV_LATENCY ? CLV_THROUGHPUT : CLV_LATENCY;
    int32_t best = queue->best;
    for (int how = CLV_AS_GIVEN; how < CLV_SLOWEST_FIRST && !clv_candidates_is_over(queue); how++) {
        if (!clv_seed_use_order(s, (clv_device_order)how))
            continue;
        for (int i = 0; i < 4; i++) {
            clv_cut_options o = { .order = s->order,
                                  .capacity_bytes = i < 2 ? queue->p->capacity_bytes : NULL,
                                  .use_all = i % 2 == 0 };
            if (queue->options->use_all_devices && i % 2)
                continue;
            if (clv_seed_cut(s, &o, other) &&
                (!queue->repair || clv_rule_repair_plan(queue->repair, s->order, s->device_of)))
                CLV_TRY(clv_iterated_search_from(&s->local, s->device_of, err));
        }
    }
    CLV_TRY(clv_search_judge(s, err));
    return climb_if_better(s, best, err);
}

/* Is a shorter period of use, and is there more to try? One micro-batch takes its latency. */
static bool seeks_period(clv_candidate_queue *queue)
{
    return queue->options->objective == CLV_THROUGHPUT && queue->options->microbatches != 1 &&
           clv_candidates_has_fit(queue) && !clv_candidates_is_over(queue) &&
           clv_objval_gap(queue->result.value, queue->result.bound) > GOOD_GAP;
}

clv_status clv_plans_anneal(clv_search_state *s, clv_error *err)
{
    clv_candidate_queue *queue = &s->queue;
    if (!seeks_period(queue) || queue->p->rules || queue->p->n_units > ANNEALED_UNITS)
        return CLV_OK;
    int32_t best = queue->best;
    int64_t ns, least = queue->tried[best].verdict.period_ns;
    int64_t steps = ANNEALED_LOADS / (queue->p->n_devices + clv_n_ports(queue->p));
    steps = steps < ANNEALED_STEPS ? steps : ANNEALED_STEPS;
    int64_t places = (int64_t)queue->p->n_units * queue->p->n_devices;
    steps = steps < places * ANNEALED_PLACE ? steps : places * ANNEALED_PLACE;
    clv_search_learned_room(s, true);
    for (uint64_t seed = 1; seed <= ANNEALINGS && !clv_candidates_is_over(queue); seed++) {
        clv_anneal_options o = { s->room_bytes, queue->options->use_all_devices, steps, seed };
        clv_groups_load(s->local.g, queue->tried[best].device_of);
        CLV_TRY(clv_anneal(s->local.g, &o, queue->arena, s->device_of, &ns, err));
        if (ns < least)
            CLV_TRY(clv_search_add(s, "annealing", err));
        else if (seed == 1)
            break;
        least = ns < least ? ns : least;
    }
    CLV_TRY(clv_search_judge(s, err));
    return climb_if_better(s, best, err);
}

/* The plan behind a bound of the latency; cuts with the devices in the orders, and again where
 * those are out of memory. */
static clv_status try_bound_orders(clv_search_state *s, clv_error *err)
{
    static const char label[] = "least latency, kinds as in the bound";
    clv_candidate_queue *queue = &s->queue;
    int32_t n = queue->p->n_devices, best = queue->best;
    if (queue->options->objective == CLV_LATENCY)
        CLV_TRY(clv_search_try_bound_plan(s, "least latency by runs", err));
    for (int32_t i = 0; i < s->bound.n_orders && !clv_candidates_is_over(queue); i++) {
        memcpy(s->order, s->bound.orders + (ptrdiff_t)i * n, (size_t)n * sizeof *s->order);
        CLV_TRY(clv_seed_add_cut(s, queue->p->capacity_bytes, false, label, label, err));
        CLV_TRY(clv_seed_add_cut(s, s->alive_room_bytes, true, label, label, err));
        CLV_TRY(clv_search_judge(s, err));
        CLV_TRY(clv_seed_cut_again(s, err));
    }
    return climb_if_better(s, best, err);
}

clv_status clv_plans_refine(clv_search_state *s, clv_error *err)
{
    for (int32_t i = 0;
         i < REFINES && clv_candidates_has_fit(&s->queue) && !clv_candidates_is_over(&s->queue);
         i++) {
        int32_t best = s->queue.best;
        CLV_TRY(clv_refine_ilp(&s->local, s->queue.arena, err));
        CLV_TRY(clv_search_judge(s, err));
        if (s->queue.best == best)
            return CLV_OK;
        CLV_TRY(clv_plans_climb(s, err));
    }
    return CLV_OK;
}

clv_status clv_plans_refine_windows(clv_search_state *s, clv_error *err)
{
    clv_candidate_queue *queue = &s->queue;
    for (int64_t work = ALL_WINDOWS_WORK; work > 0 && seeks_period(queue);) {
        int32_t best = queue->best;
        CLV_TRY(clv_refine_window(&s->local, queue->arena, &work, err));
        CLV_TRY(clv_search_judge(s, err));
        if (queue->best == best)
            return CLV_OK;
        CLV_TRY(clv_plans_climb(s, err));
    }
    return CLV_OK;
}

clv_status clv_plans_cut_more(clv_search_state *s, clv_error *err)
{
    int32_t best = s->queue.best;
    CLV_TRY(try_bound_orders(s, err));
    if (s->queue.best != best)
        CLV_TRY(clv_plans_refine(s, err));
    best = s->queue.best;
    CLV_TRY(clv_seed_cut_any_order(s, err));
    if (s->queue.best == best)
        return CLV_OK;
    CLV_TRY(clv_plans_climb(s, err));
    return clv_plans_refine(s, err);
}

clv_status clv_plans_recalibrate(clv_search_state *s, clv_error *err)
{
    int32_t best = s->queue.best;
    CLV_TRY(clv_seed_cut_by_measured_times(s, err));
    return climb_if_better(s, best, err);
}

/* -- looking ahead -- */

/* What is withdrawn may be offered again, and others get its numbers. */
static void withdraw(clv_search_state *s, int32_t first)
{
    clv_candidates_withdraw(&s->queue, first);
    s->n_marked = 0;
    s->local.goal_plan = -1;
}

/* From the best plan, whether that is judged or believed. */
static clv_status improve(clv_search_state *s, clv_error *err)
{
    for (int32_t i = 0; i < s->n_marked; i++)
        s->is_expanded[i] = false; /* what was no better than the best before may be now */
    CLV_TRY(clv_plans_climb(s, err));
    return clv_plans_refine(s, err);
}

/* Neighbours of the best plans, until a batch is under way. */
static clv_status add_neighbours(clv_search_state *s, clv_error *err)
{
    clv_candidate_queue *queue = &s->queue;
    int32_t room = queue->judge->batch - (queue->n - queue->n_judged), added;
    CLV_TRY(mark_new_plans(s, err));
    while (room > 0 && clv_candidates_has_fit(queue) && !clv_candidates_is_over(queue)) {
        int32_t plan = best_without(s, s->is_exhausted);
        if (plan < 0)
            break;
        CLV_TRY(clv_iterated_search_neighbours(&s->local, plan, room, &added, err));
        s->is_exhausted[plan] = added < room;
        room -= added;
    }
    return clv_search_judge(s, err);
}

clv_status clv_plans_look_ahead(clv_search_state *s, clv_error *err)
{
    clv_candidate_queue *queue = &s->queue;
    int32_t n = queue->n, max_judged = queue->max_judged, lookahead = queue->judge->lookahead;
    bool calibrated;
    if (!clv_candidates_looks_ahead(queue) || queue->options->first_fit || queue->n_judged > 0)
        return CLV_OK;
    queue->max_judged = max_judged < lookahead ? max_judged : lookahead; /* more would wait */
    CLV_TRY(improve(s, err));
    CLV_TRY(add_neighbours(s, err));
    queue->max_judged = max_judged;
    queue->is_full = false;
    CLV_TRY(clv_search_take(s, &calibrated, err));
    if (!clv_candidates_has_judged_fit(queue))
        withdraw(s, n);
    s->n_marked = 0; /* nor do marks made by what was believed count */
    return clv_search_judge(s, err);
}

clv_status clv_plans_follow_verdicts(clv_search_state *s, clv_error *err)
{
    clv_candidate_queue *queue = &s->queue;
    int32_t last = queue->n, stale = 0; /* neighbours that only fill up come after the last */
    if (!clv_candidates_looks_ahead(queue))
        return CLV_OK;
    while (!queue->is_done && !queue->is_over &&
           (queue->n_judged < last || stale < CLV_SEARCH_PATIENCE ||
            (queue->judge->n_before + queue->n_judged) % queue->judge->batch != 0)) {
        int32_t best = queue->best, best_judged = queue->best_judged, before;
        bool calibrated;
        CLV_TRY(add_neighbours(s, err));
        if (queue->n_judged == queue->n)
            return CLV_OK;
        CLV_TRY(clv_search_take(s, &calibrated, err));
        stale = queue->best_judged != best_judged ? 0 : stale + 1;
        if ((queue->best == best && !calibrated) || stale >= CLV_SEARCH_PATIENCE)
            continue;
        before = queue->n;
        CLV_TRY(improve(s, err));
        if (calibrated)
            CLV_TRY(clv_plans_recalibrate(s, err));
        last = queue->n > before ? queue->n : last;
    }
    withdraw(s, 0);
    return CLV_OK;
}
