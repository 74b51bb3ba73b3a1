/* test_requests.c - requests with inputs of their own, of a model and of folders with copies: each
 * copy has devices and sessions of its own, and they go round. The manifests are written by hand.
 */
#include <inttypes.h>

#include "base/checksum.h"
#include "base/text_digest.h"
#include "run/made.h"
#include "run/manifest.h"
#include "run/manifest_check.h"

TestSuite(requests, .init = set_up, .fini = tear_down, .timeout = 120);

/* -- y = -(x + table[i]): whole, and as two models. i is 0 or 1 where it is random, and the table
 * has one row, so that a request fails whose index is 1. -- */

static void model_of(const char *file, const char *routes, bool first, bool last)
{
    static const float row[] = { 1, 2 };
    test_onnx *m = new_model();
    test_graph *g = onnx_main(m);
    char sum[100];

    if (first) {
        onnx_input(g, "x", FLOAT, "1,2");
        onnx_input(g, "i", INT64, "1");
        onnx_weight_floats(g, "table", "1,2", row);
        onnx_node(g, "Gather", "look_up", "table,i", "t");
        onnx_node(g, "Add", "add", "x,t", "h");
    } else
        onnx_input(g, "h", FLOAT, "1,2");
    if (last)
        onnx_node(g, "Neg", "neg", "h", "y");
    onnx_output(g, last ? "y" : "h", FLOAT, "1,2");
    if (routes) {
        snprintf(sum, sizeof sum, "%s %s", routes, file);
        onnx_metadata(m, "cleave.routes", sum);
    }
    write_model(m, file);
}

static const char two[] = "\"copies\": [[\"gpu0\", \"gpu1\"], [\"gpu2\", \"gpu3\"]], ";

#define SAID(dtype, dims) "\"dtype\": \"" dtype "\", \"dims\": " dims

/* All that decides how models are run. */
static const char *routes_of(const char *form, const char *copies)
{
    static char text[4096];

    snprintf(
        text, sizeof text,
        "{\"schema_version\": 2, \"form\": \"%s\", %s\"inputs\": [{\"name\": \"x\", " SAID(
            "float32",
            "[1, 2]") "}, {\"name\": \"i\", " SAID("int64",
                                                   "[1]") "}], \"outputs\": "
                                                          "[{\"name\": \"y\", " SAID(
                                                              "float32",
                                                              "[1, 2]") ", \"pieces\": "
                                                                        "[{\"model\": 1, \"name\": "
                                                                        "\"y\"}]}], \"models\": "
                                                                        "[{\"file\": \"a.onnx\", "
                                                                        "\"stage\": 0, \"device\": "
                                                                        "\"gpu0\", "
                                                                        "\"inputs\": [{\"name\": "
                                                                        "\"x\", \"from\": "
                                                                        "\"model\", \"tensor\": "
                                                                        "\"x\"}, {\"name\": "
                                                                        "\"i\", \"from\": "
                                                                        "\"model\", \"tensor\": "
                                                                        "\"i\"}], \"outputs\": "
                                                                        "[{\"name\": \"h\"}]}, "
                                                                        "{\"file\": \"b.onnx\", "
                                                                        "\"stage\": 1, \"device\": "
                                                                        "\"gpu1\", \"inputs\": "
                                                                        "[{\"name\": "
                                                                        "\"h\", \"from\": 0, "
                                                                        "\"tensor\": \"h\"}], "
                                                                        "\"outputs\": [{\"name\": "
                                                                        "\"y\"}]}], "
                                                                        "%s%s\"transfers\": "
                                                                        "[{\"tensor\": \"h\", "
                                                                        "\"from\": 0, \"to\": 1, "
                                                                        "\"bytes\": 8}]",
        form, strcmp(form, "devices") == 0 ? "\"dialect\": \"ort\", " : "", copies,
        strcmp(form, "devices") == 0 ? "\"collectives\": [], " : "");
    return text;
}

/* In folder "lowered", bound to its models as cleave lower does it. */
static void write_lowered(const char *form, const char *copies)
{
    const char *routes = routes_of(form, copies), *files[] = { "lowered/a.onnx", "lowered/b.onnx" };
    char text[8192], sum[CLV_CHECKSUM_TEXT];
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_checksum_state *state = clv_checksum_new(arena);
    const char *written;
    size_t n;

    run_result r = run_in(folder, "rm -rf lowered; mkdir lowered");
    run_free(&r);
    clv_checksum_add_json(state, routes, strlen(routes));
    clv_checksum_text(sum, clv_checksum_end(state));
    model_of("a.onnx", sum, true, false);
    model_of("b.onnx", sum, false, true);
    r = run_in(folder, "mv a.onnx b.onnx lowered");
    run_free(&r);
    n = (size_t)snprintf(text, sizeof text, "%s, \"routes\": \"%s\", \"files\": [", routes, sum);
    for (int i = 0; i < 2; i++) {
        size_t bytes;
        char *content = file_text(folder, files[i], &bytes);
        state = clv_checksum_new(arena);
        clv_checksum_add(state, content, bytes);
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "%s{\"file\": \"%s\", \"bytes\": %zu, \"xxh3\": \"%s\"}",
                              i ? ", " : "", strrchr(files[i], '/') + 1, bytes,
                              clv_checksum_text(sum, clv_checksum_end(state)));
        free(content);
    }
    n += (size_t)snprintf(text + n, sizeof text - n, "], \"notes\": []\n}\n");
    cr_assert_eq(clv_text_digest_add(text, n, arena, &written, &n, NULL), CLV_OK);
    file_write(folder, "lowered/manifest.json", written, n);
    clv_arena_free(arena);
}

static void runs(const char *arguments)
{
    run_result r = cleave_run(0, arguments);
    run_free(&r);
}

/* The outputs of so many requests are what the whole model gives for inputs of the same seeds. */
static void expect_outputs(const char *out, int requests, int seed)
{
    char line[200], path[200], same[200];

    for (int k = 0; k < requests; k++) {
        snprintf(line, sizeof line, "run whole.onnx --random --range i=0:0 --seed %d -o alone%d",
                 seed + k, k);
        runs(line);
        snprintf(path, sizeof path, k ? "%s/request_%d/output_0.pb" : "%s/output_0.pb", out, k);
        snprintf(same, sizeof same, "alone%d/output_0.pb", k);
        cr_expect(file_same(folder, path, same), "request %d of %s", k, out);
    }
}

Test(requests, each_has_random_inputs_of_the_next_seed)
{
    model_of("whole.onnx", NULL, true, true);
    says(0, "run whole.onnx --random --range i=0:0 --seed 5 --requests 3 -o out",
         "outputs of request 0");
    expect_outputs("out", 3, 5);
    cr_expect(!file_same(folder, "out/output_0.pb", "out/request_1/output_0.pb"));
}

Test(requests, what_files_give_is_the_same_in_all)
{
    model_of("whole.onnx", NULL, true, true);
    save_npy("x.npy", "float32", "[[10, 20]]");
    runs("run whole.onnx -i x.npy --random --range i=0:0 --requests 3 -o out --format npy");
    holds("out/output_0.npy", "[[-11, -22]]");
    holds("out/request_2/output_0.npy", "[[-11, -22]]");
}

/* "request": k, "copy": k % copies of each. */
static void expect_round(const char *json, int requests, int copies)
{
    run_result r =
        run_in(folder,
               "/usr/bin/python3 -c \"import json; r = json.load(open('%s'))['requests']; "
               "assert [(q['request'], q['copy']) for q in r] == [(k, k %% %d) for k in "
               "range(%d)], r\"",
               json, copies, requests);
    cr_expect_eq(r.code, 0, "%s", r.err);
    run_free(&r);
}

Test(requests, go_round_on_copies)
{
    static const char *const forms[] = { "stages", "devices" };

    model_of("whole.onnx", NULL, true, true);
    for (int i = 0; i < 2; i++) {
        write_lowered(forms[i], two);
        runs("run lowered --random --range i=0:0 --seed 3 --json -o out > r.json");
        run_is_valid(folder, "run", "r.json");
        expect_round("r.json", 2, 2);
        expect_outputs("out", 2, 3);
        runs("run lowered --random --range i=0:0 --requests 7 --warmup 1 --repeat 3 --json "
             "-o more > r.json");
        run_is_valid(folder, "run", "r.json");
        expect_round("r.json", 7, 2);
        expect_outputs("more", 7, 0);
        runs("run lowered --random --range i=0:0 --requests 1 --json > r.json");
        run_is_valid(folder, "run", "r.json");
        expect_round("r.json", 1, 2);
    }
    says(0, "run lowered --random --range i=0:0 --requests 1", " on 1 of 2 copies");
    says(0, "run lowered --random --range i=0:0 --requests 30", "and 10 more\n");
}

Test(requests, the_table_says_where_each_ran_in_80_columns)
{
    write_lowered("devices", two);
    run_result r = cleave_run(0, "run lowered --random --range i=0:0 --requests 3");
    cr_expect(strstr(r.out, "form devices") && strstr(r.out, ": 3 requests on 2 copies\n"), "%s",
              r.out);
    cr_expect(strstr(r.out, "     1  gpu2\n") && strstr(r.out, "     0  gpu0\n"), "%s", r.out);
    for (char *line = strstr(r.out, "request "); line && *line != '\n';) {
        size_t n = strcspn(line, "\n");
        cr_expect_leq(n, 80, "%.*s", (int)n, line);
        line += n + 1;
    }
    run_free(&r);
}

/* The nodes of the first copy, which has run two of three requests. */
Test(requests, a_profile_is_of_the_first_copy)
{
    write_lowered("devices", two);
    runs("run lowered --random --range i=0:0 --requests 3 --profile --json > r.json");
    run_is_valid(folder, "run", "r.json");
    char *text = file_text(folder, "r.json", NULL);
    cr_expect(strstr(text, "\"name\": \"look_up\"") && strstr(text, "\"runs\": 2,"), "%s", text);
    free(text);
}

Test(requests, a_pipeline_is_dealt_out_to_copies)
{
    static const char *const forms[] = { "stages", "devices" };

    model_of("whole.onnx", NULL, true, true);
    for (int i = 0; i < 2; i++) {
        write_lowered(forms[i], two);
        runs("run lowered --random --range i=0:0 --requests 3 --pipeline 7 --json -o out > r.json");
        run_is_valid(folder, "run", "r.json");
        run_result r =
            run_in(folder, "/usr/bin/python3 -c \"import json; p = json.load(open('r.json'))"
                           "['pipeline']; e = p['ends_ms']; assert p['runs'] == len(e) == 7 and "
                           "e == sorted(e) and e[0] > 0, p; "
                           "assert abs(p['period_ms'] - (e[6] - e[0]) / 6) < 1e-9, p\"");
        cr_expect_eq(r.code, 0, "%s", r.err);
        run_free(&r);
        expect_outputs("out", 3, 0);
    }
    /* more copies than requests, and fewer runs than copies */
    says(0, "run lowered --random --range i=0:0 --requests 1 --pipeline 4 -o one", "over 4 runs");
    says(0, "run lowered --random --range i=0:0 --pipeline 1 -o one", "over 1 run\n");
    expect_outputs("one", 2, 0);
}

/* -- what is wrong -- */

static bool fails_alone(int seed)
{
    run_result r =
        run_in(folder, "%s/cleave-run run whole.onnx --random --seed %d -q", TEST_BINARY_DIR, seed);
    bool fails = r.code != 0;
    run_free(&r);
    return fails;
}

/* A seed of which requests before the second run, and the second and some later one fail. */
static int seed_that_fails(void)
{
    for (int seed = 0; seed < 200; seed++)
        if (!fails_alone(seed) && fails_alone(seed + 1) && fails_alone(seed + 2))
            return seed;
    cr_assert_fail("no index is 1 twice in a row");
    return 0;
}

Test(requests, the_lowest_that_fails_is_named_and_nothing_stays)
{
    char line[200];

    model_of("whole.onnx", NULL, true, true);
    int seed = seed_that_fails();
    snprintf(line, sizeof line, "run whole.onnx --random --seed %d --requests 4 -o out", seed);
    refused(65, line, "request 1: ");
    write_lowered("devices", two);
    int entries = folder_count(folder);
    for (int i = 0; i < 10; i++) {
        snprintf(line, sizeof line, "run lowered --random --seed %d --requests 8 -o out", seed);
        refused(65, line, "request 1 on the copy of gpu2: ");
        cr_expect_eq(folder_count(folder), entries, "'out' is left");
    }
    /* what was there before stays */
    run_result r = run_in(folder, "mkdir -p out/request_2; echo mine > out/output_0.pb");
    run_free(&r);
    snprintf(line, sizeof line, "run lowered --random --seed %d -o out", seed);
    refused(65, line, "request 1 on the copy of gpu2: ");
    r = run_in(folder, "find out | sort | tr '\\n' ' '");
    cr_expect_str_eq(r.out, "out out/output_0.pb out/request_2 ");
    run_free(&r);
    refused(2, "run lowered --random --requests 0", "--requests");
}

Test(requests, an_output_that_cannot_be_written_takes_back_the_others)
{
    write_lowered("stages", two);
    write_text("out", "no folder");
    refused(74, "run lowered --random --range i=0:0 -o out",
            "request 0 on the copy of gpu0: cannot make the folder out");
    run_result r = run_in(folder, "rm out; mkdir out; echo > out/request_1");
    run_free(&r);
    refused(74, "run lowered --random --range i=0:0 --requests 4 -o out",
            "request 1 on the copy of gpu2: cannot make the folder out/request_1");
    r = run_in(folder, "find out | sort | tr '\\n' ' '");
    cr_expect_str_eq(r.out, "out out/request_1 ");
    run_free(&r);
}

static void manifest_refused(const char *form, const char *copies, const char *words)
{
    char text[8192];
    clv_arena *arena = clv_arena_new(NULL, 0);
    clr_program p;
    clv_error err = { 0 };

    snprintf(text, sizeof text,
             "%s, \"files\": [{\"file\": \"a.onnx\", \"bytes\": 1, \"xxh3\": \"\"}, {\"file\": "
             "\"b.onnx\", \"bytes\": 1, \"xxh3\": \"\"}]}",
             routes_of(form, copies));
    clv_status status = clr_manifest_parse(text, strlen(text), "folder", arena, &p, &err);
    if (status == CLV_OK)
        status = clr_manifest_check(&p, &err);
    cr_expect_eq(status, words ? CLV_EFORMAT : CLV_OK, "%s: %s", copies, err.message);
    cr_expect(!words || strstr(err.message, words), "%s: %s", copies, err.message);
    clv_arena_free(arena);
}

Test(requests, copies_that_contradict_themselves_are_refused)
{
    static const char emulate[] = "the manifest: form 'emulate' has copies";

    manifest_refused("devices", two, NULL);
    manifest_refused("stages", "", NULL);
    manifest_refused("emulate", two, emulate);
    manifest_refused("stages", "\"copies\": [], ", NULL);
    manifest_refused("stages", "\"copies\": [[\"gpu0\", \"gpu1\"]], ",
                     "copies has 1 elements, the first of 2 devices, expected 2 or more");
    manifest_refused("stages", "\"copies\": [[], []], ", "the first of 0 devices");
    manifest_refused("stages", "\"copies\": [[\"gpu0\", \"gpu1\"], [\"gpu2\"]], ",
                     "copies[1] has 1 devices, expected 2 as the first");
    manifest_refused("stages", "\"copies\": [[\"gpu0\", \"gpu1\"], [\"gpu2\", \"gpu2\"]], ",
                     "copies[1] has device 'gpu2', which is in copies[1] already");
    manifest_refused("stages", "\"copies\": [[\"gpu0\", \"gpu1\"], [\"gpu1\", \"gpu2\"]], ",
                     "copies[1] has device 'gpu1', which is in copies[0] already");
    manifest_refused("stages", "\"copies\": [[\"gpu0\", \"gpu4\"], [\"gpu2\", \"gpu3\"]], ",
                     "b.onnx is for device 'gpu1', expected one of copies[0]");
    manifest_refused("stages", "\"copies\": [1, 2], ", "copies[0]");
    manifest_refused("stages", "\"copies\": [[1], [2]], ", "copies[0][0]");
}

/* They are among what the models are bound to. */
Test(requests, copies_cannot_be_edited_while_the_models_stay)
{
    write_lowered("stages", two);
    run_result r = run_in(folder, "sed -i s/gpu3/gpu5/ lowered/manifest.json");
    run_free(&r);
    refused(65, "run lowered --random --range i=0:0", "manifest");
    write_lowered("stages", "");
    r = run_in(folder, "cat lowered/manifest.json");
    cr_expect_null(strstr(r.out, "copies"));
    run_free(&r);
    says(0, "run lowered --random --range i=0:0", "2 models, form stages");
}
