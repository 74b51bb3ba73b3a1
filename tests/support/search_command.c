#include "support/search_command.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/run.h"

#define STOP "python3 " TEST_SOURCE_DIR "/tests/cli/stop_search.py"

static void expect_true(const search_command *s, const char *problem, const char *solution)
{
    run_is_valid(s->folder, s->command, solution);
    run_is_true(s->folder, s->judge, problem, solution);
}

static void expect_ended(const search_command *s, const char *why)
{
    char want[80];
    run_result r = run_in(s->folder, "cat a.json");
    snprintf(want, sizeof want, "\"status\": \"%s\"", why);
    cr_expect(strstr(r.out, want), "%.800s", r.out);
    run_free(&r);
    expect_true(s, s->slow, "a.json");
}

void search_writes_what_it_would_print(const search_command *s, const char *problem,
                                       const char *words)
{
    char arguments[600];
    snprintf(arguments, sizeof arguments, "%s -o a.json", problem);
    run_says(s->folder, 0, s->command, arguments, words);
    expect_true(s, problem, "a.json");
    snprintf(arguments, sizeof arguments, "-q %s --output b.json", problem);
    run_result r = run_cleave(s->folder, 0, s->command, arguments);
    cr_expect_str_empty(r.out, "%s", r.out);
    run_free(&r);
    expect_true(s, problem, "b.json");
    r = run_in(s->folder, "grep -v seconds a.json > c.json; grep -v seconds b.json | cmp - c.json");
    cr_expect_eq(r.code, 0, "the same solution twice: %s%s", r.out, r.err);
    run_free(&r);
}

void search_refuses_wrong_requests(const search_command *s)
{
    static const struct {
        int code;
        const char *options, *words;
    } cases[] = {
        { 2, "--deadline 0", "seconds" },
        { 2, "--deadline=-1", "seconds" },
        { 2, "--deadline soon", "seconds" },
        { 2, "--gap 1", "from 0 to less than 1" },
        { 2, "--gap=-0.1", "from 0 to less than 1" },
        { 2, "--gap 1%%", "from 0 to less than 1" },
        { 2, "--seed=-1", "--seed" },
        { 2, "--seed 1.5", "--seed" },
        { 2, "--sed 1", "did you mean '--seed'" },
        { 74, "-o nowhere/a.json", "nowhere" },
    };
    char arguments[200], words[100];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(arguments, sizeof arguments, "%s %s", s->small, cases[i].options);
        run_refused(s->folder, cases[i].code, s->command, arguments, cases[i].words);
    }
    snprintf(arguments, sizeof arguments, "%s -o %s", s->small, s->small);
    run_refused(s->folder, 2, s->command, arguments, s->small);
    snprintf(words, sizeof words, "no %s is given", s->noun);
    run_refused(s->folder, 2, s->command, "", words);
    snprintf(arguments, sizeof arguments, "%s %s", s->small, s->small);
    snprintf(words, sizeof words, "one %s too many", s->noun);
    run_refused(s->folder, 2, s->command, arguments, words);
}

void search_ends_at_a_deadline(const search_command *s)
{
    char arguments[200];
    snprintf(arguments, sizeof arguments, "%s --deadline %s --json > a.json", s->slow, s->deadline);
    run_result r = run_cleave(s->folder, 0, s->command, arguments);
    run_free(&r);
    expect_ended(s, "deadline");
}

void search_ends_at_a_signal(const search_command *s, const char *signal, int code)
{
    run_result r =
        run_in(s->folder, STOP " %s %s %s %s -o a.json", signal, TEST_CLEAVE, s->command, s->slow);
    cr_expect_eq(r.code, code, "%d: %s", r.code, r.err);
    cr_expect(strstr(r.out, "stopped"), "%s", r.out);
    run_free(&r);
    expect_ended(s, "stopped");
    r = run_in(s->folder, STOP " %s %s %s %s --json > a.json", signal, TEST_CLEAVE, s->command,
               s->slow);
    cr_expect_eq(r.code, code, "%d: %s", r.code, r.err);
    run_free(&r);
    expect_ended(s, "stopped");
}
