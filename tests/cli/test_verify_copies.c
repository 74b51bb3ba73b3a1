/* test_verify_copies.c - cleave verify of plans with copies: each runs a request, all of them are
 * compared, and they have to go round.
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

/* y = relu(x w), of which plan p.json has a copy on each of two pairs of devices. */
static void set_up(void)
{
    char path[600];
    float numbers[48];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    folder = folder_new();
    for (int i = 0; i < 48; i++)
        numbers[i] = (float)(i % 7) - 3;
    onnx_input(g, "x", 1, "4,6");
    onnx_weight_floats(g, "w", "6,8", numbers);
    onnx_node(g, "MatMul", "up", "x,w", "h");
    onnx_node(g, "Relu", "act", "h", "y");
    onnx_output(g, "y", 1, "4,8");
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
    run_result r = run_in(folder,
                          "%s plan m.onnx --objective throughput --devices 4 --copies 2 --mesh 2 "
                          "-o a.onnx --plan-out p.json -q",
                          TEST_CLEAVE);
    cr_assert_eq(r.code, 0, "%s", r.err);
    run_free(&r);
}

static void tear_down(void) { folder_free(folder); }

TestSuite(verify_copies, .init = set_up, .fini = tear_down, .timeout = 300);

static void says(int code, const char *arguments, const char *words)
{
    run_says(folder, code, "verify", arguments, words);
}

Test(verify_copies, the_report_names_them)
{
    says(
        0, "m.onnx p.json --proof-only",
        "copies    2, on gpu0-1, gpu2-3: no device is in two, and they are alike place by place\n");
    run_result r =
        run_in(folder, "%s verify m.onnx p.json --proof-only --json > v.json", TEST_CLEAVE);
    cr_expect_eq(r.code, 0, "%s", r.err);
    run_free(&r);
    run_is_valid(folder, "verify", "v.json");
    char *text = file_text(folder, "v.json", NULL);
    cr_expect(strstr(text, "\"copies\""), "%s", text);
    free(text);
}

/* A plan whose copies are not disjoint, or not alike, is no plan. */
Test(verify_copies, that_are_not_alike_are_refused)
{
    run_result r = run_in(folder, "/usr/bin/python3 -c \"\n"
                                  "import json\n"
                                  "p = json.load(open('p.json'))\n"
                                  "p['copies'] = [[0, 1], [1, 2]]\n"
                                  "json.dump(p, open('twice.json', 'w'))\n"
                                  "p['copies'] = [[0, 1], [2, 3]]\n"
                                  "p['devices'][3]['stage'] = -1\n"
                                  "json.dump(p, open('other.json', 'w'))\"");
    cr_assert_eq(r.code, 0, "%s", r.err);
    run_free(&r);
    run_refused(folder, 65, "verify", "m.onnx twice.json --proof-only", "twice.json");
    run_refused(folder, 65, "verify", "m.onnx other.json --proof-only", "'gpu3'");
}

Test(verify_copies, each_runs_a_request)
{
    if (access(RUNNER, X_OK) != 0)
        cr_skip_test("cleave-run is not built");
    run_result r = run_in(folder,
                          "for f in stages devices emulate; do %s lower -q m.onnx p.json --form $f "
                          "-o $f || exit 1; done; %s verify m.onnx p.json --all --json > v.json",
                          TEST_CLEAVE, TEST_CLEAVE);
    cr_assert_eq(r.code, 0, "%s", r.err);
    run_free(&r);
    run_is_valid(folder, "verify", "v.json");
    says(0, "m.onnx p.json", "stages    2 of 2 outputs equal, 2 requests on 2 copies");
    says(0, "m.onnx p.json", "devices   2 of 2 outputs equal, 2 requests on 2 copies");
    says(0, "m.onnx p.json", "emulate   1 of 1 output equal");
    says(0, "m.onnx a.onnx", "devices   2 of 2 outputs equal, 2 requests on 2 copies");
    says(0, "m.onnx devices", "folder    2 of 2 outputs equal, 2 requests on 2 copies");
    says(0, "m.onnx p.json stages", "folder    2 of 2 outputs equal, 2 requests on 2 copies");
    says(0, "m.onnx emulate", "folder    1 of 1 output equal");
}

/* By its manifest it has no copies, or others, which the models were not lowered with. */
Test(verify_copies, a_folder_has_those_of_the_plan)
{
    run_result r = run_in(folder,
                          "%s lower -q m.onnx p.json --form devices -o d && "
                          "sed -i s/gpu3/gpu7/ d/manifest.json",
                          TEST_CLEAVE);
    cr_assert_eq(r.code, 0, "%s", r.err);
    run_free(&r);
    says(4, "m.onnx p.json d --proof-only", "copies[1][1]: it is 'gpu7', expected 'gpu3'");
}

/* -- a runner of our own -- */

/* A TensorProto "y" of 4 x 8 floats, all 1 but the first. */
static void write_output(const char *name, float first)
{
    char bytes[256] = { 0x08, 4, 0x08, 8, 0x10, 1, 0x42, 1, 'y', 0x4a, (char)0x80, 1 };
    for (int i = 0; i < 32; i++) {
        float x = i == 0 ? first : 1;
        memcpy(bytes + 12 + 4 * i, &x, sizeof x);
    }
    file_write(folder, name, bytes, 12 + 4 * 32);
}

/* What it gives for request 0 is in 0.pb, for request 1 of a folder in 1.pb. */
static void write_runner(const char *answer)
{
    char path[600], text[2000];
    snprintf(text, sizeof text,
             "#!/bin/sh\n"
             "for a; do test \"$b\" = -o && out=$a; b=$a; last=$a; done\n"
             "mkdir -p \"$out/request_1\"\n"
             "echo \"$@\" >> %s/calls\n"
             "cp %s/0.pb \"$out/output_0.pb\"; cp %s/0.pb \"$out/request_1/output_0.pb\"\n"
             "test -d \"$last\" || exit 0\n"
             "cp %s/1.pb \"$out/request_1/output_0.pb\"; echo '%s'\n",
             folder, folder, folder, folder, answer);
    file_write(folder, "runner", text, strlen(text));
    snprintf(path, sizeof path, "%s/runner", folder);
    cr_assert_eq(chmod(path, 0755), 0);
}

#define WITH_IT "m.onnx p.json --runner ./runner "

Test(verify_copies, requests_that_differ_are_named)
{
    write_output("0.pb", 1);
    write_output("1.pb", 1.25f);
    write_runner("");
    says(4, WITH_IT, "devices   1 of 2 outputs equal, 2 requests on 2 copies; largest error 0.25");
    says(4, WITH_IT, "          'y' of request 1 differs: element 0 is 1.25, expected 1");
    run_result r = run_in(folder, "%s verify " WITH_IT "--json > v.json", TEST_CLEAVE);
    cr_expect_eq(r.code, 4);
    run_free(&r);
    run_is_valid(folder, "verify", "v.json");
    char *calls = file_text(folder, "calls", NULL);
    cr_expect(strstr(calls, "--requests 2 m.onnx\n") && strstr(calls, "/stages\n"), "%s", calls);
    cr_expect_null(strstr(calls, "--requests 2 /tmp/emulate"), "%s", calls);
    free(calls);
}

Test(verify_copies, requests_have_to_go_round)
{
    write_output("0.pb", 1);
    write_output("1.pb", 1);
    write_runner("{\"requests\": [{\"copy\": 0}, {\"copy\": 1}]}");
    says(0, WITH_IT, "devices   2 of 2 outputs equal, 2 requests on 2 copies, bit by bit\n");
    write_runner("{\"requests\": [{\"copy\": 0}, {\"copy\": 0}]}");
    says(7, WITH_IT, "devices   does not run: its requests do not go round on 2 copies\n");
    write_runner("{\"requests\": [{\"copy\": 1}, {\"copy\": 0}]}");
    says(7, WITH_IT, "devices   does not run: its requests do not go round on 2 copies\n");
    write_runner("{\"requests\": [{\"copy\": \"none\"}]}");
    says(7, WITH_IT, "devices   does not run: its requests do not go round on 2 copies\n");
    write_runner("{\"requests\": 3}"); /* it says nothing of them */
    says(0, WITH_IT, "devices   2 of 2 outputs equal");
}
