/* Branch and bound of strategy problems against every solution of small ones. */
#include "solver/intra_op/branch_and_bound.h"

#include <criterion/criterion.h>

#include "solver/intra_op/bound.h"
#include "solver/intra_op/presolve.h"
#include "solver/intra_op/small_strategies.h"
#include "support/effort.h"

typedef struct {
    int64_t rounds;                  /* of message passing, in all; then it ends */
    const clv_intra_op_bound *start; /* may be NULL */
} effort;

/* choice, *cost: the best solution known before and after, *cost -1: none. */
static void branch_and_bound(const clv_intra_op_problem *p, const effort *o, clv_arena *arena,
                             int32_t *choice, clv_int128 *cost, clv_int128 *bound)
{
    clv_branch_and_bound *t;
    const int32_t *better;
    clv_error err;

    cr_assert_eq(clv_branch_and_bound_new(p, o->start, arena, &t, &err), CLV_OK);
    *bound = o->start ? clv_intra_op_bound_value(o->start) : 0;
    if (!t)
        return;
    if (*cost >= 0)
        clv_branch_and_bound_set_known_cost(t, *cost);
    cr_assert_eq(clv_branch_and_bound_run(t, o->rounds, NULL, NULL, &err), CLV_OK);
    better = clv_branch_and_bound_poll_solution(t, cost);
    if (better)
        memcpy(choice, better, (size_t)p->n_nodes * sizeof *choice);
    *bound = clv_branch_and_bound_value(t);
}

/* Solves what presolve leaves, with a try at every solution of the whole problem beside it. */
static void check(uint64_t seed, bool presolved)
{
    effort options = { .rounds = 1000000 };
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
        cr_assert_eq(clv_presolve(&s.p, arena, &made, why, &err), CLV_OK);
        infeasible = !made;
        if (!infeasible) {
            p = clv_presolve_problem(made);
            base = clv_presolve_base(made);
        }
    }
    if (infeasible) {
        cr_assert(best < 0);
    } else {
        branch_and_bound(p, &options, arena, choice, &cost, &bound);
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

Test(branch_and_bound, finds_the_best_solution)
{
    for (uint64_t seed = 0; seed < test_effort(3000); seed++)
        check(seed, true);
}

/* A bound from a search cut short is a bound, and the solution is no worse than the one given. */
Test(branch_and_bound, is_honest_when_cut_short)
{
    for (uint64_t seed = 1; seed < test_effort(1000); seed += 2) {
        effort options = { .rounds = (int64_t)(seed % 64) };
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
        branch_and_bound(&s.p, &options, arena, choice, &cost, &bound);
        cr_assert(!options.start || bound >= clv_intra_op_bound_value(start));
        cr_assert(best < 0 || (bound <= best && (cost < 0 || cost >= best)), "seed %llu",
                  (unsigned long long)seed);
        clv_arena_free(arena);
    }
}
