/* test_moves.c - which moves are listed, of which kind, and that groups keep their sums through
 * them. */
#include "solver/partition/moves.h"

#include "problem/estimate.h"
#include "solver/partition/synthetic.h"

#include <criterion/criterion.h>

static clv_moves moves_of(synthetic *s, const int32_t *device_of, bool keep_groups)
{
    clv_groups *g;
    clv_moves m;
    cr_assert_eq(clv_groups_new(synthetic_done(s), s->arena, &g, NULL), CLV_OK);
    clv_groups_load(g, device_of);
    cr_assert_eq(clv_moves_new(g, keep_groups, s->arena, &m, NULL), CLV_OK);
    return m;
}

static bool has(const clv_moves *m, int32_t unit, int32_t to, clv_move_kind kind)
{
    for (int32_t i = 0; i < m->n; i++)
        if (m->at[i].unit == unit && m->at[i].to == to && m->at[i].kind == kind)
            return true;
    return false;
}

static void documented(clv_moves *m, int32_t device, clv_move_goal goal)
{
    cr_assert_eq(clv_moves_poprt(m, device, goal, NULL), CLV_OK);
}

/* The figure: units 0, 1 feed units 2, 3 of the group in the middle; unit 0 and 1 are in two
 * groups. group 0: 0    group 1: 1 group 2: 2 (reads 0), 3 (reads 1), 4 (reads 2 and 3) group 3: 5
 * (reads 4) */
static synthetic figure(clv_arena *arena)
{
    synthetic s = synthetic_new(arena, 6, 4, 1, 5, 5);
    synthetic_net(&s, 0, 1, (int32_t[]){ 2 }, 1);
    synthetic_net(&s, 1, 1, (int32_t[]){ 3 }, 1);
    synthetic_net(&s, 2, 1, (int32_t[]){ 4 }, 1);
    synthetic_net(&s, 3, 1, (int32_t[]){ 4 }, 1);
    synthetic_net(&s, 4, 1, (int32_t[]){ 5 }, 1);
    return s;
}
static const int32_t figure_devices[] = { 0, 1, 2, 2, 2, 3 };

/* covers: B.020 */
Test(moves, a_starting_unit_goes_to_the_group_it_reads_from)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = figure(arena);
    clv_moves m = moves_of(&s, figure_devices, false);
    documented(&m, 2, CLV_BY_BYTES);
    cr_assert(has(&m, 2, 0, CLV_TO_PARENT));
    cr_assert(has(&m, 3, 1, CLV_TO_PARENT));
    cr_assert(!has(&m, 4, 0, CLV_TO_PARENT) && !has(&m, 4, 1, CLV_TO_PARENT));
    clv_arena_free(arena);
}

/* covers: B.021 */
Test(moves, an_ending_unit_goes_to_the_group_that_reads_it)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = figure(arena);
    clv_moves m = moves_of(&s, figure_devices, false);
    documented(&m, 2, CLV_BY_BYTES);
    cr_assert(has(&m, 4, 3, CLV_TO_CHILD));
    cr_assert(!has(&m, 2, 3, CLV_TO_CHILD), "2 would leave its reader behind");
    cr_assert_eq(m.n, 3, "there is no parallel group");
    clv_arena_free(arena);
}

/* Groups 0 and 1 of the figure are parallel: neither leads to the other. */
/* covers: B.022 */
Test(moves, starting_and_ending_units_go_to_parallel_groups)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = figure(arena);
    clv_moves m = moves_of(&s, figure_devices, false);
    documented(&m, 0, CLV_BY_BYTES);
    cr_assert(has(&m, 0, 1, CLV_TO_PARALLEL));
    cr_assert(has(&m, 0, 2, CLV_TO_CHILD));
    cr_assert_eq(m.n, 2);
    clv_arena_free(arena);
}

/* 0 -> 1 on device 0, beside 2 on device 1: 0 starts there, 1 ends there. */
/* covers: B.022 */
Test(moves, both_ends_of_a_group_may_go_to_a_parallel_one)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_new(arena, 3, 2, 1, 1, 1);
    synthetic_net(&s, 0, 1, (int32_t[]){ 1 }, 1);
    clv_moves m = moves_of(&s, (int32_t[]){ 0, 0, 1 }, false);
    documented(&m, 0, CLV_BY_BYTES);
    cr_assert(has(&m, 0, 1, CLV_TO_PARALLEL));
    cr_assert(has(&m, 1, 1, CLV_TO_PARALLEL));
    cr_assert_eq(m.n, 2);
    clv_arena_free(arena);
}

/* 0 -> 1 -> 2 on three devices: 0 and 2 are not neighbours, but not parallel either. */
/* covers: B.057 */
Test(moves, a_group_far_down_the_chain_is_not_parallel)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 4, 4, 1);
    clv_moves m = moves_of(&s, (int32_t[]){ 0, 1, 2, 3 }, false);
    documented(&m, 0, CLV_BY_BYTES);
    cr_assert_eq(m.n, 1);
    cr_assert(has(&m, 0, 1, CLV_TO_CHILD));
    clv_arena_free(arena);
}

/* Unit 0 is read in groups 1 and 2, which have weights 5 and 3, FLOPs 1 and 9. Group 0 has 12. */
/* covers: B.045 */
Test(moves, the_target_has_least_bytes_or_least_flops)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_new(arena, 4, 3, 1, 1, 2);
    synthetic_net(&s, 0, 2, (int32_t[]){ 1, 2 }, 1);
    s.weight[1] = 5;
    s.weight[2] = 3;
    s.flops[0] = 2;
    s.flops[2] = 9;
    s.flops[3] = 10;
    clv_moves m = moves_of(&s, (int32_t[]){ 0, 1, 2, 0 }, false);
    documented(&m, 0, CLV_BY_BYTES);
    cr_assert(has(&m, 0, 2, CLV_TO_CHILD) && !has(&m, 0, 1, CLV_TO_CHILD));
    documented(&m, 0, CLV_BY_FLOPS);
    cr_assert(has(&m, 0, 1, CLV_TO_CHILD) && !has(&m, 0, 2, CLV_TO_CHILD));
    clv_arena_free(arena);
}

/* Units 1 and 2 are alone on devices 1 and 2, which hold weights 5 and 3: unit 0 knows neither. */
/* covers: B.045 */
Test(moves, the_parallel_target_has_least_bytes_too)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_new(arena, 3, 3, 1, 0, 0);
    s.weight[1] = 5;
    s.weight[2] = 3;
    clv_moves m = moves_of(&s, (int32_t[]){ 0, 1, 2 }, false);
    documented(&m, 0, CLV_BY_BYTES);
    cr_assert(m.n == 1 && has(&m, 0, 2, CLV_TO_PARALLEL));
    clv_arena_free(arena);
}

/* Chain of FLOPs 2 3 | 1: moving the 3 makes 2 | 4, gap 4 -> 2: allowed. With 2 6 | 1 it makes 2 |
 * 7, gap 7 -> 5: allowed; 0 6 | 1: gap 5 -> 7: not. 2 3 | 5: the target has as much: not. 5 0 | 1:
 * the gap stays 4: not. */
/* covers: B.019 B.046 */
Test(moves, for_balance_the_target_has_less_and_the_gap_shrinks)
{
    const int64_t flops[][4] = {
        { 2, 3, 1, 1 }, { 2, 6, 1, 1 }, { 0, 6, 1, 0 }, { 2, 3, 5, 0 }, { 5, 0, 1, 0 }
    };
    for (size_t i = 0; i < 5; i++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        synthetic s = synthetic_chain(arena, 3, 2, 1);
        memcpy(s.flops, flops[i], 3 * sizeof *s.flops);
        clv_moves m = moves_of(&s, (int32_t[]){ 0, 0, 1 }, false);
        documented(&m, 0, CLV_BY_FLOPS);
        cr_assert_eq(m.n, flops[i][3], "case %zu", i);
        clv_arena_free(arena);
    }
}

/* Group 0: 0 and 2, group 1: 1; 0 -> 1, 0 -> 2. Moving 0 to 1 makes 1 -> 0 only: legal. In the
 * diamond 0 -> 1, 2 -> 3 with 1 alone on device 1, moving 3 there is legal, moving 0 there is not.
 */
Test(moves, only_what_leaves_the_quotient_acyclic_is_offered)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        synthetic s = synthetic_any(arena, seed, 14, 4, 100);
        int32_t device_of[14];
        for (int32_t u = 0; u < 14; u++)
            device_of[u] = u / 4;
        clv_moves m = moves_of(&s, device_of, false);
        for (int32_t d = 0; d < 4; d++) {
            cr_assert_eq(clv_moves_all(&m, d, 4096, NULL), CLV_OK);
            int32_t want = 0;
            for (int32_t u = d * 4; u < 14 && u < d * 4 + 4; u++) {
                if (m.g->inner_reads[u] > 0 && m.g->inner_sends[u] > 0)
                    continue;
                for (int32_t to = 0; to < 4; to++) {
                    device_of[u] = to;
                    want += to != d && synthetic_legal(&s.p, device_of);
                    device_of[u] = d;
                }
            }
            cr_assert_eq(m.n, want, "seed %d device %d", (int)seed, d);
        }
        clv_arena_free(arena);
    }
}

Test(moves, can_be_asked_to_empty_no_group)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 3, 3, 1);
    clv_moves m = moves_of(&s, (int32_t[]){ 0, 0, 1 }, true);
    documented(&m, 1, CLV_BY_BYTES);
    cr_assert_eq(m.n, 0);
    m = moves_of(&s, (int32_t[]){ 0, 0, 1 }, false);
    documented(&m, 1, CLV_BY_BYTES);
    cr_assert(has(&m, 2, 0, CLV_TO_PARENT) && has(&m, 2, 2, CLV_TO_PARALLEL), "2 is empty");
    clv_arena_free(arena);
}

/* -- the groups under the moves -- */

static void expect_same(const clv_groups *a, const clv_groups *b)
{
    size_t d = (size_t)a->p->n_devices, n = (size_t)a->p->n_units;
    cr_assert_eq(a->n_used, b->n_used);
    cr_assert_eq(memcmp(a->n_units, b->n_units, d * sizeof *a->n_units), 0);
    cr_assert_eq(memcmp(a->weight_bytes, b->weight_bytes, d * sizeof *a->weight_bytes), 0);
    cr_assert_eq(memcmp(a->flops, b->flops, d * sizeof *a->flops), 0);
    cr_assert_eq(memcmp(a->time_ns, b->time_ns, d * sizeof *a->time_ns), 0);
    cr_assert_eq(memcmp(a->link_nets, b->link_nets, d * d * sizeof *a->link_nets), 0);
    cr_assert_eq(memcmp(a->link_ns, b->link_ns, d * d * sizeof *a->link_ns), 0);
    size_t ports = (size_t)clv_n_ports(a->p);
    cr_assert_eq(memcmp(a->port_ns, b->port_ns, ports * sizeof *a->port_ns), 0);
    cr_assert_eq(a->wire_ns, b->wire_ns);
    cr_assert_eq(memcmp(a->out, b->out, d * a->words * sizeof *a->out), 0);
    cr_assert_eq(memcmp(a->in, b->in, d * a->words * sizeof *a->in), 0);
    cr_assert_eq(memcmp(a->inner_reads, b->inner_reads, n * sizeof *a->inner_reads), 0);
    cr_assert_eq(memcmp(a->inner_sends, b->inner_sends, n * sizeof *a->inner_sends), 0);
    for (int kind = 0; kind < 2; kind++)
        for (size_t u = 0; u < n; u++)
            cr_assert_eq(a->edge[kind].prev[u] == -2, b->edge[kind].prev[u] == -2);
}

Test(moves, sums_that_follow_moves_equal_sums_made_anew)
{
    for (uint64_t seed = 1; seed < 40; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        synthetic s = synthetic_any(arena, seed, 25, 5, 100);
        const clv_partition_problem *p = synthetic_done(&s);
        if (seed % 2)
            synthetic_ports(&s);
        clv_groups *moved, *fresh;
        int32_t device_of[25] = { 0 };
        uint64_t random = seed;
        cr_assert_eq(clv_groups_new(p, arena, &moved, NULL), CLV_OK);
        cr_assert_eq(clv_groups_new(p, arena, &fresh, NULL), CLV_OK);
        clv_groups_load(moved, device_of);
        for (int i = 0; i < 100; i++) {
            int32_t u = (int32_t)synthetic_below(&random, 25);
            device_of[u] = (int32_t)synthetic_below(&random, 5);
            clv_groups_move(moved, u, device_of[u]);
        }
        clv_groups_load(fresh, device_of);
        expect_same(moved, fresh);
        clv_estimate e;
        cr_assert_eq(clv_partition_estimate(p, device_of, arena, &e, NULL), CLV_OK);
        cr_assert_eq(clv_groups_period_ns(moved), e.period_ns);
        clv_arena_free(arena);
    }
}

/* For each unit and target, in legal assignments with ports that several links share: what is
 * barred is what is not legal, and groups, legal or not, come back to what they were. */
Test(moves, barred_is_what_is_not_legal)
{
    int32_t n_barred = 0;
    for (uint64_t seed = 1; seed < 150; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        int32_t units = 4 + (int32_t)(seed % 12), devices = 2 + (int32_t)(seed % 4);
        synthetic s = synthetic_any(arena, seed, units, devices, 100);
        const clv_partition_problem *p = synthetic_done(&s);
        if (seed % 3)
            synthetic_ports(&s);
        clv_groups *g, *fresh;
        int32_t device_of[16] = { 0 };
        uint64_t random = seed, barred;
        cr_assert_eq(clv_groups_new(p, arena, &g, NULL), CLV_OK);
        cr_assert_eq(clv_groups_new(p, arena, &fresh, NULL), CLV_OK);
        clv_groups_load(g, device_of);
        for (int i = 0; i < 60; i++) {
            int32_t u = (int32_t)synthetic_below(&random, units), from = device_of[u];
            clv_groups_barred(g, u, &barred);
            for (device_of[u] = 0; device_of[u] < devices; device_of[u]++) {
                bool legal = synthetic_legal(p, device_of);
                cr_assert_eq(legal, !(barred >> device_of[u] & 1),
                             "seed %d, unit %d on %d to %d, legal %d", (int)seed, u, from,
                             device_of[u], legal);
                n_barred += !legal;
                clv_estimate e;
                clv_groups_move(g, u, device_of[u]);
                cr_assert_eq(clv_partition_estimate(p, device_of, arena, &e, NULL), CLV_OK);
                cr_assert_eq(clv_groups_period_ns(g), e.period_ns);
                clv_groups_move(g, u, from);
            }
            device_of[u] = from;
            clv_groups_load(fresh, device_of);
            expect_same(g, fresh);
            int32_t to = (int32_t)synthetic_below(&random, devices);
            if (barred >> to & 1)
                continue;
            device_of[u] = to;
            clv_groups_move(g, u, to);
        }
        clv_arena_free(arena);
    }
    cr_assert_gt(n_barred, 1000);
}
