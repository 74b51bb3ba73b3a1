/* test_solve.c - cleave solve: what it answers, writes and refuses, and how it is stopped. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/search_command.h"

#define PROBLEMS TEST_SOURCE_DIR "/tests/data/strategy"
#define EXAMPLE  PROBLEMS "/example.json"
#define GRAPH    PROBLEMS "/graph800.json"

/* Two nodes at once, and a limit. */
#define TWO(limit)                                                                                 \
    "{\"problem\": {\"nodes\": {\"intervals\": [[0, 4], [2, 6]], \"costs\": [[1, 2], [3]], "       \
    "\"usages\": [[5, 4], [7]]}, \"edges\": {\"nodes\": [[0, 1]], \"costs\": [[0, 10]]}, "         \
    "\"usage_limit\": " #limit "}}"

static char *folder;

static void write_text(const char *name, const char *text)
{
    file_write(folder, name, text, strlen(text));
}

static void set_up(void)
{
    folder = folder_new();
    write_text("two.json", TWO(12));
    write_text("tight.json", TWO(11));
    write_text("over.json", TWO(10));
}

static void tear_down(void) { folder_free(folder); }

TestSuite(solve, .init = set_up, .fini = tear_down);

static run_result solve(int code, const char *arguments)
{
    return run_cleave(folder, code, "solve", arguments);
}

static void says(int code, const char *arguments, const char *words)
{
    run_says(folder, code, "solve", arguments, words);
}

static void refused(int code, const char *arguments, const char *words)
{
    run_refused(folder, code, "solve", arguments, words);
}

static void is_valid(const char *schema, const char *file) { run_is_valid(folder, schema, file); }

static void is_true(const char *problem, const char *solution)
{
    run_is_true(folder, "solve_judge.py", problem, solution);
}

/* -- what it gives -- */

Test(solve, reports_cost_bound_gap_peak_and_why_it_ended)
{
    run_result r = solve(0, EXAMPLE " --deadline 20");
    cr_expect(strstr(r.out, "example.json: 5 nodes, 5 edges, 9 choices, memory limit 50"), "%s",
              r.out);
    cr_expect(strstr(r.out, "cost 445, proven optimal"), "%s", r.out);
    cr_expect(strstr(r.out, "bound 445"), "%s", r.out);
    cr_expect(strstr(r.out, ", gap 0 %, found by "), "%s", r.out);
    cr_expect(strstr(r.out, "memory peak 50 at time 50, 100.0 % of the limit"), "%s", r.out);
    cr_expect_str_empty(r.err, "news are for terminals: %s", r.err);
    run_free(&r);
}

static void gives(const char *problem, const char *options, const char *words)
{
    char arguments[600];
    snprintf(arguments, sizeof arguments, "%s %s --json --deadline 2 > a.json; cat a.json", problem,
             options);
    says(0, arguments, words);
    is_valid("solve", "a.json");
    is_true(problem, "a.json");
}

Test(solve, prints_one_object_that_is_true)
{
    gives(EXAMPLE, "", "\"cost\": \"445\",");
    gives("two.json", "--gap 50%", "\"usage_limit\": \"12\"");
    gives("tight.json", "--jobs 1", "\"cost\": \"15\",");
    gives(GRAPH, "--seed 7", "\"name\": \"made 2\"");
    gives(PROBLEMS "/chain300.json", "--jobs 3", "\"nodes\": 300,");
}

static search_command command(void)
{
    return (search_command){ folder,     "solve",     "problem", "solve_judge.py",
                             "two.json", "slow.json", "2" };
}

Test(solve, writes_what_it_would_print)
{
    const search_command c = command();
    search_writes_what_it_would_print(&c, EXAMPLE, "cost 445");
}

/* -- no solution -- */

Test(solve, a_limit_that_no_choice_meets_is_said_and_exits_with_3)
{
    run_result r = solve(3, "over.json --json -o o.json");
    cr_expect(strstr(r.out, "\"status\": \"infeasible\""), "%s", r.out);
    cr_expect(strstr(r.out, "\"cost\": null"), "%s", r.out);
    write_text("a.json", r.out);
    run_free(&r);
    is_valid("solve", "a.json");
    r = run_in(folder, "ls o.json");
    cr_expect_neq(r.code, 0, "nothing is written");
    run_free(&r);
    says(3, "over.json", "proven infeasible");
    refused(3, "over.json -q", "time "); /* where, */
    refused(3, "over.json -q", " 1 ");   /* and by how much */
}

/* -- bad input -- */

Test(solve, bad_files_are_refused)
{
    write_text("empty.json", "");
    write_text(
        "ragged.json",
        "{\"problem\": {\"nodes\": {\"intervals\": [[0, 4], [2, 6]], \"costs\": [[1, 2], [3]], "
        "\"usages\": [[5, 4], [7]]}, \"edges\": {\"nodes\": [[0, 1]], \"costs\": [[0, 1, 2]]}}}");
    refused(65, "empty.json", "empty.json: line 1, byte 1: not JSON");
    refused(65, "ragged.json", "ragged.json: problem.edges.costs[0] has 3 entries, expected 2 x 1");
    refused(65, TEST_SOURCE_DIR "/configs/clusters/cpu-2.json", "cpu-2.json has the unknown key");
    refused(74, "nowhere.json", "could not open nowhere.json");
    refused(74, ".", "not a regular file");
    run_result r = run_in(folder, "gzip -k two.json; %s solve two.json.gz", TEST_CLEAVE);
    cr_expect_eq(r.code, 65, "%s", r.err);
    run_free(&r);
    r = run_in(folder, "%s solve ragged.json --json", TEST_CLEAVE);
    cr_expect_eq(r.code, 65);
    write_text("a.json", r.out);
    run_free(&r);
    is_valid("result", "a.json");
}

Test(solve, wrong_requests_are_refused)
{
    const search_command c = command();
    search_refuses_wrong_requests(&c);
    refused(2, "two.json --jobs 0", "--jobs");
    refused(2, "two.json --jobs 1025", "--jobs");
}

/* -- an end before the end -- */

/* slow.json: 3,000 nodes in a dense band with a tight limit, of which nobody proves the best
 * solution. */
static void makes_slow(void)
{
    run_result r = run_in(
        folder, "python3 - <<'E'\n"
                "import json, sys\n"
                "sys.path.insert(0, '" PROBLEMS "')\n"
                "import make\n"
                "json.dump(make.make(5, 3000, [6, 8, 10], 8, 60, 1.05), open('slow.json', 'w'))\n"
                "E");
    cr_assert_eq(r.code, 0, "%s", r.err);
    run_free(&r);
}

Test(solve, a_deadline_gives_the_best_so_far)
{
    const search_command c = command();
    makes_slow();
    search_ends_at_a_deadline(&c);
}

Test(solve, a_signal_gives_the_best_so_far)
{
    const search_command c = command();
    makes_slow();
    search_ends_at_a_signal(&c, "INT", 130);
}
