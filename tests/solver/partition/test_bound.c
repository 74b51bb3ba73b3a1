/* test_bound.c - no legal plan is better than what is proven, and where all are known the proof is
 * often exact.
 */
#include "solver/partition/bound.h"
#include "solver/partition/bound_latency.h"
#include "solver/partition/bound_period.h"

#include "solver/partition/ideal_dp.h"
#include "solver/partition/synthetic.h"

static clv_arena *arena;

static void set_up(void) { arena = clv_arena_new(NULL, 0); }
static void tear_down(void) { clv_arena_free(arena); }

TestSuite(bound, .init = set_up, .fini = tear_down);

/* -- the best of all -- */

typedef struct {
    int64_t period_ns, latency_ns; /* INT64_MAX: nothing fits */
    int64_t latency_of_all_ns;     /* no device is empty */
} best;

static bool fits(const clv_partition_problem *p, const int64_t *live, const int32_t *device_of)
{
    for (int32_t d = 0; d < p->n_devices; d++) {
        int64_t weights = 0, alive = 0;
        for (int32_t u = 0; u < p->n_units; u++) {
            if (device_of[u] != d)
                continue;
            weights += p->weight_bytes[u];
            alive = live && live[u] > alive ? live[u] : alive;
        }
        if (weights + alive > p->capacity_bytes[d])
            return false;
    }
    return true;
}

static bool uses_all(const clv_partition_problem *p, const int32_t *device_of)
{
    int32_t n = 0;
    for (int32_t d = 0; d < p->n_devices; d++)
        for (int32_t u = 0; u < p->n_units; u++)
            if (device_of[u] == d) {
                n++;
                break;
            }
    return n == p->n_devices;
}

/* All assignments, counted as numbers with a digit for each unit. */
static best best_of_all(const clv_partition_problem *p, const int64_t *live)
{
    best b = { INT64_MAX, INT64_MAX, INT64_MAX };
    int32_t device_of[16] = { 0 };
    for (int32_t u = 0; u < p->n_units;) {
        clv_estimate e;
        clv_error err;
        if (fits(p, live, device_of) && synthetic_legal(p, device_of)) {
            cr_assert_eq(clv_partition_estimate(p, device_of, arena, &e, &err), CLV_OK);
            b.period_ns = e.period_ns < b.period_ns ? e.period_ns : b.period_ns;
            b.latency_ns = e.latency_bound_ns < b.latency_ns ? e.latency_bound_ns : b.latency_ns;
            if (uses_all(p, device_of) && e.latency_bound_ns < b.latency_of_all_ns)
                b.latency_of_all_ns = e.latency_bound_ns;
        }
        for (u = 0; u < p->n_units && ++device_of[u] == p->n_devices; u++)
            device_of[u] = 0;
    }
    return b;
}

/* -- problems -- */

/* Operators within units: nets ready before their unit ends, reads needed after it starts. */
static void add_operators(synthetic *s, uint64_t *seed)
{
    clv_partition_problem *p = &s->p;
    size_t kinds = (size_t)p->n_kinds, nets = (size_t)p->n_nets;
    size_t reads = (size_t)p->reads_first[p->n_units];
    int32_t *net_reads = synthetic_take(s->arena, nets, sizeof *net_reads);
    int64_t *ready = synthetic_take(s->arena, nets * kinds, sizeof *ready);
    int64_t *after = synthetic_take(s->arena, reads * kinds, sizeof *after);
    for (int32_t u = 0; u < p->n_units; u++) {
        int32_t first = p->reads_first[u], n = p->reads_first[u + 1] - first, read = 0;
        int32_t last_net = p->unit_first_net[u + 1], parts = n + last_net - p->unit_first_net[u];
        int32_t part = 0; /* the unit's time in equal parts: a read or a net at the end of each */
        for (int32_t net = p->unit_first_net[u]; net < last_net; net++) {
            int32_t before = read + (int32_t)synthetic_below(seed, n - read + 1);
            for (; read < before; read++, part++)
                for (size_t k = 0; k < kinds; k++)
                    after[k * reads + (size_t)(first + read)] =
                        p->time_ns[k * (size_t)p->n_units + (size_t)u] * part / parts;
            net_reads[net] = read;
            part++;
            for (size_t k = 0; k < kinds; k++)
                ready[k * nets + (size_t)net] =
                    p->time_ns[k * (size_t)p->n_units + (size_t)u] * part / parts;
        }
        for (; read < n; read++, part++)
            for (size_t k = 0; k < kinds; k++)
                after[k * reads + (size_t)(first + read)] =
                    p->time_ns[k * (size_t)p->n_units + (size_t)u] * part / parts;
    }
    p->net_reads = net_reads;
    p->net_ready_ns = ready;
    p->read_after_ns = after;
}

typedef struct {
    int period_exact, latency_exact, n;
    double period_part, latency_part; /* sums of bound / best */
} tally;

static void check_bounds(const clv_partition_problem *p, const int64_t *live, uint64_t seed,
                         int32_t near, tally *t)
{
    best b = best_of_all(p, live);
    int32_t device_of[16], order[32], runs[16];
    clv_bound period = { .device_of = device_of };
    clv_bound latency = { .device_of = runs, .orders = order }, latency_of_all = latency;
    clv_error err;
    clv_bound_options one = { .live_bytes = live, .near = near }, all = one;
    all.use_all = true;
    if (b.period_ns == INT64_MAX)
        return;
    cr_assert_eq(clv_bound_period(p, &one, b.period_ns * 2 + 1, arena, &period, &err), CLV_OK, "%s",
                 err.message);
    cr_assert_eq(clv_bound_latency(p, &one, arena, &latency, &err), CLV_OK);
    cr_assert_eq(clv_bound_latency(p, &all, arena, &latency_of_all, &err), CLV_OK);
    cr_assert_leq(period.ns, b.period_ns, "seed %llu", (unsigned long long)seed);
    cr_assert_leq(latency.ns, b.latency_ns, "seed %llu", (unsigned long long)seed);
    cr_assert_leq(latency_of_all.ns, b.latency_of_all_ns, "seed %llu", (unsigned long long)seed);
    cr_assert_geq(period.ns, 0);
    if (period.found)
        cr_assert(synthetic_legal(p, device_of), "seed %llu", (unsigned long long)seed);
    t->period_exact += period.ns == b.period_ns;
    t->latency_exact += latency.ns == b.latency_ns;
    t->period_part += b.period_ns ? (double)period.ns / (double)b.period_ns : 1;
    t->latency_part += b.latency_ns ? (double)latency.ns / (double)b.latency_ns : 1;
    t->n++;
}

/* near 0: the widest; 1 to 3: units are left out although there are few. */
static tally many(uint64_t first, int n, bool operators, bool lives, int32_t near)
{
    tally t = { 0 };
    for (uint64_t seed = first; seed < first + (uint64_t)n; seed++) {
        clv_mark mark = clv_arena_mark(arena);
        uint64_t random = seed * UINT64_C(0x9E3779B97F4A7C15) + 7;
        int32_t devices = 2 + (int32_t)(seed % 2),
                units = 3 + (int32_t)(seed % (devices == 2 ? 6 : 4));
        synthetic s =
            synthetic_any(arena, seed, units, devices, 100 + synthetic_below(&random, 200));
        const clv_partition_problem *p = synthetic_done(&s);
        int64_t live[16];
        if (operators)
            add_operators(&s, &random);
        for (int32_t u = 0; u < units; u++)
            live[u] = synthetic_below(&random, 20);
        check_bounds(p, lives ? live : NULL, seed, near, &t);
        clv_arena_rewind(arena, mark);
    }
    return t;
}

Test(bound, no_legal_plan_is_better)
{
    tally t = many(1, 3000, false, false, 0);
    cr_expect_gt(t.n, 2000);
    cr_expect_gt(t.period_part / t.n, 0.85, "%g", t.period_part / t.n);
    cr_expect_gt(t.latency_part / t.n, 0.85, "%g", t.latency_part / t.n);
}

Test(bound, no_legal_plan_is_better_with_operators_in_units)
{
    tally t = many(10001, 3000, true, false, 0);
    cr_expect_gt(t.n, 2000);
}

Test(bound, no_legal_plan_is_better_beside_what_is_alive)
{
    tally t = many(20001, 3000, true, true, 0);
    cr_expect_gt(t.n, 1000);
}

Test(bound, no_legal_plan_is_better_when_units_are_left_out)
{
    for (int32_t near = 1; near <= 3; near++)
        cr_expect_gt(many(30001 + (uint64_t)near * 10000, 2000, true, near == 2, near).n, 500);
}

/* -- known solutions -- */

static clv_bound period_of(const clv_partition_problem *p, int64_t best_ns, int32_t *device_of)
{
    clv_bound b = { .device_of = device_of };
    clv_error err;
    cr_assert_eq(clv_bound_period(p, &(clv_bound_options){ 0 }, best_ns, arena, &b, &err), CLV_OK);
    return b;
}

static int64_t latency_of(const clv_partition_problem *p)
{
    int32_t order[32], device_of[32]; /* devices, twice; units */
    clv_bound b = { .device_of = device_of, .orders = order };
    clv_error err;
    cr_assert_eq(clv_bound_latency(p, &(clv_bound_options){ 0 }, arena, &b, &err), CLV_OK);
    return b.ns;
}

/* 126 layers of 3, 2 and 5 on 16 devices: 1260 / 16 is 78.75. A device with less than 79 has seven
 * whole layers and 8 more, or less; 16 of those are 1248 at most. With 80, eight layers each are
 * enough. */
Test(bound, equal_layers_are_packed_exactly)
{
    synthetic s = synthetic_chain(arena, 378, 16, 0);
    static const int64_t times[] = { 3, 2, 5 };
    int32_t device_of[378];
    for (int32_t u = 0; u < 378; u++)
        s.time[u] = times[u % 3];
    clv_bound b = period_of(synthetic_done(&s), 1000, device_of);
    cr_expect_eq(b.ns, 80, "%lld", (long long)b.ns);
    cr_expect(b.found);
}

/* Seven units of 10 on three devices: three of them share one. */
Test(bound, more_units_than_devices_share)
{
    synthetic s = synthetic_new(arena, 7, 3, 1, 1, 1);
    int32_t device_of[7];
    for (int32_t u = 0; u < 7; u++)
        s.time[u] = 10;
    cr_expect_eq(period_of(synthetic_done(&s), 70, device_of).ns, 30);
}

/* Ten units of 100 B where a device holds 250 B: two a device, whatever the times. */
Test(bound, memory_forces_more_stages)
{
    synthetic s = synthetic_chain(arena, 10, 5, 0);
    int32_t device_of[10];
    for (int32_t u = 0; u < 10; u++) {
        s.weight[u] = 100;
        s.time[u] = u < 2 ? 1 : 10;
    }
    for (int32_t d = 0; d < 5; d++)
        s.capacity[d] = 250;
    clv_bound b = period_of(synthetic_done(&s), 100, device_of);
    cr_expect_eq(b.ns, 20);
    cr_expect(b.found);
}

/* The second kind takes three times as long: 40 units of 3 are shared as 15 + 15 + 5 + 5. */
Test(bound, unequal_devices_share_unequally)
{
    synthetic s = synthetic_new(arena, 40, 4, 2, 40, 40);
    int32_t device_of[40];
    for (int32_t u = 0; u < 40; u++) {
        s.time[u] = 3;
        s.time[40 + u] = 9;
        if (u < 39)
            synthetic_net(&s, u, 1, (int32_t[]){ u + 1 }, 0);
    }
    s.kind_of[2] = s.kind_of[3] = 1;
    clv_bound b = period_of(synthetic_done(&s), 100, device_of);
    cr_expect_eq(b.ns, 45, "%lld", (long long)b.ns);
    cr_expect(b.found);
}

/* A chain that fits one device runs there; where two are needed it is sent once. */
Test(bound, a_chain_is_sent_as_often_as_memory_asks_for)
{
    synthetic s = synthetic_chain(arena, 10, 4, 100); /* 100 ns a boundary */
    for (int32_t u = 0; u < 10; u++)
        s.time[u] = 50;
    const clv_partition_problem *p = synthetic_done(&s);
    cr_expect_eq(latency_of(p), 500);
    for (int32_t d = 0; d < 4; d++)
        s.capacity[d] = 4;
    int64_t ns = latency_of(p);
    cr_expect(ns == 700 || ns == 699 || ns == 698, "%lld", (long long)ns); /* links round down */
}

/* Two branches of 100 between units of 10, and a boundary of 1: parting them saves 99 of 220. */
Test(bound, branches_may_run_side_by_side)
{
    synthetic s = synthetic_new(arena, 4, 2, 1, 4, 5);
    synthetic_net(&s, 0, 2, (int32_t[]){ 1, 2 }, 1);
    synthetic_net(&s, 1, 1, (int32_t[]){ 3 }, 1);
    synthetic_net(&s, 2, 1, (int32_t[]){ 3 }, 1);
    s.time[0] = s.time[3] = 10;
    s.time[1] = s.time[2] = 100;
    int64_t ns = latency_of(synthetic_done(&s));
    cr_expect(ns == 121 || ns == 120, "%lld", (long long)ns);
}

/* The fast device holds half of the weights, and the slow one takes twice as long. */
Test(bound, memory_of_the_fast_device_has_a_price)
{
    synthetic s = synthetic_new(arena, 20, 2, 2, 20, 20);
    for (int32_t u = 0; u < 20; u++) {
        s.time[u] = 100;
        s.time[20 + u] = 200;
        if (u < 19)
            synthetic_net(&s, u, 1, (int32_t[]){ u + 1 }, 0);
    }
    s.kind_of[1] = 1;
    s.capacity[0] = 10;
    int64_t ns = latency_of(synthetic_done(&s));
    cr_expect_leq(ns, 3000);
    cr_expect_geq(ns, 2890, "%lld", (long long)ns);
}

/* A chain on unequal devices, each with its own memory, nothing sent: the walk along runs is exact,
 * and so is the plan behind it, whether all devices have to be used or not. */
Test(bound, chains_on_unequal_devices_are_exact)
{
    int n_plans = 0, n = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        clv_mark mark = clv_arena_mark(arena);
        uint64_t random = seed * UINT64_C(0x9E3779B97F4A7C15) + 3;
        synthetic s = synthetic_new(arena, 7, 3, 2, 7, 7);
        int64_t live[7];
        for (int32_t u = 0; u < 7; u++) {
            s.time[u] = 10 + synthetic_below(&random, 90);
            s.time[7 + u] = s.time[u] * (1 + synthetic_below(&random, 3));
            s.weight[u] = 1 + synthetic_below(&random, 9);
            live[u] = synthetic_below(&random, 9);
            if (u < 6)
                synthetic_net(&s, u, 1, (int32_t[]){ u + 1 }, 0);
        }
        for (int32_t d = 0; d < 3; d++)
            s.capacity[d] = 15 + synthetic_below(&random, 25);
        s.kind_of[1] = s.kind_of[2] = 1;
        const clv_partition_problem *p = synthetic_done(&s);
        best b = best_of_all(p, live);
        for (int use_all = 0; use_all < 2 && b.latency_of_all_ns < INT64_MAX; use_all++) {
            clv_bound_options o = { .live_bytes = live, .use_all = use_all };
            int32_t order[6], device_of[7];
            clv_bound found = { .device_of = device_of, .orders = order };
            clv_estimate e;
            clv_error err;
            cr_assert_eq(clv_bound_latency(p, &o, arena, &found, &err), CLV_OK);
            cr_assert_eq(found.ns, use_all ? b.latency_of_all_ns : b.latency_ns, "seed %llu, %d",
                         (unsigned long long)seed, use_all);
            cr_assert(found.found && synthetic_legal(p, device_of) && fits(p, live, device_of));
            cr_assert(!use_all || uses_all(p, device_of));
            cr_assert_eq(clv_partition_estimate(p, device_of, arena, &e, &err), CLV_OK);
            n_plans += e.latency_bound_ns == found.ns;
            n++;
        }
        clv_arena_rewind(arena, mark);
    }
    cr_expect_gt(n, 300, "%d", n);
    cr_expect_eq(n_plans, n);
}

/* 10, then 100 beside 20 (80 on a slow device), then 10, ...: two slow devices must be used, and
 * cost nothing beside the 100. */
Test(bound, slow_devices_take_what_is_beside)
{
    synthetic s = synthetic_new(arena, 7, 5, 2, 6, 8);
    static const int64_t times[] = { 10, 100, 20 };
    for (int32_t u = 0; u < 7; u++) {
        s.time[u] = times[u % 3];
        s.time[7 + u] = 4 * s.time[u];
        if (u < 6)
            synthetic_net(&s, u, u % 3 ? 1 : 2, (int32_t[]){ u % 3 == 1 ? u + 2 : u + 1, u + 2 },
                          1);
    }
    s.kind_of[3] = s.kind_of[4] = 1;
    const clv_partition_problem *p = synthetic_done(&s);
    clv_bound_options o = { .use_all = true };
    int32_t order[10], device_of[7];
    clv_bound b = { .device_of = device_of, .orders = order };
    clv_estimate e;
    clv_error err;
    cr_assert_eq(clv_bound_latency(p, &o, arena, &b, &err), CLV_OK);
    cr_assert(b.found && synthetic_legal(p, device_of) && uses_all(p, device_of));
    cr_assert_eq(clv_partition_estimate(p, device_of, arena, &e, &err), CLV_OK);
    cr_expect_eq(e.latency_bound_ns, 232);
    cr_expect(b.ns >= 230 && b.ns <= 232, "%lld", (long long)b.ns); /* links round down */
}
