/* test_batch.c - cleave-run batch: what it says of each entry, and that one cannot end the others.
 */
#include "run/made.h"

TestSuite(batch, .init = set_up, .fini = tear_down);

#define TESTDATA "/usr/share/libonnx-testdata/data"

static void unary(const char *file, const char *op)
{
    test_onnx *m = new_model();
    test_graph *g = onnx_main(m);

    onnx_input(g, "x", FLOAT, "2,2");
    onnx_node(g, op, "n", "x", "y");
    onnx_output(g, "y", FLOAT, "2,2");
    write_model(m, file);
}

/* x -> x so often that no test waits for its end. */
static void endless(const char *file)
{
    static const int64_t often[] = { INT64_MAX };
    test_onnx *m = new_model();
    test_graph *g = onnx_main(m), *body = onnx_body(m, "body");

    onnx_input(body, "i", INT64, "");
    onnx_input(body, "go", 9, "");
    onnx_input(body, "v", FLOAT, "2,2");
    onnx_node(body, "Identity", "same", "go", "goes");
    onnx_node(body, "Neg", "neg", "v", "w");
    onnx_output(body, "goes", 9, "");
    onnx_output(body, "w", FLOAT, "2,2");
    onnx_input(g, "x", FLOAT, "2,2");
    onnx_weight_ints(g, "n", "", often);
    test_node *loop = onnx_node(g, "Loop", "loop", "n,,x", "y");
    onnx_attr_graph(g, loop, "body", body);
    onnx_output(g, "y", FLOAT, "2,2");
    write_model(m, file);
}

#define ENTRY(model, more)                                                                         \
    "{\"model\": \"" model                                                                         \
    "\", \"inputs\": {\"x\": \"x.npy\"}, \"outputs\": {\"y\": \"y.npy\"}" more "}\n"

static void given(const char *list)
{
    save_npy("x.npy", "float32", "[[1, 2], [3, 4]]");
    save_npy("y.npy", "float32", "[[-1, -2], [-3, -4.001]]");
    unary("neg.onnx", "Neg");
    unary("abs.onnx", "Abs");
    unary("odd.onnx", "Nothing");
    endless("long.onnx");
    write_text("list", list);
}

static int lines(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

Test(batch, each_entry_gets_its_line)
{
    given(ENTRY("neg.onnx", ", \"id\": \"a\"") ENTRY("abs.onnx", "") "\n" ENTRY(
        "neg.onnx", ", \"rtol\": 1e-5") ENTRY("gone.onnx", "") ENTRY("odd.onnx", ""));
    run_result r = cleave_run(3, "batch list");
    cr_expect_eq(lines(r.out), 5, "%s", r.out);
    cr_expect(
        strstr(r.out, "\"entry\":0,\"id\":\"a\",\"model\":\"neg.onnx\",\"outcome\":\"equal\""),
        "%s", r.out);
    cr_expect(strstr(r.out, "\"reason\":\"element [0,0] is 1, expected -1\""), "%s", r.out);
    cr_expect(strstr(r.out,
                     "\"differing\":1,\"first\":3,\"reason\":\"element [1,1] is -4, expected "
                     "-4.00"),
              "%s", r.out);
    cr_expect(strstr(r.out, "\"gone.onnx\",\"outcome\":\"error\""), "%s", r.out);
    cr_expect(strstr(r.out, "\"odd.onnx\",\"outcome\":\"unsupported\""), "%s", r.out);
    cr_expect(strstr(r.err, "5 entries: 1 equal, 2 differ, 1 unsupported by the runtime, 1 failed"),
              "%s", r.err);
    run_free(&r);
}

Test(batch, output_that_cannot_be_written_is_reported_once_and_a_closed_pipe_is_not)
{
    given(ENTRY("neg.onnx", ""));
    run_result r = run_in(folder, "%s/cleave-run batch list --json >/dev/full", TEST_BINARY_DIR);
    cr_expect_eq(r.code, 74);
    cr_expect_str_eq(r.err, "cleave-run: standard output: No space left on device\n");
    run_free(&r);
    r = run_in(folder, "{ sleep 0.2; %s/cleave-run batch list; echo $? >&2; } | true",
               TEST_BINARY_DIR);
    cr_expect_str_eq(r.err, "141\n");
    run_free(&r);
}

Test(batch, who_takes_too_long_is_ended_and_the_rest_is_run)
{
    given(ENTRY("long.onnx", "") ENTRY("neg.onnx", "") ENTRY("long.onnx", "")
              ENTRY("neg.onnx", ""));
    run_result r = cleave_run(3, "batch list --timeout 6 --jobs 2");
    cr_expect_eq(lines(r.out), 4, "%s", r.out);
    cr_expect(strstr(r.err, "4 entries: 2 equal, 0 differ, 0 unsupported by the runtime, 2 failed"),
              "%s", r.err);
    cr_expect(strstr(r.out, "\"entry\":0,\"model\":\"long.onnx\",\"outcome\":\"timeout\""), "%s",
              r.out);
    run_free(&r);
}

/* The system ends the child by a signal, as a fault of the runtime would. */
Test(batch, a_crash_ends_only_its_entry)
{
    given(ENTRY("neg.onnx", "") ENTRY("long.onnx", "") ENTRY("neg.onnx", ""));
    run_result r = run_in(folder, "ulimit -t 2; %s/cleave-run batch list", TEST_BINARY_DIR);
    cr_expect_eq(r.code, 3, "%d %s", r.code, r.err);
    cr_expect_eq(lines(r.out), 3, "%s", r.out);
    cr_expect(strstr(r.out, "\"outcome\":\"crashed\",\"reason\":\"the runtime crashed by signal"),
              "%s", r.out);
    cr_expect(strstr(r.out, "\"entry\":2,\"model\":\"neg.onnx\",\"outcome\":\"equal\""), "%s",
              r.out);
    run_free(&r);
}

Test(batch, a_list_that_is_wrong_is_refused)
{
    given(ENTRY("neg.onnx", "") "{\"model\": \"neg.onnx\", \"output\": 1}\n");
    refused(65, "batch list", "list: line 2 has the unknown key 'output'");
    given(ENTRY("neg.onnx", "") "{\"model\" 1}\n");
    refused(65, "batch list", "list: line 2, column 10: not JSON: '1', expected ':' behind a key");
    write_text("list", "{\"inputs\": {}}");
    refused(65, "batch list", "list: line 1");
    refused(74, "batch gone", "gone");
    refused(2, "batch", "no list is given");
    write_text("list", "");
    run_result r = cleave_run(0, "batch list -q");
    cr_expect_str_empty(r.out);
    cr_expect_str_empty(r.err);
    run_free(&r);
}

/* -- ONNX's own test data -- */

/* Tests that are not equal, and why; each is a fault of the data or the runtime, not of running it.
 */
static const char *const known[] = {
    "bernoulli",                  /* random */
    "training_dropout",           /* random */
    "cast_FLOAT_to_BFLOAT16",     /* the data is cut off, not rounded */
    "cast_FLOAT_to_STRING",       /* digits of a float as text */
    "castlike_FLOAT_to_STRING",   /* the same */
    "castlike_BFLOAT16",          /* an input has another shape than the model says */
    "castlike_FLOAT_to_BFLOAT16", /* the same */
    "dft",                        /* zeros are not quite zero */
    "stft",                       /* the same */
    "maxunpool_export",           /* the runtime reads the indices otherwise */
    "resize_downsample_scales",   /* the runtime aligns corners otherwise */
};

static bool is_known(const char *line)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(line, known[i]))
            return true;
    return false;
}

/* The runtime runs nearly all of it, and what it gives is what is expected. */
Test(batch, onnxs_test_data_comes_out_as_expected, .timeout = 300)
{
    run_result r =
        run_in(folder, "for d in " TESTDATA "/node/*/test_data_set_* " TESTDATA
                       "/simple/*/test_data_set_* " TESTDATA "/pytorch-*/*/test_data_set_*; do "
                       "[ -e $d ] && echo \"{\\\"model\\\": \\\"${d%%/*}/model.onnx\\\", "
                       "\\\"data\\\": \\\"$d\\\"}\"; done > list; [ -s list ]");
    if (r.code != 0) {
        run_free(&r);
        cr_skip_test("libonnx-testdata is not installed");
    }
    run_free(&r);
    r = run_in(folder, "%s/cleave-run batch list --jobs 2", TEST_BINARY_DIR);
    int equal = 0;
    for (char *line = strtok(r.out, "\n"); line; line = strtok(NULL, "\n")) {
        bool fine = strstr(line, "\"outcome\":\"equal\"") != NULL;
        equal += fine;
        cr_expect(fine || strstr(line, "\"outcome\":\"unsupported\"") || is_known(line), "%s",
                  line);
    }
    cr_expect_geq(equal, 900, "%s", r.err);
    run_free(&r);
}
