/* test_signals.c - Ctrl-C ends a command at once and leaves nothing behind. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

#define MODEL TEST_SOURCE_DIR "/tests/data/models/vit_l_16.b16.onnx"

static char *folder;

#define STOP "python3 " TEST_SOURCE_DIR "/tests/support/stop.py"

static void set_up(void) { folder = folder_new(); }

static void tear_down(void) { folder_free(folder); }

TestSuite(signals, .init = set_up, .fini = tear_down);

/* signals, when: as stop.py has them. The folder holds n_files things afterwards. */
static void stopped(const char *signals, const char *when, const char *arguments, int code,
                    int n_files)
{
    run_result r =
        run_in(folder, STOP " 15 %s \"%s\" %s %s", signals, when, TEST_CLEAVE, arguments);
    cr_expect_eq(r.code, code, "'%s' gave %d: %s%s", arguments, r.code, r.out, r.err);
    cr_expect(strstr(r.err, "stopped by "), "'%s' said: %s", arguments, r.err);
    cr_expect(strstr(r.err, "; nothing was written\n"), "'%s' said: %s", arguments, r.err);
    cr_expect_eq(folder_count(folder), n_files, "'%s' left files", arguments);
    run_free(&r);
}

#define SLEEPS       "sleeps()"
#define SLOW(signal) "plan --compiler " signal " --devices 2 " MODEL

/* Without the library's stop callback it would wait for the compilers' end.
 * covers: B.054 B.057 */
Test(signals, external_compilers_are_ended_with_the_command)
{
    stopped("INT", SLEEPS, SLOW("'sleep 30'"), 130, 1);
    stopped("TERM", SLEEPS, SLOW("'sleep 30'"), 143, 1);
    stopped("HUP", SLEEPS, SLOW("'sleep 30; true'"), 129, 1);
    stopped("INT+INT", SLEEPS, SLOW("'sleep 30'") " --jobs 4", 130, 1);
}

Test(signals, a_compiler_that_does_not_want_to_end_is_killed)
{
    stopped("INT", SLEEPS, SLOW("'trap \\\"\\\" TERM; sleep 30; true'"), 130, 1);
}

/* Its compiler left the process group. Nobody is asked when the command is killed.
 * The shell waits for a process to be there, then for none. */
Test(signals, compilers_are_ended_even_where_the_command_is_killed)
{
    static const char *const signals[] = { "KILL", "HUP", "TERM" };
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        run_result r =
            run_in(folder,
                   "rm -f pid; P=$PWD/pid; export P; %s plan -q --devices 2 --no-output --compiler "
                   "'setsid sh -c \"echo \\$\\$ >\\$P; sleep 1000; :\"' %s & pid=$!\n"
                   "while [ ! -s pid ]; do sleep .02; done\n"
                   "read it <pid; kill -0 $it || exit 1\n"
                   "kill -%s $pid; wait $pid\n"
                   "for n in $(seq 500); do case $(ps -o stat= -p $it) in ''|Z*) exit 0;; esac; "
                   "sleep .02; "
                   "done; exit 2",
                   TEST_CLEAVE, MODEL, signals[i]);
        cr_expect_eq(r.code, 0, "%s: %d %s", signals[i], r.code, r.err);
        run_free(&r);
    }
}

/* The file is 1 GiB, so the command is writing when the temporary file is seen. */
Test(signals, half_a_model_is_removed)
{
    run_result r = run_in(folder,
                          "python3 %s/tests/cli/large_model.py l.onnx && %s plan --devices 1 "
                          "--no-output --plan-out p.json -q l.onnx",
                          TEST_SOURCE_DIR, TEST_CLEAVE);
    cr_assert_eq(r.code, 0, "%s%s", r.out, r.err);
    run_free(&r);
    stopped("INT", "glob.glob('.*.tmp')", "annotate --plan p.json -o o.onnx l.onnx", 130, 3);
    stopped("TERM+TERM", "glob.glob('.*.tmp')", "annotate --plan p.json -o o.onnx l.onnx", 143, 3);
    stopped("INT+INT", "any(os.path.getsize(f) > 1 << 20 for f in glob.glob('.*.tmp'))",
            "plan -o o.onnx l.onnx", 130, 3);
    stopped("QUIT", "glob.glob('.*.tmp')", "annotate --plan p.json -o o.onnx l.onnx", 131, 3);
}

/* Nobody reads the pipe, so the command waits when it opens it. */
Test(signals, an_output_that_is_a_pipe_is_not_waited_for)
{
    run_result r = run_in(folder, "mkfifo pipe");
    run_free(&r);
    stopped("TERM", "time.sleep(1) or True", "plan -q -o pipe " MODEL, 143, 2);
}

/* It waits for a reader of the plan before the model is there. */
Test(signals, a_plan_that_nobody_reads_leaves_no_model)
{
    run_result r = run_in(folder, "mkfifo pipe");
    run_free(&r);
    stopped("INT", "time.sleep(1) or True", "plan -q -o o.onnx --plan-out pipe " MODEL, 130, 2);
}

/* SIGXFSZ would end the command with its temporary file there. */
Test(signals, a_file_that_may_not_grow_is_an_error)
{
    run_result r = run_in(folder, "ulimit -f 20; %s plan -q -o o.onnx %s", TEST_CLEAVE, MODEL);
    cr_expect_eq(r.code, 74, "%d: %s", r.code, r.err);
    cr_expect(strstr(r.err, "cannot write o.onnx: File too large"), "%s", r.err);
    cr_expect_eq(folder_count(folder), 0);
    run_free(&r);
}

Test(signals, with_json_a_stop_is_an_error_object)
{
    run_result r =
        run_in(folder, STOP " 15 INT \"%s\" %s %s --json", SLEEPS, TEST_CLEAVE, SLOW("'sleep 30'"));
    cr_expect_eq(r.code, 130, "%s%s", r.out, r.err);
    cr_expect(strstr(r.out, "\"code\": \"canceled\""), "%s", r.out);
    run_free(&r);
}
