/* test_idle_devices.c - devices without units get some: legal, in memory, and no slower where that
 * can be.
 */
#include "solver/partition/idle_devices.h"

#include "solver/partition/synthetic.h"

static clv_arena *arena;

static void set_up(void) { arena = clv_arena_new(NULL, 0); }
static void tear_down(void) { clv_arena_free(arena); }

TestSuite(idle_devices, .init = set_up, .fini = tear_down);

static clv_groups *filled(const clv_partition_problem *p, const int32_t *device_of)
{
    clv_groups *g;
    clv_error err;
    cr_assert_eq(clv_groups_new(p, arena, &g, &err), CLV_OK);
    clv_groups_load(g, device_of);
    cr_assert_eq(clv_idle_devices_use(g, arena, &err), CLV_OK);
    return g;
}

/* Of seven units in a row the net between the third and the fourth is the smallest. */
Test(idle_devices, parts_where_the_least_is_sent)
{
    synthetic s = synthetic_chain(arena, 7, 2, 100);
    s.net_bytes[2] = 10;
    const clv_partition_problem *p = synthetic_done(&s);
    clv_groups *g = filled(p, (int32_t[7]){ 0 });
    for (int32_t u = 0; u < 7; u++)
        cr_expect_eq(g->device_of[u], u > 2, "unit %d", (int)u);
}

/* The device left takes three times as long: the last unit alone goes there, though that sends
 * more. */
Test(idle_devices, sends_more_rather_than_be_slower)
{
    synthetic s = synthetic_new(arena, 4, 3, 2, 3, 3);
    s.kind_of[2] = 1;
    for (int32_t u = 0; u < 3; u++)
        synthetic_net(&s, u, 1, (int32_t[]){ u + 1 }, u == 2 ? 5 : 1);
    for (int32_t u = 0; u < 8; u++)
        s.time[u] = u < 4 ? 3 : 9;
    const clv_partition_problem *p = synthetic_done(&s);
    clv_groups *g = filled(p, (int32_t[]){ 0, 1, 1, 1 });
    cr_expect_eq(clv_groups_period_ns(g), 9);
    cr_expect(g->device_of[1] == 1 && g->device_of[2] == 1 && g->device_of[3] == 2);
}

Test(idle_devices, keeps_to_room_and_kinds)
{
    synthetic s = synthetic_new(arena, 4, 4, 2, 3, 3);
    for (int32_t u = 0; u < 3; u++)
        synthetic_net(&s, u, 1, (int32_t[]){ u + 1 }, 1);
    s.kind_of[1] = 1;
    for (int32_t u = 0; u < 8; u++)
        s.time[u] = u < 4 ? 10 : 30;
    s.capacity[2] = 0;
    const clv_partition_problem *p = synthetic_done(&s);
    clv_groups *g = filled(p, (int32_t[4]){ 0 });
    cr_expect_eq(g->n_units[2], 0, "no room");
    cr_expect_gt(g->n_units[3], 0);
    cr_expect_eq(g->n_units[1], 1, "the slow one gets as little as can be");
    cr_expect_eq(clv_groups_period_ns(g), 30);
}

Test(idle_devices, any_plan_stays_legal_and_uses_all)
{
    int32_t n_kept = 0, n = 0;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        clv_mark mark = clv_arena_mark(arena);
        int32_t devices = 2 + (int32_t)(seed % 7), used = 1 + (int32_t)(seed % (uint64_t)devices);
        synthetic s = synthetic_any(arena, seed, 4 + (int32_t)(seed % 20), devices, 1000);
        int32_t start[32];
        for (int32_t d = 0; d < devices; d++)
            s.capacity[d] = INT64_C(1) << 40;
        const clv_partition_problem *p = synthetic_done(&s);
        if (seed % 2)
            synthetic_ports(&s);
        for (int32_t u = 0; u < p->n_units; u++) /* in order, so it is legal */
            start[u] = u * used / p->n_units;
        clv_groups *g;
        clv_error err;
        cr_assert_eq(clv_groups_new(p, arena, &g, &err), CLV_OK);
        clv_groups_load(g, start);
        int64_t before = clv_groups_period_ns(g);
        cr_assert_eq(clv_idle_devices_use(g, arena, &err), CLV_OK);
        cr_assert(synthetic_legal(p, g->device_of), "seed %d", (int)seed);
        cr_assert_eq(g->n_used, p->n_units < devices ? p->n_units : devices, "seed %d", (int)seed);
        n_kept += clv_groups_period_ns(g) <= before;
        n++;
        clv_arena_rewind(arena, mark);
    }
    cr_expect_gt(n_kept, n / 2, "%d of %d", (int)n_kept, (int)n);
}
