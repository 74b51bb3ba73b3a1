/* test_poprt_search.c - the search of PopRT, step by step as its manual has it. */
#include "solver/partition/solve.h"
#include "solver/partition/verdict_order.h"

#include "solver/partition/synthetic.h"

#include <criterion/criterion.h>

typedef struct {
    synthetic_judge j;
    clv_partition_judge judge;
    clv_partition_result r;
} outcome;

static outcome run(const clv_partition_problem *p, synthetic_judge j, bool first_fit, int32_t batch,
                   clv_arena *arena)
{
    outcome o = { .j = j };
    clv_error err = { 0 };
    o.j.p = p;
    o.judge = synthetic_as_judge(&o.j, batch);
    clv_partition_options options = { .kind = CLV_SEARCH_DOCUMENTED, .first_fit = first_fit };
    cr_assert_eq(clv_partition_solve(p, &o.judge, &options, arena, &o.r, &err), CLV_OK, "%s",
                 err.message);
    return o;
}

/* covers: B.016 B.017 B.027 */
Test(poprt_search, starts_from_the_cut_by_bytes_and_stops_there_if_it_fits)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 4, 2, 1);
    outcome o = run(synthetic_done(&s), (synthetic_judge){ 0 }, true, 2, arena);
    cr_assert(o.r.solve.found);
    cr_assert_eq(o.r.n_judged, 1);
    cr_assert_eq(memcmp(o.r.best.device_of, (int32_t[]){ 0, 0, 1, 1 }, 16), 0);
    clv_arena_free(arena);
}

/* Weights 1 1 1 1, FLOPs 1 1 1 5: the cut is 2 | 2 with FLOPs 2 | 6. Moving unit 2 gives 3 | 5: the
 * gap shrinks from 4 to 2. Then 5 would go over: 8 | 0. So two plans, and the balanced one is
 * better. */
/* covers: B.019 B.028 B.046 B.054 */
Test(poprt_search, balances_flops_for_the_best_plan_until_the_queue_is_empty)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 4, 2, 0);
    s.flops[3] = s.time[3] = 5;
    outcome o = run(synthetic_done(&s), (synthetic_judge){ 0 }, false, 1, arena);
    cr_assert_eq(o.r.n_judged, 2);
    cr_assert_neq(o.r.solve.end, CLV_END_CANDIDATES);
    cr_assert_eq(o.r.best.verdict.period_ns, 5);
    cr_assert_str_eq(o.r.tried[1].move, "unit 2: device 1 to 0 (parent)");
    clv_arena_free(arena);
}

/* 3 | 3 by weight; device 0 can hold 2 weights: unit 2 must go on. */
/* covers: B.018 B.021 B.023 */
Test(poprt_search, moves_an_ending_unit_out_of_the_device_without_memory)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 6, 2, 0);
    s.capacity[0] = 2;
    outcome o = run(synthetic_done(&s), (synthetic_judge){ 0 }, true, 1, arena);
    cr_assert(o.r.solve.found);
    cr_assert_eq(o.r.n_judged, 2);
    cr_assert_eq(o.r.tried[0].verdict.outcome, CLV_OOM);
    cr_assert_eq(o.r.tried[0].verdict.device, 0);
    cr_assert_str_eq(o.r.tried[1].move, "unit 2: device 0 to 1 (child)");
    clv_arena_free(arena);
}

/* Three units that know nothing of each other, 2 | 1; device 0 has room for one. */
/* covers: B.018 B.022 */
Test(poprt_search, moves_a_unit_to_a_parallel_device)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_new(arena, 3, 2, 1, 0, 0);
    s.weight[2] = 2;
    s.capacity[0] = 1;
    outcome o = run(synthetic_done(&s), (synthetic_judge){ 0 }, true, 1, arena);
    cr_assert(o.r.solve.found);
    cr_assert_eq(o.r.n_judged, 2);
    cr_assert_str_eq(o.r.tried[1].move, "unit 0: device 0 to 1 (parallel)");
    clv_arena_free(arena);
}

/* -- a judge whose verdicts are given -- */

static clv_verdict fits(int64_t ns)
{
    return (clv_verdict){ .outcome = CLV_FITS, .latency_ns = ns, .period_ns = ns };
}

static clv_verdict lacks(int64_t bytes)
{
    return (clv_verdict){ .outcome = CLV_OOM, .short_bytes = bytes, .total_short_bytes = bytes };
}

static const clv_verdict fails = { .outcome = CLV_FAILED };

/* Memory is always short on device 0. All plans after the last verdict fail. */
typedef struct {
    const clv_verdict *verdicts;
    int32_t n, asked;
} script;

static clv_status by_script(void *ctx, const clv_assignment *a, int32_t n, clv_verdict *v,
                            clv_error *err)
{
    script *s = ctx;
    (void)a;
    (void)err;
    for (int32_t i = 0; i < n; i++, s->asked++)
        v[i] = s->asked < s->n ? s->verdicts[s->asked] : fails;
    return CLV_OK;
}

static clv_partition_result run_script(const clv_partition_problem *p, const clv_verdict *verdicts,
                                       int32_t n, clv_arena *arena)
{
    script s = { verdicts, n, 0 };
    clv_partition_judge judge = { .judge = by_script, .ctx = &s, .batch = 1 };
    clv_partition_options options = { .kind = CLV_SEARCH_DOCUMENTED };
    clv_partition_result r;
    cr_assert_eq(clv_partition_solve(p, &judge, &options, arena, &r, NULL), CLV_OK);
    return r;
}

static int32_t n_at_default(const clv_partition_result *r)
{
    int32_t n = 0;
    for (int32_t i = 0; i < r->n_judged; i++)
        n += !(r->tried[i].proportion > 0);
    return n;
}

/* Unit 0 feeds units 1 to 6, and those feed unit 7, which is alone on device 1: six neighbours. */
static synthetic star(clv_arena *arena, const int64_t *flops)
{
    synthetic s = synthetic_new(arena, 8, 2, 1, 7, 12);
    synthetic_net(&s, 0, 6, (int32_t[]){ 1, 2, 3, 4, 5, 6 }, 0);
    for (int32_t u = 1; u < 7; u++)
        synthetic_net(&s, u, 1, (int32_t[]){ 7 }, 0);
    memset(s.weight, 0, 8 * sizeof *s.weight);
    s.weight[6] = s.weight[7] = 100; /* cut: 0 .. 6 | 7 */
    memcpy(s.flops, flops, 8 * sizeof *s.flops);
    return s;
}

static const int64_t rising[] = { 0, 10, 20, 30, 40, 50, 60, 1 };
static const int64_t falling[] = { 0, 60, 50, 40, 30, 20, 10, 1 };

static int32_t n_tried(int64_t first, int64_t second, int64_t third)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = star(arena, rising);
    s.capacity[0] = 638976;
    clv_partition_result r = run_script(
        synthetic_done(&s), (clv_verdict[]){ lacks(first), lacks(second), lacks(third) }, 3, arena);
    int32_t n = n_at_default(&r);
    clv_arena_free(arena);
    return n;
}

/* The first plan and its six neighbours make seven; more when one of these has neighbours too. */
/* covers: B.018 B.049 B.050 */
Test(poprt_search, explores_what_is_no_farther_from_fitting_than_the_best)
{
    cr_expect_eq(n_tried(5000, 6000, 9000), 7);
    cr_expect_eq(n_tried(5000, 9000, 6000), 7, "the smallest counts, not the last");
    cr_expect_gt(n_tried(5000, 5000, 9000), 7);
    cr_expect_gt(n_tried(5000, 9000, 4000), 7);
}

/* 638,976 bytes and 2024 more are 641,000. */
/* covers: B.049 */
Test(poprt_search, explores_what_nearly_fits_though_another_is_nearer)
{
    cr_expect_gt(n_tried(10, 2023, 9000), 7);
    cr_expect_eq(n_tried(10, 2024, 9000), 7);
}

/* Device 2 has least bytes, device 1 least FLOPs; weights 3 3 | 6 | 3. */
/* covers: B.019 B.045 */
Test(poprt_search, moves_by_bytes_when_out_of_memory_and_by_flops_for_balance)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_new(arena, 4, 3, 1, 0, 0);
    memcpy(s.weight, (int64_t[]){ 3, 3, 6, 3 }, 4 * sizeof *s.weight);
    memcpy(s.flops, (int64_t[]){ 10, 10, 1, 5 }, 4 * sizeof *s.flops);
    clv_partition_result r = run_script(synthetic_done(&s), (clv_verdict[]){ lacks(1) }, 1, arena);
    cr_assert_str_eq(r.tried[1].move, "unit 0: device 0 to 2 (parallel)");
    r = run_script(&s.p, (clv_verdict[]){ fits(1) }, 1, arena);
    cr_assert_str_eq(r.tried[1].move, "unit 0: device 0 to 1 (parallel)");
    clv_arena_free(arena);
}

/* covers: B.024 B.050 */
Test(poprt_search, returns_the_smallest_shortage_and_tries_that_again)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = star(arena, rising);
    clv_partition_result r = run_script(
        synthetic_done(&s), (clv_verdict[]){ lacks(5000), lacks(3000), lacks(4000) }, 3, arena);
    cr_assert(!r.solve.found);
    cr_assert_eq(r.best.verdict.short_bytes, 3000);
    cr_assert_eq(r.best.device_of, r.tried[1].device_of);
    cr_assert_str_eq(r.tried[r.n_judged - 2].move, "plan 2 with available memory proportion 0.3");
    cr_assert_str_eq(r.tried[r.n_judged - 1].move, "plan 2 with available memory proportion 0.1");
    clv_arena_free(arena);
}

/* covers: B.024 B.025 B.056 */
Test(poprt_search, lowers_the_proportion_of_the_smallest_shortage)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 4, 2, 0);
    s.capacity[0] = s.capacity[1] = 3; /* 2 weights and 4 * proportion */
    outcome o = run(synthetic_done(&s), (synthetic_judge){ .extra_bytes = 4 }, true, 1, arena);
    cr_assert(o.r.solve.found);
    cr_assert_float_eq(o.r.best.proportion, 0.3, 1e-12);
    s.capacity[0] = s.capacity[1] = 2; /* int(4 * 0.1) = 0 fits, int(4 * 0.3) = 1 does not */
    o = run(&s.p, (synthetic_judge){ .extra_bytes = 4 }, true, 1, arena);
    cr_assert(o.r.solve.found);
    cr_assert_float_eq(o.r.best.proportion, 0.1, 1e-12);
    cr_assert_float_eq(o.r.tried[o.r.n_judged - 2].proportion, 0.3, 1e-12);
    cr_assert_eq(o.r.tried[o.r.n_judged - 2].verdict.outcome, CLV_OOM);
    clv_arena_free(arena);
}

/* 210 | 1. Moving x gives 210 - x | 1 + x; the gap 209 - 2x is smallest for 60, 50, 40. */
/* covers: B.047 B.051 */
Test(poprt_search, tries_the_next_of_three_balanced_neighbours_when_one_fails)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = star(arena, rising);
    clv_partition_result r =
        run_script(synthetic_done(&s), (clv_verdict[]){ fits(1), fails, fails, fits(1) }, 4, arena);
    cr_assert_str_eq(r.tried[1].move, "unit 6: device 0 to 1 (child)");
    cr_assert_str_eq(r.tried[2].move, "unit 5: device 0 to 1 (child)");
    cr_assert_str_eq(r.tried[3].move, "unit 4: device 0 to 1 (child)");
    r = run_script(&s.p, (clv_verdict[]){ fits(1) }, 1, arena);
    cr_assert_eq(r.n_judged, 4, "there is no fourth");
    r = run_script(&s.p, (clv_verdict[]){ fits(1), lacks(9), lacks(9), lacks(9) }, 4, arena);
    cr_assert_str_eq(r.tried[2].move, "unit 5: device 0 to 1 (child)", "OOM is a failure too");
    clv_arena_free(arena);
}

/* FLOPs 1 | 13, 2 | 12, ... 7 | 7: seven plans, and each is slower than the one before. */
/* covers: B.047 B.053 */
Test(poprt_search, keeps_the_five_most_balanced_and_returns_the_fastest_of_them)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 14, 2, 0);
    s.weight[0] = 13;
    clv_partition_result r = run_script(
        synthetic_done(&s),
        (clv_verdict[]){ fits(1), fits(2), fits(3), fits(4), fits(5), fits(6), fits(7) }, 7, arena);
    cr_assert_eq(r.n_judged, 7);
    cr_assert_eq(r.best.verdict.latency_ns, 3);
    cr_assert_eq(r.best.device_of, r.tried[2].device_of);
    clv_arena_free(arena);
}

/* Out of memory, then six neighbours that fit, each less balanced and faster than the last. */
/* covers: B.047 B.053 */
Test(poprt_search, drops_the_sixth_when_it_is_least_balanced_though_it_is_fastest)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = star(arena, falling);
    clv_partition_result r = run_script(
        synthetic_done(&s),
        (clv_verdict[]){ lacks(1), fits(9), fits(8), fits(7), fits(6), fits(5), fits(4) }, 7,
        arena);
    cr_assert_str_eq(r.tried[6].move, "unit 6: device 0 to 1 (child)");
    cr_assert_eq(r.best.verdict.latency_ns, 5);
    for (int32_t i = 7; i < r.n_judged; i++)
        cr_assert_eq(r.tried[i].device_of[6], 0, "its neighbours are not looked at");
    clv_arena_free(arena);
}

/* a -> b | c: moving a to device 1 leaves b as the only sharding node, as in the first plan. */
/* covers: B.048 */
Test(poprt_search, skips_a_plan_with_the_sharding_nodes_of_another)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_new(arena, 3, 2, 1, 1, 1);
    synthetic_net(&s, 0, 1, (int32_t[]){ 1 }, 0);
    s.weight[2] = 2;
    clv_partition_result r = run_script(synthetic_done(&s), (clv_verdict[]){ lacks(1) }, 1, arena);
    cr_assert_eq(n_at_default(&r), 2);
    cr_assert_str_eq(r.tried[1].move, "unit 1: device 0 to 1 (parallel)");
    clv_arena_free(arena);
}

/* covers: B.048 B.053 */
Test(poprt_search, is_legal_tries_nothing_twice_and_returns_the_best_it_kept)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        synthetic s = synthetic_any(arena, seed, 30, 4, 130);
        outcome o = run(synthetic_done(&s), (synthetic_judge){ .net_percent = 2 }, false, 2, arena);
        int32_t fitting = 0, better = 0;
        for (int32_t i = 0; i < o.r.n_judged; i++) {
            cr_assert(synthetic_legal(&s.p, o.r.tried[i].device_of));
            fitting += o.r.tried[i].verdict.outcome == CLV_FITS;
            better += clv_verdict_better(&o.r.tried[i].verdict, &o.r.best.verdict, CLV_LATENCY);
        }
        cr_assert(fitting > 5 || better == 0, "all of up to five are kept");
        clv_arena_free(arena);
    }
}

/* covers: B.057 */
Test(poprt_search, survives_a_first_cut_with_no_cut_in_it)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 3, 3, 1);
    s.weight[0] = s.weight[1] = 0;
    outcome o = run(synthetic_done(&s), (synthetic_judge){ 0 }, true, 2, arena);
    cr_assert(o.r.solve.found);
    clv_arena_free(arena);
}
