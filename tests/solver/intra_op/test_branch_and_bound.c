/* Branch and bound of strategy problems against every answer of small ones. */
#include "solver/intra_op/branch_and_bound.h"

#include <criterion/criterion.h>

#include "solver/intra_op/presolve.h"
#include "solver/intra_op/small_strategies.h"

/* Solves what presolve leaves, with a try at every answer of the whole problem beside it. */
static void check(uint64_t seed, bool presolved)
{
    clv_branch_and_bound_options options = { .rounds = 1000000 };
    int32_t choice[SMALL_NODES + 1] = { 0 }, nevers = 0;
    clv_int128 best, cost = -1, bound, base = 0;
    small_strategies s;
    const clv_intra_op_problem *p = &s.p;
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_presolved *made;
    bool infeasible = false;
    char why[200];
    clv_error err;

    small_strategies_make(&s, seed, (small_kind){ .memory = seed % 4 > 0, .never = seed % 2 == 0 });
    best = small_best(&s.p, &nevers);
    best = nevers ? -1 : best;
    if (presolved) {
        cr_assert_eq(clv_presolve(&s.p, arena, &made, &infeasible, why, &err), CLV_OK);
        if (!infeasible) {
            p = clv_presolve_problem(made);
            base = clv_presolve_base(made);
        }
    }
    if (infeasible) {
        cr_assert(best < 0);
    } else {
        cr_assert_eq(clv_branch_and_bound_solve(p, &options, arena, choice, &cost, &bound, &err),
                     CLV_OK);
        cr_assert((cost < 0 ? cost : cost + base) == best, "seed %llu: %lld, not %lld",
                  (unsigned long long)seed, (long long)(cost + base), (long long)best);
        cr_assert(bound == (cost < 0 ? CLV_INTRA_OP_NEVER : cost), "seed %llu",
                  (unsigned long long)seed);
        if (cost >= 0) {
            cr_assert(small_fits(p, choice));
            cr_assert(small_cost(p, choice, &nevers) == cost && !nevers);
        }
    }
    clv_arena_free(arena);
}

Test(strategy_exact, finds_the_best_answer)
{
    for (uint64_t seed = 0; seed < 3000; seed++)
        check(seed, true);
}

/* A bound from a search cut short is a bound, and the answer is no worse than the one given. */
Test(strategy_exact, is_honest_when_cut_short)
{
    for (uint64_t seed = 1; seed < 1000; seed += 2) {
        clv_branch_and_bound_options options = { .rounds = (int64_t)(seed % 64) };
        int32_t choice[SMALL_NODES] = { 0 }, nevers = 0;
        clv_int128 best, cost = -1, bound;
        small_strategies s;
        clv_arena *arena = clv_arena_new(NULL, 0);
        clv_intra_op_bound *start;
        clv_error err;

        small_strategies_make(&s, seed, (small_kind){ .memory = true });
        best = small_best(&s.p, &nevers);
        cr_assert_eq(clv_intra_op_bound_new(&s.p, arena, &start, &err), CLV_OK);
        clv_intra_op_bound_run(start, (int32_t)(seed % 16), -1, NULL, NULL);
        options.start = seed % 4 == 1 ? start : NULL;
        cr_assert_eq(clv_branch_and_bound_solve(&s.p, &options, arena, choice, &cost, &bound, &err),
                     CLV_OK);
        cr_assert(!options.start || bound >= clv_intra_op_bound_value(start));
        cr_assert(best < 0 || (bound <= best && (cost < 0 || cost >= best)), "seed %llu",
                  (unsigned long long)seed);
        clv_arena_free(arena);
    }
}
