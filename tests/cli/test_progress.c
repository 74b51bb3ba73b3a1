/* test_progress.c - the line that shows how far a search is: on a terminal only, and gone after. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

#define SLOW  "--compiler 'sleep 0.25; echo no' --max-candidates 10 --no-output "
#define MODEL TEST_SOURCE_DIR "/tests/data/models/vit_l_16.b16.onnx"

/* Standard error is a terminal; all that it shows goes to standard output. */
static const char terminal[] = "import os, pty, subprocess, sys\n"
                               "try:\n"
                               "    ours, theirs = pty.openpty()\n"
                               "except OSError:\n"
                               "    sys.exit(77)\n"
                               "p = subprocess.Popen(sys.argv[1], shell=True, stderr=theirs,\n"
                               "                     stdout=subprocess.DEVNULL)\n"
                               "os.close(theirs)\n"
                               "seen = b''\n"
                               "try:\n"
                               "    while b := os.read(ours, 4096): seen += b\n"
                               "except OSError: pass\n"
                               "p.wait()\n"
                               "sys.stdout.buffer.write(seen)\n";

static run_result on_terminal(char **ret_folder, const char *arguments)
{
    *ret_folder = folder_new();
    file_write(*ret_folder, "terminal.py", terminal, sizeof terminal - 1);
    file_write(*ret_folder, "run.sh", arguments, strlen(arguments));
    run_result r = run_in(*ret_folder, "python3 terminal.py 'sh run.sh'");
    if (r.code == 77) {
        run_free(&r);
        folder_free(*ret_folder);
        cr_skip_test("no pseudo-terminal here (/dev/pts is not mounted)");
    }
    return r;
}

/* covers: B.007 */
Test(progress, a_terminal_shows_candidates_and_time_left_and_is_clean_afterwards)
{
    char *folder;
    run_result r = on_terminal(&folder, TEST_CLEAVE " plan --devices 4 " SLOW MODEL "\n");

    cr_expect(strstr(r.out, " judged, "), "%s", r.out);
    cr_expect(strstr(r.out, "about "), "%s", r.out);
    cr_expect(strstr(r.out, " s left"), "%s", r.out);
    size_t n = strlen(r.out);
    cr_assert_gt(n, 80);
    cr_expect_eq(r.out[n - 1], '\r', "the cursor is where it was");
    for (size_t i = 2; i < 80; i++)
        cr_expect_eq(r.out[n - i], ' ', "the line is empty: %s", r.out);
    run_free(&r);
    folder_free(folder);
}

Test(progress, the_best_so_far_is_shown_once_there_is_one)
{
    char *folder;
    run_result r = on_terminal(&folder, TEST_CLEAVE
                               " plan --devices 4 --no-output --compiler 'sleep 0.2; echo "
                               "\"{\\\"version\\\":1,\\\"outcome\\\":\\\"fits\\\","
                               "\\\"latency_ms\\\":2.5}\"' --max-candidates 10 " MODEL "\n");
    cr_expect(strstr(r.out, "; best 2.50 ms; "), "%s", r.out);
    run_free(&r);
    folder_free(folder);
}

Test(progress, a_pipe_and_a_quiet_run_show_no_progress)
{
    char *folder;
    run_result r = run_in("/", "%s plan --devices 4 %s%s", TEST_CLEAVE, SLOW, MODEL);
    cr_expect_str_empty(r.err);
    run_free(&r);
    r = on_terminal(&folder, TEST_CLEAVE " plan -q --devices 4 " SLOW MODEL "\n");
    cr_expect_eq(strncmp(r.out, "cleave: no candidate compiled: ", 31), 0, "%s", r.out);
    cr_expect_eq(strchr(r.out, '\n'), r.out + strlen(r.out) - 1, "one line: %s", r.out);
    run_free(&r);
    folder_free(folder);
}
