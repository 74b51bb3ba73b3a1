/* test_anneal.c - what annealing returns is legal, fits, and is what it says. */
#include "solver/partition/anneal.h"

#include "problem/estimate.h"
#include "solver/partition/synthetic.h"

static clv_arena *arena;

static void set_up(void) { arena = clv_arena_new(NULL, 0); }
static void tear_down(void) { clv_arena_free(arena); }

TestSuite(anneal, .init = set_up, .fini = tear_down);

static int64_t period_of(const clv_partition_problem *p, const int32_t *device_of)
{
    clv_estimate e;
    clv_error err;
    cr_assert_eq(clv_partition_estimate(p, device_of, arena, &e, &err), CLV_OK);
    return e.period_ns;
}

static void check(const clv_partition_problem *p, const int32_t *start, const clv_anneal_options *o,
                  const int32_t *best, int64_t ns, uint64_t seed)
{
    int64_t weights[16] = { 0 };
    int32_t units[16] = { 0 };
    cr_assert(synthetic_legal(p, best), "seed %llu", (unsigned long long)seed);
    cr_assert_eq(period_of(p, best), ns, "seed %llu", (unsigned long long)seed);
    cr_assert_leq(ns, period_of(p, start));
    for (int32_t u = 0; u < p->n_units; u++) {
        weights[best[u]] += p->weight_bytes[u];
        units[best[u]]++;
    }
    for (int32_t d = 0; d < p->n_devices; d++) {
        cr_assert_leq(weights[d], o->room_bytes[d], "seed %llu", (unsigned long long)seed);
        cr_assert(!o->keep_groups || units[d] > 0);
    }
}

Test(anneal, keeps_to_the_rules_and_finds_better_plans)
{
    int n = 0, n_better = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        clv_mark mark = clv_arena_mark(arena);
        int32_t n_units = 12 + (int32_t)(seed % 20), n_devices = 2 + (int32_t)(seed % 4);
        synthetic s = synthetic_any(arena, seed, n_units, n_devices, 1000);
        const clv_partition_problem *p = synthetic_done(&s);
        int32_t start[32], best[32], again[32];
        int64_t room[16], ns, ns_again;
        clv_groups *g;
        clv_error err;
        for (int32_t u = 0; u < n_units; u++) /* in order: legal */
            start[u] = u * n_devices / n_units;
        for (int32_t d = 0; d < n_devices; d++)
            room[d] = 0;
        for (int32_t u = 0; u < n_units; u++)
            room[start[u]] += p->weight_bytes[u];
        for (int32_t d = 0; d < n_devices; d++)
            room[d] += room[d] / 4 + 3;
        clv_anneal_options o = { room, seed % 2, 3000, seed };
        cr_assert_eq(clv_groups_new(p, arena, &g, &err), CLV_OK);
        clv_groups_load(g, start);
        cr_assert_eq(clv_anneal(g, &o, arena, best, &ns, &err), CLV_OK);
        check(p, start, &o, best, ns, seed);
        clv_groups_load(g, start);
        cr_assert_eq(clv_anneal(g, &o, arena, again, &ns_again, &err), CLV_OK);
        cr_assert_eq(memcmp(best, again, (size_t)n_units * sizeof *best), 0);
        n_better += ns < period_of(p, start);
        n++;
        clv_arena_rewind(arena, mark);
    }
    cr_expect_gt(n_better, n * 3 / 4, "%d of %d", n_better, n);
}

/* Two kinds of devices in the wrong order: the long unit is where it takes ten times as long, and
 * no single move helps, as each other place of it makes a cycle or leaves memory. */
Test(anneal, exchanges_devices)
{
    synthetic s = synthetic_new(arena, 2, 2, 2, 1, 1);
    synthetic_net(&s, 0, 1, (int32_t[]){ 1 }, 1);
    s.kind_of[1] = 1;
    s.time[0] = 10; /* on the first kind */
    s.time[1] = 100;
    s.time[2] = 10; /* on the second */
    s.time[3] = 10;
    s.weight[0] = s.weight[1] = 5;
    const clv_partition_problem *p = synthetic_done(&s);
    int64_t room[2] = { 5, 5 }, ns;
    int32_t best[2];
    clv_groups *g;
    clv_error err;
    cr_assert_eq(clv_groups_new(p, arena, &g, &err), CLV_OK);
    clv_groups_load(g, (int32_t[]){ 1, 0 });
    cr_assert_eq(
        clv_anneal(g, &(clv_anneal_options){ room, true, 10000, 1 }, arena, best, &ns, &err),
        CLV_OK);
    cr_expect_eq(ns, 10, "%lld", (long long)ns);
    cr_expect(best[0] == 0 && best[1] == 1);
}

/* Two units, each with one that only feeds it, and much to send between those: half the work goes
 * to another device only where a unit and its feeder move in one step. */
Test(anneal, moves_a_unit_with_its_feeder)
{
    synthetic s = synthetic_new(arena, 4, 2, 1, 3, 3);
    synthetic_net(&s, 0, 1, (int32_t[]){ 2 }, 1000000);
    synthetic_net(&s, 1, 1, (int32_t[]){ 3 }, 1000000);
    synthetic_net(&s, 2, 1, (int32_t[]){ 3 }, 1);
    for (int32_t u = 0; u < 4; u++)
        s.time[u] = u < 2 ? 1 : 20;
    const clv_partition_problem *p = synthetic_done(&s);
    int64_t room[2] = { 100, 100 }, ns;
    int32_t best[4];
    clv_groups *g;
    clv_error err;
    cr_assert_eq(clv_groups_new(p, arena, &g, &err), CLV_OK);
    clv_groups_load(g, (int32_t[]){ 0, 0, 0, 0 });
    cr_assert_eq(
        clv_anneal(g, &(clv_anneal_options){ room, false, 10000, 1 }, arena, best, &ns, &err),
        CLV_OK);
    cr_expect_lt(ns, 42, "%lld", (long long)ns);
    cr_expect(best[0] == best[2] && best[1] == best[3] && best[0] != best[1]);
}
