/* test_compile.c - cleave-run compile: answers to cleave plan, with a command of the test's own
 * that lowers: it copies a folder. */
#include "run/made.h"

static void stage(const char *file, const char *op, const char *in, const char *out)
{
    test_onnx *m = new_model();
    test_graph *g = onnx_main(m);

    onnx_input(g, in, FLOAT, "2,2");
    onnx_node(g, op, "n", in, out);
    onnx_output(g, out, FLOAT, "2,2");
    write_model(m, file);
}

static const char manifest[] =
    "{\"schema_version\": 1, \"form\": \"stages\", \"model\": {\"name\": \"m.onnx\", "
    "\"fingerprint\": \"0000000000000000\"}, \"inputs\": [{\"name\": \"x\", \"dtype\": "
    "\"float32\", \"dims\": [2, 2]}], \"outputs\": [{\"name\": \"y\", \"dtype\": \"float32\", "
    "\"dims\": [2, 2], \"pieces\": [{\"model\": 1, \"name\": \"y\"}]}], \"models\": ["
    "{\"file\": \"a.onnx\", \"stage\": 0, \"device\": \"gpu0\", \"inputs\": [{\"name\": \"x\", "
    "\"from\": \"model\", \"tensor\": \"x\"}], \"outputs\": [{\"name\": \"h\"}]}, "
    "{\"file\": \"b.onnx\", \"stage\": 1, \"device\": \"gpu1\", \"inputs\": [{\"name\": \"h\", "
    "\"from\": 0, \"tensor\": \"h\"}], \"outputs\": [{\"name\": \"y\"}]}], "
    "\"collectives\": [], \"transfers\": [], \"files\": [], \"notes\": []}";

static void make_folder(void)
{
    test_onnx *m;

    set_up();
    stage("a.onnx", "Neg", "x", "h");
    stage("b.onnx", "Abs", "h", "y");
    m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", FLOAT, "2,2");
    onnx_node(g, "Neg", "n", "x", "h");
    onnx_node(g, "Abs", "a", "h", "y");
    onnx_output(g, "y", FLOAT, "2,2");
    write_model(m, "m.onnx");
    run_result r = run_in(folder, "mkdir made && mv a.onnx b.onnx made");
    run_free(&r);
    write_text("made/manifest.json", manifest);
}

TestSuite(compile, .init = make_folder, .fini = tear_down);

#define COPY                                                                                       \
    "test \\\"\\$CLEAVE_SOURCE\\\" -ef \\\"\\$CLEAVE_CALLER_DIR/m.onnx\\\" && cp -r "              \
    "\\\"\\$CLEAVE_CALLER_DIR/made\\\" \\\"\\$CLEAVE_LOWERED\\\""

static run_result plan(int code, const char *lower, const char *more)
{
    run_result r =
        run_in(folder,
               "%s plan --devices 2 --max-tp 1 --jobs 1 --max-candidates 2 %s --compiler "
               "\"%s/cleave-run compile --seconds 0.2 --lower '%s'\" -o p.onnx m.onnx",
               TEST_CLEAVE, more, TEST_BINARY_DIR, lower);

    cr_expect_eq(r.code, code, "%d: %s%s", r.code, r.out, r.err);
    return r;
}

Test(compile, cleave_plans_by_what_was_measured)
{
    run_result r = plan(0, COPY, "");
    cr_expect(strstr(r.out, "latency"), "%s", r.out);
    run_free(&r);
    char *text = file_text(folder, "p.onnx.plan.json", NULL);
    cr_assert_not_null(text);
    cr_expect(strstr(text, "cleave-run compile"), "%s", text);
    free(text);
}

Test(compile, a_candidate_that_cannot_be_lowered_has_failed)
{
    run_result r = plan(3, "exit 7", "");
    cr_expect(strstr(r.err, "lowering ended with code 7") ||
                  strstr(r.out, "lowering ended with code 7"),
              "%s%s", r.out, r.err);
    run_free(&r);
    r = plan(3, "mkdir \\\"\\$CLEAVE_LOWERED\\\"", "");
    cr_expect(strstr(r.out, "manifest.json") || strstr(r.err, "manifest.json"), "%s%s", r.out,
              r.err);
    run_free(&r);
}

/* What cleave would give it of two devices of so many bytes. */
static void two_devices(long long bytes)
{
    char text[400];

    snprintf(text, sizeof text,
             "{\"version\": 1, \"devices\": [{\"name\": \"gpu0\", \"kind\": \"k\", "
             "\"memory_bytes\": %lld, \"reserved_bytes\": 0, \"tiles\": 1}, {\"name\": \"gpu1\", "
             "\"kind\": \"k\", \"memory_bytes\": %lld, \"reserved_bytes\": 0, \"tiles\": 1}]}",
             bytes, bytes);
    write_text("options.json", text);
}

/* As cleave would call it. */
static run_result by_hand(long long bytes, const char *more)
{
    two_devices(bytes);
    return run_in(folder,
                  "CLEAVE_OPTIONS=options.json %s/cleave-run compile --seconds 0.1 --lower 'cp -r "
                  "made \"$CLEAVE_LOWERED\"' %s",
                  TEST_BINARY_DIR, more);
}

Test(compile, answers_have_times_or_what_is_lacking)
{
    run_result r = by_hand(1LL << 40, "");
    cr_expect_eq(r.code, 0, "%s", r.err);
    cr_expect(strstr(r.out, "{\"version\":1,\"outcome\":\"fits\",\"latency_ms\":"), "%s", r.out);
    cr_expect(strstr(r.out, "\"throughput\":") && strstr(r.out, "\"busy_ms\":["), "%s", r.out);
    run_free(&r);
    r = run_in(folder, "rm -r lowered");
    run_free(&r);
    r = by_hand(0, "");
    cr_expect(strstr(r.out, "\"outcome\":\"oom\",\"device\":0,\"bytes\":"), "%s", r.out);
    run_free(&r);
}

Test(compile, a_closed_stream_is_no_failure_of_the_candidate)
{
    run_result r = by_hand(1LL << 40, "2>&-");
    cr_expect_eq(r.code, 0);
    cr_expect(strstr(r.out, "\"outcome\":\"fits\""), "%s", r.out);
    run_free(&r);
}

/* Neither goes on without the other. */
Test(compile, a_signal_ends_it_and_who_lowers)
{
    static const char *const signals[] = { "INT", "TERM", "QUIT", "KILL" };

    two_devices(1);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        run_result r = run_in(folder,
                              "ulimit -c 0; CLEAVE_OPTIONS=options.json python3 "
                              "%s/tests/support/stop.py 15 %s \"sleeps()\" %s/cleave-run compile "
                              "--lower 'exec sleep 30' && echo ended",
                              TEST_SOURCE_DIR, signals[i], TEST_BINARY_DIR);
        cr_expect(r.code > 128, "%s: %d %s", signals[i], r.code, r.out);
        cr_expect_str_empty(r.err);
        run_free(&r);
    }
}

Test(compile, by_itself_it_says_what_it_is_for)
{
    refused(2, "compile", "this is a command for cleave plan --compiler");
    refused(2, "compile m.onnx", "expected none");
}
