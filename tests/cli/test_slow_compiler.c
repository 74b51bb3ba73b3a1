/* test_slow_compiler.c - the search goes on while an external compiler runs: what comes of it is
 * the same at any number of jobs, and nothing is left running. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

#define MODEL TEST_SOURCE_DIR "/tests/data/models/resnet.static.onnx"

static char *folder;

static void set_up(void) { folder = folder_new(); }
static void tear_down(void) { folder_free(folder); }
TestSuite(slow_compiler, .init = set_up, .fini = tear_down);

/* The compiler is a script; JOBS.json is the plan. */
static void plan(const char *options, int jobs, const char *script)
{
    file_write(folder, "judge.sh", script, strlen(script));
    run_result r = run_in(folder,
                          "%s plan --devices 3 %s --jobs %d --plan-out %d.json --no-output "
                          "--compiler 'sh \"$CLEAVE_CALLER_DIR/judge.sh\"' %s",
                          TEST_CLEAVE, options, jobs, jobs, MODEL);
    cr_assert_eq(r.code, 0, "%s --jobs %d: %s%s", options, jobs, r.out, r.err);
    run_free(&r);
}

/* Answers and lengths (up to 0.1 s) have nothing to do with each other: neither the plan nor what
 * was judged depends on who ends first. */
Test(slow_compiler, of_random_lengths_gives_the_same_bytes_at_any_number_of_jobs)
{
    static const char judge[] =
        "n=$(cksum <\"$CLEAVE_PLAN\" | cut -d' ' -f1)\n"
        "sleep 0.0$(((n + CLEAVE_WORKER * 77) % 90 + 10))\n"
        "[ $((n % 5)) = 0 ] && echo '{\"version\":1,\"outcome\":\"oom\",\"device\":1,\"bytes\":99}'"
        " && exit\n"
        "echo '{\"version\":1,\"outcome\":\"fits\",\"latency_ms\":'$((n % 1000 + 1))'}'\n";
    static const char *const ways[] = { "", "--objective throughput", "--search documented",
                                        "--first-fit", "--max-candidates 11" };
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        for (int jobs = 1; jobs <= 16; jobs *= 4)
            plan(ways[w], jobs, judge);
        cr_expect(file_same(folder, "1.json", "4.json"), "%s", ways[w]);
        cr_expect(file_same(folder, "1.json", "16.json"), "%s", ways[w]);
    }
}

/* Nor on who fails or crashes at once, if others fit. */
Test(slow_compiler, that_often_fails_at_once_gives_the_same_bytes)
{
    static const char judge[] =
        "n=$(cksum <\"$CLEAVE_PLAN\" | cut -d' ' -f1)\n"
        "case $((n % 4)) in 0) exit 1;; 1) kill -9 $$;; 2) sleep 0.05;; esac\n"
        "echo '{\"version\":1,\"outcome\":\"fits\",\"latency_ms\":'$((n % 1000 + 1))'}'\n";
    for (int jobs = 1; jobs <= 4; jobs *= 4)
        plan("", jobs, judge);
    cr_expect(file_same(folder, "1.json", "4.json"));
}

/* Everything but less memory for workspace is too much: the last candidates are kept for that, also
 * where all that are begun before the first verdict could use them up. */
Test(slow_compiler, keeps_candidates_for_lower_proportions)
{
    static const char judge[] =
        "grep -q available_memory_proportion \"$CLEAVE_OPTIONS\" &&\n"
        "echo '{\"version\":1,\"outcome\":\"fits\",\"latency_ms\":3}' ||\n"
        "echo '{\"version\":1,\"outcome\":\"oom\",\"device\":1,\"bytes\":99}'\n";
    for (int jobs = 1; jobs <= 4; jobs *= 4) {
        plan("--max-tp 1 --max-candidates 3", jobs, judge);
        plan("--max-tp 1 --max-candidates 20", jobs, judge);
    }
    cr_expect(file_same(folder, "1.json", "4.json"));
}

/* What the search needs no more is ended before the command ends, with all that it began. */
Test(slow_compiler, leaves_nothing_running_that_was_begun_in_vain)
{
    static const char judge[] =
        "echo $$ >>\"$CLEAVE_CALLER_DIR/begun\"\n"
        "setsid sleep 1000 >/dev/null 2>&1 & echo $! >>\"$CLEAVE_CALLER_DIR/begun\"\n"
        "sleep 0.2\n"
        "echo '{\"version\":1,\"outcome\":\"fits\",\"latency_ms\":3}'\n";
    static const char *const ways[] = { "--first-fit", "--max-candidates 9" };
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        plan(ways[w], 4, judge);
        run_result r = run_in(folder, "[ -s begun ] || exit 9\n"
                                      "while read it; do case $(ps -o stat= -p $it) in ''|Z*) ;; "
                                      "*) exit 8;; esac; done <begun; rm begun");
        cr_expect_eq(r.code, 0, "%s: %d %s", ways[w], r.code, r.err);
        run_free(&r);
    }
}
