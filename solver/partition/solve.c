#include "solver/partition/solve.h"

#include <assert.h>

#include "problem/fit.h"
#include "problem/sums.h"
#include "solver/partition/bound_plans.h"
#include "solver/partition/exact_search.h"
#include "solver/partition/improve_plans.h"
#include "solver/partition/poprt_search.h"
#include "solver/partition/seed_plans.h"

/* Plans besides the smallest OOM that are tried with lower proportions. */
#define MORE_RETRIES 2
/* Problems up to this size are also searched from cuts that are not worth judging themselves:
 * descents cover a good part of them. */
#define ELSEWHERE_UNITS 5000
/* Transfers looked at to find better devices for groups, for all plans together: about a tenth of a
 * second. */
#define SWAP_WORK INT64_C(20000000)

/* Was any plan out of memory? Then sums of weights do not say well what fits. */
static bool is_short_of_memory(const clv_candidate_queue *queue)
{
    for (int32_t i = 0; i < queue->n_judged; i++)
        if (queue->tried[i].verdict.outcome == CLV_OOM)
            return true;
    return false;
}

/* Is it proven that nothing fits, with any workspace? Then more plans are useless. */
static clv_status is_hopeless(const clv_search_state *s, bool *ret, clv_error *err)
{
    clv_fit_bound bound;
    *ret = false;
    if (clv_candidates_has_fit(&s->queue) || !s->queue.judge->live_bytes ||
        !is_short_of_memory(&s->queue))
        return CLV_OK;
    CLV_TRY(clv_partition_fit_bound(s->queue.p, s->queue.judge->live_bytes, s->queue.arena, &bound,
                                    err));
    *ret = bound.impossible;
    return CLV_OK;
}

/* *poprt: the best plan of PopRT's moves, once they were tried. */
static clv_status follow_verdicts(clv_search_state *s, int32_t *poprt, clv_error *err)
{
    CLV_TRY(clv_plans_follow_verdicts(s, err));
    if (!clv_candidates_looks_ahead(&s->queue) || *poprt >= 0 || !is_short_of_memory(&s->queue))
        return CLV_OK;
    CLV_TRY(clv_poprt_moves(&s->queue, poprt, err));
    return clv_plans_follow_verdicts(s, err);
}

/* The steps, those first that find most for their time. *ret_infeasible: it is proven that nothing
 * fits; the plan that lacks least is of interest then. */
static clv_status search_default(clv_search_state *s, bool *ret_infeasible, clv_error *err)
{
    const clv_partition_problem *p = s->queue.p;
    int32_t poprt = -1; /* the best plan of PopRT's moves */
    bool hopeless;
    clv_exact_end exact;
    CLV_TRY(clv_search_open_default(s, err));
    CLV_TRY(clv_seed_first_plans(s, err));
    if (p->n_devices > 1)
        CLV_TRY(clv_plans_look_ahead(s, err));
    CLV_TRY(clv_search_find_bound(s, err));
    CLV_TRY(is_hopeless(s, &hopeless, err));
    if (!hopeless) {
        CLV_TRY(clv_exact_search(s, &exact, err));
        *ret_infeasible = exact == CLV_EXACT_INFEASIBLE;
        if (exact == CLV_EXACT_SOLVED || (*ret_infeasible && s->queue.options->work_left))
            return CLV_OK;
    }
    if (p->n_devices > 1)
        CLV_TRY(clv_seed_cut_again(s, err));
    if (hopeless) {
        s->queue.result.bound = CLV_OBJVAL_INFINITE;
        return CLV_OK;
    }
    CLV_TRY(clv_search_find_bound(s, err));
    if (p->n_devices > 1) {
        CLV_TRY(clv_seed_cut_by_measured_times(s, err));
        CLV_TRY(clv_seed_spread_senders(s, err));
        if (is_short_of_memory(&s->queue))
            CLV_TRY(clv_poprt_moves(&s->queue, &poprt, err));
        CLV_TRY(clv_plans_climb(s, err));
        if (p->n_units <= ELSEWHERE_UNITS)
            CLV_TRY(clv_plans_start_elsewhere(s, err));
        if (poprt < 0 && is_short_of_memory(&s->queue)) { /* as only later plans showed */
            CLV_TRY(clv_poprt_moves(&s->queue, &poprt, err));
            CLV_TRY(clv_plans_climb(s, err));
        }
        CLV_TRY(clv_search_find_bound(s, err));
        CLV_TRY(clv_plans_refine(s, err));
        CLV_TRY(clv_plans_cut_more(s, err));
        CLV_TRY(clv_plans_anneal(s, err));
        CLV_TRY(clv_plans_recalibrate(s, err));
        CLV_TRY(clv_plans_refine_windows(s, err));
        CLV_TRY(follow_verdicts(s, &poprt, err));
    }
    return clv_candidates_retry(&s->queue, MORE_RETRIES, poprt, err);
}

clv_status clv_partition_solve(const clv_partition_problem *p, const clv_partition_judge *judge,
                               const clv_partition_options *options, clv_arena *arena,
                               clv_partition_result *ret, clv_error *err)
{
    assert(p && judge && judge->judge && options && arena && ret && p->n_devices > 0);
    assert(judge->lookahead == 0 || !(judge->bounded_at > 0)); /* who bounds times is fast */
    clv_search_state s = { .swap_work = SWAP_WORK };
    bool infeasible = false;
    clv_candidate_queue *queue = &s.queue;
    CLV_TRY(clv_partition_check_sums(p, err));
    if (options->kind == CLV_SEARCH_DEFAULT && !(judge->bounded_at > 0)) {
        CLV_TRY(clv_time_calibration_new(p, arena, &s.calibration, err));
        p = &s.calibration->corrected;
    }
    CLV_TRY(clv_search_open(&s, p, judge, options, arena, err));
    clv_rule_outcome rules =
        queue->repair ? clv_rule_repair_find(queue->repair, s.device_of) : CLV_RULES_FEASIBLE;
    if (rules != CLV_RULES_FEASIBLE) {
        *ret = (clv_partition_result){ .rules_unmet = true,
                                       .proven = rules == CLV_RULES_INFEASIBLE,
                                       .best.verdict.outcome = CLV_INFEASIBLE };
        return CLV_OK;
    }
    clv_status status = options->kind == CLV_SEARCH_DOCUMENTED
                            ? clv_poprt_search(queue, err)
                            : search_default(&s, &infeasible, err);
    clv_candidates_withdraw(queue, 0);
    CLV_TRY(status);
    if (infeasible)
        queue->result.bound = CLV_OBJVAL_INFINITE;
    if (queue->best < 0) /* no plan could be held against the rules */
        return clv_fail_nomem(err, "the plans of a search");
    /* Optimal where that is proven, whatever the end was. The bound may still be missing: the
     * search of PopRT asks for none, and some plans fit only at a lower proportion. */
    clv_candidates_close(queue);
    if (queue->result.found)
        CLV_TRY(clv_search_find_bound(&s, err));
    if (queue->result.found && queue->result.end != CLV_END_BOUND &&
        !clv_objval_less(queue->result.bound, queue->result.value))
        queue->result.end = CLV_END_OPTIMAL;
    if (queue->result.end == CLV_END_STOPPED && !queue->result.found)
        return clv_fail(err, CLV_ECANCELED, "stopped after %d plans, none of which fits",
                        queue->n_judged);
    *ret = (clv_partition_result){ .solve = queue->result,
                                   .best = queue->tried[queue->best],
                                   .n_judged = queue->n_judged,
                                   .tried = queue->tried };
    return CLV_OK;
}
