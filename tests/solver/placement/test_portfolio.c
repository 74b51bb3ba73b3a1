/* test_portfolio.c - the portfolio of placements against all assignments of some 10,000 small
 * problems, judged by a judge that shares no code with it (support/place_oracle.h). */
#include "solver/placement/portfolio.h"

#include <criterion/criterion.h>
#include <math.h>

#include "problem/place_json.h"
#include "support/effort.h"
#include "support/failing_alloc.h"
#include "support/place_convert.h"
#include "support/run.h"

#define PROBLEMS    test_effort(2500)
#define ASSIGNMENTS 8000.0
/* Of the value: what a proof may lose to rounding (solver/placement/common/contraction.h), and what
 * a sum may.
 */
#define PROOF_PART 1e-9
#define SUM_PART   1e-12

typedef struct {
    oracle_problem of;
    oracle_rules rules;
    clv_arena *arena;
    const clv_place_problem *p;
    unsigned long long seed;
    bool feasible;
    double optimum;
    int counts[CLV_END_GIVEN + 1], n_missed; /* missed: no solution where there is one */
} suite;

static double slack(double value, double part)
{
    return part * (fabs(value) > 1 ? fabs(value) : 1);
}

/* -- what is reported on the way -- */

typedef struct {
    double objective, bound;
    int n;
    bool fine;
} news;

static void note(void *ctx, const clv_solve_progress *p)
{
    news *n = ctx;
    n->fine = n->fine && p->method && p->method[0] && p->value.real <= n->objective &&
              p->bound.real >= n->bound && p->seconds >= 0;
    n->objective = p->value.real;
    n->bound = p->bound.real;
    n->n++;
}

static bool is_exact(const suite *s)
{
    return s->rules.contiguous && s->rules.objective != ORACLE_LATENCY;
}

static clv_place_result solve(const suite *s, double gap, news *reported)
{
    clv_error err = { 0 };
    clv_place_result result;
    clv_place_options options = { .late_enumeration = true,
                                  .rules = placement_rules(&s->rules),
                                  .solve.gap = gap,
                                  .solve.seed = 1 };
    *reported = (news){ .objective = (double)INFINITY, .bound = -1, .fine = true };
    options.solve.progress = note;
    options.solve.progress_ctx = reported;
    memset(&result, 0x5a, sizeof result);
    clv_status status = clv_place_solve(s->p, &options, s->arena, &result, &err);
    cr_assert_eq(status, CLV_OK, "%llu: %s", s->seed, err.message);
    return result;
}

/* -- what a solution must be -- */

static void is_honest(const suite *s, const clv_place_result *r, const news *reported)
{
    cr_assert_eq(r->solve.found, r->solve.solution != NULL, "%llu", s->seed);
    cr_assert(reported->fine, "%llu: what is reported gets worse", s->seed);
    cr_assert(r->solve.found_by && r->solve.bound_by, "%llu", s->seed);
    cr_assert(!isnan(r->solve.bound.real) && r->solve.bound.real >= 0, "%llu: bound %g", s->seed,
              r->solve.bound.real);
    cr_assert(r->solve.end <= CLV_END_STOPPED, "%llu", s->seed);
    cr_assert_eq(r->solve.end == CLV_END_INFEASIBLE, isinf(r->solve.bound.real) && !r->solve.found,
                 "%llu", s->seed);
    cr_assert(r->solve.end != CLV_END_INFEASIBLE || r->solve.why[0], "%llu: no word of why",
              s->seed);
    if (!r->solve.found)
        return;
    oracle_value true_value = oracle_judge(&s->of, &s->rules, r->solve.solution);
    cr_assert(true_value.legal, "%llu: %s", s->seed, true_value.why);
    cr_assert(r->value.legal, "%llu", s->seed);
    cr_assert_float_eq(r->value.objective, true_value.objective,
                       slack(true_value.objective, SUM_PART), "%llu: says %.17g, is %.17g", s->seed,
                       r->value.objective, true_value.objective);
    cr_assert_eq(reported->objective, r->value.objective,
                 "%llu: the last solution was not reported", s->seed);
    cr_assert(r->solve.bound.real <= r->value.objective, "%llu: bound %.17g above %.17g", s->seed,
              r->solve.bound.real, r->value.objective);
}

static void is_true(const suite *s, const clv_place_result *r)
{
    double objective = r->value.objective;
    if (!s->feasible) {
        cr_assert(!r->solve.found, "%llu: a solution where there is none", s->seed);
        return;
    }
    cr_assert_neq(r->solve.end, CLV_END_INFEASIBLE, "%llu: %s", s->seed, r->solve.why);
    cr_assert(r->solve.bound.real <= s->optimum + slack(s->optimum, SUM_PART),
              "%llu: bound %.17g above the optimum %.17g", s->seed, r->solve.bound.real,
              s->optimum);
    if (!r->solve.found)
        return;
    cr_assert(objective >= s->optimum - slack(s->optimum, SUM_PART),
              "%llu: %.17g is below brute force's %.17g", s->seed, objective, s->optimum);
    if (r->solve.end == CLV_END_OPTIMAL)
        cr_assert_float_eq(objective, s->optimum, slack(s->optimum, PROOF_PART),
                           "%llu: %.17g is proven, and %.17g is possible", s->seed, objective,
                           s->optimum);
}

/* Unless the clock has ended one of them. */
static void is_same(const suite *s, const clv_place_result *a, const clv_place_result *b)
{
    if (a->solve.end == CLV_END_DEADLINE || b->solve.end == CLV_END_DEADLINE)
        return;
    cr_assert_eq(a->solve.found, b->solve.found, "%llu", s->seed);
    cr_assert_eq(a->solve.end, b->solve.end, "%llu", s->seed);
    cr_assert_eq(a->solve.bound.real, b->solve.bound.real, "%llu: bound %.17g, then %.17g", s->seed,
                 a->solve.bound.real, b->solve.bound.real);
    for (int32_t v = 0; a->solve.found && v < s->p->n_nodes; v++)
        cr_assert_eq(a->solve.solution[v], b->solve.solution[v], "%llu: node %d moves", s->seed, v);
}

static void check(suite *s, bool twice)
{
    int best[ORACLE_NODES];
    news reported;
    clv_mark mark = clv_arena_mark(s->arena);
    s->p = placement_of(&s->of, s->arena);
    s->feasible = oracle_best(&s->of, &s->rules, false, &s->optimum, best);
    clv_place_result result = solve(s, 0, &reported);
    is_honest(s, &result, &reported);
    is_true(s, &result);
    cr_assert(!is_exact(s) || result.solve.end == CLV_END_OPTIMAL ||
                  result.solve.end == CLV_END_INFEASIBLE,
              "%llu: contiguous, and not proven: end %d", s->seed, (int)result.solve.end);
    if (twice) {
        clv_place_result again = solve(s, 0, &reported);
        is_same(s, &result, &again);
    }
    s->counts[result.solve.end]++;
    s->n_missed += s->feasible && !result.solve.found;
    clv_arena_rewind(s->arena, mark);
}

static suite check_many(uint64_t first)
{
    suite s = { .arena = clv_arena_new(NULL, 0) };
    for (uint64_t seed = first; seed < first + PROBLEMS; seed++) {
        s.seed = seed;
        oracle_make(seed, 12, ASSIGNMENTS, seed % 7 == 6, &s.of, &s.rules);
        check(&s, seed % 5 == 0);
    }
    clv_arena_free(s.arena);
    cr_log_info("optimal %d, searched %d, deadline %d, infeasible %d, missed %d",
                s.counts[CLV_END_OPTIMAL], s.counts[CLV_END_SEARCHED], s.counts[CLV_END_DEADLINE],
                s.counts[CLV_END_INFEASIBLE], s.n_missed);
    cr_assert_eq(s.counts[CLV_END_STOPPED] + s.counts[CLV_END_GAP], 0);
    cr_assert(s.counts[CLV_END_OPTIMAL] > (int)PROBLEMS / 5, "%d", s.counts[CLV_END_OPTIMAL]);
    cr_assert(s.counts[CLV_END_INFEASIBLE] > (int)PROBLEMS / 20, "%d",
              s.counts[CLV_END_INFEASIBLE]);
    return s;
}

/* Each in a process of its own. */
Test(place, is_legal_honest_and_true_1) { (void)check_many(1); }
Test(place, is_legal_honest_and_true_2) { (void)check_many(100001); }
Test(place, is_legal_honest_and_true_3) { (void)check_many(200001); }
Test(place, is_legal_honest_and_true_4) { (void)check_many(300001); }

/* The brute force itself, against one that leaves nothing out. */
Test(place, brute_force_leaves_nothing_out)
{
    for (uint64_t seed = 1; seed < 1000; seed++) {
        oracle_problem of;
        oracle_rules rules;
        double quick = 0, plain = 0;
        int solution[ORACLE_NODES];
        oracle_make(seed, 8, 300, seed % 3 == 0, &of, &rules);
        bool found = oracle_best(&of, &rules, false, &quick, solution);
        cr_assert_eq(found, oracle_best(&of, &rules, true, &plain, solution));
        cr_assert_eq(quick, plain, "%llu: %.17g, %.17g", (unsigned long long)seed, quick, plain);
    }
}

/* The published dynamic program, plainly written, is right where brute force can say so. Then it
 * says what is right of larger problems. */
Test(place, contiguous_solutions_are_those_of_the_published_program)
{
    int n_small = 0, n_large = 0;
    suite s = { .arena = clv_arena_new(NULL, 0) };
    for (uint64_t seed = 800001; seed < 800001 + PROBLEMS / 2; seed++) {
        bool large = seed % 2;
        int best[ORACLE_NODES];
        news reported;
        clv_mark mark = clv_arena_mark(s.arena);
        s.seed = seed;
        oracle_make(seed, large ? 40 : 9, large ? 1e30 : 1000, seed % 6 == 0, &s.of, &s.rules);
        s.rules.contiguous = true;
        s.feasible = oracle_line(&s.of, &s.rules, &s.optimum);
        if (!is_exact(&s) || s.optimum < 0)
            continue;
        if (!large) {
            double brute = 0;
            cr_assert_eq(oracle_best(&s.of, &s.rules, false, &brute, best), s.feasible);
            cr_assert_eq(brute, s.optimum, "%llu: %g, brute force %g", s.seed, s.optimum, brute);
        }
        s.p = placement_of(&s.of, s.arena);
        clv_place_result r = solve(&s, 0, &reported);
        is_honest(&s, &r, &reported);
        is_true(&s, &r);
        cr_assert_eq(r.solve.end, s.feasible ? CLV_END_OPTIMAL : CLV_END_INFEASIBLE, "%llu: end %d",
                     s.seed, (int)r.solve.end);
        n_small += !large;
        n_large += large && s.of.n > 15;
        clv_arena_rewind(s.arena, mark);
    }
    clv_arena_free(s.arena);
    cr_log_info("%d small, %d large", n_small, n_large);
    cr_assert(n_small > (int)PROBLEMS / 10 && n_large > (int)PROBLEMS / 40, "%d small, %d large",
              n_small, n_large);
}

/* Too large for brute force: no bound is above any legal solution that chance finds. */
Test(place, of_larger_problems_no_bound_is_above_a_solution)
{
    suite s = { .arena = clv_arena_new(NULL, 0) };
    for (uint64_t seed = 1; seed < PROBLEMS / 10; seed++) {
        news reported;
        uint64_t random = seed;
        clv_mark mark = clv_arena_mark(s.arena);
        s.seed = seed;
        oracle_make(seed + 7000, 20, 1e30, seed % 3 == 0, &s.of, &s.rules);
        s.p = placement_of(&s.of, s.arena);
        clv_place_result result = solve(&s, 0, &reported);
        is_honest(&s, &result, &reported);
        clv_place_result again = solve(&s, 0, &reported);
        is_honest(&s, &again, &reported);
        is_same(&s, &result, &again);
        for (int i = 0; i < 500 && oracle_devices(&s.of) > 0; i++) {
            int device_of[ORACLE_NODES];
            oracle_assign(&random, &s.of, device_of);
            oracle_value value = oracle_judge(&s.of, &s.rules, device_of);
            cr_assert(!value.legal || result.solve.bound.real <=
                                          value.objective + slack(value.objective, SUM_PART),
                      "%llu: bound %.17g, and %.17g is legal", s.seed, result.solve.bound.real,
                      value.objective);
            cr_assert(!value.legal || result.solve.end != CLV_END_OPTIMAL ||
                          result.value.objective <=
                              value.objective + slack(value.objective, PROOF_PART),
                      "%llu: %.17g is proven, and %.17g is legal", s.seed, result.value.objective,
                      value.objective);
        }
        clv_arena_rewind(s.arena, mark);
    }
    clv_arena_free(s.arena);
}

typedef struct {
    const char *file;
    double optimum;
} published;

/* As the program published with the paper printed them, to the last digit. */
Test(place, published_workloads_have_their_published_optima)
{
    static const published files[] = {
        { "bert24_inference.json", 17.78990625 },
        { "bert24_training.json", 41.7458125 },
        { "gnmt_inference.json", 32.910658203125 },
    };
    clv_arena *arena = clv_arena_new(NULL, 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        clv_place_problem *p = NULL;
        clv_place_result r;
        clv_place_options options = { .late_enumeration = true,
                                      .rules = { CLV_PLACE_THROUGHPUT, true, 0 } };
        char *text = file_text(TEST_SOURCE_DIR "/tests/data/placement/throughput/LayerGraphs",
                               files[i].file, NULL);
        cr_assert_not_null(text);
        cr_assert_eq(clv_place_read_text(text, strlen(text), "w", arena, &p, NULL), CLV_OK);
        cr_assert_eq(clv_place_solve(p, &options, arena, &r, NULL), CLV_OK);
        free(text);
        cr_expect(r.solve.found && r.solve.end == CLV_END_OPTIMAL, "%s: end %d", files[i].file,
                  (int)r.solve.end);
        cr_expect_float_eq(r.value.objective, files[i].optimum, 1e-12, "%s: %.17g", files[i].file,
                           r.value.objective);
    }
    clv_arena_free(arena);
}

/* One of each objective, contiguous and free, until the search ends by itself. */
Test(place, without_a_deadline_the_same_comes_twice)
{
    bool done[3][2] = { { false } };
    suite s = { .arena = clv_arena_new(NULL, 0) };
    for (uint64_t seed = 900001; seed < 900100; seed++) {
        int best[ORACLE_NODES];
        news reported;
        s.seed = seed;
        oracle_make(seed, 8, ASSIGNMENTS, false, &s.of, &s.rules);
        s.feasible = oracle_best(&s.of, &s.rules, false, &s.optimum, best);
        if (s.of.n < 6 || !s.feasible || done[s.rules.objective][s.rules.contiguous])
            continue;
        done[s.rules.objective][s.rules.contiguous] = true;
        s.p = placement_of(&s.of, s.arena);
        clv_place_result r = solve(&s, 0, &reported);
        is_honest(&s, &r, &reported);
        is_true(&s, &r);
        cr_assert_neq(r.solve.end, CLV_END_DEADLINE);
        clv_place_result again = solve(&s, 0, &reported);
        is_same(&s, &r, &again);
    }
    for (int i = 0; i < 6; i++)
        cr_assert(done[i / 2][i % 2], "%d", i);
    clv_arena_free(s.arena);
}

/* -- options -- */

Test(place, a_gap_that_is_near_enough_ends_it)
{
    const double gap = 0.25;
    int n_gap = 0;
    suite s = { .arena = clv_arena_new(NULL, 0) };
    for (uint64_t seed = 500001; seed < 500001 + PROBLEMS / 5; seed++) {
        int best[ORACLE_NODES];
        news reported;
        s.seed = seed;
        oracle_make(seed, 10, ASSIGNMENTS / 4, false, &s.of, &s.rules);
        s.p = placement_of(&s.of, s.arena);
        s.feasible = oracle_best(&s.of, &s.rules, false, &s.optimum, best);
        clv_place_result r = solve(&s, gap, &reported);
        is_honest(&s, &r, &reported);
        is_true(&s, &r);
        if (r.solve.end != CLV_END_GAP)
            continue;
        n_gap++;
        cr_assert(r.solve.found &&
                      r.value.objective * (1 - gap) <= r.solve.bound.real * (1 + PROOF_PART),
                  "%llu: %g, bound %g", s.seed, r.value.objective, r.solve.bound.real);
    }
    clv_arena_free(s.arena);
    cr_assert(n_gap > 0, "a gap was asked for in vain");
}

static bool at_once(void *ctx)
{
    (*(int *)ctx)++;
    return true;
}

static bool after_some(void *ctx) { return (*(int *)ctx)++ >= 3; }

/* Whatever it has by then is legal and its bound holds. */
Test(place, stops_when_it_is_asked_to)
{
    int n_stopped = 0;
    suite s = { .arena = clv_arena_new(NULL, 0) };
    for (uint64_t seed = 600001; seed < 600001 + PROBLEMS / 5; seed++) {
        int asked = 0, best[ORACLE_NODES];
        news reported = { .objective = (double)INFINITY, .bound = -1, .fine = true };
        clv_place_result r = { 0 };
        s.seed = seed;
        oracle_make(seed, 10, ASSIGNMENTS / 4, false, &s.of, &s.rules);
        s.p = placement_of(&s.of, s.arena);
        s.feasible = oracle_best(&s.of, &s.rules, false, &s.optimum, best);
        clv_place_options options = { .late_enumeration = true,
                                      .rules = placement_rules(&s.rules),
                                      .solve.stop = seed % 2 ? at_once : after_some,
                                      .solve.stop_ctx = &asked,
                                      .solve.progress = note,
                                      .solve.progress_ctx = &reported };
        cr_assert_eq(clv_place_solve(s.p, &options, s.arena, &r, NULL), CLV_OK);
        is_honest(&s, &r, &reported);
        is_true(&s, &r);
        n_stopped += r.solve.end == CLV_END_STOPPED;
        cr_assert(r.solve.end != CLV_END_STOPPED || asked > 0);
    }
    clv_arena_free(s.arena);
    cr_assert(n_stopped > (int)PROBLEMS / 50, "%d stopped", n_stopped);
}

/* 1 ns is over before anything has begun. */
Test(place, a_deadline_that_is_over_leaves_what_holds)
{
    suite s = { .arena = clv_arena_new(NULL, 0) };
    for (uint64_t seed = 700001; seed < 700001 + PROBLEMS / 5; seed++) {
        int best[ORACLE_NODES];
        news reported = { .objective = (double)INFINITY, .bound = -1, .fine = true };
        clv_place_result r = { 0 };
        s.seed = seed;
        oracle_make(seed, 10, ASSIGNMENTS / 4, false, &s.of, &s.rules);
        s.p = placement_of(&s.of, s.arena);
        s.feasible = oracle_best(&s.of, &s.rules, false, &s.optimum, best);
        clv_place_options options = { .late_enumeration = true,
                                      .rules = placement_rules(&s.rules),
                                      .solve.deadline_ns = clv_deadline_in(1e-9),
                                      .solve.progress = note,
                                      .solve.progress_ctx = &reported };
        cr_assert_eq(clv_place_solve(s.p, &options, s.arena, &r, NULL), CLV_OK);
        is_honest(&s, &r, &reported);
        is_true(&s, &r);
    }
    clv_arena_free(s.arena);
}

/* -- little or nothing -- */

static clv_place_result solve_of(const oracle_problem *of, oracle_objective objective,
                                 bool contiguous, clv_arena *arena)
{
    clv_place_result result = { 0 };
    oracle_rules rules = { objective, contiguous, 0 };
    clv_place_options options = { .late_enumeration = true, .rules = placement_rules(&rules) };
    clv_error err = { 0 };
    clv_status s = clv_place_solve(placement_of(of, arena), &options, arena, &result, &err);
    cr_assert_eq(s, CLV_OK, "%s", err.message);
    return result;
}

Test(place, no_nodes_are_placed_at_no_cost)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    oracle_problem of = { .n_kinds = 1, .kind = { { 2, -1, true } } };
    for (int i = 0; i < 6; i++) {
        clv_place_result r = solve_of(&of, (oracle_objective)(i / 2), i % 2, arena);
        cr_expect(r.solve.found && r.value.objective == 0 && r.solve.end == CLV_END_OPTIMAL,
                  "%d: end %d", i, (int)r.solve.end);
        cr_expect_eq(r.solve.bound.real, 0);
    }
    clv_arena_free(arena);
}

Test(place, one_node_goes_where_it_is_fastest)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    oracle_problem of = { .n = 1, .n_classes = 1, .n_kinds = 2 };
    of.kind[0] = (oracle_kind){ 2, -1, true };
    of.kind[1] = (oracle_kind){ 1, -1, false };
    of.time[0][0] = 7;
    of.time[1][0] = 4;
    for (int i = 0; i < 4; i++) {
        clv_place_result r = solve_of(&of, (oracle_objective)(i / 2), i % 2, arena);
        cr_expect(r.solve.found && r.solve.end == CLV_END_OPTIMAL, "%d: end %d", i,
                  (int)r.solve.end);
        cr_expect_eq(r.value.objective, 4, "%g", r.value.objective);
        cr_expect_eq(r.solve.solution[0], 2);
    }
    clv_arena_free(arena);
}

/* Words say which node, by its id. */
Test(place, a_class_that_fits_nowhere_is_named)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    oracle_problem of = { .n = 2, .n_classes = 2, .n_kinds = 1 };
    of.kind[0] = (oracle_kind){ 2, 10, true };
    of.class_of[1] = 1;
    of.bytes[0] = 10;
    of.bytes[1] = 11;
    for (int i = 0; i < 6; i++) {
        clv_place_result r = solve_of(&of, (oracle_objective)(i / 2), i % 2, arena);
        cr_expect(!r.solve.found && r.solve.end == CLV_END_INFEASIBLE, "%d: end %d", i,
                  (int)r.solve.end);
        cr_expect(strstr(r.solve.why, "17") && strstr(r.solve.why, "11"), "%s", r.solve.why);
    }
    of.bytes[1] = 1;
    of.time[0][1] = -1;
    clv_place_result r = solve_of(&of, ORACLE_THROUGHPUT, true, arena);
    cr_expect(r.solve.end == CLV_END_INFEASIBLE && strstr(r.solve.why, "17"), "%s", r.solve.why);
    clv_arena_free(arena);
}

Test(place, without_devices_nothing_can_be_done)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    oracle_problem of = { .n = 1, .n_classes = 1, .n_kinds = 1 };
    of.kind[0] = (oracle_kind){ 0, -1, true };
    for (int i = 0; i < 6; i++) {
        clv_place_result r = solve_of(&of, (oracle_objective)(i / 2), i % 2, arena);
        cr_expect(!r.solve.found && r.solve.end == CLV_END_INFEASIBLE && r.solve.why[0],
                  "%d: end %d", i, (int)r.solve.end);
    }
    clv_arena_free(arena);
}

/* Every request refused in turn, until it succeeds. */
Test(place, survives_running_out_of_memory)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    for (uint64_t seed = 1; seed <= 12; seed++) {
        oracle_problem of;
        oracle_rules rules;
        oracle_make(seed + 31, 12, ASSIGNMENTS, false, &of, &rules);
        const clv_place_problem *p = placement_of(&of, arena);
        clv_place_options options = { .late_enumeration = true, .rules = placement_rules(&rules) };
        bool done = false;
        for (long calls = 1; !done; calls++) {
            failing f = { .fail_at = calls };
            clv_alloc alloc = failing_alloc(&f);
            clv_arena *small = clv_arena_new(&alloc, 0);
            clv_place_result r = { .solve.bound.real = -7 };
            clv_status s = small ? clv_place_solve(p, &options, small, &r, NULL) : CLV_ENOMEM;
            done = s == CLV_OK;
            cr_assert(done || (s == CLV_ENOMEM && r.solve.bound.real == -7), "%ld: %d", calls,
                      (int)s);
            clv_arena_free(small);
            cr_assert_eq(f.live, 0, "%ld are kept", f.live);
            cr_assert(calls < 100000);
        }
    }
    clv_arena_free(arena);
}
