/* How much is done: a brief solve ends and is the same on any number of threads; a bound that is
 * enough ends it; problems of one row, as of weights held all the time, come out right. */
#include <criterion/criterion.h>

#include "problem/intra_op_draft.h"
#include "solver/intra_op/bound.h"
#include "solver/intra_op/bound_and_reduce.h"
#include "solver/intra_op/breakout.h"
#include "solver/intra_op/presolve.h"
#include "solver/intra_op/small_strategies.h"
#include "solver/intra_op/solve.h"
#include "support/effort.h"

/* Equal layers in a row, each held for so many moments from its own (0: all of them all the time);
 * n_long: edges to layers far behind. */
static const clv_intra_op_problem *make_held(int32_t n, int32_t n_choices, int32_t n_long,
                                             int32_t held, double room, uint64_t rng,
                                             clv_arena *arena)
{
    enum { MOST = 12, KINDS = 5 };
    int64_t cost[KINDS][MOST], usage[KINDS][MOST], entry[MOST * MOST];
    int32_t n_times = held ? n + held : 1;
    int64_t *low = CLV_NEW_ARRAY(arena, int64_t, n_times), most_low = 0;
    int64_t *high = CLV_NEW_ARRAY(arena, int64_t, n_times), most_high = 0;
    clv_intra_op_draft *d;
    const clv_intra_op_problem *p;
    int32_t matrix[KINDS];
    clv_error err;

    cr_assert_eq(clv_intra_op_draft_new(arena, &d, &err), CLV_OK);
    for (int32_t k = 0; k < KINDS; k++) {
        for (int32_t c = 0; c < n_choices; c++) {
            usage[k][c] = 1 + clv_random_below(&rng, 1000);
            cost[k][c] = 3000 - 2 * usage[k][c] + clv_random_below(&rng, 800);
        }
        for (int32_t i = 0; i < n_choices * n_choices; i++)
            entry[i] = i % (n_choices + 1) ? clv_random_below(&rng, 600) : 0;
        cr_assert_eq(clv_intra_op_draft_matrix(d, n_choices * n_choices, entry, &matrix[k], &err),
                     CLV_OK);
    }
    for (int32_t v = 0; v < n; v++) {
        int64_t least = INT64_MAX, most = 0;
        int32_t from = held ? v : 0, to = held ? v + held : 1;

        cr_assert_eq(clv_intra_op_draft_node(d, n_choices, cost[v % KINDS], &err), CLV_OK);
        cr_assert_eq(clv_intra_op_draft_span(d, from, to, usage[v % KINDS], &err), CLV_OK);
        for (int32_t c = 0; c < n_choices; c++) {
            least = usage[v % KINDS][c] < least ? usage[v % KINDS][c] : least;
            most = usage[v % KINDS][c] > most ? usage[v % KINDS][c] : most;
        }
        for (int32_t t = from; t < to; t++) {
            low[t] += least;
            high[t] += most;
            most_low = low[t] > most_low ? low[t] : most_low;
            most_high = high[t] > most_high ? high[t] : most_high;
        }
    }
    for (int32_t v = 1; v < n; v++)
        cr_assert_eq(
            clv_intra_op_draft_edge(d, 2, (int32_t[]){ v - 1, v }, matrix[v % KINDS], &err),
            CLV_OK);
    for (int32_t i = 0; i < n_long; i++) {
        int32_t v = clv_random_below(&rng, n - KINDS);

        cr_assert_eq(
            clv_intra_op_draft_edge(d, 2, (int32_t[]){ v, v + KINDS }, matrix[v % KINDS], &err),
            CLV_OK);
    }
    cr_assert_eq(
        clv_intra_op_draft_freeze(
            d, "row", most_low + (int64_t)(room * (double)(most_high - most_low)), &p, &err),
        CLV_OK, "%s", err.message);
    return p;
}

static const clv_intra_op_problem *make(int32_t n, int32_t n_choices, int32_t n_long, double room,
                                        uint64_t rng, clv_arena *arena)
{
    return make_held(n, n_choices, n_long, 0, room, rng, arena);
}

static clv_intra_op_result solve(const clv_intra_op_problem *p, const clv_intra_op_options *o,
                                 clv_arena *arena)
{
    clv_intra_op_result r;
    clv_error err;

    cr_assert_eq(clv_intra_op_solve(p, o, arena, &r, &err), CLV_OK, "%s", err.message);
    return r;
}

/* The best solution by a table over the row: chains only. */
static int64_t by_table(const clv_intra_op_problem *p, clv_arena *arena)
{
    int32_t n = clv_intra_op_n_choices(p, 0);
    int64_t room = p->usage_limit + 1, size = n * room, best = INT64_MAX;
    int64_t *now = CLV_NEW_ARRAY(arena, int64_t, size), *next = CLV_NEW_ARRAY(arena, int64_t, size);

    for (int32_t v = 0; v < p->n_nodes; v++) {
        const int64_t *usage = p->usage + p->span_usage[p->first_span[v]];
        const int64_t *entry = v ? p->entry + p->first_entry[p->matrix_of[v - 1]] : NULL;

        for (int64_t i = 0; i < size; i++)
            next[i] = INT64_MAX / 2;
        for (int32_t b = 0; b < (v ? n : 1); b++)
            for (int32_t c = 0; c < n; c++)
                for (int64_t m = 0; m + usage[c] < room; m++) {
                    int64_t before = v   ? now[b * room + m] + entry[b * n + c]
                                     : m ? INT64_MAX / 2
                                         : 0;
                    int64_t *to = &next[c * room + m + usage[c]];

                    before += p->cost[v * n + c];
                    *to = before < *to ? before : *to;
                }
        int64_t *t = now;
        now = next;
        next = t;
    }
    for (int64_t i = 0; i < size; i++)
        best = now[i] < best ? now[i] : best;
    return best;
}

Test(strategy_effort, one_row_against_a_table)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        const clv_intra_op_problem *p =
            make(6 + (int32_t)seed, 3, 0, 0.2 + 0.05 * (double)seed, seed, arena);
        clv_intra_op_options o = { .solve.jobs = 1 };
        clv_intra_op_result r = solve(p, &o, arena);
        int64_t best = by_table(p, arena);

        cr_assert_eq(r.solve.end, CLV_END_OPTIMAL);
        cr_assert(r.value.legal && r.value.cost == best, "seed %d: %lld, best %lld", (int)seed,
                  (long long)r.value.cost, (long long)best);
        o.brief = true;
        r = solve(p, &o, arena);
        cr_assert(r.solve.found && r.value.legal);
        cr_assert(r.value.cost >= best && r.solve.bound.whole <= best);
        clv_arena_free(arena);
    }
}

Test(strategy_effort, brief_is_near_on_equal_layers_of_one_row)
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        const clv_intra_op_problem *p = make(1000, 8, 0, 0.3 + 0.1 * (double)seed, seed, arena);
        clv_intra_op_options o = { .solve.jobs = 1, .brief = true, .solve.gap = 0.001 };
        clv_intra_op_result r = solve(p, &o, arena);

        cr_assert(r.solve.found && r.value.legal);
        cr_expect((double)(r.value.cost - r.solve.bound.whole) <= 0.005 * (double)r.value.cost,
                  "seed %d: cost %lld, bound %lld", (int)seed, (long long)r.value.cost,
                  (long long)r.solve.bound.whole);
        clv_arena_free(arena);
    }
}

Test(strategy_effort, brief_ends_alike_on_any_number_of_threads)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    const clv_intra_op_problem *p = make(600, 12, 900, 0.35, 7, arena);
    clv_intra_op_options o = { .solve.jobs = 1, .brief = true };
    clv_intra_op_result one = solve(p, &o, arena);

    o.solve.jobs = 5;
    clv_intra_op_result five = solve(p, &o, arena);
    cr_assert(one.solve.found && five.solve.found);
    cr_assert(one.value.cost == five.value.cost && one.solve.bound.whole == five.solve.bound.whole);
    cr_assert_eq(one.solve.end, five.solve.end);
    cr_assert_neq(one.solve.end, CLV_END_DEADLINE);
    cr_assert_arr_eq(one.solve.solution, five.solve.solution,
                     (size_t)p->n_nodes * sizeof *one.solve.solution);
    clv_arena_free(arena);
}

Test(strategy_effort, a_bound_that_is_enough_ends_it)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    const clv_intra_op_problem *p = make(400, 8, 200, 0.3, 3, arena);
    clv_intra_op_options o = { .solve.jobs = 2, .brief = true, .solve.gap = 0.01 };
    clv_intra_op_result r = solve(p, &o, arena);
    clv_int128 bound = r.solve.bound.whole;

    o.solve.gap = 0;
    o.enough = bound / 2;
    r = solve(p, &o, arena);
    cr_assert_eq(r.solve.end, CLV_END_BOUND);
    cr_assert(r.solve.bound.whole >= o.enough);
    /* more than any solution costs */
    o.enough = 2 * r.value.cost;
    r = solve(p, &o, arena);
    cr_assert_neq(r.solve.end, CLV_END_BOUND);
    cr_assert(r.solve.found && r.solve.bound.whole < o.enough);
    clv_arena_free(arena);
}

/* The first solution is within the limit, and has no never where one is easy to leave out. */
Test(strategy_effort, a_first_solution_is_legal)
{
    int32_t n_legal = 0, n = 0;

    for (uint64_t seed = 0; seed < test_effort(500); seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        small_strategies s;
        clv_presolved *made;
        bool infeasible;
        char why[200];
        clv_error err;

        small_strategies_make(&s, seed, (small_kind){ .memory = seed % 2, .never = seed % 3 == 0 });
        cr_assert_eq(clv_presolve(&s.p, arena, &made, why, &err), CLV_OK);
        infeasible = !made;
        if (!infeasible) {
            const clv_intra_op_problem *p = clv_presolve_problem(made);
            int32_t choice[SMALL_NODES + 1] = { 0 };

            cr_assert_eq(clv_intra_op_breakout(p, 20, NULL, arena, choice, &err), CLV_OK);
            for (int32_t v = 0; v < p->n_nodes; v++)
                cr_assert(choice[v] >= 0 && choice[v] < clv_intra_op_n_choices(p, v));
            n++;
            n_legal += small_fits(p, choice);
        }
        clv_arena_free(arena);
    }
    cr_assert_gt(10 * n_legal, 9 * n, "%d of %d", n_legal, n);
}

/* Asked to stop before it began, it gives the solution that holds least, without a sweep. */
Test(strategy_effort, a_first_solution_comes_even_when_time_is_up)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    const clv_intra_op_problem *p = make(200, 6, 40, 0.4, 3, arena);
    int32_t now[200], begun[200], swept[200];
    atomic_int ended = 1 + CLV_END_STOPPED;
    clv_limits halt = { .ended = &ended };
    clv_error err;

    cr_assert_eq(clv_intra_op_breakout(p, 20, &halt, arena, now, &err), CLV_OK);
    cr_assert_eq(clv_intra_op_breakout(p, 0, NULL, arena, begun, &err), CLV_OK);
    cr_assert_eq(clv_intra_op_breakout(p, 20, NULL, arena, swept, &err), CLV_OK);
    cr_expect_arr_eq(now, begun, sizeof now);
    cr_expect_arr_neq(now, swept, sizeof now);
    clv_arena_free(arena);
}

/* What is lifted from a later stage comes down again. */
Test(strategy_effort, solutions_go_down_to_what_is_left)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    int32_t n_stages = 0, n_whole = 0, n = 0;

    for (uint64_t seed = 0; seed < 6; seed++) {
        const clv_intra_op_problem *p = make(500, 6, 100, 0.4, seed, arena);
        const clv_bound_and_reduce_options options = { .rounds = 128,
                                                       .reductions = CLV_BOUND_AND_REDUCE_STAGES,
                                                       .exact_rounds = INT64_MAX };
        clv_bound_and_reduce *q;
        clv_error err;
        bool whole;

        cr_assert_eq(clv_bound_and_reduce_new(p, &options, arena, &q, &err), CLV_OK);
        for (int i = 0;
             i < 400 && !clv_bound_and_reduce_is_over(q) && !clv_bound_and_reduce_n_stages(q); i++)
            cr_assert_eq(clv_bound_and_reduce_step(q, 1, NULL, NULL, &err), CLV_OK);
        n_stages += clv_bound_and_reduce_n_stages(q);
        if (clv_bound_and_reduce_n_stages(q)) {
            const clv_intra_op_problem *left = clv_bound_and_reduce_problem(q);
            int32_t *a = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes + 1);
            int32_t *up = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes + 1);
            uint64_t rng = seed;

            for (int32_t v = 0; v < left->n_nodes; v++)
                a[v] = clv_random_below(&rng, clv_intra_op_n_choices(left, v));
            clv_bound_and_reduce_lift(q, clv_bound_and_reduce_n_stages(q), a, up);
            cr_assert_eq(clv_bound_and_reduce_project(q, clv_bound_and_reduce_n_stages(q), up, a,
                                                      &whole, &err),
                         CLV_OK);
            for (int32_t v = 0; v < left->n_nodes; v++)
                cr_assert(a[v] >= 0 && a[v] < clv_intra_op_n_choices(left, v));
            n++;
            n_whole += whole;
        }
        clv_bound_and_reduce_free(q);
    }
    cr_assert_gt(n_stages, 0);
    cr_assert_eq(n_whole, n, "%d of %d", n_whole, n);
    clv_arena_free(arena);
}

/* Whether one row is full in the end, some dozens or all: after 250 rounds the bound is near what
 * it comes to. */
Test(strategy_effort, a_bound_is_soon_near_its_end)
{
    static const int32_t held[] = { 0, 1, 10, 100, 1000 };

    for (uint64_t seed = 0; seed < test_effort(3); seed++)
        for (int i = 0; i < 5; i++) {
            clv_arena *arena = clv_arena_new(NULL, 0);
            const clv_intra_op_problem *p = make_held(400, 8, 200, held[i], 0.35, seed, arena);
            clv_intra_op_bound *b;
            clv_int128 soon, late;
            clv_error err;

            cr_assert_eq(clv_intra_op_bound_new(p, arena, &b, &err), CLV_OK);
            clv_intra_op_bound_run(b, 250, -1, NULL, NULL);
            soon = clv_intra_op_bound_value(b);
            for (int turn = 0; turn < 4; turn++) {
                clv_intra_op_bound_run(b, 250, -1, NULL, NULL);
                clv_intra_op_bound_reset_steps(b);
            }
            late = clv_intra_op_bound_value(b);
            cr_expect(1000 * soon >= 998 * late, "seed %d, held %d: %lld, later %lld", (int)seed,
                      (int)held[i], (long long)soon, (long long)late);
            clv_arena_free(arena);
        }
}
