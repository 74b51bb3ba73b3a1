/* test_annotate.c - cleave annotate, as a user calls it. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

#define MODEL TEST_SOURCE_DIR "/tests/data/models/resnet.static.onnx"

static char *folder;

static void set_up(void)
{
    folder = folder_new();
    run_result r =
        run_in(folder, "cp %s m.onnx && %s plan m.onnx --devices 2 --no-output --plan-out p.json",
               MODEL, TEST_CLEAVE);
    cr_assert_eq(r.code, 0, "%s", r.err);
    run_free(&r);
}

static void tear_down(void) { folder_free(folder); }
TestSuite(cli_annotate, .init = set_up, .fini = tear_down);

/* The IR version of out.onnx, annotated with these options; it must strip to the same bytes. */
static void expect_ir(const char *options, const char *ir)
{
    run_result r = run_in(folder,
                          "%s annotate m.onnx --plan p.json -o out.onnx %s &&"
                          " %s inspect out.onnx --json && %s strip out.onnx -o back.onnx --quiet",
                          TEST_CLEAVE, options, TEST_CLEAVE, TEST_CLEAVE);
    cr_assert_eq(r.code, 0, "%s", r.err);
    cr_expect(strstr(r.out, ir), "with '%s': expected %s in %s", options, ir, r.out);
    cr_expect(file_same(folder, "m.onnx", "back.onnx"));
    run_free(&r);
}

/* covers: A.038 */
Test(cli_annotate, raises_an_old_ir_version_to_11_unless_asked_not_to)
{
    expect_ir("", "\"ir_version\": 11");
    expect_ir("--keep-ir", "\"ir_version\": 8");
}

/* The file may have been edited. */
Test(cli_annotate, says_that_nothing_is_computed_again)
{
    run_result r = run_in(folder, "%s annotate m.onnx --plan p.json -o out.onnx", TEST_CLEAVE);
    cr_expect_str_eq(r.out, "The annotated model is in out.onnx\n"
                            "note: latency and memory are the plan file's, not computed again\n");
    run_free(&r);
}
