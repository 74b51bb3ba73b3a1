/* test_solve.c - intra-operator problems through the public API. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/api.h"
#include "support/effort.h"
#include "support/failing_alloc.h"
#include "support/run.h"

#define EXAMPLE TEST_SOURCE_DIR "/tests/data/strategy/example.json"
#define CHAIN   TEST_SOURCE_DIR "/tests/data/strategy/chain300.json"

static cleave_error error;

static cleave_intra_op_options solve_options(void)
{
    cleave_intra_op_options o;
    cleave_intra_op_options_init(&o);
    return o;
}

static const char *solution_json(const cleave_intra_op_solution *a)
{
    return cleave_report_json(cleave_intra_op_solution_report(a), NULL);
}

static cleave_intra_op_problem *open_ok(const char *path)
{
    cleave_intra_op_problem *s = NULL;
    cr_assert_eq(cleave_intra_op_problem_open(path, NULL, &s, &error), CLEAVE_OK, "%s",
                 error.message);
    return s;
}

Test(solve_api, a_solution_says_what_it_is)
{
    cleave_intra_op_problem *s = open_ok(EXAMPLE);
    cleave_intra_op_solution *a = NULL;
    cr_expect_eq(cleave_intra_op_problem_nodes(s), 5);
    cr_expect_eq(cleave_intra_op_problem_edges(s), 5);
    cr_assert_eq(cleave_intra_op_solve(s, NULL, NULL, &a, &error), CLEAVE_OK, "%s", error.message);
    cr_expect(cleave_intra_op_solution_found(a));
    cr_expect_str_eq(cleave_intra_op_solution_objective(a), "445");
    cr_expect_str_eq(cleave_intra_op_solution_bound(a), "445");
    cr_expect_eq(cleave_intra_op_solution_end(a), CLEAVE_END_OPTIMAL);
    cr_expect(cleave_intra_op_solution_gap(a) == 0);
    static const int want[] = { 0, 0, 2, 1, 0 };
    for (int v = 0; v < 5; v++)
        cr_expect_eq(cleave_intra_op_solution_choice_of(a, v), want[v]);
    cr_expect_eq(cleave_intra_op_solution_choice_of(a, 5), -1);
    cr_expect_eq(cleave_intra_op_solution_choice_of(a, -1), -1);
    cr_expect(strstr(cleave_report_text(cleave_intra_op_solution_report(a)), "cost 445"));
    cr_expect(strstr(solution_json(a), "\"solution\": [0, 0, 2, 1, 0]"));
    cleave_intra_op_solution_free(a);
    cleave_intra_op_problem_free(s);
}

Test(solve_api, saving_writes_the_json)
{
    char *folder = folder_new(), path[4096];
    cleave_intra_op_problem *s = open_ok(EXAMPLE);
    cleave_intra_op_solution *a = NULL;
    cr_assert_eq(cleave_intra_op_solve(s, NULL, NULL, &a, &error), CLEAVE_OK);
    snprintf(path, sizeof path, "%s/a.json", folder);
    cr_assert_eq(cleave_report_save(cleave_intra_op_solution_report(a), path, &error), CLEAVE_OK,
                 "%s", error.message);
    char *text = file_text(folder, "a.json", NULL);
    cr_expect_str_eq(text, solution_json(a));
    free(text);
    cr_expect_eq(cleave_report_save(cleave_intra_op_solution_report(a), "/nowhere/a.json", &error),
                 CLEAVE_EIO);
    cr_expect_eq(cleave_report_save(cleave_intra_op_solution_report(a), NULL, &error),
                 CLEAVE_EUSAGE);
    cleave_intra_op_solution_free(a);
    cleave_intra_op_problem_free(s);
    folder_free(folder);
}

typedef struct {
    int n;
    double cost, bound, seconds;
} heard;

static void listen(void *ctx, const cleave_progress *news)
{
    heard *h = ctx;
    cr_expect(news->method && news->elapsed_s >= h->seconds);
    cr_expect(news->objective <= h->cost && news->bound >= h->bound, "news are never worse");
    *h = (heard){ h->n + 1, news->objective, news->bound, news->elapsed_s };
}

Test(solve_api, news_end_where_the_solution_does)
{
    cleave_intra_op_problem *s = open_ok(CHAIN);
    cleave_intra_op_solution *a = NULL;
    heard h = { .cost = INFINITY };
    cleave_intra_op_options o = solve_options();
    o.deadline_s = 1;
    cleave_control control = control_of(NULL);
    control.progress = listen;
    control.ctx = &h;
    cr_assert_eq(cleave_intra_op_solve(s, &o, &control, &a, &error), CLEAVE_OK, "%s",
                 error.message);
    cr_expect(h.n > 0);
    cr_expect(fabs(h.cost - atof(cleave_intra_op_solution_objective(a))) <= 1e-12 * h.cost);
    cr_expect(h.bound <= atof(cleave_intra_op_solution_bound(a)) * (1 + 1e-12));
    cleave_intra_op_solution_free(a);
    cleave_intra_op_problem_free(s);
}

Test(solve_api, the_same_seed_gives_the_same_solution_with_any_threads)
{
    cleave_intra_op_problem *s = open_ok(TEST_IS_SANITIZED ? EXAMPLE : CHAIN);
    char *first = NULL;
    for (int jobs = 1; jobs <= 3; jobs += 2) {
        cleave_intra_op_solution *a = NULL;
        cleave_intra_op_options o = solve_options();
        o.jobs = jobs;
        o.seed = 3;
        cr_assert_eq(cleave_intra_op_solve(s, &o, NULL, &a, &error), CLEAVE_OK, "%s",
                     error.message);
        char *from = strstr(solution_json(a), "\"solution\"");
        if (!first)
            first = strdup(from);
        cr_expect_str_eq(from, first, "%d threads", jobs);
        cleave_intra_op_solution_free(a);
    }
    free(first);
    cleave_intra_op_problem_free(s);
}

static int always(void *ctx)
{
    (void)ctx;
    return 1;
}

Test(solve_api, stopping_at_once_gives_a_solution_or_none)
{
    cleave_intra_op_problem *s = open_ok(CHAIN);
    cleave_intra_op_solution *a = NULL;
    cleave_intra_op_options o = solve_options();
    cleave_control control = control_of(NULL);
    control.stop = always;
    cleave_status status = cleave_intra_op_solve(s, &o, &control, &a, &error);
    cr_expect(status == CLEAVE_OK || status == CLEAVE_ECANCELED, "%d", (int)status);
    cr_expect_eq(status == CLEAVE_OK, a != NULL);
    cleave_intra_op_solution_free(a);
    cleave_intra_op_problem_free(s);
}

Test(solve_api, no_solution_is_an_outcome)
{
    char *folder = folder_new(), path[4096];
    static const char text[] = "{\"problem\":{\"nodes\":{\"intervals\":[[0,4],[2,6]],\"costs\":[[1]"
                               ",[3]],\"usages\":[[5],[7]]},"
                               "\"edges\":{\"nodes\":[],\"costs\":[]},\"usage_limit\":9}}";
    file_write(folder, "p.json", text, sizeof text - 1);
    snprintf(path, sizeof path, "%s/p.json", folder);
    cleave_intra_op_problem *s = open_ok(path);
    cleave_intra_op_solution *a = NULL;
    cr_assert_eq(cleave_intra_op_solve(s, NULL, NULL, &a, &error), CLEAVE_NO_PLAN);
    cr_expect(error.status == CLEAVE_NO_PLAN && strstr(error.message, "time 2"), "%s",
              error.message);
    cr_assert_not_null(a);
    cr_expect(!cleave_intra_op_solution_found(a));
    cr_expect_str_eq(cleave_intra_op_solution_objective(a), "");
    cr_expect_str_eq(cleave_intra_op_solution_bound(a), "");
    cr_expect_eq(cleave_intra_op_solution_end(a), CLEAVE_END_INFEASIBLE);
    cr_expect(cleave_intra_op_solution_gap(a) < 0);
    cr_expect_eq(cleave_intra_op_solution_choice_of(a, 0), -1);
    cleave_intra_op_solution_free(a);
    cleave_intra_op_problem_free(s);
    folder_free(folder);
}

Test(solve_api, wrong_requests_are_refused)
{
    cleave_intra_op_problem *s = NULL;
    cleave_intra_op_solution *a = NULL;
    cleave_intra_op_options o = solve_options();
    cr_expect_eq(cleave_intra_op_problem_open(NULL, NULL, &s, &error), CLEAVE_EUSAGE);
    cr_expect_eq(cleave_intra_op_problem_open("/nowhere", NULL, &s, NULL), CLEAVE_EIO);
    cr_expect_null(s);
    s = open_ok(EXAMPLE);
    cr_expect_eq(cleave_intra_op_solve(NULL, NULL, NULL, &a, &error), CLEAVE_EUSAGE);
    cr_expect_eq(cleave_intra_op_solve(s, NULL, NULL, NULL, &error), CLEAVE_EUSAGE);
    o.jobs = -1;
    cr_expect_eq(cleave_intra_op_solve(s, &o, NULL, &a, &error), CLEAVE_EUSAGE);
    cr_expect_str_eq(error.message, "jobs is -1: expected 1 to 1024");
    o = solve_options();
    o.gap = 1;
    cr_expect_eq(cleave_intra_op_solve(s, &o, NULL, &a, &error), CLEAVE_EUSAGE);
    o = solve_options();
    o.deadline_s = NAN;
    cr_expect_eq(cleave_intra_op_solve(s, &o, NULL, &a, &error), CLEAVE_EUSAGE);
    cr_expect_null(a);
    cleave_intra_op_problem_free(s);
    cleave_intra_op_problem_free(NULL);
    cleave_intra_op_solution_free(NULL);
}

/* Every allocation in turn fails: an error, and nothing is left behind. */
Test(solve_api, survives_running_out_of_memory)
{
    enum { CALLS_MAX = 5000 };
    bool done = false;
    for (long calls = 1; !done; calls += TEST_IS_SANITIZED ? 7 : 1) {
        failing f = { .fail_at = calls };
        cleave_allocator alloc = { failing_resize, &f };
        cleave_control control = control_of(&alloc);
        cleave_intra_op_problem *s = NULL;
        cleave_intra_op_solution *a = NULL;
        cleave_intra_op_options o = solve_options();
        o.jobs = 1; /* the count is not made for threads */
        cleave_status status = cleave_intra_op_problem_open(EXAMPLE, &control, &s, NULL);
        if (status == CLEAVE_OK)
            status = cleave_intra_op_solve(s, &o, NULL, &a, NULL);
        done = status == CLEAVE_OK && f.calls < calls;
        cr_assert(status == CLEAVE_OK || status == CLEAVE_ENOMEM, "call %ld: %d", calls,
                  (int)status);
        cleave_intra_op_solution_free(a);
        cleave_intra_op_problem_free(s);
        cr_assert_eq(f.live, 0, "call %ld", calls);
        cr_assert(calls < CALLS_MAX);
    }
}
