#include "problem/fit.h"

#include "solver/partition/synthetic.h"

#include <criterion/criterion.h>

static clv_fit_bound bound_of(const clv_partition_problem *p, const int64_t *live, clv_arena *arena)
{
    clv_fit_bound b;
    cr_assert_eq(clv_partition_fit_bound(p, live, arena, &b, NULL), CLV_OK);
    return b;
}

/* 4 units of 10 bytes of weights on two devices. */
static synthetic four(clv_arena *arena, int64_t capacity)
{
    synthetic s = synthetic_chain(arena, 4, 2, 1);
    for (int32_t u = 0; u < 4; u++)
        s.weight[u] = 10;
    s.capacity[0] = s.capacity[1] = capacity;
    return s;
}

Test(fit, weights_need_room_on_all_devices_together)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = four(arena, 20);
    clv_fit_bound b = bound_of(synthetic_done(&s), NULL, arena);
    cr_expect_not(b.impossible);
    cr_expect_eq(b.least_bytes, 20);
    s.capacity[1] = 19;
    b = bound_of(synthetic_done(&s), NULL, arena);
    cr_expect(b.impossible);
    cr_expect_eq(b.unit, -1);
    cr_expect_eq(b.weight_bytes, 40);
    cr_expect_eq(b.room_bytes, 39);
    cr_expect_eq(b.live_bytes, 0);
    clv_arena_free(arena);
}

Test(fit, one_unit_may_be_too_big_for_any_device)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = four(arena, 30);
    clv_fit_bound b = bound_of(synthetic_done(&s), (int64_t[]){ 0, 0, 21, 0 }, arena);
    cr_expect(b.impossible);
    cr_expect_eq(b.unit, 2);
    cr_expect_eq(b.live_bytes, 21);
    cr_expect_eq(b.weight_bytes, 10);
    cr_expect_eq(b.room_bytes, 30);
    cr_expect_eq(b.least_bytes, 31);
    clv_arena_free(arena);
}

/* One device has 29 - 16 left for weights, and takes the two units that hold 16 and 15 but for 7
 * bytes; the other has 29 - 15. */
Test(fit, units_that_hold_much_need_room_beside_it)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = four(arena, 29);
    const int64_t live[] = { 15, 16, 0, 14 };
    clv_fit_bound b = bound_of(synthetic_done(&s), live, arena);
    cr_expect(b.impossible);
    cr_expect_eq(b.unit, -1);
    cr_expect_eq(b.live_bytes, 16);
    cr_expect_eq(b.weight_bytes, 40);
    cr_expect_eq(b.room_bytes, 13 + 14);
    cr_expect_eq(b.least_bytes, 36, "20 for the first two units, then 22 beside 14");
    s.capacity[0] = s.capacity[1] = 36;
    cr_expect_not(bound_of(synthetic_done(&s), live, arena).impossible);
    clv_arena_free(arena);
}

Test(fit, nothing_needs_nothing)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_new(arena, 0, 1, 1, 1, 0);
    clv_fit_bound b = bound_of(synthetic_done(&s), NULL, arena);
    cr_expect_not(b.impossible);
    cr_expect_eq(b.least_bytes, 0);
    clv_arena_free(arena);
}

static int64_t draw(uint64_t *seed, int64_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(*seed >> 33) % below;
}

/* What one assignment needs of device d. */
static int64_t need_of(const clv_partition_problem *p, const int64_t *live,
                       const int32_t *device_of, int32_t d)
{
    int64_t weights = 0, most = 0;
    for (int32_t u = 0; u < p->n_units; u++) {
        if (device_of[u] != d)
            continue;
        weights += p->weight_bytes[u];
        most = live[u] > most ? live[u] : most;
    }
    return weights + most;
}

/* Held against all assignments of 7 units to 3 devices. */
Test(fit, is_below_the_best_of_all_assignments_and_near_it)
{
    int32_t impossible = 0, none_fits = 0;
    double worst = 1;
    for (uint64_t seed = 0; seed < 200; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        synthetic s = synthetic_chain(arena, 7, 3, 1);
        uint64_t random = seed;
        int64_t live[7], least = INT64_MAX;
        int32_t device_of[7];
        bool fits = false;
        for (int32_t u = 0; u < 7; u++) {
            s.weight[u] = draw(&random, 40);
            live[u] = draw(&random, 60);
        }
        for (int32_t d = 0; d < 3; d++)
            s.capacity[d] = 60 + draw(&random, 60);
        const clv_partition_problem *p = synthetic_done(&s);
        for (int32_t code = 0; code < 2187; code++) {
            int64_t most = 0;
            bool this_fits = true;
            for (int32_t u = 0, rest = code; u < 7; u++, rest /= 3)
                device_of[u] = rest % 3;
            for (int32_t d = 0; d < 3; d++) {
                int64_t need = need_of(p, live, device_of, d);
                most = need > most ? need : most;
                this_fits &= need <= p->capacity_bytes[d];
            }
            least = most < least ? most : least;
            fits |= this_fits;
        }
        clv_fit_bound b = bound_of(p, live, arena);
        cr_assert_leq(b.least_bytes, least, "seed %d", (int)seed);
        cr_assert(!b.impossible || !fits, "seed %d", (int)seed);
        worst = (double)b.least_bytes / (double)least < worst
                    ? (double)b.least_bytes / (double)least
                    : worst;
        impossible += b.impossible;
        none_fits += !fits;
        clv_arena_free(arena);
    }
    cr_assert_gt(worst, 0.6, "%g", worst);
    cr_assert_gt(impossible * 2, none_fits, "%d proven of %d", impossible, none_fits);
}

Test(fit, says_when_there_is_no_memory_for_it)
{
    clv_arena *arena = clv_arena_new(NULL, 0), *small = clv_arena_new(NULL, 100);
    synthetic s = synthetic_chain(arena, 400, 2, 1);
    clv_fit_bound b;
    cr_assert_eq(clv_partition_fit_bound(synthetic_done(&s), NULL, small, &b, NULL), CLV_ENOMEM);
    clv_arena_free(small);
    clv_arena_free(arena);
}
