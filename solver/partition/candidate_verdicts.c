#include "solver/partition/candidate_verdicts.h"

#include "problem/estimate.h"
#include "problem/micro.h"
#include "problem/sums.h"
#include "solver/partition/verdict_order.h"

static const double lower_proportions[CLV_RETRIES] = { 0.3, CLV_PROPORTION_MIN };

/* Plan i has a verdict: is it the best? */
static void update_best(clv_candidate_queue *queue, int32_t i)
{
    if (queue->is_done)
        return;
    const clv_candidate *t = &queue->tried[i];
    bool fits = t->verdict.outcome == CLV_FITS, first_fit = queue->options->first_fit && fits;
    if (first_fit || queue->best_judged < 0 ||
        clv_candidates_better(queue, i, queue->best_judged)) {
        int64_t ns = clv_verdict_ns(&t->verdict, queue->options->objective);
        queue->best_judged = queue->best = i;
        if (fits)
            clv_incumbent_set(&queue->incumbent, t->device_of, clv_objval_whole(ns), t->move);
    }
    queue->is_done = first_fit;
    queue->why = CLV_END_FIRST_FIT;
}

/* Is the best plan near enough to the bound, or the bound as high as asked? */
static void check_bound(clv_candidate_queue *queue)
{
    const clv_solve_result *r = &queue->result;
    bool is_asked = clv_incumbent_is_bound_enough(&queue->incumbent);
    if (queue->is_done || queue->n_judged == 0 || r->bound.whole <= 0 || (!r->found && !is_asked))
        return;
    queue->is_done = clv_incumbent_is_enough(&queue->incumbent);
    queue->why = !clv_objval_less(r->bound, r->value) ? CLV_END_OPTIMAL
                 : is_asked                           ? CLV_END_BOUND
                                                      : CLV_END_GAP;
}

void clv_candidates_raise_bound(clv_candidate_queue *queue, int64_t bound_ns, const char *method)
{
    clv_incumbent_raise(&queue->incumbent, clv_objval_whole(bound_ns), method);
    check_bound(queue);
}

/* Where measured times of plans are wanted: a place for those of plan i. */
static clv_status make_times(clv_candidate_queue *queue, int32_t i, clv_error *err)
{
    if (!queue->asks_times)
        return CLV_OK;
    int64_t *busy_ns = CLV_NEW_ARRAY(queue->arena, int64_t, queue->p->n_devices);
    if (!busy_ns || !CLV_PUSH_ROOM(queue->arena, queue->busy_ns, i, queue->cap_busy))
        return clv_fail_nomem(err, "a batch of plans");
    for (int32_t d = 0; d < queue->p->n_devices; d++)
        busy_ns[d] = -1;
    queue->busy_ns[i] = busy_ns;
    return CLV_OK;
}

static clv_assignment assignment_of(const clv_candidate_queue *queue, int32_t i)
{
    const clv_candidate *t = &queue->tried[i];
    return (clv_assignment){ t->device_of, t->proportion,
                             queue->asks_times ? queue->busy_ns[i] : NULL };
}

static void set_verdict(clv_candidate_queue *queue, int32_t i, const clv_verdict *verdict)
{
    int32_t micro = queue->options->microbatches;
    clv_verdict *v = &queue->tried[i].verdict;
    *v = *verdict;
    v->share_ns = micro > 0 ? clv_micro_share_ns(v->latency_ns, v->period_ns, micro) : 0;
}

/* After verdicts. */
static void check_ends(clv_candidate_queue *queue)
{
    check_bound(queue);
    clv_incumbent_report(&queue->incumbent, queue->result.found_by, queue->n_judged,
                         queue->n - queue->n_judged);
    clv_candidates_check_limits(queue);
}

/* -- batch by batch -- */

static clv_status judge_batch(clv_candidate_queue *queue, int32_t n, clv_error *err)
{
    int32_t first = queue->n_judged;
    for (int32_t i = 0; i < n; i++)
        CLV_TRY(make_times(queue, first + i, err));
    clv_mark mark = clv_arena_mark(queue->arena);
    clv_assignment *ask = CLV_NEW_ARRAY(queue->arena, clv_assignment, n);
    clv_verdict *verdicts = CLV_NEW_ARRAY(queue->arena, clv_verdict, n);
    if (!ask || !verdicts)
        return clv_fail_nomem(err, "a batch of plans");
    for (int32_t i = 0; i < n; i++)
        ask[i] = assignment_of(queue, first + i);
    CLV_TRY(queue->judge->judge(queue->judge->ctx, ask, n, verdicts, err));
    for (int32_t i = 0; i < n; i++)
        set_verdict(queue, first + i, &verdicts[i]);
    clv_arena_rewind(queue->arena, mark);
    for (int32_t i = 0; i < n; i++)
        update_best(queue, first + i);
    queue->n_judged = queue->n_known = first + n;
    check_ends(queue);
    return CLV_OK;
}

static clv_status judge_batches(clv_candidate_queue *queue, clv_error *err)
{
    int32_t batch = queue->judge->batch > 0 ? queue->judge->batch : 1;
    while (queue->n_judged < queue->n && !queue->is_done && !queue->is_over) {
        int32_t n = queue->n - queue->n_judged;
        if (queue->options->first_fit && n > queue->n_judged + 1)
            n = queue->n_judged + 1; /* 1, 2, 4, ...: the first plan mostly fits */
        CLV_TRY(judge_batch(queue, n < batch ? n : batch, err));
    }
    return CLV_OK;
}

/* -- looking ahead -- */

bool clv_candidates_looks_ahead(const clv_candidate_queue *queue)
{
    return queue->judge->lookahead > 0;
}

/* As many of those that wait as the lookahead has room for. */
static clv_status start_waiting(clv_candidate_queue *queue, clv_error *err)
{
    const clv_partition_judge *judge = queue->judge;
    while (!queue->is_done && !queue->is_over && queue->n_known < queue->n &&
           queue->n_known - queue->n_judged < judge->lookahead) {
        CLV_TRY(make_times(queue, queue->n_known, err));
        clv_assignment next = assignment_of(queue, queue->n_known);
        CLV_TRY(judge->start(judge->ctx, &next, err));
        queue->n_known++;
    }
    return CLV_OK;
}

static clv_status take_next(clv_candidate_queue *queue, clv_error *err)
{
    clv_verdict verdict;
    CLV_TRY(queue->judge->take(queue->judge->ctx, &verdict, err));
    set_verdict(queue, queue->n_judged, &verdict);
    update_best(queue, queue->n_judged++);
    check_ends(queue);
    return start_waiting(queue, err);
}

static int64_t scaled_ns(int64_t ns, int64_t to, int64_t from)
{
    double scaled = from > 0 ? (double)ns * ((double)to / (double)from) : (double)ns;
    return scaled < (double)CLV_SUM_MAX ? (int64_t)scaled : CLV_SUM_MAX;
}

clv_status clv_candidates_believe(clv_candidate_queue *queue, clv_error *err)
{
    clv_estimate e, of_best = { .latency_bound_ns = 1, .period_ns = 1 };
    clv_verdict best = { .latency_ns = 1, .period_ns = 1 };
    clv_mark mark = clv_arena_mark(queue->arena);
    bool may_fit = queue->n_judged == 0 || clv_candidates_has_judged_fit(queue);
    queue->best = queue->best_judged;
    if (queue->n_known > queue->n_judged && clv_candidates_has_judged_fit(queue)) {
        best = queue->tried[queue->best].verdict;
        CLV_TRY(clv_partition_estimate(queue->p, queue->tried[queue->best].device_of, queue->arena,
                                       &of_best, err));
    }
    for (int32_t i = queue->n_judged; i < queue->n_known && !queue->is_done; i++) {
        CLV_TRY(clv_partition_estimate(queue->p, queue->tried[i].device_of, queue->arena, &e, err));
        clv_verdict v = { .outcome = may_fit ? CLV_FITS : CLV_FAILED,
                          .latency_ns = scaled_ns(e.latency_bound_ns, best.latency_ns,
                                                  of_best.latency_bound_ns),
                          .period_ns = scaled_ns(e.period_ns, best.period_ns, of_best.period_ns) };
        set_verdict(queue, i, &v);
        if (queue->best < 0 || clv_candidates_better(queue, i, queue->best))
            queue->best = i;
    }
    clv_arena_rewind(queue->arena, mark);
    return CLV_OK;
}

/* -- both -- */

/* Is there more than the lookahead has room for, or nothing to believe? */
static bool has_to_wait(const clv_candidate_queue *queue)
{
    if (queue->is_done || queue->is_over || queue->n_judged == queue->n)
        return false;
    return queue->n_known < queue->n || queue->options->first_fit ||
           (queue->n_judged > 0 && !clv_candidates_has_judged_fit(queue));
}

clv_status clv_candidates_judge(clv_candidate_queue *queue, clv_error *err)
{
    if (!clv_candidates_looks_ahead(queue))
        return judge_batches(queue, err);
    CLV_TRY(start_waiting(queue, err));
    while (has_to_wait(queue))
        CLV_TRY(take_next(queue, err));
    return clv_candidates_believe(queue, err);
}

clv_status clv_candidates_settle(clv_candidate_queue *queue, int32_t n, clv_error *err)
{
    if (!clv_candidates_looks_ahead(queue))
        return judge_batches(queue, err);
    CLV_TRY(start_waiting(queue, err));
    n = n < queue->n ? n : queue->n;
    while (queue->n_judged < n && !queue->is_done && !queue->is_over)
        CLV_TRY(take_next(queue, err));
    return clv_candidates_believe(queue, err);
}

void clv_candidates_withdraw(clv_candidate_queue *queue, int32_t first)
{
    if (first < queue->n_judged)
        first = queue->n_judged;
    if (first < queue->n_known)
        queue->judge->drop(queue->judge->ctx, first - queue->n_judged);
    if (first < queue->n_known)
        queue->n_known = first;
    clv_candidates_forget(queue, first);
    if (queue->best >= first)
        queue->best = queue->best_judged;
}

/* -- lower proportions -- */

/* The OOM plan that comes next after plan `after` (-1: the very best), among the first n. */
static int32_t next_smallest_oom(const clv_candidate_queue *queue, int32_t n, int32_t after)
{
    int32_t best = -1;
    for (int32_t i = 0; i < n; i++) {
        if (queue->tried[i].verdict.outcome != CLV_OOM)
            continue;
        if (after >= 0 && (clv_candidates_better(queue, i, after) ||
                           (!clv_candidates_better(queue, after, i) && i <= after)))
            continue;
        if (best < 0 || clv_candidates_better(queue, i, best))
            best = i;
    }
    return best;
}

/* Judges one plan with lower and lower proportions; *ret_fits: one of them fits, now or before. */
static clv_status retry_plan(clv_candidate_queue *queue, int32_t plan, bool *ret_fits,
                             clv_error *err)
{
    const int32_t *device_of = queue->tried[plan].device_of;
    *ret_fits = false;
    for (int32_t i = 0; i < CLV_RETRIES && !queue->is_over && !*ret_fits; i++) {
        const char *move =
            clv_arena_printf(queue->arena, "plan %d with available memory proportion %.1f",
                             plan + 1, lower_proportions[i]);
        if (!move)
            return clv_fail_nomem(err, "a plan");
        CLV_TRY(clv_candidates_add(queue, device_of, lower_proportions[i], move, NULL, err));
        CLV_TRY(clv_candidates_settle(queue, queue->n, err));
        int32_t at = clv_candidates_find(queue, device_of, lower_proportions[i]);
        *ret_fits = at >= 0 && at < queue->n_judged && queue->tried[at].verdict.outcome == CLV_FITS;
    }
    return CLV_OK;
}

clv_status clv_candidates_retry(clv_candidate_queue *queue, int32_t n_more, int32_t other,
                                clv_error *err)
{
    CLV_TRY(clv_candidates_settle(queue, queue->n, err));
    int32_t n = queue->n_judged, plan = -1;
    bool fits = false;
    if (queue->is_over)
        return CLV_OK;
    bool other_may = other >= 0 && queue->tried[other].verdict.outcome == CLV_OOM;
    if (clv_candidates_has_fit(queue)) {
        if (!other_may || queue->is_done)
            return CLV_OK;
        clv_verdict as_if = queue->tried[other].verdict;
        as_if.outcome = CLV_FITS; /* better by its times than the best that fits? */
        bool promises_more = clv_verdict_better(&as_if, &queue->tried[queue->best].verdict,
                                                queue->options->objective);
        return promises_more ? retry_plan(queue, other, &fits, err) : CLV_OK;
    }
    for (int32_t k = 0; k <= n_more && !fits; k++) {
        plan = next_smallest_oom(queue, n, plan);
        if (plan < 0)
            return CLV_OK;
        CLV_TRY(retry_plan(queue, plan, &fits, err));
    }
    return other_may && !queue->is_done ? retry_plan(queue, other, &fits, err) : CLV_OK;
}

void clv_candidates_close(clv_candidate_queue *queue)
{
    clv_solve_result *r = &queue->result;
    if (queue->is_done)
        r->end = queue->why;
    else if (queue->is_over)
        r->end = clv_limits_end(&queue->incumbent.limits);
    else if (clv_objval_is_infinite(r->bound))
        r->end = CLV_END_INFEASIBLE;
    else
        r->end = queue->is_full ? CLV_END_CANDIDATES : CLV_END_SEARCHED;
    queue->is_done = true;
    r->seconds = clv_incumbent_seconds(&queue->incumbent);
}
