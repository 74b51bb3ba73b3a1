#include "problem/partition_problem.h"

#include "problem/quotient.h"
#include "solver/partition/synthetic.h"

#include <criterion/criterion.h>

/*  0 -> 1 -> 3
 *  0 -> 2 -> 3 */
static synthetic diamond(clv_arena *arena, int32_t devices)
{
    synthetic s = synthetic_new(arena, 4, devices, 1, 4, 4);
    synthetic_net(&s, 0, 2, (int32_t[]){ 1, 2 }, 10);
    synthetic_net(&s, 1, 1, (int32_t[]){ 3 }, 20);
    synthetic_net(&s, 2, 1, (int32_t[]){ 3 }, 30);
    return s;
}

Test(quotient, of_contiguous_runs_is_acyclic)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = diamond(arena, 2);
    const clv_partition_problem *p = synthetic_done(&s);
    cr_assert(clv_partition_is_acyclic(p, (int32_t[]){ 0, 0, 1, 1 }, arena));
    cr_assert(clv_partition_is_acyclic(p, (int32_t[]){ 1, 1, 0, 0 }, arena), "any device first");
    cr_assert(!clv_partition_is_acyclic(p, (int32_t[]){ 0, 1, 0, 0 }, arena), "0 to 1 and back");
    clv_arena_free(arena);
}

Test(quotient, finds_a_cycle_over_three_devices)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 4, 3, 1);
    const clv_partition_problem *p = synthetic_done(&s);
    cr_assert(!clv_partition_is_acyclic(p, (int32_t[]){ 0, 1, 2, 0 }, arena));
    cr_assert(clv_partition_is_acyclic(p, (int32_t[]){ 2, 0, 1, 1 }, arena));
    clv_arena_free(arena);
}

Test(quotient, levels_are_longest_chains_of_used_devices)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = diamond(arena, 5);
    int32_t stage[5];
    /* 0 on device 4, 1 on 0, 2 on 1, 3 on 2: device 3 has nothing */
    cr_assert_eq(clv_partition_stages(synthetic_done(&s), (int32_t[]){ 4, 0, 1, 2 }, arena, stage),
                 3);
    int32_t want[] = { 1, 1, 2, -1, 0 };
    for (int i = 0; i < 5; i++)
        cr_assert_eq(stage[i], want[i]);
    clv_arena_free(arena);
}

Test(quotient, of_no_units_is_acyclic_and_has_no_stage)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 0, 2, 1);
    const clv_partition_problem *p = synthetic_done(&s);
    int32_t stage[2] = { 7, 7 };
    cr_assert(clv_partition_is_acyclic(p, NULL, arena));
    cr_assert_eq(clv_partition_stages(p, NULL, arena, stage), 0);
    cr_assert(stage[0] == -1 && stage[1] == -1);
    clv_arena_free(arena);
}

Test(quotient, works_with_more_devices_than_bits_in_a_word)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 200, 200, 1);
    const clv_partition_problem *p = synthetic_done(&s);
    int32_t device_of[200], stage[200];
    for (int32_t u = 0; u < 200; u++)
        device_of[u] = 199 - u;
    cr_assert(clv_partition_is_acyclic(p, device_of, arena));
    cr_assert_eq(clv_partition_stages(p, device_of, arena, stage), 200);
    cr_assert_eq(stage[0], 199);
    device_of[199] = 199; /* the last unit is back where the first one is */
    cr_assert(!clv_partition_is_acyclic(p, device_of, arena));
    clv_arena_free(arena);
}

Test(quotient, agrees_with_a_transitive_closure)
{
    int32_t cycles = 0;
    for (uint64_t seed = 1; seed < 300; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        synthetic s = synthetic_any(arena, seed, 12, 4, 100);
        const clv_partition_problem *p = synthetic_done(&s);
        int32_t device_of[12];
        uint64_t random = seed;
        for (int32_t u = 0; u < 12; u++)
            device_of[u] = (int32_t)synthetic_below(&random, 2 + (int64_t)(u / 4));
        cr_assert_eq(clv_partition_is_acyclic(p, device_of, arena), synthetic_legal(p, device_of));
        cycles += !synthetic_legal(p, device_of);
        clv_arena_free(arena);
    }
    cr_assert(cycles > 20 && cycles < 299, "both kinds were seen: %d", cycles);
}

/* Without memory nothing is shown to be legal. */
Test(quotient, survives_running_out_of_memory)
{
    clv_arena *problem = clv_arena_new(NULL, 0), *tiny = clv_arena_new(NULL, 1);
    synthetic s = diamond(problem, 2);
    const clv_partition_problem *p = synthetic_done(&s);
    int32_t stage[2] = { 7, 7 };
    cr_assert(!clv_partition_is_acyclic(p, (int32_t[]){ 0, 0, 1, 1 }, tiny));
    cr_assert_eq(clv_partition_stages(p, (int32_t[]){ 0, 0, 1, 1 }, tiny, stage), -1);
    cr_assert_eq(stage[0], 7);
    clv_arena_free(tiny);
    clv_arena_free(problem);
}
