/* What ends a search: a gap, as it is asked for and beside a rival; a bound. */
#include "solver/common/incumbent.h"

#include <criterion/criterion.h>

static clv_arena *arena;
static clv_solve_result result;
static clv_error err;

static void begin(void) { arena = clv_arena_new(NULL, 0); }
static void finish(void) { clv_arena_free(arena); }
TestSuite(incumbent, .init = begin, .fini = finish);

/* With a solution of 110. */
static clv_incumbent *open_with(const clv_solve_options *options)
{
    clv_incumbent *inc = CLV_NEW(arena, clv_incumbent);
    cr_assert_eq(clv_incumbent_open(inc, options, 1, arena, &result, &err), CLV_OK);
    cr_assert(clv_incumbent_offer(inc, &(int32_t){ 3 }, clv_objval_whole(110), "offered"));
    return inc;
}

static bool is_enough_at(clv_incumbent *inc, int64_t bound)
{
    clv_incumbent_raise(inc, clv_objval_whole(bound), "raised");
    return clv_incumbent_is_enough(inc);
}

Test(incumbent, only_the_optimum_is_enough_where_nothing_is_asked)
{
    const clv_solve_options options = { 0 };
    clv_incumbent *inc = open_with(&options);
    cr_expect_not(is_enough_at(inc, 109));
    cr_expect(is_enough_at(inc, 110));
    clv_incumbent_close(inc);
    cr_expect_eq(result.end, CLV_END_OPTIMAL);
    cr_expect_eq(result.solution[0], 3);
}

Test(incumbent, a_gap_that_is_asked_for_is_enough)
{
    const clv_solve_options options = { .gap = 0.1 };
    clv_incumbent *inc = open_with(&options);
    cr_expect_not(is_enough_at(inc, 98));
    cr_expect(is_enough_at(inc, 99));
    clv_incumbent_close(inc);
    cr_expect_eq(result.end, CLV_END_GAP);
}

/* Near the bound, but it may still be better than the rival; then it cannot. */
Test(incumbent, a_rivals_gap_is_enough_once_the_rival_is_not_beaten)
{
    const clv_solve_options options = { 0 };
    clv_incumbent *inc = open_with(&options);
    inc->rival = clv_objval_whole(108);
    inc->rival_gap = 0.05;
    cr_expect_not(is_enough_at(inc, 107));
    cr_expect(is_enough_at(inc, 108));
    clv_incumbent_close(inc);
    cr_expect_eq(result.end, CLV_END_GAP);
}

Test(incumbent, beside_a_rival_the_rest_must_be_near_as_well)
{
    const clv_solve_options options = { 0 };
    clv_incumbent *inc = open_with(&options);
    inc->rival = clv_objval_whole(90);
    inc->rival_gap = 0.05;
    cr_expect_not(is_enough_at(inc, 104));
    cr_expect(is_enough_at(inc, 105));
}

Test(incumbent, a_bound_that_is_asked_for_is_enough)
{
    const clv_solve_options options = { 0 };
    clv_incumbent *inc = open_with(&options);
    inc->enough_bound = clv_objval_whole(60);
    cr_expect_not(is_enough_at(inc, 59));
    cr_expect(is_enough_at(inc, 60));
    clv_incumbent_close(inc);
    cr_expect_eq(result.end, CLV_END_BOUND);
}
