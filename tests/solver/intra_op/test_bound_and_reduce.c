/* Bounds, solutions and reduction in turn, against every solution of small strategy problems. */
#include "solver/intra_op/bound_and_reduce.h"

#include <criterion/criterion.h>

#include "solver/intra_op/presolve.h"
#include "solver/intra_op/small_strategies.h"
#include "support/effort.h"

typedef struct {
    clv_int128 cost, bound;
    const clv_intra_op_problem *p;
} reports;

static void found(reports *t, const int32_t *choice, clv_int128 cost)
{
    int32_t nevers;

    cr_assert(t->cost < 0 || cost < t->cost);
    cr_assert(small_fits(t->p, choice));
    cr_assert(small_cost(t->p, choice, &nevers) == cost && !nevers);
    t->cost = cost;
}

static void raised(reports *t, clv_int128 bound)
{
    cr_assert(bound > t->bound);
    t->bound = bound;
}

static void run_all(clv_bound_and_reduce *q, reports *seen, int32_t *choice)
{
    clv_error err;

    for (bool more = true; more;) {
        clv_int128 bound = clv_bound_and_reduce_value(q), cost;
        const int32_t *better;

        if (bound > seen->bound)
            raised(seen, bound);
        more = !clv_bound_and_reduce_is_over(q);
        if (more)
            cr_assert_eq(clv_bound_and_reduce_step(q, 1, NULL, NULL, &err), CLV_OK);
        better = clv_bound_and_reduce_poll_solution(q, &cost);
        if (!better)
            continue;
        memcpy(choice, better, (size_t)seen->p->n_nodes * sizeof *choice);
        found(seen, choice, cost);
    }
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
    reports reported = { .cost = -1 };
    clv_bound_and_reduce_options options = {
        .rounds = rounds, .reductions = stages - 1, .exact_rounds = exact_rounds, .once = true
    };
    clv_bound_and_reduce *q;

    small_strategies_make(&s, seed, (small_kind){ .memory = seed % 4 > 0, .never = seed % 3 == 0 });
    cr_assert_eq(clv_presolve(&s.p, arena, &made, why, &err), CLV_OK);
    infeasible = !made;
    *proven = true;
    if (!infeasible) {
        reported.p = clv_presolve_problem(made);
        best = small_best(reported.p, &nevers);
        best = nevers ? -1 : best;
        cr_assert_eq(clv_bound_and_reduce_new(reported.p, &options, arena, &q, &err), CLV_OK);
        run_all(q, &reported, choice);
        clv_bound_and_reduce_poll_solution(q, &cost);
        bound = clv_bound_and_reduce_value(q);
        clv_bound_and_reduce_free(q);
        cr_assert(cost == reported.cost && (bound == reported.bound || bound == 0));
        cr_assert(best < 0 ? cost < 0 : bound <= best && (cost < 0 || cost >= best), "seed %llu",
                  (unsigned long long)seed);
        *proven = bound == (best < 0 ? CLV_INTRA_OP_NEVER : best) && cost == best;
        if (cost >= 0)
            cr_assert(small_cost(reported.p, choice, &nevers) == cost);
    }
    clv_arena_free(arena);
}

Test(bound_and_reduce, proves_the_best_solution)
{
    for (uint64_t seed = 0; seed < test_effort(3000); seed++) {
        bool proven;

        check(seed, 1 + (int32_t)(seed % 4), 4 + (int32_t)(seed % 32), 1000000, &proven);
        cr_assert(proven, "seed %llu", (unsigned long long)seed);
    }
}

Test(bound_and_reduce, is_honest_with_little_effort)
{
    for (uint64_t seed = 0; seed < test_effort(2000); seed++) {
        bool proven;

        check(seed, 1 + (int32_t)(seed % 3), (int32_t)(seed % 8), 0, &proven);
    }
}
