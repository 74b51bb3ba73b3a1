#include "problem/partition_problem.h"

#include "problem/estimate.h"
#include "problem/latency_estimate.h"
#include "solver/partition/synthetic.h"

#include <criterion/criterion.h>

static clv_estimate estimate(const clv_partition_problem *p, const int32_t *device_of,
                             clv_arena *arena)
{
    clv_estimate e = { 0 };
    cr_assert_eq(clv_partition_estimate(p, device_of, arena, &e, NULL), CLV_OK);
    return e;
}

/* 4 units of 1 ns; 2 | 2 with a net of 5 bytes at 1 byte a ns and 3 ns latency: 2 + 8 + 2 = 12; the
 * link is the busiest with 8. */
Test(estimate, adds_work_and_transfers_of_a_chain)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 4, 2, 5);
    s.link_latency[1] = 3; /* 0 to 1 */
    s.weight[3] = 7;
    clv_estimate e = estimate(synthetic_done(&s), (int32_t[]){ 0, 0, 1, 1 }, arena);
    cr_assert_eq(e.latency_bound_ns, 12);
    cr_assert_eq(e.period_ns, 8);
    cr_assert_eq(e.max_weight_bytes, 8);
    clv_arena_free(arena);
}

/* Read twice on the other device, a net is sent once. */
Test(estimate, sends_a_net_once_to_each_device)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_new(arena, 3, 2, 1, 1, 2);
    synthetic_net(&s, 0, 2, (int32_t[]){ 1, 2 }, 50);
    clv_estimate e = estimate(synthetic_done(&s), (int32_t[]){ 0, 1, 1 }, arena);
    cr_assert_eq(e.period_ns, 50);
    cr_assert_eq(e.latency_bound_ns, 1 + 50 + 2);
    clv_arena_free(arena);
}

/* One net to two devices: 50 ns on each link, one after the other through the port they share. */
Test(estimate, adds_up_what_goes_through_one_port)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_new(arena, 3, 3, 1, 1, 2);
    synthetic_net(&s, 0, 2, (int32_t[]){ 1, 2 }, 50);
    cr_assert_eq(estimate(synthetic_done(&s), (int32_t[]){ 0, 1, 2 }, arena).period_ns, 50);
    synthetic_ports(&s);
    cr_assert_eq(estimate(&s.p, (int32_t[]){ 0, 1, 2 }, arena).period_ns, 100);
    cr_assert_eq(estimate(&s.p, (int32_t[]){ 0, 1, 1 }, arena).period_ns, 50);
    clv_arena_free(arena);
}

/* What is known before the run keeps its reader behind it on a device, but lets another begin. */
Test(estimate, waits_for_nothing_that_is_known_before_the_run)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 2, 2, 0);
    s.time[0] = s.time[1] = 10;
    synthetic_done(&s);
    cr_assert_eq(estimate(&s.p, (int32_t[]){ 0, 1 }, arena).latency_bound_ns, 20);
    s.p.net_known = (bool[]){ true };
    cr_assert_eq(estimate(&s.p, (int32_t[]){ 0, 1 }, arena).latency_bound_ns, 10);
    cr_assert_eq(estimate(&s.p, (int32_t[]){ 0, 0 }, arena).latency_bound_ns, 20);
    clv_arena_free(arena);
}

/* Unit 0 writes its net after 2 of 10 ns; it takes 5 to the other device, where unit 1 needs it
 * after 4 of 10 ns: both run at once from 3 on. */
Test(estimate, lets_devices_work_at_once_where_a_net_is_early_or_needed_late)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 2, 2, 5);
    s.time[0] = s.time[1] = 10;
    synthetic_done(&s);
    s.p.net_reads = (int32_t[]){ 0 };
    s.p.net_ready_ns = (int64_t[]){ 2 };
    s.p.read_after_ns = (int64_t[]){ 4 };
    cr_assert_eq(estimate(&s.p, (int32_t[]){ 0, 1 }, arena).latency_bound_ns, 3 + 10);
    cr_assert_eq(estimate(&s.p, (int32_t[]){ 0, 0 }, arena).latency_bound_ns, 20);
    clv_arena_free(arena);
}

/* Unit 1 writes its net before it needs what it reads, so unit 2 does not wait for unit 0. */
Test(estimate, keeps_back_a_net_only_by_what_is_read_before_it)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 3, 3, 0);
    s.time[0] = 100;
    synthetic_done(&s);
    s.p.net_reads = (int32_t[]){ 0, 0 };
    s.p.net_ready_ns = (int64_t[]){ 100, 1 };
    s.p.read_after_ns = (int64_t[]){ 1, 0 };
    cr_assert_eq(estimate(&s.p, (int32_t[]){ 0, 1, 2 }, arena).latency_bound_ns, 100);
    s.p.net_reads = (int32_t[]){ 0, 1 };
    cr_assert_eq(estimate(&s.p, (int32_t[]){ 0, 1, 2 }, arena).latency_bound_ns, 101);
    clv_arena_free(arena);
}

Test(estimate, takes_the_time_of_each_device_s_kind)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_new(arena, 2, 2, 2, 1, 1);
    s.kind_of[1] = 1;
    s.time[2] = s.time[3] = 100; /* kind 1 */
    const clv_partition_problem *p = synthetic_done(&s);
    cr_assert_eq(estimate(p, (int32_t[]){ 0, 0 }, arena).period_ns, 2);
    cr_assert_eq(estimate(p, (int32_t[]){ 0, 1 }, arena).period_ns, 100);
    cr_assert_eq(estimate(p, (int32_t[]){ 1, 1 }, arena).latency_bound_ns, 200);
    clv_arena_free(arena);
}

Test(estimate, of_nothing_is_nothing)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 0, 2, 5);
    clv_estimate e = estimate(synthetic_done(&s), NULL, arena);
    cr_assert_eq(e.period_ns, 0);
    cr_assert_eq(e.latency_bound_ns, 0);
    clv_arena_free(arena);
}

/* With free links and whole units both are bounds of what a simulation with busy links says. */
Test(estimate, is_never_above_a_simulation)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        synthetic s = synthetic_any(arena, seed, 20, 3, 100);
        const clv_partition_problem *p = synthetic_done(&s);
        int32_t device_of[20];
        for (int32_t u = 0; u < 20; u++)
            device_of[u] = u / 7;
        clv_verdict v = { 0 };
        synthetic_times(p, device_of, &v);
        clv_estimate e = estimate(p, device_of, arena);
        cr_assert_eq(e.period_ns, v.period_ns);
        cr_assert_leq(e.latency_bound_ns, v.latency_ns);
        clv_arena_free(arena);
    }
}

Test(estimate, stops_at_the_largest_sum_instead_of_overflowing)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 3, 2, INT64_MAX);
    for (int32_t u = 0; u < 3; u++)
        s.time[u] = s.weight[u] = INT64_MAX / 4;
    s.link_bandwidth[1] = 1e-3;
    clv_estimate e = estimate(synthetic_done(&s), (int32_t[]){ 0, 0, 1 }, arena);
    cr_assert_eq(e.period_ns, INT64_MAX / 4);
    cr_assert_eq(e.latency_bound_ns, INT64_MAX / 4);
    cr_assert_eq(e.max_weight_bytes, INT64_MAX / 4);
    clv_arena_free(arena);
}

/* From the middle of the last whole run, between the states that are kept of it too, as from the
 * start; what was asked before does not matter. */
Test(estimate, the_latency_of_a_changed_assignment_is_that_of_the_whole)
{
    enum { UNITS = 700, DEVICES = 3 };
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_new(arena, UNITS, DEVICES, 1, UNITS, 2 * UNITS);
    for (int32_t u = 0; u < UNITS; u++)
        s.time[u] = 1 + u * 7 % 11;
    for (int32_t u = 0; u + 9 < UNITS; u++)
        synthetic_net(&s, u, 2, (int32_t[]){ u + 3, u + 9 }, 1 + u % 5);
    const clv_partition_problem *p = synthetic_done(&s);
    int32_t device_of[UNITS];
    clv_latency_estimate l;
    cr_assert_eq(clv_latency_estimate_new(p, arena, &l, NULL), CLV_OK);
    for (int32_t u = 0; u < UNITS; u++)
        device_of[u] = u * DEVICES / UNITS;
    cr_assert_eq(clv_latency_estimate_whole(&l, device_of),
                 estimate(p, device_of, arena).latency_bound_ns);
    for (int32_t u = UNITS - 1; u >= 0; u -= 13) {
        int32_t before = device_of[u];
        device_of[u] = (before + 1) % DEVICES;
        cr_expect_eq(clv_latency_estimate_changed(&l, device_of, u),
                     estimate(p, device_of, arena).latency_bound_ns, "unit %d", (int)u);
        device_of[u] = before;
    }
    clv_arena_free(arena);
}

Test(estimate, survives_running_out_of_memory_anywhere)
{
    clv_arena *problem = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(problem, 5, 2, 1);
    const clv_partition_problem *p = synthetic_done(&s);
    clv_status status = CLV_ENOMEM;
    for (size_t limit = 1; status != CLV_OK; limit++) {
        clv_arena *arena = clv_arena_new(NULL, limit);
        clv_estimate e = { .period_ns = -7 };
        status = clv_partition_estimate(p, (int32_t[]){ 0, 0, 0, 1, 1 }, arena, &e, NULL);
        cr_assert(status == CLV_OK || (status == CLV_ENOMEM && e.period_ns == -7));
        clv_arena_free(arena);
    }
    clv_arena_free(problem);
}
