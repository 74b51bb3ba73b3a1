#include "solver/placement/mip/mip_search.h"
#include "solver/placement/portfolio.h"

#include <string.h>

#include "solver/placement/small_placement.h"

TestSuite(place_ilp, .timeout = 600);

/* What the portfolio, with windows and relaxation in it, says of small problems: legal, honest, and
 * the bound is one. */
Test(place_ilp, solutions_are_legal_and_bounds_hold)
{
    const small_size size = { 9, 5, 3, 1 };
    for (uint64_t seed = 0; seed < 600; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        clv_place_options options = { .late_enumeration = true,
                                      .rules = { CLV_PLACE_THROUGHPUT, seed % 2, 0 } };
        clv_place_problem *p = small_placement(seed, &size, arena);
        clv_place_result r;
        double best = small_best(p, &options.rules, arena);
        cr_assert_eq(clv_place_solve(p, &options, arena, &r, NULL), CLV_OK);
        cr_assert(!isfinite(r.solve.bound.real) || r.solve.bound.real <= best,
                  "problem %d: bound %g of %g", (int)seed, r.solve.bound.real, best);
        if (r.solve.found) {
            clv_place_value v = small_judged(p, &options.rules, r.solve.solution, arena);
            cr_assert(v.legal, "problem %d: %s", (int)seed, v.why);
            cr_assert_eq(v.objective, r.value.objective, "problem %d", (int)seed);
            cr_assert_geq(v.objective, best, "problem %d", (int)seed);
        }
        clv_arena_free(arena);
    }
}

static bool stop_at_once(void *ctx)
{
    ++*(int32_t *)ctx;
    return true;
}

/* Ended from outside, the run knows why, and what was found stays. */
Test(place_ilp, stop_is_heard_at_once)
{
    const small_size size = { 60, 16, 3, 0 };
    clv_arena *arena = clv_arena_new(NULL, 0);
    int32_t n_asked = 0;
    clv_place_options options = { .late_enumeration = true,
                                  .rules = { CLV_PLACE_THROUGHPUT, false, 0 },
                                  .solve.stop = stop_at_once,
                                  .solve.stop_ctx = &n_asked };
    for (uint64_t seed = 0; seed < 20; seed++) {
        clv_place_result r;
        n_asked = 0;
        clv_place_problem *p = small_placement(seed, &size, arena);
        cr_assert_eq(clv_place_solve(p, &options, arena, &r, NULL), CLV_OK);
        cr_assert(r.solve.end == CLV_END_STOPPED || r.solve.end == CLV_END_OPTIMAL ||
                      r.solve.end == CLV_END_INFEASIBLE,
                  "problem %d ended by %d", (int)seed, (int)r.solve.end);
        cr_assert_leq(n_asked, 100);
    }
    clv_arena_free(arena);
}
