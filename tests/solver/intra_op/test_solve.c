/* The solver of strategy problems: every solution is legal and costs what the judge says, no bound
 * is above the optimum, and neither threads nor the clock change a solution. Brute force is the
 * witness on small random problems. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "problem/intra_op_draft.h"
#include "solver/intra_op/small_strategies.h"
#include "solver/intra_op/solve.h"
#include "support/effort.h"

typedef struct {
    int32_t n, found, optimal, infeasible;
} tally;

static clv_intra_op_result solve(const clv_intra_op_problem *p, const clv_intra_op_options *o,
                                 clv_arena *arena)
{
    clv_intra_op_result r;
    clv_error err;
    cr_assert_eq(clv_intra_op_solve(p, o, arena, &r, &err), CLV_OK, "%s", err.message);
    return r;
}

static void check(uint64_t seed, small_kind kind, tally *t)
{
    small_strategies s;
    small_strategies_make(&s, seed, kind);
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_intra_op_options o = { .solve.jobs = 1, .solve.seed = seed, .no_forward_checking = true };
    clv_intra_op_result r = solve(&s.p, &o, arena);
    int32_t nevers = 0, own = 0;
    clv_int128 best = small_best(&s.p, &nevers);
    int at = (int)seed;
    cr_assert(r.solve.end != CLV_END_INFEASIBLE || best < 0, "seed %d is not infeasible", at);
    cr_assert(best >= 0 || !r.solve.found, "seed %d has no legal solution", at);
    cr_assert(best < 0 || r.solve.found, "seed %d: no solution found", at);
    if (r.solve.found) {
        cr_assert(small_fits(&s.p, r.solve.solution), "seed %d: over the limit", at);
        cr_assert(r.value.legal);
        cr_assert(small_cost(&s.p, r.solve.solution, &own) == r.value.cost, "seed %d: wrong cost",
                  at);
        cr_assert(r.value.cost >= best, "seed %d: below the optimum", at);
        cr_assert(r.solve.bound.whole <= best, "seed %d: bound %lld above the optimum %lld", at,
                  (long long)r.solve.bound.whole, (long long)best);
        cr_assert(r.solve.end != CLV_END_OPTIMAL || r.value.cost == best, "seed %d", at);
        cr_assert_eq(own, nevers, "seed %d: %d nevers, %d would do", at, own, nevers);
        cr_assert(nevers || r.value.cost == best, "seed %d: %lld, optimum %lld", at,
                  (long long)r.value.cost, (long long)best);
        t->optimal += r.solve.end == CLV_END_OPTIMAL;
    }
    t->n++;
    t->found += r.solve.found;
    t->infeasible += r.solve.end == CLV_END_INFEASIBLE;
    clv_arena_free(arena);
}

Test(strategies, small_problems_against_brute_force)
{
    tally t = { 0 };
    for (uint64_t seed = 0; seed < test_effort(60); seed++)
        for (int kind = 0; kind < 8; kind++)
            check(seed, (small_kind){ .memory = kind & 1, .odd = kind & 2, .never = kind & 4 }, &t);
    cr_assert_gt(t.found, t.n / 2);
    cr_assert_gt(t.optimal, t.found / 2);
    cr_assert_geq(t.infeasible, (int)test_effort(20));
}

/* ---- made problems of any size ---- */

typedef struct {
    int32_t n, n_choices, n_more; /* nodes in a line, edges besides */
    int64_t limit;
} shape;

static const clv_intra_op_problem *make(shape k, uint64_t rng, clv_arena *arena)
{
    enum { MOST = 8 };
    clv_intra_op_draft *d;
    const clv_intra_op_problem *p;
    int64_t cost[MOST], usage[MOST], entry[MOST * MOST];
    int32_t matrix[16];
    clv_error err;
    cr_assert_eq(clv_intra_op_draft_new(arena, &d, &err), CLV_OK);
    for (int32_t v = 0; v < k.n; v++) {
        for (int32_t c = 0; c < k.n_choices; c++) {
            cost[c] = clv_random_below(&rng, 100);
            usage[c] = 1 + clv_random_below(&rng, 10);
        }
        cr_assert_eq(clv_intra_op_draft_node(d, k.n_choices, cost, &err), CLV_OK);
        if (k.limit >= 0)
            cr_assert_eq(clv_intra_op_draft_span(d, v, v + 6, usage, &err), CLV_OK);
    }
    for (int32_t m = 0; m < 16; m++) {
        for (int32_t i = 0; i < k.n_choices * k.n_choices; i++)
            entry[i] = clv_random_below(&rng, 100);
        cr_assert_eq(
            clv_intra_op_draft_matrix(d, k.n_choices * k.n_choices, entry, &matrix[m], &err),
            CLV_OK);
    }
    for (int32_t e = 0; e < k.n - 1 + k.n_more; e++) {
        int32_t a = e < k.n - 1 ? e : clv_random_below(&rng, k.n - 1);
        int32_t b = e < k.n - 1 ? e + 1 : a + 1 + clv_random_below(&rng, k.n - 1 - a);
        cr_assert_eq(clv_intra_op_draft_edge(d, 2, (int32_t[]){ a, b },
                                             matrix[clv_random_below(&rng, 16)], &err),
                     CLV_OK);
    }
    cr_assert_eq(clv_intra_op_draft_freeze(d, "made", k.limit, &p, &err), CLV_OK, "%s",
                 err.message);
    return p;
}

static void same(const clv_intra_op_problem *p, const clv_intra_op_result *a,
                 const clv_intra_op_result *b)
{
    cr_assert(a->solve.found && b->solve.found);
    cr_assert(a->value.cost == b->value.cost);
    cr_assert(a->solve.bound.whole == b->solve.bound.whole);
    cr_assert_eq(a->solve.end, b->solve.end);
    for (int32_t v = 0; v < p->n_nodes; v++)
        cr_assert_eq(a->solve.solution[v], b->solve.solution[v]);
}

Test(strategies, threads_change_nothing)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    const clv_intra_op_problem *p =
        make((shape){ TEST_IS_SANITIZED ? 30 : 60, 6, 120, 22 }, 5, arena);
    clv_intra_op_options o = { .solve.jobs = 1, .solve.seed = 3 };
    clv_intra_op_result one = solve(p, &o, arena);
    o.solve.jobs = 7;
    clv_intra_op_result seven = solve(p, &o, arena);
    same(p, &one, &seven);
    clv_arena_free(arena);
}

Test(strategies, a_long_chain_is_solved_to_the_optimum)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    const clv_intra_op_problem *p = make((shape){ 100000, 4, 0, CLV_INTRA_OP_UNLIMITED }, 9, arena);
    clv_intra_op_options o = { .solve.jobs = 1 };
    clv_intra_op_result r = solve(p, &o, arena);
    int64_t best[4], next[4]; /* cheapest up to a node, by its choice */
    for (int32_t c = 0; c < 4; c++)
        best[c] = p->cost[c];
    for (int32_t v = 1; v < p->n_nodes; v++) {
        const int64_t *entry = p->entry + p->first_entry[p->matrix_of[v - 1]];
        for (int32_t c = 0; c < 4; c++) {
            next[c] = INT64_MAX;
            for (int32_t b = 0; b < 4; b++)
                if (best[b] + entry[4 * b + c] + p->cost[4 * v + c] < next[c])
                    next[c] = best[b] + entry[4 * b + c] + p->cost[4 * v + c];
        }
        memcpy(best, next, sizeof best);
    }
    int64_t least = best[0];
    for (int32_t c = 1; c < 4; c++)
        least = best[c] < least ? best[c] : least;
    cr_assert_eq(r.solve.end, CLV_END_OPTIMAL);
    cr_assert(r.value.cost == least);
    clv_arena_free(arena);
}

Test(strategies, nothing_and_one_node)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_intra_op_options o = { .solve.jobs = 2 };
    clv_intra_op_draft *d;
    const clv_intra_op_problem *p;
    clv_intra_op_draft_new(arena, &d, NULL);
    clv_intra_op_draft_freeze(d, "nothing", 10, &p, NULL);
    clv_intra_op_result r = solve(p, &o, arena);
    cr_assert(r.solve.found && r.value.cost == 0 && r.solve.end == CLV_END_OPTIMAL);

    clv_intra_op_draft_new(arena, &d, NULL);
    clv_intra_op_draft_node(d, 3, (int64_t[]){ 5, 4, 9 }, NULL);
    clv_intra_op_draft_span(d, 0, 1, (int64_t[]){ 1, 20, 2 }, NULL);
    clv_intra_op_draft_freeze(d, "one", 10, &p, NULL);
    r = solve(p, &o, arena);
    cr_assert(r.solve.found && r.value.cost == 5 && r.solve.solution[0] == 0);
    cr_assert_eq(r.solve.end, CLV_END_OPTIMAL);

    clv_intra_op_draft_new(arena, &d, NULL);
    clv_intra_op_draft_node(d, 2, (int64_t[]){ 5, 4 }, NULL);
    clv_intra_op_draft_span(d, 0, 1, (int64_t[]){ 11, 20 }, NULL);
    clv_intra_op_draft_freeze(d, "too much", 10, &p, NULL);
    r = solve(p, &o, arena);
    cr_assert(!r.solve.found && !r.solve.solution);
    cr_assert_eq(r.solve.end, CLV_END_INFEASIBLE);
    cr_assert(r.solve.why[0] != '\0');
    clv_arena_free(arena);
}

/* ---- the caller ---- */

typedef struct {
    bool at_once;
    int32_t n_reports;
    clv_int128 cost, bound;
    bool worse;
} caller;

static bool stop(void *ctx)
{
    caller *c = ctx;
    return c->at_once || c->cost >= 0;
}

static void news(void *ctx, const clv_solve_progress *p)
{
    caller *c = ctx;
    clv_int128 cost = clv_objval_is_infinite(p->value) ? -1 : p->value.whole;
    c->worse = c->worse || !p->method || p->seconds < 0 || p->bound.whole < c->bound ||
               (c->cost >= 0 && (cost < 0 || cost > c->cost));
    c->cost = cost;
    c->bound = p->bound.whole;
    c->n_reports++;
}

Test(strategies, stops_when_asked_with_what_it_has)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    const clv_intra_op_problem *p = make((shape){ 400, 8, 900, 26 }, 11, arena);
    caller c = { .cost = -1, .bound = -1 };
    clv_intra_op_options o = { .solve.jobs = 2,
                               .solve.stop = stop,
                               .solve.stop_ctx = &c,
                               .solve.progress = news,
                               .solve.progress_ctx = &c };
    clv_intra_op_result r = solve(p, &o, arena);
    cr_assert_eq(r.solve.end, CLV_END_STOPPED);
    cr_assert(!c.worse);
    cr_assert_gt(c.n_reports, 0);
    cr_assert(r.solve.found && r.value.legal);
    c = (caller){ .at_once = true, .cost = -1, .bound = -1 };
    r = solve(p, &o, arena);
    cr_assert_eq(r.solve.end, CLV_END_STOPPED);
    clv_arena_free(arena);
}

Test(strategies, a_gap_that_is_enough_ends_the_search)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    const clv_intra_op_problem *p = make((shape){ 400, 8, 900, 30 }, 13, arena);
    clv_intra_op_options o = { .solve.jobs = 2, .solve.gap = 0.9 };
    clv_intra_op_result r = solve(p, &o, arena);
    cr_assert(r.solve.end == CLV_END_GAP || r.solve.end == CLV_END_OPTIMAL);
    cr_assert((double)(r.value.cost - r.solve.bound.whole) <= 0.9 * (double)r.value.cost);
    clv_arena_free(arena);
}
