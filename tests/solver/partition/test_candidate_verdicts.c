/* test_candidate_verdicts.c - a search that looks ahead: whenever verdicts are made, the same comes
 * out; compilers stay busy; and nothing is left behind. */
#include "solver/partition/candidate_verdicts.h"

#include "problem/estimate.h"
#include "problem/sums.h"
#include "solver/partition/solve.h"
#include "solver/partition/synthetic.h"
#include "solver/partition/verdict_order.h"
#include "support/effort.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { LOOKAHEAD = 16, BATCH = 8 };

static clv_arena *arena;

static void set_up(void) { arena = clv_arena_new(NULL, 0); }
static void tear_down(void) { clv_arena_free(arena); }
TestSuite(candidate_verdicts, .init = set_up, .fini = tear_down, .timeout = 120);

/* -- a judge with one queue -- */

/* As many workers at 1 begin candidates as early, or as late, as any number of real ones could. */
typedef struct {
    const clv_partition_problem *p;    /* with the times that are measured */
    int64_t extra_bytes;               /* on each device, beside weights */
    bool is_early;                     /* judged when it is started; else when it is taken */
    bool reports_times;                /* measured, by device */
    int32_t fails_at;                  /* the call fails for the so-manieth; 0: for none */
    clv_assignment waiting[LOOKAHEAD]; /* a ring */
    clv_verdict verdicts[LOOKAHEAD];
    int32_t n_started, n_taken, n_dropped;
    int32_t most, least; /* under way; the least where a verdict that is not one of the last is
                            waited for */
    int32_t n_last;      /* which those are; 0: not asked for */
} line_judge;

static clv_status judge_one(const line_judge *l, const clv_assignment *a, clv_verdict *ret)
{
    clv_estimate e = { 0 };
    synthetic_judge memory = { .p = l->p, .extra_bytes = l->extra_bytes };
    *ret = synthetic_verdict(&memory, a);
    if (ret->outcome != CLV_FITS)
        return CLV_OK;
    CLV_TRY(clv_partition_estimate(l->p, a->device_of, arena, &e, NULL));
    ret->latency_ns = e.latency_bound_ns;
    ret->period_ns = e.period_ns;
    for (int32_t d = 0; l->reports_times && a->busy_ns && d < l->p->n_devices; d++)
        a->busy_ns[d] = 0;
    for (int32_t u = 0; l->reports_times && a->busy_ns && u < l->p->n_units; u++)
        a->busy_ns[a->device_of[u]] += clv_unit_ns(l->p, u, a->device_of[u]);
    return CLV_OK;
}

static clv_status start(void *ctx, const clv_assignment *a, clv_error *err)
{
    line_judge *l = ctx;
    (void)err;
    cr_assert_lt(l->n_started - l->n_taken, LOOKAHEAD);
    int32_t at = l->n_started++ % LOOKAHEAD;
    l->waiting[at] = *a;
    l->most = l->n_started - l->n_taken > l->most ? l->n_started - l->n_taken : l->most;
    return l->is_early ? judge_one(l, a, &l->verdicts[at]) : CLV_OK;
}

static clv_status take(void *ctx, clv_verdict *verdict, clv_error *err)
{
    line_judge *l = ctx;
    cr_assert_lt(l->n_taken, l->n_started);
    int32_t at = l->n_taken % LOOKAHEAD, n = l->n_started - l->n_taken;
    if (l->fails_at == l->n_taken + 1)
        return clv_fail(err, CLV_EIO, "candidate %d cannot be judged", l->n_taken + 1);
    if (l->n_last > 0 && l->n_taken + n < l->n_last && n < l->least)
        l->least = n;
    l->n_taken++;
    if (!l->is_early)
        CLV_TRY(judge_one(l, &l->waiting[at], &l->verdicts[at]));
    *verdict = l->verdicts[at];
    return CLV_OK;
}

static void drop(void *ctx, int32_t n_kept)
{
    line_judge *l = ctx;
    cr_assert(n_kept >= 0 && n_kept < l->n_started - l->n_taken);
    l->n_dropped += l->n_started - l->n_taken - n_kept;
    l->n_started = l->n_taken + n_kept;
}

static clv_status at_once(void *ctx, const clv_assignment *a, int32_t n, clv_verdict *verdicts,
                          clv_error *err)
{
    const line_judge *l = ctx;
    (void)err;
    for (int32_t i = 0; i < n; i++)
        CLV_TRY(judge_one(l, &a[i], &verdicts[i]));
    return CLV_OK;
}

static clv_partition_judge as_judge(line_judge *l, int32_t lookahead)
{
    l->least = LOOKAHEAD;
    return (clv_partition_judge){ .judge = at_once,
                                  .start = start,
                                  .take = take,
                                  .drop = drop,
                                  .ctx = l,
                                  .batch = BATCH,
                                  .lookahead = lookahead };
}

static clv_partition_result run(const clv_partition_problem *p, line_judge *l,
                                const clv_partition_options *o, int32_t lookahead)
{
    clv_partition_result r = { 0 };
    clv_error err = { 0 };
    clv_partition_judge judge = as_judge(l, lookahead);
    cr_assert_eq(clv_partition_solve(p, &judge, o, arena, &r, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(l->n_started, l->n_taken, "nothing is under way in the end");
    if (lookahead > 0)
        cr_assert_eq(r.n_judged, l->n_taken, "what counts is what was taken");
    return r;
}

/* The same units with other times, by a factor of up to 4 either way. */
static void disturb_times(synthetic *s, uint64_t seed)
{
    for (int32_t i = 0; i < s->p.n_kinds * s->p.n_units; i++)
        s->time[i] = 1 + s->time[i] * (1 + (int64_t)synthetic_below(&seed, 15)) / 4;
}

static void expect_same(const clv_partition_problem *p, const clv_partition_result *a,
                        const clv_partition_result *b)
{
    cr_assert_eq(a->n_judged, b->n_judged);
    for (int32_t i = 0; i < a->n_judged; i++) {
        cr_assert_arr_eq(a->tried[i].device_of, b->tried[i].device_of,
                         (size_t)p->n_units * sizeof *a->tried[i].device_of);
        cr_assert_eq(a->tried[i].verdict.latency_ns, b->tried[i].verdict.latency_ns);
        cr_assert_str_eq(a->tried[i].move, b->tried[i].move);
    }
    cr_assert_arr_eq(a->best.device_of, b->best.device_of,
                     (size_t)p->n_units * sizeof *a->best.device_of);
    cr_assert_eq(a->solve.end, b->solve.end);
}

/* Workers that are done before anybody asks, and workers that begin when they are waited for: what
 * is tried is the same, in the same order. All objectives, searches and ends. */
Test(candidate_verdicts, are_the_same_whenever_they_are_made)
{
    for (uint64_t seed = 0; seed < test_effort(36); seed++) {
        synthetic model = synthetic_any(arena, seed, 20 + (int32_t)(seed % 40), 3, 150);
        synthetic real = synthetic_any(arena, seed, 20 + (int32_t)(seed % 40), 3, 150);
        const clv_partition_problem *p = synthetic_done(&model);
        synthetic_done(&real);
        disturb_times(&real, seed);
        clv_partition_options o = { .objective = (clv_objective)(seed % 2),
                                    .kind =
                                        seed % 5 == 4 ? CLV_SEARCH_DOCUMENTED : CLV_SEARCH_DEFAULT,
                                    .first_fit = seed % 7 == 6,
                                    .max_judged = seed % 3 == 2 ? 1 + (int32_t)(seed % 29) : 0 };
        line_judge early = { .p = &real.p,
                             .extra_bytes = (int64_t)(seed % 4) * 20,
                             .reports_times = seed % 2 == 0,
                             .is_early = true };
        line_judge late = early;
        late.is_early = false;
        clv_partition_result a = run(p, &early, &o, LOOKAHEAD), b = run(p, &late, &o, LOOKAHEAD);
        expect_same(p, &a, &b);
        cr_assert_leq(early.most, LOOKAHEAD);
        if (o.max_judged > 0)
            cr_assert_leq(a.n_judged, o.max_judged);
    }
}

/* Until the last are taken, at least as many are under way as four compilers and the search want.
 */
Test(candidate_verdicts, keep_compilers_busy)
{
    for (uint64_t seed = 0; seed < test_effort(8); seed++) {
        synthetic model = synthetic_chain(arena, 24, 4, 10);
        synthetic real = synthetic_chain(arena, 24, 4, 10);
        const clv_partition_problem *p = synthetic_done(&model);
        synthetic_done(&real);
        disturb_times(&real, seed);
        clv_partition_options o = { .objective = (clv_objective)(seed % 2) };
        line_judge l = { .p = &real.p, .n_last = INT32_MAX };
        clv_partition_result r = run(p, &l, &o, LOOKAHEAD);
        cr_assert(r.solve.found);
        cr_assert_geq(l.least, BATCH, "%d under way", l.least);
        cr_assert_eq(r.n_judged % BATCH, 0, "whole batches");
        cr_assert_gt(l.n_dropped, 0, "there is no tail");
    }
}

/* With times that sums get wrong it finds plans that are as good on the whole; where sums are
 * right, and where memory is short, too. */
Test(candidate_verdicts, looking_ahead_costs_no_quality)
{
    double log_sum = 0;
    int32_t n = 0, better = 0, worse = 0;
    for (uint64_t seed = 0; seed < test_effort(24); seed++) {
        int64_t percent = 120 + (int64_t)(seed % 4) * 60;
        synthetic model = synthetic_any(arena, seed, 30, 3, percent);
        synthetic real = synthetic_any(arena, seed, 30, 3, percent);
        const clv_partition_problem *p = synthetic_done(&model);
        synthetic_done(&real);
        if (seed % 3 > 0)
            disturb_times(&real, seed);
        clv_objective objective = (clv_objective)(seed / 4 % 2);
        clv_partition_options o = { .objective = objective };
        line_judge l = { .p = &real.p, .extra_bytes = 10 }, waits = l;
        clv_partition_result a = run(p, &l, &o, LOOKAHEAD), b = run(p, &waits, &o, 0);
        cr_assert(a.solve.found || !b.solve.found, "seed %lu", (unsigned long)seed);
        if (!b.solve.found)
            continue;
        int64_t ns_a = clv_verdict_ns(&a.best.verdict, objective);
        int64_t ns_b = clv_verdict_ns(&b.best.verdict, objective);
        better += ns_a < ns_b;
        worse += ns_a > ns_b;
        log_sum += log((double)ns_a / (double)ns_b);
        n++;
    }
    printf("%d better, %d worse of %d, times %.4f in the mean\n", better, worse, n,
           exp(log_sum / n));
    cr_assert_gt(n, 0);
    cr_assert_leq(log_sum, 0.01 * n);
}

/* Nothing of what was thought to fit is judged once the first plan does not. */
Test(candidate_verdicts, what_was_believed_is_withdrawn_when_nothing_fits)
{
    synthetic s = synthetic_chain(arena, 40, 2, 10);
    const clv_partition_problem *p = synthetic_done(&s);
    for (int32_t d = 0; d < 2; d++)
        s.capacity[d] = 10 * p->weight_bytes[0];
    clv_partition_options o = { .objective = CLV_THROUGHPUT };
    line_judge l = { .p = p, .extra_bytes = 5 }, waits = l;
    clv_partition_result a = run(p, &l, &o, LOOKAHEAD), b = run(p, &waits, &o, 0);
    cr_assert(!a.solve.found && !b.solve.found);
    cr_assert_gt(l.n_dropped, 0);
    cr_assert_leq(a.n_judged, b.n_judged);
}

/* More than there are may be asked for. */
Test(candidate_verdicts, all_are_judged_and_no_more)
{
    static const int32_t plans[3][4] = { { 0, 0, 0, 1 }, { 0, 0, 1, 1 }, { 0, 1, 1, 1 } };
    synthetic s = synthetic_chain(arena, 4, 2, 1);
    const clv_partition_problem *p = synthetic_done(&s);
    line_judge l = { .p = p };
    clv_partition_judge judge = as_judge(&l, LOOKAHEAD);
    clv_partition_options o = { .objective = CLV_THROUGHPUT };
    clv_candidate_queue q;
    cr_assert_eq(clv_candidates_open(p, &judge, &o, arena, &q, NULL), CLV_OK);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(clv_candidates_add(&q, plans[i], 0, "given", NULL, NULL), CLV_OK);
    cr_assert_eq(clv_candidates_judge(&q, NULL), CLV_OK);
    cr_assert(q.n_judged == 0 && q.n_known == 3 && q.best == 1, "believed");
    cr_assert_eq(clv_candidates_settle(&q, 1, NULL), CLV_OK);
    cr_assert(q.n_judged == 1 && q.best_judged == 0 && q.best == 1);
    clv_candidates_withdraw(&q, 2);
    cr_assert(q.n == 2 && l.n_dropped == 1 && clv_candidates_find(&q, plans[2], 0) < 0);
    for (int again = 0; again < 2; again++)
        cr_assert_eq(clv_candidates_settle(&q, 5, NULL), CLV_OK);
    cr_assert(q.n_judged == 2 && q.best_judged == 1 && q.best == 1);
}

/* Weights fit, but not what is needed besides: much is tried on belief before the first verdict,
 * and is withdrawn. What fits is found where the search that waits finds it. */
Test(candidate_verdicts, short_memory_is_searched_as_if_it_waited)
{
    int32_t n = 0, n_found = 0, n_waits_found = 0, judged = 0, waits_judged = 0;
    for (uint64_t seed = 0; seed < test_effort(12); seed++, n++) {
        synthetic s = synthetic_any(arena, seed, 80, 6, 140);
        const clv_partition_problem *p = synthetic_done(&s);
        clv_partition_options o = { .objective = (clv_objective)(seed % 2), .max_judged = 60 };
        line_judge l = { .p = p, .extra_bytes = s.capacity[0] * (25 + (int64_t)seed % 6) / 100 };
        line_judge waits = l;
        clv_partition_result a = run(p, &l, &o, LOOKAHEAD), b = run(p, &waits, &o, 0);
        n_found += a.solve.found;
        n_waits_found += b.solve.found;
        judged += a.n_judged;
        waits_judged += b.n_judged;
    }
    printf("%d of %d fit, %d judged; %d and %d waiting\n", n_found, n, judged, n_waits_found,
           waits_judged);
    cr_assert_geq(n_found, n_waits_found);
}

Test(candidate_verdicts, first_fit_ends_with_the_first_that_fits)
{
    synthetic s = synthetic_any(arena, 7, 40, 4, 130);
    const clv_partition_problem *p = synthetic_done(&s);
    line_judge l = { .p = p, .extra_bytes = 20 };
    clv_partition_options o = { .objective = CLV_THROUGHPUT, .first_fit = true };
    clv_partition_result r = run(p, &l, &o, LOOKAHEAD);
    cr_assert(r.solve.found);
    cr_assert_eq(r.solve.end, CLV_END_FIRST_FIT);
    for (int32_t i = 0; i < r.n_judged - 1; i++)
        cr_assert_neq(r.tried[i].verdict.outcome, CLV_FITS);
    cr_assert_eq(r.best.device_of, r.tried[r.n_judged - 1].device_of);
}

/* Whichever it is, its failure is what the search returns, and the rest is dropped. */
Test(candidate_verdicts, a_failure_is_passed_on_and_the_rest_dropped)
{
    synthetic s = synthetic_chain(arena, 24, 4, 10);
    const clv_partition_problem *p = synthetic_done(&s);
    for (int32_t at = 1; at <= 8; at++) {
        line_judge l = { .p = p, .fails_at = at };
        clv_partition_judge judge = as_judge(&l, LOOKAHEAD);
        clv_partition_options o = { .objective = CLV_THROUGHPUT };
        clv_partition_result r;
        clv_error err = { 0 };
        char want[64];
        snprintf(want, sizeof want, "candidate %d cannot be judged", at);
        l.n_last = 0;
        cr_assert_eq(clv_partition_solve(p, &judge, &o, arena, &r, &err), CLV_EIO);
        cr_assert_str_eq(err.message, want);
        cr_assert_eq(l.n_started, l.n_taken);
    }
}

static bool stop_after(void *ctx)
{
    const line_judge *l = ctx;
    return l->n_taken >= 5;
}

Test(candidate_verdicts, a_stop_drops_what_is_under_way)
{
    synthetic s = synthetic_chain(arena, 24, 4, 10);
    const clv_partition_problem *p = synthetic_done(&s);
    line_judge l = { .p = p };
    clv_partition_options o = { .solve = { .stop = stop_after, .stop_ctx = &l } };
    clv_partition_result r = run(p, &l, &o, LOOKAHEAD);
    cr_assert_eq(r.solve.end, CLV_END_STOPPED);
    cr_assert(r.solve.found);
    cr_assert_eq(r.n_judged, 5);
    cr_assert_gt(l.n_dropped, 0);
}
