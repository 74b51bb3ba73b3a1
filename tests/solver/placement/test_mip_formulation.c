#include "solver/placement/mip/mip_formulation.h"

#include <string.h>

#include "solver/common/ilp/ilp_solve.h"
#include "solver/placement/mip/mip_search.h"
#include "solver/placement/small_placement.h"

/* A hair more than what GLPK's tolerances leave, in the unit of made problems. */
#define NEAR 1e-6

TestSuite(place_program, .timeout = 600);

static const clv_place_rules rules_of[] = { { CLV_PLACE_THROUGHPUT, false, 0 },
                                            { CLV_PLACE_THROUGHPUT, true, 0 } };

/* Fifteen hundred problems, each by both rules: the program's optimum is that of all assignments,
 * and its solution is one of them. */
Test(place_program, has_the_optimum_of_all_assignments)
{
    const small_size size = { 7, 5, 3, 1 };
    int32_t n_feasible = 0, n_distinguished = 0;
    for (uint64_t seed = 0; seed < 1500; seed++) {
        double best[2];
        clv_arena *arena = clv_arena_new(NULL, 0);
        clv_place_problem *p = small_placement(seed, &size, arena);
        for (int r = 0; r < 2; r++) {
            clv_contraction *b;
            clv_ilp ilp;
            clv_ilp_result got;
            best[r] = small_best(p, &rules_of[r], arena);
            cr_assert_eq(clv_contraction_new(p, &rules_of[r], arena, &b, NULL), CLV_OK);
            cr_assert_eq(clv_mip_formulate(b, &rules_of[r], (clv_mip_scale){ b->tick, INFINITY },
                                           arena, &ilp, NULL),
                         CLV_OK);
            cr_assert_leq(ilp.n_terms, clv_mip_count_terms(b, &rules_of[r]));
            if (!clv_ilp_solver())
                continue;
            cr_assert_eq(clv_ilp_solve(&ilp, &(clv_ilp_limits){ 0 }, arena, &got, NULL), CLV_OK);
            if (isinf(best[r])) {
                cr_assert_eq(got.end, CLV_ILP_INFEASIBLE, "problem %d, rules %d", (int)seed, r);
                continue;
            }
            cr_assert_eq(got.end, CLV_ILP_OPTIMAL, "problem %d, rules %d: %d", (int)seed, r,
                         (int)got.end);
            cr_assert_float_eq(got.objective, best[r], NEAR, "problem %d, rules %d: %g, not %g",
                               (int)seed, r, got.objective, best[r]);
            int32_t of_block[16], of_node[16];
            cr_assert_eq(clv_mip_read_solution(b, &rules_of[r], got.values, of_block, arena, NULL),
                         CLV_OK);
            clv_contraction_project(b, of_block, of_node);
            clv_place_value v = small_judged(p, &rules_of[r], of_node, arena);
            cr_assert(v.legal, "problem %d, rules %d: %s", (int)seed, r, v.why);
            cr_assert_float_eq(v.objective, best[r], NEAR);
            n_feasible++;
        }
        n_distinguished += best[0] < best[1];
        clv_arena_free(arena);
    }
    if (clv_ilp_solver())
        cr_assert(n_feasible > 1500 && n_distinguished > 50, "%d feasible, %d distinguished",
                  n_feasible, n_distinguished);
}

/* The bound of the relaxation is never above the optimum, also when it is left before its end. */
Test(place_program, the_relaxation_is_a_bound)
{
    const small_size size = { 8, 5, 3, 1 };
    int32_t n_tight = 0, n_zero = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        clv_place_problem *p = small_placement(seed, &size, arena);
        const clv_place_rules *rules = &rules_of[seed % 2];
        double best = small_best(p, rules, arena);
        clv_contraction *b;
        int64_t ticks, early;
        cr_assert_eq(clv_contraction_new(p, rules, arena, &b, NULL), CLV_OK);
        int64_t most = isinf(best) ? 100 : clv_contraction_to_ticks(b, 1.5 * best);
        clv_mip_relaxation all = { .most_ticks = most };
        clv_mip_relaxation few = { .most_ticks = most,
                                   .limits = { .pivots = 1 + (int64_t)seed % 20 } };
        cr_assert_eq(clv_mip_relaxation_bound(b, rules, &all, arena, &ticks, NULL), CLV_OK);
        cr_assert_eq(clv_mip_relaxation_bound(b, rules, &few, arena, &early, NULL), CLV_OK);
        if (isfinite(best)) {
            cr_assert_leq(clv_contraction_from_ticks(b, ticks), best, "problem %d", (int)seed);
            cr_assert_leq(clv_contraction_from_ticks(b, early), best, "problem %d, early",
                          (int)seed);
            n_tight += best > 0 && clv_contraction_from_ticks(b, ticks) > 0.95 * best;
            n_zero += ticks == 0 && best > 0;
        }
        clv_arena_free(arena);
    }
    if (clv_ilp_solver() && strcmp(clv_ilp_solver(), "GLPK") == 0)
        cr_assert(n_tight > 200 && n_zero < 200, "%d tight, %d without a bound", n_tight, n_zero);
}

Test(place_program, refuses_what_it_does_not_say)
{
    const small_size size = { 5, 5, 2, 1 };
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_place_problem *p = small_placement(1, &size, arena);
    clv_place_rules rules = { .objective = CLV_PLACE_LATENCY };
    clv_contraction *b;
    clv_ilp ilp;
    clv_error err;
    cr_assert_eq(clv_contraction_new(p, &rules, arena, &b, NULL), CLV_OK);
    cr_assert_eq(clv_mip_formulate(b, &rules, (clv_mip_scale){ 1, INFINITY }, arena, &ilp, &err),
                 CLV_EUSAGE);
    clv_place_kind many[2] = { p->kinds[0], p->kinds[1] };
    many[0].count = 30000;
    p->kinds = many;
    rules.objective = CLV_PLACE_THROUGHPUT;
    cr_assert_eq(clv_mip_formulate(b, &rules, (clv_mip_scale){ 1, INFINITY }, arena, &ilp, &err),
                 CLV_ELIMIT);
    cr_assert(strstr(err.message, "more than"), "%s", err.message);
    clv_arena_free(arena);
}
