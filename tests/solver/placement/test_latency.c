/* The latency objective: every solution is legal, no bound is above the optimum. Brute force is the
 * witness, on small random problems of many kinds. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "solver/placement/portfolio.h"
#include "solver/placement/small_placements.h"
#include "support/effort.h"

typedef struct {
    int32_t solved, proven, optimal, infeasible;
} tally;

static void check(uint64_t seed, bool contiguous, tally *t)
{
    small_placement in = { 0 };
    make(&in, seed);
    clv_place_options options = { .late_enumeration = true,
                                  .rules = { CLV_PLACE_LATENCY, contiguous, 0 },
                                  .solve.seed = seed };
    clv_place_result r;
    clv_place_value value;
    clv_arena *arena = clv_arena_new(NULL, 0);
    double best = brute(&in.p, &options.rules), slack = 1e-9 * (isinf(best) ? 1 : best);
    cr_assert_eq(clv_place_solve(&in.p, &options, arena, &r, NULL), CLV_OK);
    t->solved += !isinf(best);
    t->infeasible += isinf(best);
    cr_assert(r.solve.bound.real <= best + slack,
              "seed %d contiguous %d: bound %.17g, optimum %.17g", (int)seed, contiguous,
              r.solve.bound.real, best);
    if (r.solve.found) {
        cr_assert_eq(clv_place_judge(&in.p, &options.rules, r.solve.solution, arena, &value, NULL),
                     CLV_OK);
        cr_assert(value.legal, "seed %d: %s", (int)seed, value.why);
        cr_assert_eq(value.objective, r.value.objective);
        cr_assert(value.objective >= best - slack, "seed %d: %.17g below the optimum %.17g",
                  (int)seed, value.objective, best);
        t->optimal += value.objective <= best + slack;
    }
    t->proven += r.solve.end == CLV_END_OPTIMAL || r.solve.end == CLV_END_INFEASIBLE;
    cr_assert(r.solve.end != CLV_END_INFEASIBLE || isinf(best));
    clv_arena_free(arena);
}

static void check_many(uint64_t first, int32_t n, bool contiguous)
{
    tally t = { 0 };
    for (int32_t i = 0; i < n; i++)
        check(first + (uint64_t)i, contiguous, &t);
    printf("contiguous %d: %d feasible, optimum found %d, %d proven of %d\n", contiguous, t.solved,
           t.optimal, t.proven, n);
    /* a search that is broken, but honest, is seen here: all of these are small */
    cr_expect_eq(t.optimal, t.solved);
    cr_expect_eq(t.proven, n);
}

#define N_PROBLEMS ((int)test_effort(1500))

Test(latency, free_solutions_and_bounds_against_brute_force) { check_many(1, N_PROBLEMS, false); }

Test(latency, contiguous_solutions_and_bounds_against_brute_force)
{
    check_many(100001, N_PROBLEMS, true);
}

/* A chain of nodes: pieces are intervals, so a table over their ends has the optimum. */
#define CHAIN   40
#define DEVICES 6

typedef struct {
    double pays[CHAIN], alone[CHAIN], send[CHAIN];
    int64_t bytes[CHAIN], room;
    int32_t n_alone;
} chain;

/* [pieces][runs of nodes that are in no piece][done], after a piece or a node of a run. */
static double best_chain(const chain *c)
{
    static double best[DEVICES + 1][CHAIN + 2][CHAIN + 1][2];
    for (int32_t a = 0; a <= DEVICES; a++)
        for (int32_t r = 0; r <= c->n_alone; r++)
            for (int32_t j = 0; j <= CHAIN; j++) {
                double *at = best[a][r][j];
                at[0] = j == 0 ? 0 : INFINITY;
                at[1] = INFINITY;
                if (j > 0)
                    at[1] = c->alone[j - 1] +
                            fmin(best[a][r][j - 1][1], r > 0 ? best[a][r - 1][j - 1][0] : INFINITY);
                double time = 0;
                int64_t bytes = 0;
                for (int32_t i = j - 1; i >= 0 && a > 0; i--) {
                    time += c->pays[i];
                    bytes += c->bytes[i];
                    if (bytes > c->room)
                        break;
                    double cost =
                        time + (i > 0 ? c->send[i - 1] : 0) + (j < CHAIN ? c->send[j - 1] : 0);
                    at[0] = fmin(at[0], cost + fmin(best[a - 1][r][i][0], best[a - 1][r][i][1]));
                }
            }
    double least = INFINITY;
    for (int32_t a = 0; a <= DEVICES; a++)
        for (int32_t r = 0; r <= c->n_alone; r++)
            least = fmin(least, fmin(best[a][r][CHAIN][0], best[a][r][CHAIN][1]));
    return least;
}

static void check_chain(uint64_t seed)
{
    chain c = { .room = 20 + below(40), .n_alone = 1 + below(4) };
    int64_t id[CHAIN];
    double time[2 * CHAIN], best;
    bool backward[CHAIN] = { false };
    int32_t order[CHAIN], out[CHAIN], out_first[CHAIN + 1] = { 0 };
    for (int32_t i = 0; i < CHAIN; i++) {
        c.pays[i] = time[i] = below(40) / 4.0;
        c.alone[i] = time[CHAIN + i] = time[i] * (1 + below(5)) + below(2);
        c.send[i] = i + 1 < CHAIN ? below(40) / 8.0 : 0;
        c.bytes[i] = below(10);
        id[i] = order[i] = i;
        out[i] = i + 1;
        out_first[i + 1] = i + 1 < CHAIN ? i + 1 : i;
    }
    clv_place_kind kinds[] = { { "fast", DEVICES, c.room, true },
                               { "slow", c.n_alone, CLV_PLACE_UNLIMITED, false } };
    clv_place_problem p = { CHAIN,   CHAIN - 1, CHAIN,    2,     kinds,     id,  time,
                            c.bytes, c.send,    backward, order, out_first, out, order };
    clv_place_options options = { .late_enumeration = true,
                                  .rules = { CLV_PLACE_LATENCY, true, 0 } };
    clv_place_result r;
    clv_arena *arena = clv_arena_new(NULL, 0);
    cr_assert_eq(clv_place_solve(&p, &options, arena, &r, NULL), CLV_OK);
    best = best_chain(&c);
    cr_assert_eq(r.solve.end, CLV_END_OPTIMAL, "seed %d: end %d", (int)seed, (int)r.solve.end);
    cr_assert_float_eq(r.value.objective, best, 1e-9 * best, "seed %d: %.17g for %.17g", (int)seed,
                       r.value.objective, best);
    clv_arena_free(arena);
}

Test(latency, chains_are_solved_and_proven)
{
    for (uint64_t seed = 1; seed <= test_effort(100); seed++) {
        state = seed;
        check_chain(seed);
    }
}

/* The same problem gives the same solution, and a limit on time only ends the search. */
Test(latency, same_seed_same_solution_and_deadline_keeps_it_honest)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        small_placement in = { 0 };
        make(&in, seed);
        clv_arena *arena = clv_arena_new(NULL, 0);
        clv_place_options options = { .late_enumeration = true,
                                      .rules = { CLV_PLACE_LATENCY, false, 0 },
                                      .solve.seed = seed };
        clv_place_result a, b, hurried;
        cr_assert_eq(clv_place_solve(&in.p, &options, arena, &a, NULL), CLV_OK);
        cr_assert_eq(clv_place_solve(&in.p, &options, arena, &b, NULL), CLV_OK);
        cr_assert_eq(a.solve.found, b.solve.found);
        for (int32_t v = 0; a.solve.found && v < in.p.n_nodes; v++)
            cr_assert_eq(a.solve.solution[v], b.solve.solution[v]);
        options.solve.deadline_ns = clv_deadline_in(1e-9);
        cr_assert_eq(clv_place_solve(&in.p, &options, arena, &hurried, NULL), CLV_OK);
        cr_assert(!hurried.solve.found ||
                  hurried.value.objective >= a.solve.bound.real * (1 - 1e-9));
        cr_assert(!a.solve.found || hurried.solve.bound.real <= a.value.objective * (1 + 1e-9));
        clv_arena_free(arena);
    }
}
