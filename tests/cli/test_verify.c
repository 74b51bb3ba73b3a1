/* test_verify.c - cleave verify: what it proves, what it says where models cannot be run, and what
 * it makes of outputs.
 *
 * A runner of a few lines of shell stands for cleave-run where outputs have to be wrong; the real
 * one is used where it was built.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/onnx_builder.h"
#include "support/run.h"

#define RUNNER TEST_BINARY_DIR "/cleave-run"

static char *folder;

/* (x W) V: columns, then rows. */
static void write_model(const char *name, const char *weights)
{
    char path[600];
    float numbers[96];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    for (int i = 0; i < 96; i++)
        numbers[i] = (float)(i % 7) - 3;
    onnx_input(g, "x", 1, "batch,6");
    if (weights) {
        onnx_weight_external(g, "w", 1, "6,8", weights, 0, -1);
        onnx_weight_external(g, "v", 1, "8,12", weights, -1, -1);
    } else {
        onnx_weight_floats(g, "w", "6,8", numbers);
        onnx_weight_floats(g, "v", "8,12", numbers);
    }
    onnx_node(g, "MatMul", "up", "x,w", "h");
    onnx_node(g, "Relu", "act", "h", "r");
    onnx_node(g, "MatMul", "down", "r,v", "y");
    onnx_output(g, "y", 1, "batch,12");
    snprintf(path, sizeof path, "%s/%s", folder, name);
    onnx_write(m, path);
    onnx_free(m);
}

static const char rules[] = "{\"rules\": [{\"split\": \"up\", \"factor\": \"n\", \"over\": \"tp\"},"
                            "{\"split\": \"down\", \"factor\": \"k\", \"over\": \"tp\"}]}";

static const char less_rules[] =
    "{\"rules\": [{\"split\": \"conv\", \"factor\": \"c\", \"over\": \"tp\"},"
    "{\"split\": \"same\", \"factor\": \"m\", \"over\": \"tp\"}]}";

static void make_plan(const char *model, const char *plan)
{
    run_result r =
        run_in(folder,
               "%s plan %s --bind batch=4 --devices 2 --mesh tp=2 --constraints rules.json "
               "--no-output --plan-out %s -q",
               TEST_CLEAVE, model, plan);
    cr_assert_eq(r.code, 0, "%s", r.err);
    run_free(&r);
}

static void set_up(void)
{
    folder = folder_new();
    write_model("m.onnx", NULL);
    file_write(folder, "rules.json", rules, strlen(rules));
    make_plan("m.onnx", "p.json");
}

static void tear_down(void) { folder_free(folder); }

TestSuite(verify, .init = set_up, .fini = tear_down, .timeout = 300);

static void says(int code, const char *arguments, const char *words)
{
    run_says(folder, code, "verify", arguments, words);
}

static void refused(int code, const char *arguments, const char *words)
{
    run_refused(folder, code, "verify", arguments, words);
}

/* -- the proof alone -- */

Test(verify, proves_a_plan_without_running_anything)
{
    says(0, "m.onnx p.json --proof-only",
         "proof     holds: 6 tensors in 7 layouts, 3 operators, 1 step, 0 transfers, on 2 devices "
         "in "
         "1 stage");
    says(0, "m.onnx p.json --proof-only", "run       nothing: only the proof was asked for");
    says(0, "m.onnx p.json --proof-only",
         "The plan is proven, not run (only the proof was asked for).");
}

Test(verify, says_plainly_that_there_is_no_runner)
{
    run_result r = run_in(folder,
                          "cp %s cleave && PATH=/bin LD_LIBRARY_PATH=%s ./cleave verify "
                          "m.onnx p.json",
                          TEST_CLEAVE, TEST_BINARY_DIR);
    cr_assert_eq(r.code, 0, "%s", r.err);
    cr_expect(strstr(r.out, "run       nothing: there is no cleave-run to run models with"), "%s",
              r.out);
    cr_expect(strstr(r.out, "The plan is proven, not run (there is no cleave-run"), "%s", r.out);
    run_free(&r);
}

Test(verify, proves_models_without_their_weights)
{
    write_model("far.onnx", "far.bin");
    make_plan("far.onnx", "far.json");
    says(0, "far.onnx far.json --runner /bin/false",
         "run       nothing: the file of weights 'far.bin' is not there");
}

Test(verify, prints_one_object_that_the_schema_knows)
{
    run_result r =
        run_in(folder, "%s verify m.onnx p.json --proof-only --json > v.json", TEST_CLEAVE);
    cr_assert_eq(r.code, 0, "%s", r.err);
    run_free(&r);
    run_is_valid(folder, "verify", "v.json");
}

/* -- bad input -- */

Test(verify, a_plan_that_is_a_pipe_is_not_waited_for)
{
    run_result r = run_in(folder, "mkfifo pipe && timeout 10 %s verify m.onnx pipe", TEST_CLEAVE);
    cr_expect_eq(r.code, 74, "%d", r.code);
    cr_expect(strstr(r.err, "pipe is not a regular file"), "%s", r.err);
    run_free(&r);
}

/* The plan that a folder was lowered of is in its manifest. */
Test(verify, a_folder_needs_no_plan_beside_it)
{
    size_t n;
    run_result r = run_in(folder, "%s lower -q --form devices -o low m.onnx p.json", TEST_CLEAVE);
    cr_assert_eq(r.code, 0, "%s", r.err);
    run_free(&r);
    says(0, "m.onnx low --proof-only", "The plan is proven");
    refused(2, "m.onnx low --all", "--all is of forms that are made, not of a folder");
    char *text = file_text(folder, "low/manifest.json", &n), *at = strstr(text, "\"tp=k\"");
    cr_assert(at);
    at[4] = 'm'; /* rows of the product in place of a sum: it is another folder's plan */
    file_write(folder, "low/manifest.json", text, n);
    free(text);
    refused(65, "m.onnx low --proof-only", "low/manifest.json: ");
    text = file_text(folder, "low/manifest.json", &n), at = strstr(text, "\"plan\"");
    cr_assert(at);
    at[1] = 'P';
    file_write(folder, "low/manifest.json", text, n);
    free(text);
    refused(65, "m.onnx low --proof-only", "has no 'plan'");
    file_write(folder, "manifest.json", "", 0);
    run_result link = run_in(folder, "ln -sf ../manifest.json low/manifest.json");
    cr_assert_eq(link.code, 0, "%s", link.err);
    run_free(&link);
    refused(65, "m.onnx low --proof-only", "low/manifest.json");
}

Test(verify, takes_a_plan_with_a_byte_order_mark)
{
    size_t n;
    char *text = file_text(folder, "p.json", &n), *marked = malloc(n + 3);
    cr_assert_not_null(marked);
    memcpy(marked, "\xef\xbb\xbf", 3);
    memcpy(marked + 3, text, n);
    file_write(folder, "marked.json", marked, n + 3);
    free(text);
    free(marked);
    says(0, "m.onnx marked.json --proof-only", "The plan is proven");
}

/* Whatever the file of the model is called, and with the model beside ranges of it. */
Test(verify, a_folder_goes_with_its_model)
{
    write_model("far.onnx", "far.data");
    make_plan("far.onnx", "far.json");
    run_result r =
        run_in(folder,
               "%s lower -q --form devices -o low m.onnx p.json && cp m.onnx new.onnx && "
               "%s lower -q --form devices --weights ranges -o far far.onnx far.json",
               TEST_CLEAVE, TEST_CLEAVE);
    cr_assert_eq(r.code, 0, "%s", r.err);
    run_free(&r);
    says(0, "new.onnx low --proof-only", "The plan is proven and the folder is what it gives");
    file_write(folder, "far/far.data", "", 0);
    file_write(folder, "far/far.onnx", "", 0);
    says(0, "far.onnx far", "The plan is proven and the folder is what it gives");
    file_write(folder, "far/other", "", 0);
    refused(4, "-q far.onnx far", "other is not of the plan's files");
}

Test(verify, refuses_a_plan_of_another_model)
{
    char path[600];
    test_onnx *m = onnx_new(8, 17);
    onnx_input(onnx_main(m), "x", 1, "4,6");
    onnx_node(onnx_main(m), "Relu", "act", "x", "y");
    onnx_output(onnx_main(m), "y", 1, "4,6");
    snprintf(path, sizeof path, "%s/other.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
    refused(65, "other.onnx p.json", "");
}

Test(verify, refuses_a_plan_that_the_checker_refuses)
{
    size_t n;
    char *text = file_text(folder, "p.json", &n), *at = strstr(text, "tp=k");
    cr_assert_not_null(at);
    memcpy(at, "tp=z", 4);
    file_write(folder, "bad.json", text, n);
    free(text);
    refused(65, "m.onnx bad.json --proof-only",
            "the plan splits operator 'down' by 'z', expected a factor of its sharding rule");
    file_write(folder, "cut.json", "{", 1);
    refused(65, "m.onnx cut.json", "cut.json");
}

Test(verify, refuses_wrong_usage)
{
    refused(2, "m.onnx", "a model, and its plan, a lowered folder or both are expected, 1 given");
    refused(2, "m.onnx p.json --proof-only --all",
            "--proof-only runs nothing, so --all has no use");
    refused(74, "m.onnx none.json", "none.json");
}

/* -- what cannot be written -- */

/* rules: NULL: none. */
static void write_and_plan(test_onnx *m, const char *name, const char *rules_text)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s.onnx", folder, name);
    onnx_write(m, path);
    onnx_free(m);
    const char *text = rules_text ? rules_text : "{\"rules\": []}";
    file_write(folder, "own.rules", text, strlen(text));
    run_result r = run_in(folder,
                          "%s plan %s.onnx --devices 2 --mesh tp=2 --constraints own.rules "
                          "--no-output --plan-out %s.json -q",
                          TEST_CLEAVE, name, name);
    cr_assert_eq(r.code, 0, "%s", r.err);
    run_free(&r);
}

/* Without a seed each device draws other numbers. */
static test_onnx *noise(bool has_seed)
{
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "4,6");
    test_node *draw = onnx_node(g, "RandomNormalLike", "noise", "x", "n");
    if (has_seed)
        onnx_attr_float(g, draw, "seed", 1);
    onnx_node(g, "Mul", "mix", "x,n", "y");
    onnx_output(g, "y", 1, "4,6");
    return m;
}

/* Made for a model with a seed, which was then taken out. */
Test(verify, a_plan_that_no_program_can_be_made_of_cannot_be_written)
{
    char path[600];
    write_and_plan(noise(true), "noise", NULL);
    test_onnx *m = noise(false);
    snprintf(path, sizeof path, "%s/noise.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
    run_result planned =
        run_in(folder, "%s plan noise.onnx --devices 2 --mesh 2 --no-output", TEST_CLEAVE);
    cr_expect_eq(planned.code, 2);
    cr_expect(strstr(planned.err, "mesh '2' has 2 devices, and operator 'noise' (RandomNormalLike) "
                                  "would draw other random numbers on each"),
              "%s", planned.err);
    run_free(&planned);
    planned = run_in(folder, "%s plan noise.onnx --devices 2 --no-output", TEST_CLEAVE);
    cr_expect_eq(planned.code, 0, "%s", planned.err);
    run_free(&planned);
    says(6, "noise.onnx noise.json --proof-only",
         "proof     none, the plan cannot be written: operator 'noise' (RandomNormalLike) draws");
    says(6, "noise.onnx noise.json --proof-only", "The plan cannot be written: operator 'noise'");
    refused(6, "noise.onnx noise.json -q", "the plan cannot be written: operator 'noise'");
    run_result r = run_in(folder, "%s verify noise.onnx noise.json --json > v.json", TEST_CLEAVE);
    cr_expect_eq(r.code, 6);
    run_free(&r);
    run_is_valid(folder, "verify", "v.json");
}

Test(verify, a_form_that_cannot_be_written_does_not_count_as_equal)
{
    static const float ones[4] = { 1, 1, 1, 1 };
    if (access(RUNNER, X_OK) != 0)
        return;
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "2,4,3,3");
    onnx_weight_floats(g, "scale", "4", ones);
    onnx_weight_floats(g, "bias", "4", ones);
    onnx_weight_floats(g, "mean", "4", ones);
    onnx_weight_floats(g, "var", "4", ones);
    test_node *norm = onnx_node(g, "BatchNormalization", "norm", "x,scale,bias,mean,var", "y,m,v");
    onnx_attr_int(g, norm, "training_mode", 1); /* statistics are written in place */
    onnx_output(g, "y", 1, "2,4,3,3");
    onnx_output(g, "m", 1, "4");
    onnx_output(g, "v", 1, "4");
    write_and_plan(m, "norm", NULL);
    says(6, "norm.onnx norm.json", "devices   3 of 3 outputs equal");
    says(6, "norm.onnx norm.json", "emulate   cannot be written: operator 'norm'");
    says(6, "norm.onnx norm.json", "The plan is proven, but cannot be written as 'emulate'.");
}

/* The shape is an input, and random: the output is not of the sizes that the file says. */
Test(verify, a_model_that_gives_other_sizes_than_it_says_accuses_no_plan)
{
    if (access(RUNNER, X_OK) != 0)
        return;
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "shape", 7, "2");
    onnx_node(g, "ConstantOfShape", "fill", "shape", "f");
    onnx_value(g, "f", 1, "4,6");
    onnx_node(g, "Exp", "exp", "f", "y");
    onnx_output(g, "y", 1, "4,6");
    write_and_plan(m, "filled",
                   "{\"rules\": [{\"split\": {\"tensor\": \"y\"}, \"dim\": 0, \"over\": \"tp\"}]}");
    says(7, "filled.onnx filled.json",
         "original  with these inputs 'y' has other sizes than the file says, float[4,6]");
    says(7, "filled.onnx filled.json",
         "The plan is proven, not compared: the model itself is not what its file says.");
}

/* -- a runner of our own -- */

/* A TensorProto "y" of 4 x 12 floats, all of them `value` but one. */
static void write_output(const char *name, const char *tensor, float value, int at, float other)
{
    char bytes[256] = { 0x08, 4, 0x08, 12, 0x10, 1, 0x42, 1, 0, 0x4a, (char)0xc0, 1 };
    bytes[8] = tensor[0];
    for (int i = 0; i < 48; i++) {
        float x = i == at ? other : value;
        memcpy(bytes + 12 + 4 * i, &x, sizeof x);
    }
    file_write(folder, name, bytes, 12 + 4 * 48);
}

/* For a model's file it gives a.pb, for a folder b.pb. */
static void write_runner(const char *folder_line)
{
    char path[600], text[2000];
    snprintf(text, sizeof text,
             "#!/bin/sh\n"
             "for a; do test \"$b\" = -o && out=$a; b=$a; last=$a; done\n"
             "mkdir -p \"$out\"\n"
             "echo \"$@\" >> %s/calls\n"
             "if test -d \"$last\"; then %s; else cp %s/a.pb \"$out/output_0.pb\"; fi\n",
             folder, folder_line, folder);
    file_write(folder, "runner", text, strlen(text));
    snprintf(path, sizeof path, "%s/runner", folder);
    cr_assert_eq(chmod(path, 0755), 0);
}

static void give_b(void)
{
    char line[700];
    snprintf(line, sizeof line, "cp %s/b.pb \"$out/output_0.pb\"", folder);
    write_runner(line);
}

#define WITH_IT "m.onnx p.json --runner ./runner "

Test(verify, reports_that_outputs_are_equal_and_how_near)
{
    write_output("a.pb", "y", 1, -1, 0);
    write_output("b.pb", "y", 1, 5, 1.0000001f);
    give_b();
    says(0, WITH_IT, "emulate   1 of 1 output equal; largest error 1.2e-07, where ");
    says(0, WITH_IT, "The plan is proven, and computes what the model computes.");
    write_output("b.pb", "y", 1, -1, 0);
    says(0, WITH_IT, "devices   1 of 1 output equal, bit by bit");
}

Test(verify, gives_the_runner_inputs_seed_and_shapes)
{
    write_output("a.pb", "y", 1, -1, 0);
    write_output("b.pb", "y", 1, -1, 0);
    give_b();
    says(0, WITH_IT "--seed 7 --inputs 'some where'", "inputs given, others random by seed 7");
    char *calls = file_text(folder, "calls", NULL);
    cr_expect(strstr(calls, "run --json --random --seed 7 -o "), "%s", calls);
    cr_expect(strstr(calls, "--inputs some where --shape x=4x6 m.onnx\n"), "%s", calls);
    free(calls);
}

Test(verify, names_the_output_the_element_and_the_error_that_is_too_large)
{
    write_output("a.pb", "y", 1, -1, 0);
    write_output("b.pb", "y", 1, 17, 1.25f);
    give_b();
    says(4, WITH_IT, "emulate   0 of 1 output equal; largest error 0.25");
    says(4, WITH_IT,
         "'y' differs: element 17 is 1.25, expected 1, with an error of 0.25; at worst "
         "0.25 at element 17");
    says(4, WITH_IT, "The plan does not compute what the model computes.");
    run_result r = run_in(folder, "%s verify " WITH_IT "--json > v.json", TEST_CLEAVE);
    cr_expect_eq(r.code, 4);
    run_free(&r);
    run_is_valid(folder, "verify", "v.json");
    refused(4, WITH_IT "-q", "the plan does not compute what the model computes");
}

/* What a model gives otherwise with all tensors kept is its own doing; but not if it does so as
 * soon as it is written anew: that is a fault of what writes it. */
Test(verify, a_model_that_differs_from_itself_with_its_tensors_kept_is_not_judged)
{
    char text[2000], path[600];
    write_output("a.pb", "y", 1, -1, 0);
    write_output("b.pb", "y", 1, 17, 9);
    snprintf(text, sizeof text,
             "#!/bin/sh\n"
             "for a; do test \"$b\" = -o && out=$a; b=$a; last=$a; done\n"
             "mkdir -p \"$out\"; from=a\n"
             "test -d \"$last\" && from=b\n"
             "case $last in */kept/model.onnx) from=b;; */anew/model.onnx) from=${ANEW:-a};; esac\n"
             "cp %s/$from.pb \"$out/output_0.pb\"\n",
             folder);
    file_write(folder, "runner", text, strlen(text));
    snprintf(path, sizeof path, "%s/runner", folder);
    cr_assert_eq(chmod(path, 0755), 0);
    says(0, WITH_IT, "'y' of the model itself differs by 8 of its size where it is run otherwise");
    says(0, WITH_IT, "The plan is proven, not compared (as 'stages' all outputs are within");
    setenv("ANEW", "b", 1);
    says(4, WITH_IT, "'y' differs: element 17 is 9, expected 1");
    unsetenv("ANEW");
}

Test(verify, takes_nan_for_what_it_is)
{
    write_output("a.pb", "y", 1, 3, 0.0f / 0.0f);
    write_output("b.pb", "y", 1, 3, 0.0f / 0.0f);
    give_b();
    says(0, WITH_IT, "1 of 1 output equal, bit by bit");
    write_output("b.pb", "y", 1, -1, 0);
    says(4, WITH_IT, "'y' differs: element 3 is 1, expected ");
}

Test(verify, names_the_first_node_that_differs)
{
    /* with --all every model gives y where h, r and y are expected: the names are wrong */
    write_output("a.pb", "y", 1, -1, 0);
    write_output("b.pb", "y", 1, -1, 0);
    char line[1500];
    snprintf(
        line, sizeof line,
        "for k in 0 1 2; do cp %s/b.pb \"$out/output_$k.pb\"; done; case $last in *tensors) cp "
        "%s/c.pb \"$out/output_1.pb\";; esac",
        folder, folder);
    write_runner(line);
    write_output("c.pb", "y", 1, 9, 2);
    says(4, WITH_IT "--all", "tensors   2 of 3 tensors equal");
    says(4, WITH_IT "--all", "the first node that differs is 'act' (Relu)");
}

Test(verify, a_runner_that_fails_is_reported)
{
    write_output("a.pb", "y", 1, -1, 0);
    write_runner("echo 'cleave-run: it is too warm' >&2; exit 65");
    says(7, WITH_IT, "devices   does not run: it is too warm");
    says(7, WITH_IT, "The plan is proven, but does not run as 'stages'.");
    write_runner("kill -9 $$");
    says(7, WITH_IT, "devices   does not run: the runner was ended by signal 9");
    write_runner("true");
    refused(74, WITH_IT, "output_0.pb");
    write_runner("echo nonsense > \"$out/output_0.pb\"");
    refused(65, WITH_IT, "output_0.pb");
    write_runner("echo 'cleave-run: cannot write there: the disk is full' >&2; exit 74");
    refused(74, WITH_IT, "cleave: cannot write there: the disk is full\n");
    unlink("a.pb");
    refused(74, "m.onnx p.json --runner ./none", "./none");
    says(7, "m.onnx p.json --runner /bin/false",
         "run       nothing: the model itself does not run: the runner ended with code 1");
    says(7, "m.onnx p.json --runner /bin/false",
         "The plan is proven, not run: the model itself does not run.");
    run_result r =
        run_in(folder, "%s verify m.onnx p.json --runner /bin/false --json > v.json", TEST_CLEAVE);
    cr_expect_eq(r.code, 7);
    run_free(&r);
    run_is_valid(folder, "verify", "v.json");
}

Test(verify, leaves_nothing_behind)
{
    write_output("a.pb", "y", 1, -1, 0);
    write_output("b.pb", "y", 1, 17, 1.25f);
    give_b();
    int before = folder_count(folder);
    run_result r =
        run_in(folder, "mkdir t; TMPDIR=$PWD/t %s verify " WITH_IT "; ls t | wc -l", TEST_CLEAVE);
    cr_expect(strstr(r.out, "\n0\n"), "%s", r.out);
    run_free(&r);
    write_runner("sleep 60");
    r = run_in(folder,
               "TMPDIR=$PWD/t timeout -s INT 2 %s verify " WITH_IT
               " 2>&1; echo \"$?\"; ls t | wc -l",
               TEST_CLEAVE);
    cr_expect(strstr(r.out, "\n0\n"), "%s", r.out);
    run_free(&r);
    cr_expect_eq(folder_count(folder), before + 2, "the calls and the empty folder");
}

/* -- the real one -- */

Test(verify, the_plan_computes_what_the_model_computes)
{
    if (access(RUNNER, X_OK) != 0)
        return;
    says(0, "m.onnx p.json --all", "run       on ONNX Runtime ");
    says(0, "m.onnx p.json --all", "emulate   1 of 1 output equal");
    says(0, "m.onnx p.json --all", "devices   1 of 1 output equal");
    says(0, "m.onnx p.json --all", "tensors   3 of 3 tensors equal");
    says(0, "m.onnx p.json --all", "The plan is proven, and computes what the model computes.");
}

/* n numbers that look like any: xorshift of Marsaglia (2003), -1 to 1. */
static void fill(float *to, int n, uint32_t seed)
{
    for (int i = 0; i < n; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        to[i] = (float)(seed >> 8) / 8388608.0f - 1;
    }
}

/* A convolution with its scale beside it, less nearly the same with the scale multiplied in: what
 * is left is a thousandth, and of that the rounding of both a large part. */
static void write_canceling(void)
{
    enum { OUT = 8, IN = 32, KERNEL = 9, N = OUT * IN * KERNEL };
    static float w[N], scaled[N], scale[OUT];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    fill(w, N, 1);
    fill(scale, OUT, 2);
    for (int i = 0; i < N; i++)
        scaled[i] = w[i] * scale[i / (IN * KERNEL)] * 0.999f;
    onnx_input(g, "x", 1, "1,32,8,8");
    onnx_weight_floats(g, "w", "8,32,3,3", w);
    onnx_weight_floats(g, "w1", "8,32,3,3", scaled);
    onnx_weight_floats(g, "s", "1,8,1,1", scale);
    onnx_node(g, "Conv", "conv", "x,w", "c");
    onnx_node(g, "Mul", "scale", "c,s", "n");
    onnx_node(g, "Conv", "same", "x,w1", "d");
    onnx_node(g, "Sub", "rest", "n,d", "y");
    onnx_output(g, "y", 1, "1,8,6,6");
    write_and_plan(m, "less", less_rules);
}

Test(verify, a_model_that_cancels_is_held_against_itself)
{
    if (access(RUNNER, X_OK) != 0)
        return;
    write_canceling();
    says(0, "less.onnx less.json", "'y' of the model itself differs by 0.00");
    says(0, "less.onnx less.json", "The plan is proven, and computes what the model computes.");
    run_result r = run_in(folder, "%s verify less.onnx less.json --json > v.json", TEST_CLEAVE);
    cr_expect_eq(r.code, 0);
    run_free(&r);
    run_is_valid(folder, "verify", "v.json");
}

/* Of a text detector that sees no text: all scores are a millionth and less, and the runtime's
 * Sigmoid gives 0 or 1.8e-7 for them, as the order of sums has it. */
Test(verify, a_sigmoid_that_is_saturated_accuses_no_plan_and_shows_nothing)
{
    enum { OUT = 4, IN = 16, KERNEL = 9, N = OUT * IN * KERNEL };
    static float w[N], b[OUT];
    if (access(RUNNER, X_OK) != 0)
        return;
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    fill(w, N, 3);
    for (int i = 0; i < N; i++)
        w[i] *= 0.1f;
    for (int i = 0; i < OUT; i++)
        b[i] = -16.75f;
    onnx_input(g, "x", 1, "1,16,8,8");
    onnx_weight_floats(g, "w", "4,16,3,3", w);
    onnx_weight_floats(g, "b", "4", b);
    onnx_node(g, "Conv", "conv", "x,w,b", "c");
    onnx_node(g, "Sigmoid", "score", "c", "y");
    onnx_output(g, "y", 1, "1,4,6,6");
    write_and_plan(m, "text",
                   "{\"rules\": [{\"split\": \"conv\", \"factor\": \"c\", \"over\": \"tp\"}]}");
    says(0, "text.onnx text.json", "stages    1 of 1 output equal, bit by bit");
    says(0, "text.onnx text.json", "devices   1 of 1 output equal; largest error ");
    says(0, "text.onnx text.json", "'y' says nothing: all that is expected is within the error");
    says(0, "text.onnx text.json",
         "The plan is proven, not compared (as 'devices' all outputs are within the errors "
         "allowed).");
}

Test(verify, other_numbers_are_found_out)
{
    char path[600];
    if (access(RUNNER, X_OK) != 0)
        return;
    /* for a folder other random inputs than for the model */
    snprintf(path, sizeof path, "exec %s run --random --seed 9 -o \"$out\" \"$last\"", RUNNER);
    write_runner(path);
    run_result r = run_in(folder, "sed -i 's|else cp.*|else exec %s \"$@\"; fi|' runner", RUNNER);
    cr_assert_eq(r.code, 0, "%s", r.err);
    run_free(&r);
    says(4, WITH_IT, "stages    0 of 1 output equal; largest error ");
}
