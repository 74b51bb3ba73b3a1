/* test_microbatches.c - how many micro-batches a run of the pipeline has, as a user asks for it
 * and sees it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/onnx_builder.h"
#include "support/run.h"

/* Eight layers x = relu(x w): w 1 MiB, x 1 MiB. One device holds the model in 8 + 2 MiB; a stage of
 * two holds half of the weights, and with several micro-batches at once one or two more of x. */
#define LAYERS 8

static char *folder;

static void write_model(const char *path)
{
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    char in[16], out[16], weight[16], both[40], name[32];

    onnx_input(g, "x0", 1, "512,512");
    for (int i = 0; i < LAYERS; i++) {
        snprintf(in, sizeof in, "x%d", i);
        snprintf(out, sizeof out, "y%d", i);
        snprintf(weight, sizeof weight, "w%d", i);
        snprintf(both, sizeof both, "%s,%s", in, weight);
        onnx_weight(g, weight, 1, "512,512");
        snprintf(name, sizeof name, "m%d", i);
        onnx_node(g, "MatMul", name, both, out);
        snprintf(in, sizeof in, "x%d", i + 1);
        snprintf(name, sizeof name, "r%d", i);
        onnx_node(g, "Relu", name, out, in);
    }
    onnx_output(g, in, 1, "512,512");
    onnx_write(m, path);
    onnx_free(m);
}

static void set_up(void)
{
    char path[600];

    folder = folder_new();
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    write_model(path);
}

static void tear_down(void) { folder_free(folder); }

TestSuite(microbatches, .init = set_up, .fini = tear_down);

static run_result ran(int code, const char *options)
{
    run_result r = run_in(folder, "%s plan --devices 2 --plan-out p.json --no-output %s m.onnx",
                          TEST_CLEAVE, options);
    cr_assert_eq(r.code, code, "'%s' gave %d: %s%s", options, r.code, r.err, r.out);
    return r;
}

/* A number that stands in the plan file behind a key; -1 without it. */
static double in_plan(const char *key)
{
    run_result r = run_in(folder, "cat p.json");
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(r.out, quoted);
    double value = at ? atof(at + strlen(quoted)) : -1;
    run_free(&r);
    return value;
}

Test(microbatches, latency_is_of_one_and_says_nothing_of_pipelines)
{
    run_result r = ran(0, "");
    cr_assert_null(strstr(r.out, "pipeline    "));
    cr_assert_null(strstr(r.out, "in flight"));
    cr_assert_lt(in_plan("microbatches"), 0);
    cr_assert_lt(in_plan("in_flight_bytes"), 0);
    run_free(&r);
}

Test(microbatches, throughput_fills_the_pipeline)
{
    run_result r = ran(0, "--objective throughput --copies 1");
    double n = in_plan("microbatches"), bubble = in_plan("bubble");
    cr_assert(strstr(r.out, "in flight"), "%s", r.out);
    cr_assert(strstr(r.out, "\npipeline    "), "%s", r.out);
    cr_assert_geq(n, 2);
    cr_assert_leq(bubble, 0.05);
    cr_assert_geq(in_plan("in_flight_bytes"), 2 << 20);
    cr_assert_geq(in_plan("fill_ns"), 1);
    cr_assert_float_eq(in_plan("run_ns"), in_plan("latency_ns") + (n - 1) * in_plan("period_ns"),
                       0.5);
    run_free(&r);
}

/* Copies of weights would leave no room for a second micro-batch: columns and rows of them do. */
Test(microbatches, strategies_leave_room_for_what_fills_the_pipeline)
{
    run_result r = run_in(folder,
                          "%s plan --devices 4 --mesh 2 --stages 2 --copies 1 --memory 6000KiB "
                          "--objective throughput --plan-out p.json --no-output m.onnx",
                          TEST_CLEAVE);
    cr_assert_eq(r.code, 0, "%s", r.err);
    cr_expect_geq(in_plan("microbatches"), 2, "%s", r.out);
    cr_expect_leq(in_plan("bubble"), 0.05, "%s", r.out);
    run_free(&r);
}

Test(microbatches, a_number_that_is_given_is_taken)
{
    run_result r = ran(0, "--objective throughput --microbatches 3");
    cr_assert(strstr(r.out, "pipeline    3 micro-batches in "), "%s", r.out);
    cr_assert_eq(in_plan("microbatches"), 3);
    cr_assert_float_eq(in_plan("run_ns"), in_plan("latency_ns") + 2 * in_plan("period_ns"), 0.5);
    cr_assert_geq(in_plan("gap"), 0);
    run_free(&r);
}

Test(microbatches, one_for_throughput_holds_what_one_for_latency_holds)
{
    run_result r = ran(0, "");
    double peak = in_plan("peak_bytes"), latency = in_plan("latency_ns");
    run_free(&r);
    r = ran(0, "--objective throughput --copies 1 --microbatches 1");
    cr_assert_eq(in_plan("peak_bytes"), peak);
    cr_assert_eq(in_plan("latency_ns"), latency, "one at a time: the least latency is the best");
    cr_assert_lt(in_plan("in_flight_bytes"), 0);
    run_free(&r);
}

/* 4 MiB of weights, 2 of x; 2 more in flight. */
Test(microbatches, memory_that_holds_one_only_gives_a_plan_for_one)
{
    run_result r = ran(0, "--objective throughput --memory 7MiB");
    cr_assert_eq(in_plan("microbatches"), 1);
    cr_assert(strstr(r.out, "no more fit in memory"), "%s", r.out);
    run_free(&r);
    r = ran(0, "--objective throughput --memory 16MiB");
    cr_assert_gt(in_plan("microbatches"), 1);
    run_free(&r);
}

Test(microbatches, a_number_that_does_not_fit_says_what_would)
{
    run_result r = ran(3, "--microbatches 4 --memory 6.5MiB");
    cr_assert(strstr(r.out, "--microbatches 1"), "%s", r.out);
    const char *memory = strstr(r.out, ": --memory "); /* 7 MiB do, of which 1 MiB is in flight */
    cr_assert(memory && atof(memory + strlen(": --memory ")) < 7.1 * (1 << 20), "%s", r.out);
    run_free(&r);
}

/* Of kernels and of operators; the least is 4 MiB of weights, 1 in flight, and 2 beside. */
Test(microbatches, what_is_in_flight_leaves_room_for_fewer_strategies)
{
    static const char *const asked[] = { "--microbatches 4 --memory 7MiB",
                                         "--microbatches 4 --memory 7.1MiB",
                                         "--microbatches 4 --memory 8.15MiB" };
    for (size_t i = 0; i < 2 * sizeof asked / sizeof *asked; i++) {
        char options[100];
        snprintf(options, sizeof options, "%s%s", i % 2 ? "--runtime none " : "", asked[i / 2]);
        run_result r = ran(0, options);
        run_free(&r);
    }
}

Test(microbatches, a_number_out_of_range_is_refused)
{
    run_result r = ran(2, "--microbatches 0");
    run_free(&r);
    r = ran(2, "--microbatches 1000001");
    run_free(&r);
}

Test(microbatches, a_compiler_of_its_own_gets_the_number_that_was_given)
{
    run_result r = ran(0, "--objective throughput --microbatches 5 --max-candidates 1 --compiler "
                          "'grep -q \"\\\"microbatches\\\": 5\" \"$CLEAVE_OPTIONS\" && "
                          "echo \"{\\\"version\\\": 1, \\\"outcome\\\": \\\"fits\\\", "
                          "\\\"latency_ms\\\": 4, \\\"throughput\\\": 500}\"'");
    cr_assert_eq(in_plan("microbatches"), 5);
    cr_assert_eq(in_plan("run_ns"), 4e6 + 4 * 2e6);
    cr_assert_lt(in_plan("fill_ns"), 0);
    run_free(&r);
    r = ran(3, "--objective throughput --max-candidates 1 --compiler "
               "'grep -q microbatches \"$CLEAVE_OPTIONS\"'");
    run_free(&r);
}

Test(microbatches, a_plan_by_hand_has_as_many_as_it_can)
{
    run_result r = ran(0, "--objective throughput --sharding-nodes r3=0");
    cr_assert_geq(in_plan("microbatches"), 2);
    run_free(&r);
    r = ran(0, "--objective throughput --sharding-nodes r3=0 --memory 7MiB");
    cr_assert_eq(in_plan("microbatches"), 1);
    run_free(&r);
}

/* -- training -- */

/* Six layers h = x w, x = relu(h); then h_grad, w_grad, w_new and x_grad of each, from the last to
 * the first. */
static void write_training(const char *path, const char *word)
{
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    char in[64], out[64], name[64];

    onnx_input(g, "x0", 1, "256,256");
    onnx_input(g, "target", 1, "256,256");
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "w%d", i);
        onnx_weight(g, name, 1, "256,256");
        snprintf(in, sizeof in, "x%d,w%d", i, i);
        snprintf(out, sizeof out, "h%d", i);
        snprintf(name, sizeof name, "m%d", i);
        onnx_node(g, "MatMul", name, in, out);
        snprintf(in, sizeof in, "x%d", i + 1);
        snprintf(name, sizeof name, "r%d", i);
        onnx_node(g, "Relu", name, out, in);
    }
    snprintf(out, sizeof out, "x6_%s", word);
    onnx_node(g, "Sub", "loss", "x6,target", out);
    for (int i = 5; i >= 0; i--) {
        snprintf(in, sizeof in, "x%d_%s,x%d", i + 1, word, i + 1);
        snprintf(out, sizeof out, "h%d_%s", i, word);
        snprintf(name, sizeof name, "bh%d", i);
        onnx_node(g, "Mul", name, in, out);
        snprintf(in, sizeof in, "x%d,h%d_%s", i, i, word);
        snprintf(out, sizeof out, "w%d_%s", i, word);
        snprintf(name, sizeof name, "bw%d", i);
        onnx_node(g, "MatMul", name, in, out);
        snprintf(in, sizeof in, "w%d,w%d_%s", i, i, word);
        snprintf(out, sizeof out, "w%d_new", i);
        snprintf(name, sizeof name, "u%d", i);
        onnx_node(g, "Sub", name, in, out);
        onnx_output(g, out, 1, "256,256");
        snprintf(in, sizeof in, "h%d_%s,w%d", i, word, i);
        snprintf(out, sizeof out, "x%d_%s", i, word);
        snprintf(name, sizeof name, "bx%d", i);
        if (i > 0)
            onnx_node(g, "MatMul", name, in, out);
    }
    onnx_write(m, path);
    onnx_free(m);
}

static void use_training(const char *word)
{
    char path[600];
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    write_training(path, word);
}

/* Weights of a device are the bytes of a JSON plan, one after the other. */
static double weights_in_plan(void)
{
    run_result r = run_in(folder, "cat p.json");
    double sum = 0;
    for (const char *at = r.out; (at = strstr(at, "\"weight_bytes\":")); at++)
        sum += atof(at + strlen("\"weight_bytes\":"));
    run_free(&r);
    return sum;
}

Test(microbatches, training_keeps_both_passes_of_a_layer_together)
{
    use_training("grad");
    run_result r = ran(0, "--objective throughput");
    cr_assert(strstr(r.out, "in 1F1B order"), "%s", r.out);
    cr_assert(strstr(r.out, "stage 0: F0 F1 B0 F2 B1 F3"), "%s", r.out);
    cr_assert(strstr(r.out, "stage 1: F0 B0 F1 B1 F2 B2"), "%s", r.out);
    cr_assert_eq(weights_in_plan(), 6 * 256 * 256 * 4, "each weight on one device");
    run_free(&r);
    r = run_in(folder, "grep -c backward_runs p.json");
    cr_assert_eq(r.code, 0);
    run_free(&r);
    r = run_in(folder, "%s annotate --plan p.json -o a.onnx m.onnx", TEST_CLEAVE);
    cr_assert_eq(r.code, 0, "%s%s", r.out, r.err);
    run_free(&r);
}

/* Both passes are in every candidate that it gets, also in those that are begun ahead; the files of
 * the plan are the same at any number of jobs. Its times and lengths are any. */
Test(microbatches, a_compiler_of_its_own_gets_both_passes)
{
    static const char judge[] =
        "grep -q backward_runs \"$CLEAVE_PLAN\" || exit 1\n"
        "n=$(cksum <\"$CLEAVE_PLAN\" | cut -d' ' -f1)\n"
        "sleep 0.0$(((n + CLEAVE_WORKER * 77) % 90 + 10))\n"
        "echo '{\"version\":1,\"outcome\":\"fits\",\"latency_ms\":2.'$((n % 900 + 100))'}'\n";
    use_training("g");
    file_write(folder, "judge.sh", judge, sizeof judge - 1);
    for (int jobs = 1; jobs <= 4; jobs += 3) {
        run_result r = run_in(folder,
                              "%s plan --devices 2 --runtime none --objective throughput "
                              "--backward loss --jobs %d --plan-out %d.json --no-output "
                              "--compiler 'sh \"$CLEAVE_CALLER_DIR/judge.sh\"' m.onnx",
                              TEST_CLEAVE, jobs, jobs);
        cr_assert_eq(r.code, 0, "%s%s", r.out, r.err);
        cr_expect(strstr(r.out, "in 1F1B order"), "%s", r.out);
        cr_expect(strstr(r.out, "23 operators backward"), "%s", r.out);
        cr_expect_null(strstr(r.out, "failed"), "%s", r.out);
        run_free(&r);
    }
    cr_expect(file_same(folder, "1.json", "4.json"));
    run_result r = run_in(folder, "grep -c backward_runs 1.json");
    cr_expect_eq(r.code, 0);
    run_free(&r);
}

Test(microbatches, a_plan_of_a_backward_pass_is_checked_with_it)
{
    use_training("grad");
    run_result r = ran(0, "--objective throughput");
    run_free(&r);
    r = run_in(
        folder,
        "tr -d '\\n' < p.json | sed 's/,[^,]*\"backward_runs\": *\\[[^{}]*\\] *}/}/' > q.json; "
        "%s annotate --plan q.json -o a.onnx m.onnx",
        TEST_CLEAVE);
    cr_assert_neq(r.code, 0);
    cr_assert(strstr(r.err, "which is not a later stage"), "%s", r.err);
    run_free(&r);
}

Test(microbatches, the_user_says_where_the_backward_pass_begins)
{
    use_training("g");
    run_result r = ran(0, "--objective throughput");
    cr_assert_null(strstr(r.out, "in 1F1B order"));
    run_free(&r);
    r = ran(0, "--runtime none --objective throughput --backward loss");
    /* 24 from the loss on, which is in one unit with the last layer */
    cr_assert(strstr(r.out, "23 operators backward"), "%s", r.out);
    run_free(&r);
    r = ran(2, "--objective throughput --backward nobody");
    cr_assert(strstr(r.err, "'nobody'"), "%s", r.err);
    run_free(&r);
    use_training("grad");
    r = ran(0, "--objective throughput --backward none");
    cr_assert_null(strstr(r.out, "in 1F1B order"));
    run_free(&r);
}

Test(microbatches, training_for_latency_is_as_before)
{
    use_training("grad");
    run_result r = ran(0, "");
    cr_assert_null(strstr(r.out, "in 1F1B order"));
    cr_assert_lt(in_plan("microbatches"), 0);
    run_free(&r);
}

Test(microbatches, training_with_few_microbatches_has_a_bound_below_what_it_reaches)
{
    use_training("grad");
    run_result r = ran(0, "--objective throughput --microbatches 3");
    cr_assert(strstr(r.out, "stage 0: F0 F1 B0 F2 B1 B2\n"), "%s", r.out);
    cr_assert_leq(in_plan("bound_ns") * 3, in_plan("run_ns") + 3);
    run_free(&r);
}
