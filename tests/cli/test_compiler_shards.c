/* test_compiler_shards.c - a compiler that judges plans which split tensors, and copies. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/nets.h"
#include "support/run.h"

static char *folder;

/* Says 1 ms of plans whose stages have $1 devices and of which there are $2 copies, 8 ms of others;
 * each call is a line of calls: devices of a stage, copies. */
static const char judge[] =
    "plan=$(tr -d ' \\n' <\"$CLEAVE_PLAN\")\n"
    "n=1\n"
    "for size in $(echo \"$plan\" | sed -n 's/.*\"axes\":\\[\\([^]]*\\)\\].*/\\1/p' |\n"
    "              grep -o '\"size\":[0-9]*' | cut -d: -f2); do n=$((n * size)); done\n"
    "copies=$(echo \"$plan\" | sed -n 's/.*\"copies\":\\[\\(\\[[^\"]*\\)\\]\\],.*/\\1/p' |\n"
    "         grep -o '\\[' | grep -c .)\n"
    "[ $copies = 0 ] && copies=1\n"
    "grep -aq cleave \"$CLEAVE_MODEL\" || exit 9\n" /* it is annotated */
    "echo $n $copies >>\"$CLEAVE_CALLER_DIR/calls\"\n"
    "[ \"$n $copies\" = \"$1 $2\" ] && ms=1 || ms=8\n"
    "echo \"{\\\"version\\\":1,\\\"outcome\\\":\\\"fits\\\",\\\"latency_ms\\\":$ms}\"\n";

static void set_up(void)
{
    char path[4096];
    folder = folder_new();
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    net_llama(&net_small_decoder, path);
    file_write(folder, "judge.sh", judge, sizeof judge - 1);
}

static void tear_down(void) { folder_free(folder); }

TestSuite(compiler_shards, .init = set_up, .fini = tear_down, .timeout = 300);

/* Plans with that judge into p.json. */
static run_result planned(const char *options, const char *wanted)
{
    return run_in(folder,
                  "rm -f calls; %s plan --devices 8 %s --no-output --plan-out p.json --compiler "
                  "\"sh $PWD/judge.sh %s\" m.onnx",
                  TEST_CLEAVE, options, wanted);
}

static void expect_calls(const char *command, const char *says)
{
    run_result r = run_in(folder, "%s", command);
    cr_expect_str_eq(r.out, says, "%s: %s%s", command, r.out, r.err);
    run_free(&r);
}

static void expect_plan(const char *options, const char *wanted, const char *says)
{
    run_result r = planned(options, wanted);
    cr_expect_eq(r.code, 0, "%s%s", r.out, r.err);
    cr_expect(strstr(r.out, says), "'%s' in %s", says, r.out);
    run_free(&r);
}

Test(compiler_shards, the_form_is_the_one_that_the_compiler_finds_fastest)
{
    expect_plan("", "8 1", "each stage has 8 devices");
    expect_plan("", "8 1", "latency     1.00 ms");
    expect_plan("", "4 1", "each stage has 4 devices");
    expect_plan("", "1 1", "latency     1.00 ms");
    expect_plan("--mesh 2x2", "4 1", "each stage has 4 devices");
    expect_calls("sort -u calls", "4 1\n");
}

/* Times are of one copy. */
Test(compiler_shards, copies_are_judged_one_by_one)
{
    expect_plan("--objective throughput", "1 8", "8000 runs a second of 8 copies");
    expect_plan("--objective throughput", "2 4", "4000 runs a second of 4 copies");
}

Test(compiler_shards, the_plan_is_the_same_at_any_number_of_jobs)
{
    for (int jobs = 1; jobs <= 4; jobs += 3) {
        char options[64];
        snprintf(options, sizeof options, "--jobs %d --deadline 1000", jobs);
        expect_plan(options, "4 1", "each stage has 4 devices");
        expect_calls(jobs == 1 ? "cp p.json first.json" : "cmp p.json first.json", "");
    }
}

Test(compiler_shards, no_more_candidates_are_judged_than_are_allowed)
{
    expect_plan("--max-candidates 2", "8 1", "2 candidates judged by sh");
    expect_calls("grep -c . calls", "2\n");
}

Test(compiler_shards, whole_operators_are_judged_where_they_are_asked_for)
{
    expect_plan("--max-tp 1", "1 1", "latency     1.00 ms");
    expect_plan("--first-fit", "1 1", "latency     1.00 ms");
    expect_calls("sort -u calls", "1 1\n");
}

Test(compiler_shards, what_does_not_compile_or_fit_is_no_plan)
{
    run_result r = run_in(folder,
                          "%s plan --devices 8 --mesh 8 --compiler 'echo no licence >&2; false' "
                          "m.onnx",
                          TEST_CLEAVE);
    cr_expect_eq(r.code, 3, "%s%s", r.out, r.err);
    cr_expect(strstr(r.out, "exit status 1: no licence"), "%s", r.out);
    run_free(&r);
    r = run_in(folder,
               "%s plan --devices 8 --mesh 8 --compiler 'echo \"{\\\"version\\\":1,"
               "\\\"outcome\\\":\\\"oom\\\",\\\"device\\\":3,\\\"bytes\\\":2048}\"' m.onnx",
               TEST_CLEAVE);
    cr_expect_eq(r.code, 3, "%s%s", r.out, r.err);
    cr_expect(strstr(r.out, "no plan fits: gpu3 lacks 2.000 KiB"), "%s", r.out);
    cr_expect_eq(folder_count(folder), 2, "something was written");
    run_free(&r);
}
