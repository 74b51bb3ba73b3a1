/* test_bound_broadcast.c - what one device must send to many: never above the best plan, and exact
 * where that is all that matters.
 */
#include "solver/partition/bound_broadcast.h"
#include "solver/partition/bound_period.h"
#include "solver/partition/solve.h"

#include "problem/estimate.h"
#include "solver/partition/synthetic.h"
#include "support/effort.h"

static clv_arena *arena;

static void set_up(void) { arena = clv_arena_new(NULL, 0); }
static void tear_down(void) { clv_arena_free(arena); }

TestSuite(bound_broadcast, .init = set_up, .fini = tear_down);

static int64_t bound_of(const clv_partition_problem *p, int64_t best_ns)
{
    int64_t ns = 0;
    cr_assert_eq(clv_bound_broadcast(p, 1, best_ns, arena, &ns, NULL), CLV_OK);
    return ns;
}

/* Unit 0 writes a mask for n layers of so many units in a row, of which the last reads it. */
static synthetic layers(int32_t n, int32_t units, int32_t devices, int64_t mask_bytes)
{
    synthetic s = synthetic_new(arena, 1 + n * units, devices, 1, 1 + n * units, n * (units + 1));
    int32_t to[64];
    for (int32_t i = 0; i < n; i++)
        to[i] = (i + 1) * units;
    synthetic_net(&s, 0, n, to, mask_bytes);
    for (int32_t u = 1; u < n * units; u++)
        synthetic_net(&s, u, 1, (int32_t[]){ u + 1 }, 1);
    return s;
}

/* Four layers of 10 ns, five devices. Within 17 ns no two masks are read on one device, and the
 * writer can read one itself: 3 x 7 = 21 ns of sending. From 20 ns on two layers share a device,
 * and one is sent, so 20. */
Test(bound_broadcast, layers_that_share_no_device_are_sent_to_one_by_one)
{
    synthetic s = layers(4, 1, 5, 7);
    for (int32_t u = 1; u < 5; u++)
        s.time[u] = 10;
    s.time[0] = 0;
    synthetic_done(&s);
    synthetic_ports(&s);
    cr_assert_eq(synthetic_least_period(&s), 20);
    cr_assert_eq(bound_of(&s.p, 1000), 20);
    s.net_bytes[0] = 5; /* 15 ns, and one more for what layers send */
    cr_assert_eq(bound_of(&s.p, 1000), 15);
    cr_assert_eq(synthetic_least_period(&s), 16);
}

/* What lies between two readers counts: each alone takes 1 ns, but 30 ns from one to the next. */
Test(bound_broadcast, what_is_between_two_readers_is_on_their_device)
{
    synthetic s = layers(3, 2, 4, 15);
    for (int32_t u = 1; u < 7; u += 2)
        s.time[u] = 30;
    synthetic_done(&s);
    synthetic_ports(&s);
    cr_assert_eq(bound_of(&s.p, 1000), 30);
    cr_assert_eq(synthetic_least_period(&s), 31);
}

/* Links that share nothing send at once. */
Test(bound_broadcast, without_shared_ports_each_link_is_its_own)
{
    synthetic s = layers(4, 1, 5, 7);
    for (int32_t u = 1; u < 5; u++)
        s.time[u] = 10;
    synthetic_done(&s);
    cr_assert_eq(bound_of(&s.p, 1000), 10, "a layer alone");
}

Test(bound_broadcast, no_plan_is_better)
{
    int32_t n_tight = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t random = seed * UINT64_C(0x9E3779B97F4A7C15);
        int32_t devices = 2 + (int32_t)(seed % 3);
        synthetic s = synthetic_any(arena, seed, 7, devices, 1000);
        if (seed % 2) {
            s = layers(2 + (int32_t)(seed % 5), 1, devices, 5 + synthetic_below(&random, 200));
            for (int32_t u = 0; u < s.p.n_units; u++)
                s.time[u] = 1 + synthetic_below(&random, 300);
        }
        for (int32_t i = 0; i < devices * devices; i++) {
            s.link_latency[i] = synthetic_below(&random, 30);
            s.link_bandwidth[i] = 1e9 / (double)(1 + synthetic_below(&random, 3));
        }
        synthetic_done(&s);
        if (seed % 4)
            synthetic_ports(&s);
        int64_t best = synthetic_least_period(&s), bound = bound_of(&s.p, INT64_MAX / 8);
        cr_assert_leq(bound, best, "seed %d", (int)seed);
        n_tight += bound == best;
    }
    cr_assert_gt(n_tight, 30);
}

/* A unit or two that all may read, some of whom follow each other; some nets of no bytes, some
 * units of no time. */
static synthetic tables(uint64_t *random, int32_t units, int32_t devices)
{
    int32_t kinds = 1 + (int32_t)synthetic_below(random, 2), to[8];
    synthetic s = synthetic_new(arena, units, devices, kinds, 4 * units, 4 * units * units);
    for (int32_t u = 0; u < units * kinds; u++)
        s.time[u] = synthetic_below(random, 4) ? synthetic_below(random, 60) : 0;
    for (int32_t d = 0; d < devices; d++)
        s.kind_of[d] = (int32_t)synthetic_below(random, kinds);
    for (int32_t u = 0; u + 1 < units; u++) {
        int32_t n = 0;
        for (int32_t v = u + 1; v < units && u < 2; v++)
            if (synthetic_below(random, 4))
                to[n++] = v;
        int32_t copies = n > 0 ? 1 + (int32_t)synthetic_below(random, 2) : 0;
        for (; copies > 0; copies--)
            synthetic_net(&s, u, n, to,
                          synthetic_below(random, 5) ? synthetic_below(random, 40) : 0);
        if (synthetic_below(random, 2))
            synthetic_net(&s, u, 1, (int32_t[]){ u + 1 }, synthetic_below(random, 10));
    }
    return s;
}

Test(bound_broadcast, no_plan_is_better_whatever_links_share)
{
    int32_t n_tight = 0;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        clv_mark mark = clv_arena_mark(arena);
        uint64_t random = seed * UINT64_C(0x9E3779B97F4A7C15) + 3;
        int32_t devices = 2 + (int32_t)(seed % 3), units = 3 + (int32_t)(seed % 4);
        synthetic s = tables(&random, units, devices);
        for (int32_t i = 0; i < devices * devices; i++) {
            s.link_latency[i] = synthetic_below(&random, 2) ? synthetic_below(&random, 30) : 0;
            s.link_bandwidth[i] = 1e9 / (double)(1 + synthetic_below(&random, 3));
        }
        synthetic_done(&s);
        if (seed % 5)
            synthetic_any_ports(&s, &random);
        int64_t best = synthetic_least_period(&s), bound = bound_of(&s.p, INT64_MAX / 8), all = 0;
        int32_t device_of[8];
        clv_bound period = { .device_of = device_of };
        cr_assert_leq(bound, best > 1 ? best : 1, "seed %d: sending %lld of %lld", (int)seed,
                      (long long)bound, (long long)best);
        for (all = best; all < INT64_MAX / 8; all = 2 * all + 1) {
            cr_assert_eq(
                clv_bound_period(&s.p, &(clv_bound_options){ 0 }, all, arena, &period, NULL),
                CLV_OK);
            cr_assert_leq(period.ns, best, "seed %d: %lld of %lld", (int)seed, (long long)period.ns,
                          (long long)best);
        }
        n_tight += bound == best;
        clv_arena_rewind(arena, mark);
    }
    cr_assert_gt(n_tight, 60, "%d", n_tight);
}

/* -- the search, judged by sums -- */

static clv_status judge_by_sums(void *ctx, const clv_assignment *a, int32_t n, clv_verdict *v,
                                clv_error *err)
{
    const clv_partition_problem *p = ctx;
    (void)err;
    for (int32_t i = 0; i < n; i++) {
        clv_estimate e = { 0 };
        CLV_TRY(clv_partition_estimate(p, a[i].device_of, arena, &e, err));
        v[i] = (clv_verdict){ .latency_ns = e.latency_bound_ns, .period_ns = e.period_ns };
    }
    return CLV_OK;
}

/* Forty layers of three units on 64 devices; three masks are written one after the other, for all
 * layers. One device that sends all three is the slowest by far. */
Test(bound_broadcast, the_search_spreads_what_all_layers_read)
{
    if (TEST_IS_SANITIZED)
        cr_skip_test("a question of quality, and slow");
    synthetic s = synthetic_new(arena, 3 + 120, 64, 1, 3 + 120, 3 * 40 + 130);
    int32_t to[40];
    for (int32_t i = 0; i < 40; i++)
        to[i] = 3 + 3 * i;
    for (int32_t u = 0; u < 3; u++)
        synthetic_net(&s, u, 40, to, 20);
    for (int32_t u = 3; u < 122; u++)
        synthetic_net(&s, u, 1, (int32_t[]){ u + 1 }, 100);
    for (int32_t u = 3; u < 123; u++)
        s.time[u] = 300;
    synthetic_done(&s);
    synthetic_ports(&s);
    clv_partition_judge judge = {
        .judge = judge_by_sums, .ctx = &s.p, .batch = 8, .bounded_at = 1
    };
    clv_partition_options o = { .objective = CLV_THROUGHPUT };
    clv_partition_result r;
    cr_assert_eq(clv_partition_solve(&s.p, &judge, &o, arena, &r, NULL), CLV_OK);
    cr_assert(r.solve.found);
    cr_assert_geq(r.solve.bound.whole, 39 * 20, "sending one of the masks");
    cr_assert_leq(r.best.verdict.period_ns * 100, r.solve.bound.whole * 115);
}
