/* Small placements are solved: what is found is the optimum and proven, or proven not to be, in
 * less than a second, whatever the size of the numbers. All assignments are the witness, by a judge
 * that shares no code with ours (support/place_oracle.h). */
#include <criterion/criterion.h>
#include <math.h>
#include <time.h>

#include "solver/placement/portfolio.h"
#include "support/effort.h"
#include "support/place_convert.h"

#define SUM_PART   1e-12
#define PROOF_PART 1e-9

/* What becomes of the numbers of a small problem, most of them below 20. */
typedef enum { PLAIN, ZERO, EQUAL, LARGE, FRACTIONS, N_SIZES } size;

static double stretched(double x, size how, uint64_t *rng)
{
    switch (how) {
    case ZERO:
        return x < 4 ? 0 : x;
    case EQUAL:
        return 3;
    case LARGE:
        return 9e14 + x;
    case FRACTIONS:
        return x * 1e-7 * (1 + oracle_below(rng, 3));
    case PLAIN:
    case N_SIZES:
        break;
    }
    return x;
}

/* All bytes of a plain problem are some 100; together they stay below 10^18, as files want. */
static void stretch_bytes(oracle_problem *p, uint64_t *rng)
{
    const long long unit = 6999999999999997LL;
    for (int v = 0; v < p->n; v++)
        p->bytes[v] = (p->bytes[v] % 16) * unit + oracle_below(rng, 3);
    for (int k = 0; k < p->n_kinds; k++)
        if (p->kind[k].capacity >= 0)
            p->kind[k].capacity = p->kind[k].capacity * unit + oracle_below(rng, 6);
}

/* Devices that all bytes fill to the last one. */
static void fill_up(oracle_problem *p, uint64_t *rng)
{
    long long held[ORACLE_DEVICES] = { 0 };
    for (int c = 0; c < p->n_classes; c++) {
        int d = oracle_below(rng, oracle_devices(p));
        for (int v = 0; v < p->n; v++)
            held[d] += p->class_of[v] == c ? p->bytes[v] : 0;
    }
    for (int k = 0; k < p->n_kinds; k++)
        p->kind[k].capacity = 0;
    for (int d = 0; d < oracle_devices(p); d++) {
        oracle_kind *kind = &p->kind[oracle_kind_of(p, d)];
        kind->capacity = held[d] > kind->capacity ? held[d] : kind->capacity;
    }
}

static void stretch(oracle_problem *p, oracle_rules *rules, uint64_t *rng)
{
    size time = (size)oracle_below(rng, N_SIZES), cost = (size)oracle_below(rng, N_SIZES);
    for (int v = 0; v < p->n; v++) {
        for (int k = 0; k < p->n_kinds; k++)
            p->time[k][v] = p->time[k][v] < 0 ? -1 : stretched(p->time[k][v], time, rng);
        p->cost[v] = p->cost[v] > 0 ? stretched(p->cost[v], cost, rng) : 0;
    }
    rules->max_load *= time == LARGE ? 9e14 : time == FRACTIONS ? 1e-7 : 1;
    if (oracle_below(rng, 3) == 0)
        stretch_bytes(p, rng);
    if (oracle_below(rng, 3) == 0 && oracle_devices(p) > 0)
        fill_up(p, rng);
    if (oracle_below(rng, 3) == 0)
        rules->max_load = 0;
}

static clv_place_result solve(const clv_place_problem *p, const oracle_rules *rules,
                              clv_arena *arena, unsigned long long seed)
{
    clv_place_options o = { .rules = placement_rules(rules) };
    clv_place_result r;
    clv_error err;
    clock_t start = clock();
    cr_assert_eq(clv_place_solve(p, &o, arena, &r, &err), CLV_OK, "%llu: %s", seed, err.message);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    cr_assert(TEST_IS_SANITIZED || seconds < 1, "%llu: %.3f s, objective %d, contiguous %d", seed,
              seconds, (int)rules->objective, rules->contiguous);
    return r;
}

static double slack(double value, double part) { return part * value + 1e-300; }

static void check(unsigned long long seed, const oracle_problem *of, const oracle_rules *rules,
                  clv_arena *arena)
{
    int device_of[ORACLE_NODES];
    double best = 0;
    clv_mark mark = clv_arena_mark(arena);
    bool feasible = oracle_best(of, rules, false, &best, device_of);
    clv_place_result r = solve(placement_of(of, arena), rules, arena, seed);
    clv_end end = feasible ? CLV_END_OPTIMAL : CLV_END_INFEASIBLE;
    cr_assert_eq(r.solve.end, end, "%llu: %s, objective %d, contiguous %d, best %.17g, bound %.17g",
                 seed, clv_end_words(r.solve.end), (int)rules->objective, rules->contiguous, best,
                 r.solve.bound.real);
    if (feasible) {
        oracle_value value = oracle_judge(of, rules, r.solve.solution);
        cr_assert(value.legal, "%llu: %s", seed, value.why);
        cr_assert(fabs(value.objective - best) <= slack(best, PROOF_PART),
                  "%llu: %.17g, best %.17g", seed, value.objective, best);
        cr_assert(r.solve.bound.real <= best + slack(best, SUM_PART),
                  "%llu: bound %.17g above %.17g", seed, r.solve.bound.real, best);
    }
    clv_arena_rewind(arena, mark);
}

Test(small_placements, each_is_solved_to_the_optimum)
{
    /* CLEAVE_SEED moves to other problems. */
    const char *from = getenv("CLEAVE_SEED");
    uint64_t first = from ? strtoull(from, NULL, 10) : 0, n = test_effort(500);
    clv_arena *arena = clv_arena_new(NULL, 0);
    for (uint64_t seed = first; seed < first + n; seed++)
        for (int i = 0; i < 6; i++) {
            uint64_t rng = seed * 6 + (uint64_t)i;
            oracle_problem of;
            oracle_rules rules;
            oracle_make(rng + 1000000, 9, 3000, seed % 9 == 0, &of, &rules);
            rules.objective = (oracle_objective)(i / 2);
            rules.contiguous = i % 2;
            if (rules.objective != ORACLE_FEWEST)
                rules.max_load = 0;
            stretch(&of, &rules, &rng);
            check(seed * 6 + (uint64_t)i, &of, &rules, arena);
        }
    clv_arena_free(arena);
}

/* Up to a million assignments: too many for brute force here, and still proven in a second. */
Test(small_placements, a_million_assignments_are_solved_in_a_second)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    for (uint64_t seed = 1; seed <= test_effort(40); seed++)
        for (int i = 0; i < 6; i++) {
            oracle_problem of;
            oracle_rules rules;
            clv_mark mark = clv_arena_mark(arena);
            oracle_make(seed * 977 + (uint64_t)i, 20, 1e6, false, &of, &rules);
            rules.objective = (oracle_objective)(i / 2);
            rules.contiguous = i % 2;
            rules.max_load = 0;
            clv_place_result r = solve(placement_of(&of, arena), &rules, arena, seed);
            cr_assert(r.solve.end == CLV_END_OPTIMAL || r.solve.end == CLV_END_INFEASIBLE,
                      "%llu: %s, objective %d, contiguous %d", (unsigned long long)seed,
                      clv_end_words(r.solve.end), i / 2, i % 2);
            clv_arena_rewind(arena, mark);
        }
    clv_arena_free(arena);
}

/* Of 4^14 assignments to devices that are nearly full some ten thousands have room. */
static oracle_problem nearly_full(uint64_t seed)
{
    oracle_problem of = { .n = 14, .n_classes = 14, .n_kinds = 1, .kind = { { 4, 0, true } } };
    long long all = 0;
    uint64_t rng = seed;
    for (int v = 0; v < of.n; v++) {
        of.class_of[v] = v;
        of.time[0][v] = 1 + oracle_below(&rng, 20);
        of.cost[v] = oracle_below(&rng, 10);
        of.bytes[v] = 3 + oracle_below(&rng, 10);
        all += of.bytes[v];
        for (int u = 0; u < v; u++)
            if (oracle_below(&rng, 4) == 0) {
                of.from[of.m] = u;
                of.to[of.m++] = v;
            }
    }
    of.kind[0].capacity = (all + 3) / 4;
    return of;
}

Test(small_placements, few_of_many_assignments_fit)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    for (uint64_t seed = 1; seed <= test_effort(4); seed++)
        for (int i = 0; i < 3; i++) {
            oracle_problem of = nearly_full(seed);
            oracle_rules rules = { (oracle_objective)i, false, 0 };
            check(seed, &of, &rules, arena);
        }
    clv_arena_free(arena);
}

/* Whole numbers are added up without rounding, so the last digit counts, and bounds meet. */
Test(small_placements, loads_that_differ_in_the_last_digit)
{
    const double t = 9e14;
    oracle_problem of = { .n = 4,
                          .n_classes = 4,
                          .n_kinds = 1,
                          .kind = { { 2, 100, true } },
                          .time = { { t, t + 1, t + 2, t + 3 } },
                          .bytes = { 1, 1, 1, 1 },
                          .class_of = { 0, 1, 2, 3 } };
    clv_arena *arena = clv_arena_new(NULL, 0);
    for (int i = 0; i < 2; i++) {
        oracle_rules rules = { ORACLE_THROUGHPUT, i, 0 };
        clv_place_result r = solve(placement_of(&of, arena), &rules, arena, 0);
        cr_assert_eq(r.solve.end, CLV_END_OPTIMAL);
        cr_assert(r.solve.value.real == 2 * t + 3 && r.solve.bound.real == 2 * t + 3,
                  "%.17g, %.17g", r.solve.value.real, r.solve.bound.real);
    }
    clv_arena_free(arena);
}

/* Without a largest load any load is allowed. */
Test(small_placements, two_devices_hold_three_nodes_without_a_largest_load)
{
    oracle_problem of = { .n = 3,
                          .n_classes = 3,
                          .n_kinds = 1,
                          .kind = { { 2, 15, true } },
                          .time = { { 1, 1, 1 } },
                          .bytes = { 8, 5, 6 },
                          .class_of = { 0, 1, 2 } };
    clv_arena *arena = clv_arena_new(NULL, 0);
    check(0, &of, &(oracle_rules){ ORACLE_FEWEST, false, 0 }, arena);
    clv_arena_free(arena);
}
