/* Bounds, answers and reduction in turn, against every answer of small strategy problems. */
#include "solver/intra_op/squeeze.h"

#include <criterion/criterion.h>

#include "solver/intra_op/presolve.h"
#include "solver/intra_op/small_strategies.h"

typedef struct {
    clv_int128 cost, bound;
    const clv_intra_op_problem *p;
} news;

static void found(void *ctx, const int32_t *choice, clv_int128 cost)
{
    news *t = ctx;
    int32_t nevers;

    cr_assert(t->cost < 0 || cost < t->cost);
    cr_assert(small_fits(t->p, choice));
    cr_assert(small_cost(t->p, choice, &nevers) == cost && !nevers);
    t->cost = cost;
}

static void raised(void *ctx, clv_int128 bound)
{
    news *t = ctx;

    cr_assert(bound > t->bound);
    t->bound = bound;
}

static void check(uint64_t seed, int32_t stages, int32_t rounds, int64_t exact_rounds, bool *proven)
{
    int32_t choice[SMALL_NODES + 1] = { 0 }, nevers = 0;
    clv_int128 best, cost = -1, bound = 0;
    small_strategies s;
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_presolved *made;
    bool infeasible;
    char why[200];
    clv_error err;
    news told = { .cost = -1 };
    clv_intra_op_squeeze_options options = { .stages = stages,
                                             .rounds = rounds,
                                             .exact_rounds = exact_rounds,
                                             .found = found,
                                             .raised = raised,
                                             .ctx = &told };

    small_strategies_make(&s, seed, (small_kind){ .memory = seed % 4 > 0, .never = seed % 3 == 0 });
    cr_assert_eq(clv_presolve(&s.p, arena, &made, &infeasible, why, &err), CLV_OK);
    *proven = true;
    if (!infeasible) {
        told.p = clv_presolve_problem(made);
        best = small_best(told.p, &nevers);
        best = nevers ? -1 : best;
        cr_assert_eq(clv_intra_op_squeeze(told.p, &options, arena, choice, &cost, &bound, &err),
                     CLV_OK);
        cr_assert(cost == told.cost && (bound == told.bound || bound == 0));
        cr_assert(best < 0 ? cost < 0 : bound <= best && (cost < 0 || cost >= best), "seed %llu",
                  (unsigned long long)seed);
        *proven = bound == (best < 0 ? CLV_INTRA_OP_NEVER : best) && cost == best;
        if (cost >= 0)
            cr_assert(small_cost(told.p, choice, &nevers) == cost);
    }
    clv_arena_free(arena);
}

Test(strategy_squeeze, proves_the_best_answer)
{
    for (uint64_t seed = 0; seed < 3000; seed++) {
        bool proven;

        check(seed, 1 + (int32_t)(seed % 4), 4 + (int32_t)(seed % 32), 1000000, &proven);
        cr_assert(proven, "seed %llu", (unsigned long long)seed);
    }
}

Test(strategy_squeeze, is_honest_with_little_effort)
{
    for (uint64_t seed = 0; seed < 2000; seed++) {
        bool proven;

        check(seed, 1 + (int32_t)(seed % 3), (int32_t)(seed % 8), 0, &proven);
    }
}
