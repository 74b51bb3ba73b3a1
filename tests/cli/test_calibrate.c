/* test_calibrate.c - cleave calibrate, with a runner that is a small script. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/onnx_builder.h"
#include "support/run.h"

static char *folder;

/* Answers like cleave-run: as many models as the manifest has, each call slower than the last. Of
 * those that run at once, each run takes longer than the one before. */
static const char *const good =
    "#!/bin/sh\n"
    "[ \"$1 $2\" = 'run .' ] || exit 9\n"
    "n=$(grep -c '\"file\"' manifest.json)\n"
    "for i in $(seq 0 $((n - 1))); do [ -s $i.onnx ] || exit 8; done\n"
    "echo x >> \"$CALLS\"\n"
    "awk -v n=\"$n\" -v c=\"$(wc -l < \"$CALLS\")\" 'BEGIN { "
    "printf \"{\\\"runtime\\\": \\\"7.7.7\\\", \\\"models\\\": [\"; "
    "for (i = 0; i < n; i++) printf \"%s{\\\"cpu_runs_ms\\\": [9, %g]}\", i ? \", \" : \"\", "
    "0.01 * (i + 1) * c; printf \"], \\\"pipeline\\\": {\\\"ends_ms\\\": [9\"; "
    "for (i = 1; i < 30; i++) printf \", %g\", 9 + i * i * c / 10; "
    "print \"]}}\" }'\n";

static void write_script(const char *text)
{
    char path[4096];

    file_write(folder, "runner", text, strlen(text));
    snprintf(path, sizeof path, "%s/runner", folder);
    cr_assert_eq(chmod(path, 0755), 0);
}

static void start(void)
{
    char path[4096];

    folder = folder_new();
    snprintf(path, sizeof path, "%s/tmp", folder);
    cr_assert_eq(mkdir(path, 0700), 0);
    setenv("TMPDIR", path, 1);
    snprintf(path, sizeof path, "%s/calls", folder);
    setenv("CALLS", path, 1);
    write_script(good);
}
static void end(void) { folder_free(folder); }
TestSuite(calibrate, .init = start, .fini = end);

static int left_over(void)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/tmp", folder);
    return folder_count(path);
}

Test(calibrate, writes_a_cluster_that_plans_are_made_for)
{
    run_says(folder, 0, "calibrate", "--runner ./runner --devices 2 -o cpu.json",
             "cpu.json: 2 devices, fitted to ");
    cr_expect_eq(left_over(), 0);
    char *text = file_text(folder, "cpu.json", NULL);
    cr_expect(strstr(text, "measured by cleave calibrate on ONNX Runtime 7.7.7"));
    free(text);
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "64,64");
    onnx_weight(g, "w", 1, "64,64");
    onnx_node(g, "MatMul", "mm", "x,w", "h");
    onnx_node(g, "Relu", "relu", "h", "y");
    onnx_output(g, "y", 1, "64,64");
    char path[4096];
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
    run_says(folder, 0, "plan", "m.onnx --cluster cpu.json --json --no-output", "calibrated-cpu");
}

/* Nothing but what was measured goes into the file. */
Test(calibrate, the_same_measurements_give_the_same_bytes)
{
    run_says(folder, 0, "calibrate", "--runner ./runner -o a.json -q", "");
    char path[4096];
    snprintf(path, sizeof path, "%s/calls", folder);
    cr_assert_eq(remove(path), 0);
    run_says(folder, 0, "calibrate", "--runner \"$PWD/runner\" -o b.json -q", "");
    cr_expect(file_same(folder, "a.json", "b.json"));
}

Test(calibrate, reports_what_was_fitted_as_json)
{
    run_result r =
        run_cleave(folder, 0, "calibrate", "--runner ./runner --devices 3 -o c.json --json");
    cr_expect(strstr(r.out, "\"runtime\": \"7.7.7\"") && strstr(r.out, "\"devices\": 3") &&
                  strstr(r.out, "\"matrix_flops_per_s\": "),
              "%s", r.out);
    file_write(folder, "measured.json", r.out, strlen(r.out));
    run_is_valid(folder, "calibrate", "measured.json");
    run_free(&r);
}

static void bad(const char *script, int code, const char *words)
{
    char path[4096];

    write_script(script);
    run_refused(folder, code, "calibrate", "--runner ./runner -o out.json", words);
    snprintf(path, sizeof path, "%s/out.json", folder);
    cr_expect_null(file_text(folder, "out.json", NULL));
    cr_expect_eq(left_over(), 0, "a folder is left");
}

#define ANSWER(models) "#!/bin/sh\necho '{\"runtime\": \"1\", \"models\": " models "}'\n"

Test(calibrate, bad_answers_of_the_runner)
{
    bad("#!/bin/sh\necho ouch >&2\nexit 3\n", 74, "ended with exit code 3: ouch");
    bad("#!/bin/sh\nkill -9 $$\n", 74, "was ended by signal 9");
    bad("#!/bin/sh\necho no\n", 65, "the answer of '");
    bad("#!/bin/sh\n", 65, "the answer of '");
    bad("#!/bin/sh\necho '[]'\n", 65, "the answer of '");
    bad("#!/bin/sh\necho '{\"models\": []}'\n", 65, "runtime");
    bad(ANSWER("[]"), 65, "models has 0 elements, expected one for each of");
    bad("#!/bin/sh\nsleep 0 &\nexit 127\n", 74, "exit code 127");
}

/* A model with the wrong times, among as many as were asked for; and the ends of runs. */
static void bad_answer(const char *model, const char *ends, const char *words)
{
    char script[1024];

    snprintf(script, sizeof script,
             "#!/bin/sh\nn=$(grep -c '\"file\"' manifest.json)\n"
             "awk -v n=\"$n\" 'BEGIN { printf \"{\\\"runtime\\\": \\\"1\\\", \\\"models\\\": [\"; "
             "for (i = 0; i < n; i++) printf \"%%s{%s}\", i ? \", \" : \"\"; print \"]%s}\" }'\n",
             model, ends);
    bad(script, 65, words);
}
static void bad_times(const char *model, const char *words) { bad_answer(model, "", words); }

Test(calibrate, bad_times_of_the_runner)
{
    bad_times("", "models[0] has no key 'cpu_runs_ms'");
    bad_times("\\\"cpu_runs_ms\\\": []", "models[0].cpu_runs_ms is empty");
    bad_times("\\\"cpu_runs_ms\\\": [-1]", "models[0].cpu_runs_ms[0]");
    bad_times("\\\"cpu_runs_ms\\\": [\\\"x\\\"]", "models[0].cpu_runs_ms[0]");
    bad_times("\\\"cpu_runs_ms\\\": 4", "models[0].cpu_runs_ms");
}

#define TIMES    "\\\"cpu_runs_ms\\\": [1]"
#define ENDS(of) ", \\\"pipeline\\\": {\\\"ends_ms\\\": [" of "]}"

Test(calibrate, bad_ends_of_the_runner)
{
    bad_answer(TIMES, "", "has no key 'pipeline'");
    bad_answer(TIMES, ENDS("1,2,3,4,5,6,7,8,9,10"),
               "pipeline.ends_ms has 10 elements, expected more than 10");
    bad_answer(TIMES, ENDS("1,2,3,4,5,-6,7,8,9,10,11"), "pipeline.ends_ms[5]");
    bad_answer(TIMES, ENDS("11,10,9,8,7,6,5,4,3,2,1"), "pipeline.ends_ms[1] is 10");
    /* every size takes equally long */
    bad_answer(TIMES, ENDS("1,2,3,4,5,6,7,8,9,10,11"), "too busy to measure on");
}

/* With the true runner, where it was built: it lies beside the command and is found there. */
Test(calibrate, on_the_runtime_itself)
{
    char runner[4096];

    snprintf(runner, sizeof runner, "%s-run", TEST_CLEAVE);
    if (access(runner, X_OK) != 0)
        cr_skip_test("cleave-run is not built");
    run_result r = run_cleave(folder, 0, "calibrate", "-o cpu.json --devices 2 --json");
    cr_expect(strstr(r.out, "\"operators\": 46"), "%s", r.out);
    run_free(&r);
    cr_expect_eq(left_over(), 0);
    char *text = file_text(folder, "cpu.json", NULL);
    cr_expect(strstr(text, "\"MatMul\"") && strstr(text, "\"Softmax\""));
    free(text);
}

Test(calibrate, wrong_requests)
{
    run_refused(folder, 2, "calibrate", "--runner ./runner", "no file is given, expected -o FILE");
    run_refused(folder, 2, "calibrate", "x -o out.json", "'x' is one too many");
    run_refused(folder, 2, "calibrate", "-o out.json --devices 0", "--devices");
    run_refused(folder, 74, "calibrate", "--runner ./runner -o nowhere/out.json", "nowhere");
    run_refused(folder, 74, "calibrate", "--runner ./not-there -o out.json", "not-there");
    run_refused(folder, 74, "calibrate", "--runner \"it's not\" -o out.json", "it's not");
}

/* -- measured times -- */

#define SAMPLE TEST_SOURCE_DIR "/tests/data/measured/h100_sxm_sample"

Test(calibrate, fits_measured_times)
{
    run_says(folder, 0, "calibrate",
             "--measured " SAMPLE " --device h100-sxm --source there --date 2026-08-21 "
             "--library lib -o m.json",
             "errors on every fifth row, of tables that were fitted without it");
    run_says(folder, 0, "calibrate", "--measured " SAMPLE " --device h100-sxm -o n.json -q", "");
    char *text = file_text(folder, "m.json", NULL);
    cr_assert_not_null(text);
    cr_expect(strstr(text, "\"source\": \"there\"") && strstr(text, "\"date\": \"2026-08-21\""));
    cr_expect(strstr(text,
                     "{\"kernel\":\"product\",\"dtype\":\"BFLOAT16\",\"weights\":\"BFLOAT16\","
                     "\"library\":\"lib\",\"axes\":{\"m\":["));
    cr_expect(strstr(text, "\"library\":\"nccl 2.29.2\""));
    free(text);
}

/* Products of one row are multiplied by another kernel, a tenth as long; or all alike. */
static void write_products(bool one_row_is_fast)
{
    static const int sizes[] = { 64, 256, 1024 };
    char text[16384];
    int n = snprintf(text, sizeof text, "dtype,m,n,k,us\n");
    for (int m = 1; m <= 32768; m *= 2)
        for (int i = 0; i < 9; i++)
            n += snprintf(text + n, sizeof text - (size_t)n, "bfloat16,%d,%d,%d,%d\n", m,
                          sizes[i / 3], sizes[i % 3],
                          (one_row_is_fast && m == 1 ? 3 : 30) + m / 256 + i);
    file_write(folder, "gemm.csv", text, (size_t)n);
}

static void expect_m_axis(const char *begins)
{
    run_says(folder, 0, "calibrate", "--measured . --device h200 -o m.json -q", "");
    char *text = file_text(folder, "m.json", NULL);
    cr_assert_not_null(text);
    cr_expect(strstr(text, begins), "expected %s in %.900s", begins, text);
    free(text);
}

Test(calibrate, products_that_differ_from_size_to_size_get_more_knots)
{
    write_products(false);
    expect_m_axis("\"axes\":{\"m\":[1,16,64,128,");
    write_products(true);
    expect_m_axis("\"axes\":{\"m\":[1,2,4,8,16,32,64,128,");
}

Test(calibrate, the_same_measured_times_give_the_same_bytes)
{
    run_says(folder, 0, "calibrate", "--measured " SAMPLE " --device h100-sxm -o a.json -q", "");
    run_says(folder, 0, "calibrate", "--measured " SAMPLE " --device h100-sxm -o b.json -q", "");
    cr_expect(file_same(folder, "a.json", "b.json"));
}

/* The file in the tree is what the times beside it give, and fitting them once more changes
 * nothing: other tables stay as they are, the same ones are replaced. */
#define TORCH TEST_SOURCE_DIR "/tests/data/measured/h100_sxm_torch"

Test(calibrate, tables_of_other_kernels_are_kept)
{
    run_says(folder, 0, "calibrate",
             "--measured " TORCH
             "/convolutions --device h100-sxm --keep --date 2026-11-27 --source "
             "'one H100 SXM timed with PyTorch 2.11.0: tests/data/measured/h100_sxm_torch' "
             "--library 'cuDNN 9.19' -o m.json -q",
             "");
    char *text = file_text(folder, "m.json", NULL),
         *tree = file_text(TEST_SOURCE_DIR, "configs/measured/h100-sxm.json", NULL);
    cr_assert(text && tree);
    cr_expect_eq(strcmp(text, tree), 0);
    free(text);
    free(tree);
    run_refused(folder, 2, "calibrate", "--measured " TORCH "/products --device mi300x --keep",
                "the device 'mi300x' has no measured times");
    run_refused(folder, 2, "calibrate", "--score " SAMPLE " --device h200 --keep",
                "--keep does not go with the other options");
}

Test(calibrate, holds_tables_against_measured_times)
{
    run_says(folder, 0, "calibrate", "--score " SAMPLE " --device h100-sxm",
             "errors on all rows that a table is for");
    run_result r =
        run_cleave(folder, 0, "calibrate", "--score " SAMPLE " --device h100-sxm --json");
    cr_expect(strstr(r.out, "\"fitted\": false") && strstr(r.out, "\"median\": "), "%s", r.out);
    file_write(folder, "score.json", r.out, strlen(r.out));
    run_is_valid(folder, "measured-fit", "score.json");
    run_free(&r);
}

Test(calibrate, wrong_requests_of_measured_times)
{
    run_refused(folder, 2, "calibrate", "--measured " SAMPLE,
                "no device is given, expected --device");
    run_refused(folder, 2, "calibrate", "--measured a --score b --device h200",
                "expected one of them");
    run_refused(folder, 2, "calibrate", "--score a --device h200 -o x",
                "--output does not go with the other options");
    run_refused(folder, 2, "calibrate", "-o x --device h200", "--device does not go with");
    run_refused(folder, 2, "calibrate", "--measured a --device h200 --runner x",
                "--runner does not go");
    run_refused(folder, 2, "calibrate", "--measured " SAMPLE " --device h100",
                "'h100' is no known device; did you mean 'h200'?");
    run_refused(folder, 2, "calibrate", "--score " SAMPLE " --device mi300x",
                "the device 'mi300x' has no measured times");
    run_refused(folder, 74, "calibrate", "--measured nowhere --device h200", "nowhere");
    run_refused(folder, 65, "calibrate", "--measured . --device h200",
                "has no measured times, expected");
}

Test(calibrate, bad_measured_times)
{
    const char *text = "dtype,m,n,k,us\nbfloat16,1,2,3,4\nbfloat16,1,2,x,4\n";
    file_write(folder, "gemm.csv", text, strlen(text));
    run_refused(folder, 65, "calibrate", "--measured . --device h200 -o out.json",
                "./gemm.csv:3: k is 'x', expected a whole number from 1 to 10^12");
    cr_expect_null(file_text(folder, "out.json", NULL));
}
