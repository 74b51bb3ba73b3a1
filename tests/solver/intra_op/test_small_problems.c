/* Small strategy problems are solved: what is found is the optimum and proven, or proven not to be,
 * in less than a second, whatever the size of the numbers. Every solution tried is the witness. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <time.h>

#include "problem/intra_op_draft.h"
#include "solver/intra_op/small_strategies.h"
#include "solver/intra_op/solve.h"
#include "support/effort.h"

/* What becomes of the numbers of a small problem, most of them below 20. */
typedef enum { PLAIN, ZERO, EQUAL, E15, NEAR_NEVER, PAST_NEVER, LARGEST, MIXED, N_SIZES } size;

static int64_t stretched(int64_t x, size how, uint64_t *rng)
{
    switch (how) {
    case ZERO:
        return x < 10 ? 0 : x;
    case EQUAL:
        return 7;
    case E15:
        return (int64_t)1e15 + x * clv_random_below(rng, 3);
    case NEAR_NEVER:
        return CLV_INTRA_OP_NEVER / 16 - 3 + x;
    case PAST_NEVER:
        return CLV_INTRA_OP_NEVER - 9 + (x > 18 ? 18 : x);
    case LARGEST:
        return INT64_MAX - (x > 20 ? 20 : x);
    case MIXED:
        return stretched(x, (size)clv_random_below(rng, MIXED), rng);
    case PLAIN:
    case N_SIZES:
        break;
    }
    return x;
}

static void stretch(small_strategies *s, size cost, size usage, uint64_t seed)
{
    uint64_t rng = seed ^ 0x5eed;
    const clv_intra_op_problem *p = &s->p;
    for (int32_t c = 0; c < p->first_choice[p->n_nodes]; c++)
        s->cost[c] = stretched(s->cost[c], cost, &rng);
    for (int64_t i = 0; i < p->first_entry[p->n_matrices]; i++)
        s->entry[i] = stretched(s->entry[i], cost, &rng);
    if (usage != LARGEST || p->usage_limit < 0)
        return;
    int32_t n = p->first_span[p->n_nodes];
    for (int64_t i = 0; n > 0 && i < SMALL_SPANS * SMALL_CHOICES; i++)
        s->usage[i] *= INT64_MAX / 8; /* usages are below 8 */
    s->p.usage_limit = p->usage_limit < 8 ? p->usage_limit * (INT64_MAX / 8) : INT64_MAX;
}

/* The least cost of a legal solution, whatever it counts of never; -1: none is legal. */
static clv_int128 least_cost(const clv_intra_op_problem *p)
{
    int32_t choice[SMALL_NODES + 1] = { 0 }, nevers;
    clv_int128 best = -1;
    do {
        clv_int128 cost = small_cost(p, choice, &nevers);
        if ((best < 0 || cost < best) && small_fits(p, choice))
            best = cost;
    } while (small_next(p, choice));
    return best;
}

static clv_intra_op_result solve(const clv_intra_op_problem *p, clv_arena *arena, const char *what)
{
    clv_intra_op_options o = { .solve.jobs = 1 };
    clv_intra_op_result r;
    clv_error err;
    clock_t start = clock();
    cr_assert_eq(clv_intra_op_solve(p, &o, arena, &r, &err), CLV_OK, "%s: %s", what, err.message);
    cr_assert(TEST_IS_SANITIZED || clock() - start < CLOCKS_PER_SEC, "%s takes too long", what);
    return r;
}

static void check(uint64_t seed, small_kind kind, size cost, size usage)
{
    small_strategies s;
    char what[80], is[CLV_INT128_TEXT], was[CLV_INT128_TEXT];
    int32_t nevers;
    snprintf(what, sizeof what, "seed %d, memory %d, odd %d, never %d, sizes %d and %d", (int)seed,
             kind.memory, kind.odd, kind.never, (int)cost, (int)usage);
    small_strategies_make(&s, seed, kind);
    stretch(&s, cost, usage, seed);
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_intra_op_result r = solve(&s.p, arena, what);
    clv_int128 best = least_cost(&s.p);
    if (best < 0) {
        cr_assert_eq(r.solve.end, CLV_END_INFEASIBLE, "%s: not proven infeasible", what);
        cr_assert(r.solve.why[0], "%s", what);
    } else {
        cr_assert(r.solve.found, "%s: nothing found", what);
        cr_assert(small_fits(&s.p, r.solve.solution), "%s: over the limit", what);
        cr_assert(small_cost(&s.p, r.solve.solution, &nevers) == r.value.cost, "%s", what);
        cr_assert(r.solve.value.whole == best, "%s: %s, and the best is %s", what,
                  clv_int128_text(is, r.solve.value.whole), clv_int128_text(was, best));
        cr_assert_eq(r.solve.end, CLV_END_OPTIMAL, "%s: %s, %s of %s by %s, %s", what,
                     clv_end_words(r.solve.end), clv_int128_text(is, r.solve.bound.whole),
                     clv_int128_text(was, best), r.solve.bound_by, r.solve.found_by);
        cr_assert(r.solve.bound.whole == best && r.solve.bound.real == 0, "%s: bound", what);
    }
    clv_arena_free(arena);
}

Test(small_strategies, each_is_solved_to_the_optimum)
{
    /* CLEAVE_SEED moves to other problems. */
    const char *from = getenv("CLEAVE_SEED");
    uint64_t first = from ? strtoull(from, NULL, 10) : 0, n = test_effort(500);
    for (uint64_t seed = first; seed < first + n; seed++) {
        uint64_t rng = seed + 77;
        bool tree = clv_random_below(&rng, 4) == 0;
        small_kind kind = { .tree = tree,
                            .memory = clv_random_below(&rng, 2),
                            .odd = !tree && clv_random_below(&rng, 2),
                            .never = clv_random_below(&rng, 3) == 0 };
        check(seed, kind, (size)clv_random_below(&rng, N_SIZES),
              clv_random_below(&rng, 3) ? PLAIN : LARGEST);
    }
}

/* A clique of nodes, each with two choices of the same cost against all: nothing bounds it but the
 * end of the search. */
static const clv_intra_op_problem *clique(int32_t n, int64_t cost, int64_t usage, int64_t limit,
                                          clv_arena *arena)
{
    clv_intra_op_draft *d;
    const clv_intra_op_problem *p;
    int32_t matrix;
    clv_error err;
    cr_assert_eq(clv_intra_op_draft_new(arena, &d, &err), CLV_OK);
    for (int32_t v = 0; v < n; v++) {
        clv_intra_op_draft_node(d, 2, (int64_t[]){ cost, cost + v % 3 }, &err);
        clv_intra_op_draft_span(d, 0, 1, (int64_t[]){ usage + v, usage / 2 + 2 * v }, &err);
    }
    clv_intra_op_draft_matrix(d, 4, (int64_t[]){ cost + 2, cost, cost + 1, cost + 2 }, &matrix,
                              &err);
    for (int32_t v = 0; v < n; v++)
        for (int32_t w = 0; w < v; w++)
            clv_intra_op_draft_edge(d, 2, (int32_t[]){ w, v }, matrix, &err);
    cr_assert_eq(clv_intra_op_draft_freeze(d, "clique", limit, &p, &err), CLV_OK, "%s",
                 err.message);
    return p;
}

Test(small_strategies, what_has_a_million_solutions_is_solved_in_a_second)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    const int64_t costs[] = { 0, 1, (int64_t)1e15, CLV_INTRA_OP_NEVER - 1, INT64_MAX - 2 };
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
        for (int32_t tight = 0; tight < 2; tight++) {
            const clv_intra_op_problem *p = clique(20, costs[i], 50, tight ? 1000 : -1, arena);
            clv_intra_op_result r = solve(p, arena, "a clique");
            cr_assert_eq(r.solve.end, CLV_END_OPTIMAL, "costs %lld", (long long)costs[i]);
            cr_assert(r.solve.bound.whole == r.value.cost);
        }
    clv_arena_free(arena);
}

Test(small_strategies, one_choice_beyond_never_is_proven)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    const clv_intra_op_problem *p;
    clv_intra_op_draft *d;
    clv_intra_op_draft_new(arena, &d, NULL);
    clv_intra_op_draft_node(d, 1, (int64_t[]){ CLV_INTRA_OP_NEVER + 3 }, NULL);
    clv_intra_op_draft_freeze(d, "one", CLV_INTRA_OP_UNLIMITED, &p, NULL);
    clv_intra_op_result r = solve(p, arena, "one node");
    cr_assert_eq(r.solve.end, CLV_END_OPTIMAL);
    cr_assert(r.solve.bound.whole == CLV_INTRA_OP_NEVER + 3);
    clv_arena_free(arena);
}

/* Nodes of three choices, each with edges to the three before it. */
static const clv_intra_op_problem *ladder(int32_t n, int64_t base, clv_arena *arena)
{
    clv_intra_op_draft *d;
    const clv_intra_op_problem *p;
    clv_error err;
    uint64_t rng = 11;
    cr_assert_eq(clv_intra_op_draft_new(arena, &d, &err), CLV_OK);
    for (int32_t v = 0; v < n; v++) {
        int64_t cost[3], entry[9];
        for (int32_t c = 0; c < 3; c++)
            cost[c] = base + clv_random_below(&rng, 100);
        clv_intra_op_draft_node(d, 3, cost, &err);
        for (int32_t w = v > 3 ? v - 3 : 0; w < v; w++) {
            int32_t matrix;
            for (int32_t i = 0; i < 9; i++)
                entry[i] = base + clv_random_below(&rng, 100);
            clv_intra_op_draft_matrix(d, 9, entry, &matrix, &err);
            clv_intra_op_draft_edge(d, 2, (int32_t[]){ w, v }, matrix, &err);
        }
    }
    cr_assert_eq(clv_intra_op_draft_freeze(d, "ladder", CLV_INTRA_OP_UNLIMITED, &p, &err), CLV_OK,
                 "%s", err.message);
    return p;
}

/* Too large for forward checking: what is added to all costs is added to the optimum. */
Test(small_strategies, costs_that_sum_to_never_change_nothing)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    const int64_t bases[] = { (int64_t)1e15, (int64_t)1e17, CLV_INTRA_OP_NEVER, INT64_MAX - 100 };
    const clv_intra_op_problem *small = ladder(100, 0, arena);
    clv_intra_op_result least = solve(small, arena, "a ladder");
    cr_assert_eq(least.solve.end, CLV_END_OPTIMAL);
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        const clv_intra_op_problem *p = ladder(100, bases[i], arena);
        clv_intra_op_result r = solve(p, arena, "a ladder of large costs");
        clv_int128 more = (clv_int128)bases[i] * (p->n_nodes + p->n_edges);
        cr_assert_eq(r.solve.end, CLV_END_OPTIMAL, "costs from %lld", (long long)bases[i]);
        cr_assert(r.value.cost == least.value.cost + more, "costs from %lld", (long long)bases[i]);
        cr_assert(r.solve.bound.whole == r.value.cost);
    }
    clv_arena_free(arena);
}
