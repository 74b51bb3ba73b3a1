/* test_solve.c - the default search: limits, ends, bounds, threads, and known best plans. */
#include "solver/partition/solve.h"
#include "solver/partition/verdict_order.h"

#include "solver/common/ilp/ilp_solve.h"
#include "solver/partition/synthetic.h"
#include "support/effort.h"

#include <criterion/criterion.h>
#include <stdio.h>

static clv_partition_result run(const clv_partition_problem *p, synthetic_judge *j,
                                clv_partition_options o, int32_t batch, clv_arena *arena)
{
    clv_partition_result r = { 0 };
    clv_error err = { 0 };
    clv_partition_judge judge = synthetic_as_judge(j, batch);
    j->p = p;
    cr_assert_eq(clv_partition_solve(p, &judge, &o, arena, &r, &err), CLV_OK, "%s", err.message);
    return r;
}

static int32_t n_used(const clv_partition_problem *p, const int32_t *device_of)
{
    bool used[64] = { 0 };
    int32_t n = 0;
    for (int32_t u = 0; u < p->n_units; u++) {
        n += !used[device_of[u]];
        used[device_of[u]] = true;
    }
    return n;
}

/* 8 equal units in a chain, two devices: cut in the middle, period 4. */
/* covers: B.016 B.017 B.023 */
Test(solve, cuts_a_chain_of_equal_units_in_the_middle)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 8, 2, 1);
    synthetic_judge j = { 0 };
    clv_partition_result r = run(synthetic_done(&s), &j,
                                 (clv_partition_options){ .objective = CLV_THROUGHPUT }, 4, arena);
    int32_t want[] = { 0, 0, 0, 0, 1, 1, 1, 1 };
    cr_assert(r.solve.found);
    cr_assert_eq(memcmp(r.best.device_of, want, sizeof want), 0);
    cr_assert_eq(r.best.verdict.period_ns, 4);
    cr_assert_str_eq(r.tried[0].move, "memory balance");
    cr_assert_eq(r.n_judged, j.n_asked, "what is tried is what was judged");
    clv_arena_free(arena);
}

/* A vision transformer of 24 layers: a small first unit (patches), two units a layer, a last one
 * (head). Every boundary between units carries the same bytes, so latencies of all cuts are equal;
 * the period decides for the cut after layer 12: 1 + 24 units on each side. */
Test(solve, cuts_24_equal_layers_after_the_12th_for_latency)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 50, 2, 1000);
    for (int32_t u = 0; u < 50; u++) {
        bool attention = u % 2;
        s.weight[u] = u == 0 || u == 49 ? 3000 : attention ? 4200 : 8400;
        s.flops[u] = s.time[u] = u == 0 ? 300 : u == 49 ? 10 : attention ? 1800 : 3400;
    }
    for (int d = 0; d < 2; d++)
        s.capacity[d] = 200000; /* all weights: 24 * 12600 + 6000 = 308400, so two devices */
    synthetic_judge j = { 0 };
    clv_partition_result r =
        run(synthetic_done(&s), &j,
            (clv_partition_options){ .objective = CLV_LATENCY, .use_all_devices = true }, 2, arena);
    cr_assert(r.solve.found);
    for (int32_t u = 0; u < 50; u++)
        cr_assert_eq(r.best.device_of[u], u > 24, "unit %d is on device %d", u,
                     r.best.device_of[u]);
    clv_arena_free(arena);
}

/* Two branches of 100 between a fork and a join, transfers of 1: one branch on each device takes
 * about 100, all on one device 200. */
Test(solve, puts_parallel_branches_on_two_devices_for_latency)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_new(arena, 4, 2, 1, 4, 4);
    synthetic_net(&s, 0, 2, (int32_t[]){ 1, 2 }, 1);
    synthetic_net(&s, 1, 1, (int32_t[]){ 3 }, 1);
    synthetic_net(&s, 2, 1, (int32_t[]){ 3 }, 1);
    s.time[1] = s.time[2] = 100;
    synthetic_judge j = { 0 };
    clv_partition_result r =
        run(synthetic_done(&s), &j, (clv_partition_options){ .objective = CLV_LATENCY }, 4, arena);
    /* with both ends on one device the quotient would have a cycle, so one branch takes an end
     * along: fork and branch 1 on a, branch 2 and join on b: 1 + 1 + 100 + 1 + ... = 103 */
    cr_assert_leq(r.best.verdict.latency_ns, 104, "took %ld", (long)r.best.verdict.latency_ns);
    clv_arena_free(arena);
}

Test(solve, leaves_devices_empty_for_latency_unless_asked_to_use_all)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 9, 3, 50);
    const clv_partition_problem *p = synthetic_done(&s);
    synthetic_judge j = { 0 };
    clv_partition_options o = { .objective = CLV_LATENCY };
    clv_partition_result r = run(p, &j, o, 4, arena);
    cr_assert_eq(n_used(p, r.best.device_of), 1);
    o.use_all_devices = true;
    r = run(p, &j, o, 4, arena);
    cr_assert_eq(n_used(p, r.best.device_of), 3);
    for (int32_t i = 0; i < r.n_judged; i++)
        cr_assert_eq(n_used(p, r.tried[i].device_of), 3);
    clv_arena_free(arena);
}

/* covers: B.027 */
Test(solve, first_fit_stops_at_the_lowest_index_that_fits)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_any(arena, 7, 40, 4, 130);
    synthetic_judge j = { .net_percent = 5 };
    clv_partition_result r =
        run(synthetic_done(&s), &j,
            (clv_partition_options){ .objective = CLV_THROUGHPUT, .first_fit = true }, 4, arena);
    cr_assert(r.solve.found);
    int32_t first = 0;
    while (r.tried[first].verdict.outcome != CLV_FITS)
        first++;
    cr_assert_eq(r.best.device_of, r.tried[first].device_of);
    cr_assert_leq(r.n_judged - first, 4, "no batch after the one that had it");
    clv_arena_free(arena);
}

/* Weights 6 each on two devices of 14, and each device needs 4 besides: with 0.3 of it 1, which
 * fits (12 + 1 <= 14); at first 12 + 4 does not. */
/* covers: B.024 B.025 */
Test(solve, lowers_the_proportion_when_nothing_fits_and_stops_at_the_first_success)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 4, 2, 1);
    for (int32_t u = 0; u < 4; u++)
        s.weight[u] = 6;
    s.capacity[0] = s.capacity[1] = 14;
    synthetic_judge j = { .extra_bytes = 4 };
    clv_partition_result r = run(synthetic_done(&s), &j, (clv_partition_options){ 0 }, 2, arena);
    cr_assert(r.solve.found);
    cr_assert_float_eq(r.best.proportion, 0.3, 1e-12);
    cr_assert_float_eq(r.tried[r.n_judged - 1].proportion, 0.3, 1e-12, "0.1 is not tried");
    clv_arena_free(arena);
}

/* covers: B.024 B.056 */
Test(solve, reports_the_smallest_shortage_when_even_the_lowest_proportion_fails)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 4, 2, 1);
    for (int32_t u = 0; u < 4; u++)
        s.weight[u] = 6;
    s.capacity[0] = s.capacity[1] = 10; /* 12 each: lacks 2, and 24 in all > 20 */
    synthetic_judge j = { 0 };
    clv_partition_result r = run(synthetic_done(&s), &j, (clv_partition_options){ 0 }, 2, arena);
    cr_assert(!r.solve.found);
    cr_assert_eq(r.best.verdict.outcome, CLV_OOM);
    cr_assert_eq(r.best.verdict.total_short_bytes, 4);
    int32_t tenths = 0, thirds = 0;
    for (int32_t i = 0; i < r.n_judged; i++) {
        thirds += r.tried[i].proportion > 0.2;
        tenths += r.tried[i].proportion > 0 && r.tried[i].proportion < 0.2;
    }
    cr_assert(thirds >= 1 && tenths == thirds, "both were tried and are in the list");
    clv_arena_free(arena);
}

/* The cut by weight is 4 | 4, but device 0 has room for 2 only: the search must move units on. */
/* covers: B.018 */
Test(solve, repairs_an_out_of_memory_device_by_moving_units_on)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 8, 2, 0);
    s.capacity[0] = 6;
    s.capacity[1] = 100;
    synthetic_judge j = { .extra_bytes = 4 };
    clv_partition_result r = run(
        synthetic_done(&s), &j,
        (clv_partition_options){ .objective = CLV_THROUGHPUT, .use_all_devices = true }, 1, arena);
    cr_assert(r.solve.found);
    cr_assert_eq(r.best.verdict.period_ns, 6, "2 | 6 is the best that fits");
    cr_assert(!(r.best.proportion > 0), "without a lower proportion");
    clv_arena_free(arena);
}

Test(solve, a_failed_compiler_is_not_out_of_memory)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 6, 2, 1);
    synthetic_judge j = { .all_fail = true };
    clv_partition_result r = run(synthetic_done(&s), &j, (clv_partition_options){ 0 }, 2, arena);
    cr_assert(!r.solve.found);
    cr_assert_eq(r.best.verdict.outcome, CLV_FAILED);
    for (int32_t i = 0; i < r.n_judged; i++)
        cr_assert(!(r.tried[i].proportion > 0), "a crash says nothing about memory");
    clv_arena_free(arena);
}

Test(solve, works_on_no_unit_one_unit_and_one_device)
{
    for (int32_t units = 0; units <= 2; units++) {
        for (int32_t devices = 1; devices <= 3; devices++) {
            for (int kind = 0; kind < 2; kind++) {
                clv_arena *arena = clv_arena_new(NULL, 0);
                synthetic s = synthetic_chain(arena, units, devices, 1);
                const clv_partition_problem *p = synthetic_done(&s);
                synthetic_judge j = { 0 };
                clv_partition_result r = run(p, &j,
                                             (clv_partition_options){ .kind = (clv_search_kind)kind,
                                                                      .use_all_devices = true },
                                             2, arena);
                cr_assert(r.solve.found);
                cr_assert_eq(n_used(p, r.best.device_of), units < devices ? units : devices);
                clv_arena_free(arena);
            }
        }
    }
}

Test(solve, stays_within_max_judged_and_says_that_it_was_stopped)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_any(arena, 3, 60, 4, 90);
    const clv_partition_problem *p = synthetic_done(&s);
    for (int32_t max = 1; max < 30; max += TEST_IS_SANITIZED ? 7 : 1) {
        for (int kind = 0; kind < 2; kind++) {
            synthetic_judge j = { .net_percent = 10 };
            clv_partition_options o = { .kind = (clv_search_kind)kind, .max_judged = max };
            clv_partition_result r = run(p, &j, o, 3, arena);
            cr_assert_leq(r.n_judged, max);
            if (r.n_judged == max && max == 1)
                cr_assert_eq(r.solve.end, CLV_END_CANDIDATES);
        }
    }
    clv_arena_free(arena);
}

/* Stops when so many are judged. */
typedef struct {
    int32_t after, judged;
} countdown;

static void count_judged(void *ctx, const clv_solve_progress *p)
{
    cr_assert_geq(p->n_waiting, 0);
    ((countdown *)ctx)->judged = p->n_judged;
}

static bool is_counted(void *ctx)
{
    const countdown *c = ctx;
    return c->judged >= c->after;
}

static clv_partition_options stop_after(countdown *c)
{
    return (clv_partition_options){
        .solve = { .progress = count_judged, .progress_ctx = c, .stop = is_counted, .stop_ctx = c }
    };
}

Test(solve, stops_when_asked_and_returns_the_best_so_far)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 20, 4, 1);
    synthetic_judge j = { 0 };
    countdown after = { 2, 0 };
    clv_partition_options o = stop_after(&after);
    clv_partition_result r = run(synthetic_done(&s), &j, o, 2, arena);
    cr_assert(r.solve.found && r.solve.end == CLV_END_STOPPED);
    cr_assert_eq(r.n_judged, 2);
    clv_arena_free(arena);
}

Test(solve, is_canceled_when_stopped_before_anything_fits)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 20, 4, 1);
    for (int d = 0; d < 4; d++)
        s.capacity[d] = 1;
    const clv_partition_problem *p = synthetic_done(&s);
    synthetic_judge j = { .p = p };
    countdown after = { 1, 0 };
    clv_partition_options o = stop_after(&after);
    clv_partition_judge judge = synthetic_as_judge(&j, 1);
    clv_partition_result r = { .n_judged = -7 };
    clv_error err = { 0 };
    cr_assert_eq(clv_partition_solve(p, &judge, &o, arena, &r, &err), CLV_ECANCELED);
    cr_assert_eq(r.n_judged, -7, "a failed call leaves its result alone");
    clv_arena_free(arena);
}

Test(solve, passes_on_what_the_judge_itself_reports)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 5, 2, 1);
    const clv_partition_problem *p = synthetic_done(&s);
    synthetic_judge j = { .p = p, .status = CLV_EIO };
    clv_partition_judge judge = synthetic_as_judge(&j, 1);
    clv_partition_result r;
    clv_error err = { 0 };
    cr_assert_eq(clv_partition_solve(p, &judge, &(clv_partition_options){ 0 }, arena, &r, &err),
                 CLV_EIO);
    cr_assert_str_eq(err.message, "the judge fails on purpose");
    clv_arena_free(arena);
}

Test(solve, refuses_sums_that_do_not_fit)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 5, 2, 1);
    const clv_partition_problem *p = synthetic_done(&s);
    synthetic_judge j = { .p = p };
    clv_partition_judge judge = synthetic_as_judge(&j, 1);
    clv_partition_result r;
    clv_error err = { 0 };
    s.weight[1] = s.weight[2] = INT64_MAX / 2 + 1;
    cr_assert_eq(clv_partition_solve(p, &judge, &(clv_partition_options){ 0 }, arena, &r, &err),
                 CLV_ELIMIT);
    s.weight[1] = s.weight[2] = 1;
    s.time[0] = INT64_MAX;
    cr_assert_eq(clv_partition_solve(p, &judge, &(clv_partition_options){ 0 }, arena, &r, &err),
                 CLV_ELIMIT);
    clv_arena_free(arena);
}

Test(solve, survives_running_out_of_memory_anywhere)
{
    clv_arena *problem = clv_arena_new(NULL, 0);
    synthetic s = synthetic_any(problem, 5, 12, 3, 110);
    const clv_partition_problem *p = synthetic_done(&s);
    for (int kind = 0; kind < 2; kind++) {
        clv_status status = CLV_ENOMEM;
        for (size_t limit = 1; status != CLV_OK; limit += TEST_IS_SANITIZED ? 776 : 97) {
            clv_arena *arena = clv_arena_new(NULL, limit);
            synthetic_judge j = { .p = p, .net_percent = 10 };
            clv_partition_judge judge = synthetic_as_judge(&j, 2);
            clv_partition_options o = { .kind = (clv_search_kind)kind,
                                        .objective = CLV_THROUGHPUT };
            clv_partition_result r = { .n_judged = -7 };
            status = clv_partition_solve(p, &judge, &o, arena, &r, NULL);
            cr_assert(status == CLV_OK || (status == CLV_ENOMEM && r.n_judged == -7));
            clv_arena_free(arena);
        }
    }
    clv_arena_free(problem);
}

Test(solve, gives_the_same_solution_twice)
{
    for (uint64_t seed = 0; seed < test_effort(4); seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        synthetic s = synthetic_any(arena, seed, 80, 5, 120);
        const clv_partition_problem *p = synthetic_done(&s);
        synthetic_judge j = { .net_percent = 10 };
        clv_partition_options o = { .objective = (clv_objective)(seed % 2) };
        clv_partition_result a = run(p, &j, o, 4, arena), b = run(p, &j, o, 4, arena);
        cr_assert_eq(a.n_judged, b.n_judged);
        for (int32_t i = 0; i < a.n_judged; i++) {
            cr_assert_eq(memcmp(a.tried[i].device_of, b.tried[i].device_of, 80 * sizeof(int32_t)),
                         0);
            cr_assert_str_eq(a.tried[i].move, b.tried[i].move);
        }
        clv_arena_free(arena);
    }
}

/* covers: B.048 */
Test(solve, never_judges_a_plan_twice_or_an_illegal_one)
{
    for (uint64_t seed = 0; seed < test_effort(30); seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        synthetic s =
            synthetic_any(arena, seed, 3 + 2 * (int32_t)(seed % 30), 4, 100 + (int64_t)seed);
        const clv_partition_problem *p = synthetic_done(&s);
        synthetic_judge j = { .net_percent = 5, .fail_every = 7 };
        clv_partition_options o = { .kind = (clv_search_kind)(seed % 2),
                                    .objective = (clv_objective)(seed / 2 % 2) };
        clv_partition_result r = run(p, &j, o, 3, arena);
        for (int32_t a = 0; a < r.n_judged; a++) {
            cr_assert(synthetic_legal(p, r.tried[a].device_of), "seed %d, %s", (int)seed,
                      r.tried[a].move);
            for (int32_t b = 0; b < a; b++)
                cr_assert(memcmp(r.tried[a].device_of, r.tried[b].device_of,
                                 (size_t)p->n_units * sizeof(int32_t)) != 0 ||
                          r.tried[a].proportion < r.tried[b].proportion ||
                          r.tried[a].proportion > r.tried[b].proportion);
        }
        clv_arena_free(arena);
    }
}

/* Units that hold 30 besides 10 of weights, on devices of 35. */
Test(solve, ends_at_once_when_it_is_proven_that_nothing_fits)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 12, 3, 1);
    int64_t live[12];
    for (int32_t u = 0; u < 12; u++) {
        s.weight[u] = 10;
        live[u] = 30;
    }
    for (int32_t d = 0; d < 3; d++)
        s.capacity[d] = 35;
    synthetic_judge j = { .p = synthetic_done(&s), .extra_bytes = 30 };
    clv_partition_judge judge = synthetic_as_judge(&j, 4);
    clv_partition_options o = { .objective = CLV_LATENCY };
    clv_partition_result r[2];
    for (int known = 0; known < 2; known++) {
        judge.live_bytes = known ? live : NULL;
        cr_assert_eq(clv_partition_solve(j.p, &judge, &o, arena, &r[known], NULL), CLV_OK);
        cr_assert_not(r[known].solve.found);
        cr_assert_eq(r[known].best.verdict.outcome, CLV_OOM);
    }
    cr_assert_leq(r[1].n_judged, 2);
    cr_assert_eq(r[1].solve.end, CLV_END_INFEASIBLE);
    cr_assert_eq(r[0].solve.end, CLV_END_SEARCHED);
    cr_assert_gt(r[0].n_judged, 4, "%d", r[0].n_judged);
    clv_arena_free(arena);
}

/* -- why it stops -- */

/* 13 equal units in a chain on 4 devices: 4 on one of them at least, and any cut into runs of 3 and
 * 4 is as good. */
static clv_partition_result bounded(clv_partition_options o, double bounded_at, clv_arena *arena)
{
    synthetic *s = CLV_NEW(arena, synthetic);
    *s = synthetic_chain(arena, 13, 4, 1);
    for (int32_t u = 0; u < 13; u++)
        s->time[u] = 100;
    synthetic_judge j = { .p = synthetic_done(s) };
    clv_partition_judge judge = synthetic_as_judge(&j, 2);
    clv_partition_result r = { 0 };
    clv_error err = { 0 };
    judge.bounded_at = bounded_at;
    cr_assert_eq(clv_partition_solve(j.p, &judge, &o, arena, &r, &err), CLV_OK, "%s", err.message);
    return r;
}

Test(solve, ends_where_no_plan_can_be_better)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_partition_options o = { .objective = CLV_THROUGHPUT };
    clv_partition_result known = bounded(o, 1, arena), unknown = bounded(o, 0, arena);
    cr_expect_eq(known.solve.end, CLV_END_OPTIMAL);
    cr_expect_eq(known.solve.bound.whole, 400);
    cr_expect_eq(known.best.verdict.period_ns, 400);
    cr_expect_eq(unknown.solve.end, CLV_END_SEARCHED);
    cr_expect_eq(unknown.solve.bound.whole, 0);
    cr_expect_eq(unknown.best.verdict.period_ns, 400);
    cr_expect(known.n_judged < unknown.n_judged || !clv_ilp_solver(), "refinement adds plans");
    o.kind = CLV_SEARCH_DOCUMENTED;
    cr_expect_eq(bounded(o, 1, arena).solve.bound.whole, 400, "reported for this search too");
    clv_arena_free(arena);
}

Test(solve, ends_near_enough_if_that_is_asked_for)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_partition_options o = { .objective = CLV_LATENCY, .use_all_devices = true };
    clv_partition_result all = bounded(o, 1, arena);
    cr_expect_leq(all.solve.bound.whole, all.best.verdict.latency_ns);
    cr_expect_geq(all.solve.bound.whole, 1300, "%lld", (long long)all.solve.bound.whole);
    o.solve.gap = 0.5;
    clv_partition_result near = bounded(o, 1, arena);
    cr_expect(near.solve.end == CLV_END_GAP || near.solve.end == CLV_END_OPTIMAL);
    cr_expect_leq(near.n_judged, all.n_judged);
    clv_arena_free(arena);
}

Test(solve, says_what_else_stopped_it)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_partition_options first = { .objective = CLV_LATENCY, .first_fit = true };
    clv_partition_options few = { .objective = CLV_LATENCY,
                                  .use_all_devices = true,
                                  .max_judged = 1 };
    clv_partition_options late = { .objective = CLV_LATENCY, .solve.deadline_ns = 1 };
    cr_expect_eq(bounded(first, 0, arena).solve.end, CLV_END_FIRST_FIT);
    cr_expect_eq(bounded(few, 0, arena).solve.end, CLV_END_CANDIDATES);
    clv_partition_result r = bounded(late, 0, arena);
    cr_expect_eq(r.solve.end, CLV_END_DEADLINE);
    cr_expect(r.solve.found);
    cr_expect_geq(r.n_judged, 1);
    clv_arena_free(arena);
}

/* -- against the documented search -- */

/* Memory is short in most of these problems, where the default search makes the documented moves as
 * well, and so asks more. */
Test(solve, is_never_worse_than_the_documented_search_and_asks_little_more)
{
    int64_t asked[2] = { 0 }, better = 0, fits[2] = { 0 }, worse = 0, n = 0;
    for (uint64_t seed = 0; seed < test_effort(40); seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        int32_t units = 4 + (int32_t)(seed * 7 % 60), devices = 2 + (int32_t)(seed % 4);
        synthetic s = synthetic_any(arena, seed, units, devices, 105 + (int64_t)(seed % 5) * 20);
        const clv_partition_problem *p = synthetic_done(&s);
        clv_partition_result r[2];
        clv_objective objective = (clv_objective)(seed / 4 % 2);
        for (int kind = 0; kind < 2; kind++) {
            synthetic_judge j = { .net_percent = 2, .extra_bytes = 5 };
            r[kind] = run(
                p, &j,
                (clv_partition_options){ .kind = (clv_search_kind)kind, .objective = objective }, 2,
                arena);
            asked[kind] += r[kind].n_judged;
            fits[kind] += r[kind].solve.found;
        }
        n++;
        cr_expect(r[0].solve.found || !r[1].solve.found, "seed %d fits, but is not found",
                  (int)seed);
        if (clv_verdict_better(&r[1].best.verdict, &r[0].best.verdict, objective)) {
            worse++;
            printf("worse than documented: seed %d\n", (int)seed);
        }
        better += clv_verdict_better(&r[0].best.verdict, &r[1].best.verdict, objective);
        clv_arena_free(arena);
    }
    printf("default against documented on %ld problems: better on %ld, worse on %ld, fits %ld "
           "against %ld, "
           "judged %ld against %ld\n",
           (long)n, (long)better, (long)worse, (long)fits[0], (long)fits[1], (long)asked[0],
           (long)asked[1]);
    cr_assert_eq(worse, 0);
    cr_assert_geq(better * 10, n * 8);
    if (!TEST_IS_SANITIZED) /* true of many, not of a few */
        cr_assert_leq(asked[0] * 2, asked[1] * 3);
}

/* -- against all assignments -- */

static clv_verdict brute_force(const clv_partition_problem *p, const synthetic_judge *j,
                               clv_objective o)
{
    int32_t device_of[8] = { 0 };
    clv_verdict best = { .outcome = CLV_FAILED };
    for (bool more = true; more;) {
        if (synthetic_legal(p, device_of)) {
            clv_verdict v = synthetic_verdict(j, &(clv_assignment){ device_of, 0, NULL });
            if (clv_verdict_better(&v, &best, o))
                best = v;
        }
        more = false;
        for (int32_t u = 0; u < p->n_units && !more; u++) {
            device_of[u] = (device_of[u] + 1) % p->n_devices;
            more = device_of[u] != 0;
        }
    }
    return best;
}

Test(solve, finds_the_best_of_all_assignments_of_small_problems_most_times)
{
    int32_t n = 0, hits = 0, judged = 0;
    for (uint64_t seed = 0; seed < test_effort(300); seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        int32_t units = 2 + (int32_t)(seed % 6), devices = 2 + (int32_t)(seed / 6 % 2);
        synthetic s = synthetic_any(arena, seed, units, devices, 110 + (int64_t)(seed % 7) * 20);
        const clv_partition_problem *p = synthetic_done(&s);
        synthetic_judge j = { .p = p, .net_percent = 2, .extra_bytes = 5 };
        clv_objective o = (clv_objective)(seed / 2 % 2);
        clv_partition_result r = run(p, &j, (clv_partition_options){ .objective = o }, 2, arena);
        clv_verdict best = brute_force(p, &j, o);
        bool lowered = r.best.proportion > 0;
        if (!lowered) {
            cr_assert(!clv_verdict_better(&r.best.verdict, &best, o), "nothing beats all");
            cr_assert(!clv_verdict_better(&r.tried[0].verdict, &r.best.verdict, o));
        }
        n++;
        hits += !clv_verdict_better(&best, &r.best.verdict, o);
        judged += r.n_judged;
        clv_arena_free(arena);
    }
    printf("optimal in %d of %d small problems, %d judged each\n", hits, n, judged / n);
    cr_assert_geq(hits * 100, n * 97);
}

/* -- size -- */

static clv_status at_once(void *ctx, const clv_assignment *a, int32_t n, clv_verdict *v,
                          clv_error *err)
{
    (void)a;
    (void)err;
    for (int32_t i = 0; i < n; i++)
        v[i] = (clv_verdict){ .latency_ns = 1000 - ++*(int32_t *)ctx, .period_ns = 5 };
    return CLV_OK;
}

Test(solve, judges_few_plans_of_150000_units_on_16_devices)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_any(arena, 11, TEST_IS_SANITIZED ? 15000 : 150000, 16, 150);
    const clv_partition_problem *p = synthetic_done(&s);
    for (int objective = 0; objective < 2; objective++) {
        int32_t n = 0;
        clv_partition_judge judge = { .judge = at_once, .ctx = &n, .batch = 4 };
        clv_partition_result r;
        clv_partition_options o = { .objective = (clv_objective)objective };
        cr_assert_eq(clv_partition_solve(p, &judge, &o, arena, &r, NULL), CLV_OK);
        cr_assert_leq(n, 12);
    }
    clv_arena_free(arena);
}
