/* The linear program of a proof, and the groups of blocks that are its rows. */
#include "solver/placement/noncontiguous/master_lp.h"

#include <criterion/criterion.h>

#include "solver/placement/noncontiguous/row_aggregation.h"

static int32_t below(uint64_t *random, int32_t n)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int32_t)((*random >> 33) % (uint64_t)n);
}

Test(master_lp, sets_are_mixed_as_well_as_may_be)
{
    /* Three rows, one device: {0,1} and {2} half each leave half of every row uncovered. */
    const double penalty[] = { 1, 1, 4 }, all[] = { 1, 1 };
    const int32_t devices[] = { 1 }, two[] = { 0, 1 }, one[] = { 2 };
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_master_lp *c;
    cr_assert_eq(clv_master_lp_new(1, devices, arena, &c, NULL), CLV_OK);
    cr_assert_eq(clv_master_lp_clear(c, 3, penalty, NULL), CLV_OK);
    cr_assert_float_eq(clv_master_lp_solve(c), 6, 1e-2);
    cr_assert_eq(clv_master_lp_add(c, 0, two, all, 2, NULL), CLV_OK);
    cr_assert_float_eq(clv_master_lp_solve(c), 4, 1e-2);
    cr_assert_eq(clv_master_lp_add(c, 0, one, all, 1, NULL), CLV_OK);
    cr_assert_float_eq(clv_master_lp_solve(c), 2, 1e-2);
    double share[2];
    clv_master_lp_values(c, share);
    cr_assert_float_eq(share[1], 1, 1e-2);
    clv_arena_free(arena);
}

Test(master_lp, parts_of_rows_are_mixed_too)
{
    /* Two rows, two devices: what has half of row 0 is needed twice, and then nothing covers row 1.
     * Fewer rows than there is room for. */
    const double penalty[] = { 3, 1 }, half[] = { 0.5 };
    const int32_t devices[] = { 2 }, first[] = { 0 };
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_master_lp *c;
    cr_assert_eq(clv_master_lp_new(1, devices, arena, &c, NULL), CLV_OK);
    cr_assert_eq(clv_master_lp_clear(c, 2, penalty, NULL), CLV_OK);
    cr_assert_eq(clv_master_lp_add(c, 0, first, half, 1, NULL), CLV_OK);
    cr_assert_float_eq(clv_master_lp_solve(c), 1, 1e-2);
    double share;
    clv_master_lp_values(c, &share);
    cr_assert_float_eq(share, 2, 1e-2);
    clv_arena_free(arena);
}

/* -- row groups -- */

static void check_groups(const clv_row_groups *b)
{
    cr_assert_eq(b->first[0], 0);
    cr_assert_eq(b->first[b->n], b->n_blocks);
    for (int32_t g = 0; g < b->n; g++) {
        double sum = 0;
        cr_assert_lt(b->first[g], b->first[g + 1], "group %d is empty", (int)g);
        for (int32_t i = b->first[g]; i < b->first[g + 1]; i++) {
            cr_assert_eq(b->of[b->order[i]], g);
            sum += b->part[b->order[i]];
        }
        cr_assert_float_eq(sum, 1, 1e-9);
    }
}

Test(master_lp, a_group_is_split_where_coverage_is_uneven)
{
    /* The line is 5, 4, .. 0; blocks 5 to 3 are covered twice, others not at all. */
    const int32_t order[] = { 5, 4, 3, 2, 1, 0 };
    const double weight[] = { 1, 1, 1, 1, 1, 1 }, covered[] = { 0, 0, 0, 2, 2, 2 };
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_row_groups groups = { .n_blocks = 6, .order = order, .weight = weight }, *b = &groups;
    cr_assert_eq(clv_row_groups_init(b, 1, arena, NULL), CLV_OK);
    check_groups(b);
    cr_assert_eq(b->n, 1);
    cr_assert(clv_row_groups_split(b, covered));
    check_groups(b);
    cr_assert_eq(b->n, 2);
    cr_assert_eq(b->first[1], 3);
    cr_assert_not(clv_row_groups_split(b, covered), "both are even");
    clv_arena_free(arena);
}

Test(master_lp, groups_split_until_all_are_even)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        uint64_t random = seed;
        int32_t n = 1 + below(&random, 40), order[40];
        double weight[40], covered[40];
        clv_row_groups groups = { .n_blocks = n, .order = order, .weight = weight }, *b = &groups;
        for (int32_t i = 0; i < n; i++) {
            order[i] = n - 1 - i;
            weight[i] = 0.5 + below(&random, 9);
            covered[i] = 0.25 * below(&random, 8);
        }
        cr_assert_eq(clv_row_groups_init(b, 4, arena, NULL), CLV_OK);
        check_groups(b);
        for (int32_t before = 0; clv_row_groups_split(b, covered); before = b->n) {
            check_groups(b);
            cr_assert_gt(b->n, before);
        }
        for (int32_t i = 0; i + 1 < n; i++)
            cr_assert(b->of[order[i]] != b->of[order[i + 1]] ||
                      covered[order[i]] == covered[order[i + 1]]);
        clv_arena_free(arena);
    }
}
