#include "solver/partition/candidate_queue.h"

#include "base/map.h"
#include "problem/micro.h"
#include "solver/partition/verdict_order.h"

#include <string.h>

/* A judgement takes time in proportion to the units. So many units are judged in all: some tens of
 * seconds with the built-in compiler. */
#define BUDGET_UNITS 1200000
#define BUDGET_MAX   200 /* for small problems: what is found later is rarely better */
#define BUDGET_MIN   8   /* for huge ones: the first plans, and a few improvements */

/* Judgements kept back for lower proportions while nothing fits. */
#define RETRIES 2
static const double lower_proportions[RETRIES] = { 0.3, CLV_PROPORTION_MIN };

clv_status clv_candidates_open(const clv_partition_problem *p, const clv_partition_judge *judge,
                               const clv_partition_options *options, clv_arena *arena,
                               clv_candidate_queue *ret, clv_error *err)
{
    *ret = (clv_candidate_queue){
        .p = p, .judge = judge, .options = options, .arena = arena, .best = -1
    };
    CLV_TRY(
        clv_incumbent_open(&ret->incumbent, &options->solve, p->n_units, arena, &ret->result, err));
    if (options->enough_ns > 0)
        ret->incumbent.enough_bound = clv_objval_whole(options->enough_ns);
    int32_t budget = BUDGET_UNITS / (p->n_units > 0 ? p->n_units : 1);
    budget = budget > BUDGET_MAX ? BUDGET_MAX : budget < BUDGET_MIN ? BUDGET_MIN : budget;
    ret->max_judged = options->max_judged > 0 ? options->max_judged : budget;
    ret->n_slots = 64;
    ret->slot = CLV_NEW_ARRAY(arena, int32_t, ret->n_slots);
    if (!ret->slot)
        return clv_fail_nomem(err, "the plans of a search");
    return p->rules ? clv_rule_repair_new(p, arena, &ret->repair, err) : CLV_OK;
}

/* -- the visited set -- */

static uint64_t hash_of(const clv_candidate_queue *queue, const int32_t *device_of,
                        double proportion)
{
    uint64_t h = clv_hash(CLV_HASH_INIT, &proportion, sizeof proportion);
    size_t bytes = (size_t)queue->p->n_units * sizeof *device_of;
    return bytes > 0 ? clv_hash(h, device_of, bytes) : h;
}

static bool is_same(const clv_candidate_queue *queue, int32_t i, const int32_t *device_of,
                    double proportion)
{
    const clv_candidate *t = &queue->tried[i];
    size_t bytes = (size_t)queue->p->n_units * sizeof *device_of;
    return !(t->proportion < proportion) && !(t->proportion > proportion) &&
           (bytes == 0 || memcmp(t->device_of, device_of, bytes) == 0);
}

/* Where it is, or where it would go. */
static int32_t find_slot(const clv_candidate_queue *queue, const int32_t *device_of,
                         double proportion, uint64_t hash)
{
    int32_t at = (int32_t)(hash & (uint64_t)(queue->n_slots - 1));
    for (;; at = (at + 1) & (queue->n_slots - 1)) {
        int32_t i = queue->slot[at] - 1;
        if (i < 0 || (queue->hash[i] == hash && is_same(queue, i, device_of, proportion)))
            return at;
    }
}

int32_t clv_candidates_find(const clv_candidate_queue *queue, const int32_t *device_of,
                            double proportion)
{
    uint64_t hash = hash_of(queue, device_of, proportion);
    return queue->slot[find_slot(queue, device_of, proportion, hash)] - 1;
}

static clv_status grow_slots(clv_candidate_queue *queue, clv_error *err)
{
    int32_t n = queue->n_slots * 2, *slot = CLV_NEW_ARRAY(queue->arena, int32_t, n);
    if (!slot)
        return clv_fail_nomem(err, "the plans of a search");
    for (int32_t i = 0; i < queue->n; i++) {
        int32_t at = (int32_t)(queue->hash[i] & (uint64_t)(n - 1));
        while (slot[at])
            at = (at + 1) & (n - 1);
        slot[at] = i + 1;
    }
    queue->slot = slot;
    queue->n_slots = n;
    return CLV_OK;
}

/* How many plans may be in the queue. While nothing fits, the last judgements are kept for lower
 * proportions. */
static int32_t budget(const clv_candidate_queue *queue, double proportion)
{
    bool keep_back =
        proportion <= 0 && !clv_candidates_has_fit(queue) && queue->max_judged > RETRIES;
    return queue->max_judged - (keep_back ? RETRIES : 0);
}

clv_status clv_candidates_leave_out(const clv_candidate_queue *queue, const int32_t *device_of,
                                    bool *ret, clv_error *err)
{
    const clv_partition_problem *p = queue->p;
    int32_t n_used = 0;
    *ret = false;
    if (!queue->options->use_all_devices)
        return CLV_OK;
    clv_mark mark = clv_arena_mark(queue->arena);
    bool *used = CLV_NEW_ARRAY(queue->arena, bool, p->n_devices);
    if (!used)
        return clv_fail_nomem(err, "the devices of a plan");
    for (int32_t u = 0; u < p->n_units; u++) {
        n_used += !used[device_of[u]];
        used[device_of[u]] = true;
    }
    clv_arena_rewind(queue->arena, mark);
    *ret = n_used < p->n_devices && n_used < p->n_units;
    return CLV_OK;
}

clv_status clv_candidates_add(clv_candidate_queue *queue, const int32_t *device_of,
                              double proportion, const char *move, bool *ret_added, clv_error *err)
{
    uint64_t hash = hash_of(queue, device_of, proportion);
    int32_t at = find_slot(queue, device_of, proportion, hash), n_units = queue->p->n_units;
    if (ret_added)
        *ret_added = false;
    if (queue->slot[at] || !clv_partition_satisfies_rules(queue->p, device_of, queue->arena))
        return CLV_OK;
    if (queue->n >= budget(queue, proportion)) {
        queue->is_full = true;
        return CLV_OK;
    }
    bool leaves_out;
    CLV_TRY(clv_candidates_leave_out(queue, device_of, &leaves_out, err));
    int32_t *copy = CLV_NEW_ARRAY(queue->arena, int32_t, n_units);
    if (!copy)
        return clv_fail_nomem(err, "a plan");
    if (n_units > 0)
        memcpy(copy, device_of, (size_t)n_units * sizeof *copy);
    if (!CLV_PUSH_ROOM(queue->arena, queue->tried, queue->n, queue->cap) ||
        !CLV_PUSH_ROOM(queue->arena, queue->hash, queue->n, queue->cap_hash))
        return clv_fail_nomem(err, "the plans of a search");
    queue->tried[queue->n] = (clv_candidate){
        .device_of = copy, .proportion = proportion, .move = move, .leaves_out = leaves_out
    };
    queue->hash[queue->n] = hash;
    queue->slot[at] = ++queue->n;
    if (ret_added)
        *ret_added = true;
    return queue->n * 2 > queue->n_slots ? grow_slots(queue, err) : CLV_OK;
}

/* -- verdicts -- */

bool clv_candidates_better(const clv_candidate_queue *queue, int32_t a, int32_t b)
{
    const clv_candidate *x = &queue->tried[a], *y = &queue->tried[b];
    if (x->verdict.outcome == CLV_FITS && y->verdict.outcome == CLV_FITS &&
        x->leaves_out != y->leaves_out)
        return y->leaves_out;
    return clv_verdict_better(&x->verdict, &y->verdict, queue->options->objective);
}

/* Plan i has a verdict: is it the best? */
static void update_best(clv_candidate_queue *queue, int32_t i)
{
    if (queue->is_done)
        return;
    const clv_candidate *t = &queue->tried[i];
    bool fits = t->verdict.outcome == CLV_FITS, first_fit = queue->options->first_fit && fits;
    if (first_fit || queue->best < 0 || clv_candidates_better(queue, i, queue->best)) {
        int64_t ns = clv_verdict_ns(&t->verdict, queue->options->objective);
        queue->best = i;
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

static clv_status judge_batch(clv_candidate_queue *queue, int32_t n, clv_error *err)
{
    for (int32_t i = queue->n_judged; i < queue->n_judged + n && queue->asks_times; i++) {
        int64_t *busy_ns = CLV_NEW_ARRAY(queue->arena, int64_t, queue->p->n_devices);
        if (!busy_ns || !CLV_PUSH_ROOM(queue->arena, queue->busy_ns, i, queue->cap_busy))
            return clv_fail_nomem(err, "a batch of plans");
        for (int32_t d = 0; d < queue->p->n_devices; d++)
            busy_ns[d] = -1;
        queue->busy_ns[i] = busy_ns;
    }
    clv_mark mark = clv_arena_mark(queue->arena);
    clv_assignment *ask = CLV_NEW_ARRAY(queue->arena, clv_assignment, n);
    clv_verdict *verdicts = CLV_NEW_ARRAY(queue->arena, clv_verdict, n);
    int32_t first = queue->n_judged, micro = queue->options->microbatches;
    if (!ask || !verdicts)
        return clv_fail_nomem(err, "a batch of plans");
    for (int32_t i = 0; i < n; i++) {
        const clv_candidate *t = &queue->tried[first + i];
        int64_t *busy_ns = queue->asks_times ? queue->busy_ns[first + i] : NULL;
        ask[i] = (clv_assignment){ t->device_of, t->proportion, busy_ns };
    }
    CLV_TRY(queue->judge->judge(queue->judge->ctx, ask, n, verdicts, err));
    for (int32_t i = 0; i < n; i++) {
        clv_verdict *v = &queue->tried[first + i].verdict;
        *v = verdicts[i];
        v->share_ns = micro > 0 ? clv_micro_share_ns(v->latency_ns, v->period_ns, micro) : 0;
    }
    clv_arena_rewind(queue->arena, mark);
    for (int32_t i = 0; i < n; i++)
        update_best(queue, first + i);
    queue->n_judged += n;
    check_bound(queue);
    return CLV_OK;
}

/* Deadline and caller count once something is judged. */
static void check_limits(clv_candidate_queue *queue)
{
    if (queue->n_judged > 0 && !queue->is_done && clv_limits_over(&queue->incumbent.limits))
        queue->is_over = queue->is_full = true;
}

clv_status clv_candidates_judge(clv_candidate_queue *queue, clv_error *err)
{
    int32_t batch = queue->judge->batch > 0 ? queue->judge->batch : 1;
    while (queue->n_judged < queue->n && !queue->is_done && !queue->is_over) {
        int32_t n = queue->n - queue->n_judged;
        if (queue->options->first_fit && n > queue->n_judged + 1)
            n = queue->n_judged + 1; /* 1, 2, 4, ...: the first plan mostly fits */
        CLV_TRY(judge_batch(queue, n < batch ? n : batch, err));
        clv_incumbent_report(&queue->incumbent, queue->result.found_by, queue->n_judged,
                             queue->n - queue->n_judged);
        check_limits(queue);
    }
    return CLV_OK;
}

bool clv_candidates_is_over(clv_candidate_queue *queue)
{
    check_limits(queue);
    return queue->is_done || queue->is_over || queue->n >= budget(queue, 0);
}

bool clv_candidates_has_fit(const clv_candidate_queue *queue)
{
    return queue->best >= 0 && queue->tried[queue->best].verdict.outcome == CLV_FITS;
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
    for (int32_t i = 0; i < RETRIES && !queue->is_over && !*ret_fits; i++) {
        const char *move =
            clv_arena_printf(queue->arena, "plan %d with available memory proportion %.1f",
                             plan + 1, lower_proportions[i]);
        if (!move)
            return clv_fail_nomem(err, "a plan");
        CLV_TRY(clv_candidates_add(queue, device_of, lower_proportions[i], move, NULL, err));
        CLV_TRY(clv_candidates_judge(queue, err));
        int32_t at = clv_candidates_find(queue, device_of, lower_proportions[i]);
        *ret_fits = at >= 0 && at < queue->n_judged && queue->tried[at].verdict.outcome == CLV_FITS;
    }
    return CLV_OK;
}

clv_status clv_candidates_retry(clv_candidate_queue *queue, int32_t n_more, int32_t other,
                                clv_error *err)
{
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
