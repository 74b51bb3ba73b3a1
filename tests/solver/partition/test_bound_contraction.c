/* test_bound_contraction.c - units that too much is sent between: never above the best plan, and
 * exact where that is all that matters.
 */
#include "solver/partition/bound_contraction.h"

#include "solver/partition/synthetic.h"

static clv_arena *arena;

static void set_up(void) { arena = clv_arena_new(NULL, 0); }
static void tear_down(void) { clv_arena_free(arena); }

TestSuite(bound_contraction, .init = set_up, .fini = tear_down);

static int64_t bound_of(const clv_partition_problem *p, int64_t best_ns)
{
    int64_t ns = 0;
    cr_assert_eq(clv_bound_contraction(p, 1, best_ns, arena, &ns, NULL), CLV_OK);
    return ns;
}

/* Weights of 50 bytes a unit, made on the way: at 1 ns a byte, maker and user share a device. */
Test(bound_contraction, a_maker_and_its_user_are_one)
{
    synthetic s = synthetic_new(arena, 4, 4, 1, 3, 3);
    synthetic_net(&s, 0, 1, (int32_t[]){ 2 }, 50);
    synthetic_net(&s, 1, 1, (int32_t[]){ 3 }, 50);
    synthetic_net(&s, 2, 1, (int32_t[]){ 3 }, 1);
    for (int32_t u = 0; u < 4; u++)
        s.time[u] = 10 + u;
    synthetic_done(&s);
    cr_expect_eq(bound_of(&s.p, 1000), 24, "%lld", (long long)bound_of(&s.p, 1000));
    cr_expect_eq(synthetic_least_period(&s), 24);
    cr_expect_eq(bound_of(&s.p, 20), 20, "no more than what is known");
    s.net_bytes[1] = 15; /* may be sent in time: what is left are 10 and 12 on one device */
    cr_expect_eq(bound_of(&s.p, 1000), 22, "%lld", (long long)bound_of(&s.p, 1000));
    cr_expect_eq(synthetic_least_period(&s), 22);
}

/* 0 sends much to 2, and 1 stands between the two. */
Test(bound_contraction, what_is_on_the_way_is_there_too)
{
    synthetic s = synthetic_new(arena, 3, 3, 1, 2, 3);
    synthetic_net(&s, 0, 2, (int32_t[]){ 1, 2 }, 100);
    synthetic_net(&s, 1, 1, (int32_t[]){ 2 }, 1);
    for (int32_t u = 0; u < 3; u++)
        s.time[u] = 10;
    synthetic_done(&s);
    s.net_bytes[0] = 100;
    cr_expect_eq(bound_of(&s.p, 1000), 30);
    cr_expect_eq(synthetic_least_period(&s), 30);
}

/* Two nets of 15 bytes between the same two units take 30 ns over one link; to two units, 15 each.
 */
Test(bound_contraction, nets_between_two_units_add_up)
{
    synthetic s = synthetic_new(arena, 2, 2, 1, 2, 2);
    synthetic_net(&s, 0, 1, (int32_t[]){ 1 }, 15);
    synthetic_net(&s, 0, 1, (int32_t[]){ 1 }, 15);
    s.time[0] = s.time[1] = 10;
    synthetic_done(&s);
    cr_expect_eq(bound_of(&s.p, 1000), 20);
    s = synthetic_new(arena, 3, 3, 1, 2, 2);
    synthetic_net(&s, 0, 1, (int32_t[]){ 1 }, 15);
    synthetic_net(&s, 0, 1, (int32_t[]){ 2 }, 15);
    s.time[0] = s.time[1] = s.time[2] = 10;
    synthetic_done(&s);
    cr_expect_eq(bound_of(&s.p, 1000), 15, "%lld", (long long)bound_of(&s.p, 1000));
}

/* A device whose links are no ports sends for nothing: nothing is known. */
Test(bound_contraction, a_link_without_a_port_says_nothing)
{
    synthetic s = synthetic_new(arena, 2, 2, 1, 1, 1);
    synthetic_net(&s, 0, 1, (int32_t[]){ 1 }, 100);
    s.time[0] = s.time[1] = 10;
    synthetic_done(&s);
    s.p.n_ports = 1;
    s.p.link_first_port = (int32_t[]){ 0, 0, 0, 1, 1 };
    s.p.link_ports = (int32_t[]){ 0 };
    cr_expect_eq(bound_of(&s.p, 1000), 1);
}

Test(bound_contraction, no_plan_is_better)
{
    int32_t n_tight = 0;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        clv_mark mark = clv_arena_mark(arena);
        uint64_t random = seed * UINT64_C(0x9E3779B97F4A7C15);
        int32_t units = 3 + (int32_t)(seed % 5), devices = 2 + (int32_t)(seed % 2);
        synthetic s = synthetic_any(arena, seed, units, devices, 1000);
        for (int32_t i = 0; i < devices * devices; i++) {
            s.link_latency[i] = synthetic_below(&random, 300);
            s.link_bandwidth[i] = 1e9 / (double)(1 + synthetic_below(&random, 40));
        }
        synthetic_done(&s);
        if (seed % 3 == 0)
            synthetic_ports(&s);
        if (seed % 3 == 1)
            synthetic_any_ports(&s, &random);
        int64_t best = synthetic_least_period(&s), bound = bound_of(&s.p, INT64_MAX / 8);
        cr_assert_leq(bound, best, "seed %d: %lld of %lld", (int)seed, (long long)bound,
                      (long long)best);
        cr_assert_leq(bound_of(&s.p, best), best, "seed %d", (int)seed);
        n_tight += bound == best;
        clv_arena_rewind(arena, mark);
    }
    cr_assert_gt(n_tight, 300, "%d", (int)n_tight);
}
