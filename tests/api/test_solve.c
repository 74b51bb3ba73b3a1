/* test_solve.c - strategy problems through the public API. */
#include "cleave.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/failing_alloc.h"
#include "support/run.h"

#define EXAMPLE TEST_SOURCE_DIR "/tests/data/strategy/example.json"
#define CHAIN   TEST_SOURCE_DIR "/tests/data/strategy/chain300.json"

static cleave_error error;

static cleave_strategies *open_ok(const char *path)
{
    cleave_strategies *s = NULL;
    cr_assert_eq(cleave_strategies_open(path, NULL, &s, &error), CLEAVE_OK, "%s", error.message);
    return s;
}

Test(solve_api, an_answer_says_what_it_is)
{
    cleave_strategies *s = open_ok(EXAMPLE);
    cleave_solution *a = NULL;
    cr_expect_eq(cleave_strategies_nodes(s), 5);
    cr_expect_eq(cleave_strategies_edges(s), 5);
    cr_assert_eq(cleave_solve(s, NULL, &a, &error), CLEAVE_OK, "%s", error.message);
    cr_expect(cleave_solution_found(a));
    cr_expect_str_eq(cleave_solution_cost(a), "445");
    cr_expect_str_eq(cleave_solution_bound(a), "445");
    cr_expect_str_eq(cleave_solution_stopped(a), "optimal");
    cr_expect(cleave_solution_gap(a) == 0);
    static const int want[] = { 0, 0, 2, 1, 0 };
    for (int v = 0; v < 5; v++)
        cr_expect_eq(cleave_solution_choice_of(a, v), want[v]);
    cr_expect_eq(cleave_solution_choice_of(a, 5), -1);
    cr_expect_eq(cleave_solution_choice_of(a, -1), -1);
    cr_expect(strstr(cleave_solution_text(a), "cost 445"));
    cr_expect(strstr(cleave_solution_json(a), "\"solution\": [0, 0, 2, 1, 0]"));
    cleave_solution_free(a);
    cleave_strategies_free(s);
}

Test(solve_api, saving_writes_the_json)
{
    char *folder = folder_new(), path[4096];
    cleave_strategies *s = open_ok(EXAMPLE);
    cleave_solution *a = NULL;
    cr_assert_eq(cleave_solve(s, NULL, &a, &error), CLEAVE_OK);
    snprintf(path, sizeof path, "%s/a.json", folder);
    cr_assert_eq(cleave_solution_save(a, path, &error), CLEAVE_OK, "%s", error.message);
    char *text = file_text(folder, "a.json", NULL);
    cr_expect_str_eq(text, cleave_solution_json(a));
    free(text);
    cr_expect_eq(cleave_solution_save(a, "/nowhere/a.json", &error), CLEAVE_EIO);
    cr_expect_eq(cleave_solution_save(a, NULL, &error), CLEAVE_EUSAGE);
    cleave_solution_free(a);
    cleave_strategies_free(s);
    folder_free(folder);
}

typedef struct {
    int n;
    double cost, bound, seconds;
} heard;

static void listen(void *ctx, const cleave_solve_news *news)
{
    heard *h = ctx;
    cr_expect(news->method && news->seconds >= h->seconds);
    cr_expect(news->cost <= h->cost && news->bound >= h->bound, "news are never worse");
    *h = (heard){ h->n + 1, news->cost, news->bound, news->seconds };
}

Test(solve_api, news_end_where_the_answer_does)
{
    cleave_strategies *s = open_ok(CHAIN);
    cleave_solution *a = NULL;
    heard h = { .cost = INFINITY };
    cleave_solve_options o = CLEAVE_SOLVE_OPTIONS;
    o.deadline_s = 5;
    o.news = listen;
    o.news_ctx = &h;
    cr_assert_eq(cleave_solve(s, &o, &a, &error), CLEAVE_OK, "%s", error.message);
    cr_expect(h.n > 0);
    cr_expect(fabs(h.cost - atof(cleave_solution_cost(a))) <= 1e-12 * h.cost);
    cr_expect(h.bound <= atof(cleave_solution_bound(a)) * (1 + 1e-12));
    cleave_solution_free(a);
    cleave_strategies_free(s);
}

Test(solve_api, the_same_seed_gives_the_same_answer_with_any_threads)
{
    cleave_strategies *s = open_ok(CHAIN);
    char *first = NULL;
    for (int jobs = 1; jobs <= 3; jobs++) {
        cleave_solution *a = NULL;
        cleave_solve_options o = CLEAVE_SOLVE_OPTIONS;
        o.jobs = jobs;
        o.seed = 3;
        cr_assert_eq(cleave_solve(s, &o, &a, &error), CLEAVE_OK, "%s", error.message);
        char *from = strstr(cleave_solution_json(a), "\"solution\"");
        if (!first)
            first = strdup(from);
        cr_expect_str_eq(from, first, "%d threads", jobs);
        cleave_solution_free(a);
    }
    free(first);
    cleave_strategies_free(s);
}

static int always(void *ctx)
{
    (void)ctx;
    return 1;
}

Test(solve_api, stopping_at_once_gives_an_answer_or_none)
{
    cleave_strategies *s = open_ok(CHAIN);
    cleave_solution *a = NULL;
    cleave_solve_options o = CLEAVE_SOLVE_OPTIONS;
    o.stop = always;
    cleave_status status = cleave_solve(s, &o, &a, &error);
    cr_expect(status == CLEAVE_OK || status == CLEAVE_ECANCELED, "%d", (int)status);
    cr_expect_eq(status == CLEAVE_OK, a != NULL);
    cleave_solution_free(a);
    cleave_strategies_free(s);
}

Test(solve_api, no_answer_is_an_outcome)
{
    char *folder = folder_new(), path[4096];
    static const char text[] = "{\"problem\":{\"nodes\":{\"intervals\":[[0,4],[2,6]],\"costs\":[[1]"
                               ",[3]],\"usages\":[[5],[7]]},"
                               "\"edges\":{\"nodes\":[],\"costs\":[]},\"usage_limit\":9}}";
    file_write(folder, "p.json", text, sizeof text - 1);
    snprintf(path, sizeof path, "%s/p.json", folder);
    cleave_strategies *s = open_ok(path);
    cleave_solution *a = NULL;
    cr_assert_eq(cleave_solve(s, NULL, &a, &error), CLEAVE_NO_PLAN);
    cr_expect(error.status == CLEAVE_NO_PLAN && strstr(error.message, "time 2"), "%s",
              error.message);
    cr_assert_not_null(a);
    cr_expect(!cleave_solution_found(a));
    cr_expect_str_eq(cleave_solution_cost(a), "");
    cr_expect_str_eq(cleave_solution_bound(a), "");
    cr_expect_str_eq(cleave_solution_stopped(a), "infeasible");
    cr_expect(cleave_solution_gap(a) < 0);
    cr_expect_eq(cleave_solution_choice_of(a, 0), -1);
    cleave_solution_free(a);
    cleave_strategies_free(s);
    folder_free(folder);
}

Test(solve_api, wrong_requests_are_refused)
{
    cleave_strategies *s = NULL;
    cleave_solution *a = NULL;
    cleave_solve_options o = CLEAVE_SOLVE_OPTIONS;
    cr_expect_eq(cleave_strategies_open(NULL, NULL, &s, &error), CLEAVE_EUSAGE);
    cr_expect_eq(cleave_strategies_open("/nowhere", NULL, &s, NULL), CLEAVE_EIO);
    cr_expect_null(s);
    s = open_ok(EXAMPLE);
    cr_expect_eq(cleave_solve(NULL, NULL, &a, &error), CLEAVE_EUSAGE);
    cr_expect_eq(cleave_solve(s, NULL, NULL, &error), CLEAVE_EUSAGE);
    o.jobs = -1;
    cr_expect_eq(cleave_solve(s, &o, &a, &error), CLEAVE_EUSAGE);
    cr_expect_str_eq(error.message, "jobs is -1: expected 1 to 1024");
    o = (cleave_solve_options)CLEAVE_SOLVE_OPTIONS;
    o.gap = 1;
    cr_expect_eq(cleave_solve(s, &o, &a, &error), CLEAVE_EUSAGE);
    o = (cleave_solve_options)CLEAVE_SOLVE_OPTIONS;
    o.deadline_s = NAN;
    cr_expect_eq(cleave_solve(s, &o, &a, &error), CLEAVE_EUSAGE);
    cr_expect_null(a);
    cleave_strategies_free(s);
    cleave_strategies_free(NULL);
    cleave_solution_free(NULL);
}

/* Every allocation in turn fails: an error, and nothing is left behind. */
Test(solve_api, survives_running_out_of_memory)
{
    enum { CALLS_MAX = 5000 };
    bool done = false;
    for (long calls = 1; !done; calls++) {
        failing f = { .fail_at = calls };
        cleave_allocator alloc = { failing_resize, &f };
        cleave_strategies *s = NULL;
        cleave_solution *a = NULL;
        cleave_solve_options o = CLEAVE_SOLVE_OPTIONS;
        o.jobs = 1; /* the count is not made for threads */
        cleave_status status = cleave_strategies_open(EXAMPLE, &alloc, &s, NULL);
        if (status == CLEAVE_OK)
            status = cleave_solve(s, &o, &a, NULL);
        done = status == CLEAVE_OK && f.calls < calls;
        cr_assert(status == CLEAVE_OK || status == CLEAVE_ENOMEM, "call %ld: %d", calls,
                  (int)status);
        cleave_solution_free(a);
        cleave_strategies_free(s);
        cr_assert_eq(f.live, 0, "call %ld", calls);
        cr_assert(calls < CALLS_MAX);
    }
}
