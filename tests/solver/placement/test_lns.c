#include "solver/placement/mip/lns.h"

#include <stdio.h>

#include "solver/common/ilp/ilp_solve.h"
#include "solver/placement/small_placement.h"

TestSuite(windows, .timeout = 600);

typedef struct {
    const clv_place_problem *p;
    const clv_contraction *b;
    const clv_place_rules *rules;
    clv_arena *arena;
    double last;
    int32_t n_reported, n_asked, stop_at;
} audience;

/* Each solution reported is legal and better than the one before. */
static clv_status reported(void *ctx, const int32_t *device_of, clv_error *err)
{
    audience *a = ctx;
    int32_t of_node[64];
    (void)err;
    clv_contraction_project(a->b, device_of, of_node);
    clv_place_value v = small_judged(a->p, a->rules, of_node, a->arena);
    cr_assert(v.legal, "%s", v.why);
    cr_assert_lt(v.objective, a->last);
    a->last = v.objective;
    a->n_reported++;
    return CLV_OK;
}

static bool stop_soon(void *ctx)
{
    audience *a = ctx;
    return a->stop_at > 0 && ++a->n_asked >= a->stop_at;
}

/* The first legal assignment, as a random walk meets them; false: none was met. */
static bool any_start(audience *a, uint64_t seed, int32_t *of_block)
{
    small_dice d = small_dice_of(seed);
    int32_t of_node[64], n = clv_place_devices(a->p);
    for (int tries = 0; tries < 200; tries++) {
        for (int32_t u = 0; u < a->b->n; u++)
            of_block[u] = small_roll(&d, n);
        clv_contraction_project(a->b, of_block, of_node);
        clv_place_value v = small_judged(a->p, a->rules, of_node, a->arena);
        a->last = v.objective;
        if (v.legal)
            return true;
    }
    return false;
}

static double value_of(const audience *a, const int32_t *of_block)
{
    int32_t of_node[64];
    clv_contraction_project(a->b, of_block, of_node);
    clv_place_value v = small_judged(a->p, a->rules, of_node, a->arena);
    cr_assert(v.legal, "%s", v.why);
    return v.objective;
}

/* Three thousand problems from any start: never worse, never illegal, whatever limit there is; and
 * with room enough mostly the optimum. */
Test(windows, never_make_a_solution_worse_or_illegal)
{
    const small_size size = { 9, 6, 3, 1 };
    int32_t n_started = 0, n_full = 0, n_best = 0, n_gained = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        clv_place_rules rules = { CLV_PLACE_THROUGHPUT, seed % 2, 0 };
        audience a = { .p = small_placement(seed, &size, arena), .rules = &rules, .arena = arena };
        clv_contraction *b;
        cr_assert_eq(clv_contraction_new(a.p, &rules, arena, &b, NULL), CLV_OK);
        a.b = b;
        int32_t of_block[64];
        if (any_start(&a, seed, of_block)) {
            bool full = seed % 3 == 0;
            clv_lns_options options = { .rules = &rules,
                                        .pivots = full ? 0 : 1 + (int64_t)seed % 50,
                                        .pivots_window = seed % 3 == 1 ? 1 + (int64_t)seed % 11 : 0,
                                        .stop = stop_soon,
                                        .better = reported,
                                        .ctx = &a };
            a.stop_at = seed % 7 == 1 ? 1 + (int32_t)(seed % 5) : 0;
            clv_lns_work work;
            double start = a.last;
            cr_assert_eq(clv_lns_improve(b, &options, of_block, arena, &work, NULL), CLV_OK);
            double end = value_of(&a, of_block);
            cr_assert_leq(end, start, "problem %d", (int)seed);
            cr_assert_eq(end, a.last, "problem %d: the last solution was not reported", (int)seed);
            n_started++;
            n_gained += end < start;
            n_full += full;
            n_best += full && end <= small_best(a.p, &rules, arena) * (1 + 1e-5);
        }
        clv_arena_free(arena);
    }
    printf("windows: %d started, %d gained; %d of %d to the end are optimal\n", n_started, n_gained,
           n_best, n_full);
    if (clv_ilp_solver())
        cr_assert(n_gained > 500 && n_full > 500 && n_best * 10 > n_full * 8);
    else
        cr_assert_eq(n_gained, 0);
}

/* A legal start for larger ones: from anywhere, or else all on one device. */
static bool some_start(audience *a, uint64_t seed, int32_t *of_block)
{
    int32_t of_node[64];
    if (any_start(a, seed, of_block))
        return true;
    for (int32_t d = clv_place_devices(a->p) - 1; d >= 0; d--) {
        for (int32_t u = 0; u < a->b->n; u++)
            of_block[u] = d;
        clv_contraction_project(a->b, of_block, of_node);
        if (small_judged(a->p, a->rules, of_node, a->arena).legal)
            return true;
    }
    return false;
}

/* What a program says of the loads, with most blocks and nets not in the window, is what they are.
 */
Test(windows, programs_say_what_the_loads_are)
{
    const small_size size = { 48, 30, 4, 2 };
    int32_t n_windows = 0, n_better = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        clv_place_rules rules = { CLV_PLACE_THROUGHPUT, seed % 2, 0 };
        audience a = { .p = small_placement(seed, &size, arena), .rules = &rules, .arena = arena };
        clv_contraction *b;
        cr_assert_eq(clv_contraction_new(a.p, &rules, arena, &b, NULL), CLV_OK);
        a.b = b;
        int32_t of_block[64];
        clv_lns_work work;
        clv_lns_options options = { .rules = &rules, .pivots = 800 };
        if (some_start(&a, seed, of_block)) {
            cr_assert_eq(clv_lns_improve(b, &options, of_block, arena, &work, NULL), CLV_OK);
            cr_assert_eq(work.n_wrong, 0, "problem %d: %d of %d windows", (int)seed, work.n_wrong,
                         work.n_windows);
            value_of(&a, of_block); /* legal */
            n_windows += work.n_windows;
            n_better += work.n_better;
        }
        clv_arena_free(arena);
    }
    printf("windows: %d, better %d\n", n_windows, n_better);
    if (clv_ilp_solver())
        cr_assert(n_windows > 2000 && n_better > 500);
}

/* The same start and limits give the same solution. */
Test(windows, are_deterministic)
{
    const small_size size = { 40, 16, 3, 1 };
    for (uint64_t seed = 0; seed < 20; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        clv_place_rules rules = { CLV_PLACE_THROUGHPUT, seed % 2, 0 };
        audience a = { .p = small_placement(seed, &size, arena), .rules = &rules, .arena = arena };
        clv_contraction *b;
        cr_assert_eq(clv_contraction_new(a.p, &rules, arena, &b, NULL), CLV_OK);
        a.b = b;
        int32_t one[64], two[64];
        clv_lns_work first, second;
        clv_lns_options options = { .rules = &rules, .pivots = 2000 };
        if (any_start(&a, seed, one)) {
            memcpy(two, one, sizeof one);
            cr_assert_eq(clv_lns_improve(b, &options, one, arena, &first, NULL), CLV_OK);
            cr_assert_eq(clv_lns_improve(b, &options, two, arena, &second, NULL), CLV_OK);
            cr_assert_arr_eq(one, two, (size_t)b->n * sizeof *one);
            cr_assert_eq(first.pivots, second.pivots);
            cr_assert_eq(first.n_windows, second.n_windows);
        }
        clv_arena_free(arena);
    }
}
