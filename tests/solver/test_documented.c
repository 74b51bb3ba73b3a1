#include "solver/search.h"

#include "solver/synthetic.h"

#include <criterion/criterion.h>

typedef struct {
    synthetic_judge j;
    clv_judge judge;
    clv_search_result r;
} outcome;

static outcome run(const clv_partition *p, synthetic_judge j, bool first_fit, int32_t batch,
                   clv_arena *arena)
{
    outcome o = { .j = j };
    clv_error err = { 0 };
    o.j.p = p;
    o.judge = synthetic_as_judge(&o.j, batch);
    clv_search_options options = { .kind = CLV_SEARCH_DOCUMENTED, .first_fit = first_fit };
    cr_assert_eq(clv_search(p, &o.judge, &options, arena, &o.r, &err), CLV_OK, "%s", err.message);
    return o;
}

/* covers: B.016 B.017 B.027 */
Test(documented, starts_from_the_cut_by_bytes_and_stops_there_if_it_fits)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 4, 2, 1);
    outcome o = run(synthetic_done(&s), (synthetic_judge){ 0 }, true, 2, arena);
    cr_assert(o.r.found);
    cr_assert_eq(o.r.n_judged, 1);
    cr_assert_eq(memcmp(o.r.best.device_of, (int32_t[]){ 0, 0, 1, 1 }, 16), 0);
    clv_arena_free(arena);
}

/* Weights 1 1 1 1, FLOPs 1 1 1 5: the cut is 2 | 2 with FLOPs 2 | 6. Moving unit 2 gives 3 | 5: the
 * gap shrinks from 4 to 2. Then 5 would go over: 8 | 0. So two plans, and the balanced one is
 * better. */
/* covers: B.019 B.028 B.046 B.054 */
Test(documented, balances_flops_for_the_best_plan_until_the_queue_is_empty)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 4, 2, 0);
    s.flops[3] = s.time[3] = 5;
    outcome o = run(synthetic_done(&s), (synthetic_judge){ 0 }, false, 1, arena);
    cr_assert_eq(o.r.n_judged, 2);
    cr_assert(!o.r.stopped);
    cr_assert_eq(o.r.best.verdict.period_ns, 5);
    cr_assert_str_eq(o.r.tried[1].move, "unit 2: device 1 to 0 (parent)");
    clv_arena_free(arena);
}

/* 3 | 3 by weight; device 0 can hold 2 weights: unit 2 must go on. */
/* covers: B.018 B.021 B.023 */
Test(documented, moves_an_ending_unit_out_of_the_device_without_memory)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 6, 2, 0);
    s.capacity[0] = 2;
    outcome o = run(synthetic_done(&s), (synthetic_judge){ 0 }, true, 1, arena);
    cr_assert(o.r.found);
    cr_assert_eq(o.r.n_judged, 2);
    cr_assert_eq(o.r.tried[0].verdict.outcome, CLV_OOM);
    cr_assert_eq(o.r.tried[0].verdict.device, 0);
    cr_assert_str_eq(o.r.tried[1].move, "unit 2: device 0 to 1 (child)");
    clv_arena_free(arena);
}

/* Nothing fits anywhere: 6 weights, 2 and 2 bytes. Of the plans 3|3 (lacks 1 and 1), 2|4 (0 and 2),
 * ... the smallest shortage of one device is 1, so 2|4 is judged, but not explored. */
/* covers: B.049 B.050 */
Test(documented, does_not_explore_what_is_farther_from_fitting)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 6, 2, 0);
    s.capacity[0] = s.capacity[1] = 2;
    outcome o = run(synthetic_done(&s), (synthetic_judge){ 0 }, true, 1, arena);
    cr_assert(!o.r.found);
    cr_assert_eq(o.r.n_judged, 4, "3|3, one neighbour, and two lower proportions, not %d",
                 o.r.n_judged);
    cr_assert_eq(o.r.best.device_of[2], 0, "3|3 has the smallest shortage");
    clv_arena_free(arena);
}

/* The same, but 700 bytes short of a million are nearly fitting (0.3 per cent), so it goes on. */
/* covers: B.049 */
Test(documented, explores_what_nearly_fits_though_another_is_nearer)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 6, 2, 0);
    for (int32_t u = 0; u < 6; u++)
        s.weight[u] = u == 2 || u == 1 ? 300 : 500000;
    s.capacity[0] = 1000000;
    s.capacity[1] = 999000; /* 0 1 2 3 | 4 5: lacks 600 and 1000, so unit 4 goes, and so on */
    outcome near = run(synthetic_done(&s), (synthetic_judge){ 0 }, true, 1, arena);
    s.capacity[0] /= 2;
    s.capacity[1] /= 2;
    outcome far = run(&s.p, (synthetic_judge){ 0 }, true, 1, arena);
    cr_assert_gt(near.r.n_judged, 3);
    cr_assert_gt(far.r.n_judged, 3);
    clv_arena_free(arena);
}

/* covers: B.024 B.025 B.056 */
Test(documented, lowers_the_proportion_of_the_smallest_shortage)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 4, 2, 0);
    s.capacity[0] = s.capacity[1] = 3; /* 2 weights and 4 * proportion */
    outcome o = run(synthetic_done(&s), (synthetic_judge){ .extra_bytes = 4 }, true, 1, arena);
    cr_assert(o.r.found);
    cr_assert_float_eq(o.r.best.proportion, 0.3, 1e-12);
    s.capacity[0] = s.capacity[1] = 2; /* int(4 * 0.1) = 0 fits, int(4 * 0.3) = 1 does not */
    o = run(&s.p, (synthetic_judge){ .extra_bytes = 4 }, true, 1, arena);
    cr_assert(o.r.found);
    cr_assert_float_eq(o.r.best.proportion, 0.1, 1e-12);
    cr_assert_float_eq(o.r.tried[o.r.n_judged - 2].proportion, 0.3, 1e-12);
    cr_assert_eq(o.r.tried[o.r.n_judged - 2].verdict.outcome, CLV_OOM);
    clv_arena_free(arena);
}

/* Unit 0 feeds units 1 to 6, and those feed unit 7, which is alone on device 1. Six neighbours, of
 * which the three most balanced count; all of those fail to compile but the last. */
typedef struct {
    const clv_partition *p;
    int32_t n;
} failing;

static clv_status first_and_fourth_fit(void *ctx, const clv_assignment *a, int32_t n,
                                       clv_verdict *v, clv_error *err)
{
    failing *f = ctx;
    (void)err;
    for (int32_t i = 0; i < n; i++, f->n++) {
        v[i] = (clv_verdict){ .outcome = f->n == 0 || f->n == 3 ? CLV_FITS : CLV_FAILED };
        if (v[i].outcome == CLV_FITS)
            synthetic_times(f->p, a[i].device_of, &v[i]);
    }
    return CLV_OK;
}

/* covers: B.047 B.051 */
Test(documented, tries_the_next_of_three_balanced_neighbours_when_one_fails)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_new(arena, 8, 2, 1, 7, 12);
    synthetic_net(&s, 0, 6, (int32_t[]){ 1, 2, 3, 4, 5, 6 }, 0);
    for (int32_t u = 1; u < 7; u++)
        synthetic_net(&s, u, 1, (int32_t[]){ 7 }, 0);
    for (int32_t u = 0; u < 8; u++) {
        s.flops[u] = u == 7 ? 1 : 10 * u;
        s.weight[u] = u == 7 ? 100 : u == 6 ? 100 : 0; /* cut: 0 .. 6 | 7 */
    }
    failing f = { .p = synthetic_done(&s) };
    clv_judge judge = { .judge = first_and_fourth_fit, .ctx = &f, .batch = 1 };
    clv_search_result r;
    clv_search_options o = { .kind = CLV_SEARCH_DOCUMENTED };
    cr_assert_eq(clv_search(&s.p, &judge, &o, arena, &r, NULL), CLV_OK);
    /* 210 | 1. Moving x gives 210 - x | 1 + x; the gap 209 - 2x is smallest for 60, 50, 40 */
    cr_assert_str_eq(r.tried[1].move, "unit 6: device 0 to 1 (child)");
    cr_assert_str_eq(r.tried[2].move, "unit 5: device 0 to 1 (child)");
    cr_assert_str_eq(r.tried[3].move, "unit 4: device 0 to 1 (child)");
    cr_assert_eq(r.tried[3].verdict.outcome, CLV_FITS);
    for (int32_t i = 4; i < r.n_judged; i++)
        cr_assert(strcmp(r.tried[i].move, "unit 3: device 0 to 1 (child)") != 0 ||
                      r.tried[i].device_of[4] == 1,
                  "the fourth neighbour of the first plan is not tried");
    clv_arena_free(arena);
}

/* covers: B.048 B.053 */
Test(documented, is_legal_tries_nothing_twice_and_returns_the_best_it_kept)
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
Test(documented, survives_a_first_cut_with_no_cut_in_it)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 3, 3, 1);
    s.weight[0] = s.weight[1] = 0;
    outcome o = run(synthetic_done(&s), (synthetic_judge){ 0 }, true, 2, arena);
    cr_assert(o.r.found);
    clv_arena_free(arena);
}
