/* test_plan.c - cleave plan, inspect, annotate and strip, as a user runs them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/onnx_builder.h"
#include "support/run.h"

/* Twelve layers of y = relu(x W) + x, W of 256 x 256 floats: 256 KiB each, 3 MiB in all. Each Add
 * is a candidate. Two devices of 2 MiB are enough, two of 700 KiB are not.
 */
#define LAYERS 12

static char *folder;

static void write_model(const char *path, const char *batch)
{
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    char dims[32], in[16], names[32], y[16], r[16], z[16], node[32];

    snprintf(dims, sizeof dims, "%s,256", batch);
    onnx_input(g, "x0", 1, dims);
    for (int i = 0; i < LAYERS; i++) {
        snprintf(in, sizeof in, "x%d", i);
        snprintf(y, sizeof y, "y%d", i);
        snprintf(r, sizeof r, "r%d", i);
        snprintf(z, sizeof z, "x%d", i + 1);
        snprintf(names, sizeof names, "w%d", i);
        onnx_weight(g, names, 1, "256,256");
        snprintf(names, sizeof names, "%s,w%d", in, i);
        snprintf(node, sizeof node, "layer%d/MatMul", i);
        onnx_node(g, "MatMul", node, names, y);
        snprintf(node, sizeof node, "layer%d/Relu", i);
        onnx_node(g, "Relu", node, y, r);
        snprintf(names, sizeof names, "%s,%s", r, in);
        snprintf(node, sizeof node, "layer%d/Add", i);
        onnx_node(g, "Add", node, names, z);
    }
    onnx_output(g, z, 1, dims);
    onnx_write(m, path);
    onnx_free(m);
}

static void set_up(void)
{
    char path[600];

    folder = folder_new();
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    write_model(path, "4");
    snprintf(path, sizeof path, "%s/open.onnx", folder);
    write_model(path, "batch");
}

static void tear_down(void) { folder_free(folder); }

TestSuite(plan, .init = set_up, .fini = tear_down);

/* Runs "cleave <arguments>"; it must end with that code. */
static run_result ran(int code, const char *arguments)
{
    run_result r = run_in(folder, "%s %s", TEST_CLEAVE, arguments);
    cr_assert_eq(r.code, code, "'%s' gave %d: %s%s", arguments, r.code, r.err, r.out);
    return r;
}

static void check(int code, const char *arguments, const char *says)
{
    run_result r = ran(code, arguments);
    cr_expect(strstr(r.out, says) || strstr(r.err, says), "'%s' printed: %s%s", arguments, r.out,
              r.err);
    run_free(&r);
}

static bool there(const char *name)
{
    char *text = file_text(folder, name, NULL);
    free(text);
    return text != NULL;
}

/* The result says "optimal" just where the search line says that the bound is met. */
static void optimal_is_proven(const char *out)
{
    bool proven = strstr(out, "; the bound is met\n") != NULL;
    cr_expect(strstr(out, proven ? "\nresult      optimal of all that was searched\n"
                                 : "\nresult      best found, gap "),
              "%s", out);
    cr_expect(!strstr(out, "[Success]"), "%s", out);
}

/* So do the words of auto_sharding.py, for who calls it in its way. */
static void says_as_auto_sharding_does(const char *out)
{
    bool proven = strstr(out, "; the bound is met\n") != NULL;
    cr_expect(strstr(out, proven ? "[Success] The optimal solution:\n"
                                 : "[Success] Compile successfully and solution:\n"),
              "%s", out);
    cr_expect(strstr(out, proven ? "[Success] The optimal latency " : "[Success] The latency "),
              "%s", out);
    cr_expect(strstr(out, " ms, tput "), "%s", out);
    cr_expect(!strstr(out, "\nresult "), "%s", out);
}

#define TWO_MIB    "--memory 2MiB "
#define TOO_LITTLE "--memory 700KiB "

/* covers: A.003 B.002 B.031 B.032 B.033 */
Test(plan, a_model_too_big_for_one_device_is_cut_in_two)
{
    run_result r = ran(0, "plan " TWO_MIB "--devices 2 m.onnx");

    cr_expect(strstr(r.out, "fits 2 of 2 devices in 2 stages"), "%s", r.out);
    cr_expect(strstr(r.out, "cut behind  gpu0: ['layer"), "%s", r.out);
    cr_expect(!strstr(r.out, "cut behind  gpu1"), "%s", r.out);
    optimal_is_proven(r.out);
    cr_expect(strstr(r.out, "The annotated model is in m.onnx.auto_sharded.onnx\n"), "%s", r.out);
    cr_expect_str_empty(r.err);
    cr_expect(there("m.onnx.auto_sharded.onnx"));
    cr_expect(there("m.onnx.auto_sharded.onnx.plan.json"));
    run_free(&r);
}

/* covers: B.026 B.029 */
Test(plan, is_called_as_the_tool_of_poprt_too)
{
    run_result r = ran(0, "plan --input_model=m.onnx --num_ipus=2 --num_processes 3 "
                          "--optimal_perf");
    says_as_auto_sharding_does(r.out);
    run_free(&r);
    cr_expect(there("m.onnx.auto_sharded.onnx"));
    check(0, "plan --input_model m.onnx --num_ipus 2 --output_model out.onnx",
          "[Success] Save the sharded model to out.onnx\n");
    cr_expect(there("out.onnx"));
}

/* How many workers judged two candidates, each of which waits so many twentieths of a second at
 * most for another to be begun. */
static int workers(const char *option, int patience)
{
    static const char script[] = "mkdir -p $1; : >$1/$CLEAVE_WORKER\n"
                                 "for i in $(seq $2); do\n"
                                 "    [ $(ls $1 | wc -l) -ge 2 ] && break\n"
                                 "    sleep 0.05\n"
                                 "done\n";
    char seen[600];
    file_write(folder, "wait.sh", script, sizeof script - 1);
    run_result r = run_in(folder,
                          "rm -rf seen; %s plan --devices 5 --max-candidates 2 --no-output %s "
                          "--compiler \"sh $PWD/wait.sh $PWD/seen %d\" m.onnx",
                          TEST_CLEAVE, option, patience);
    run_free(&r);
    snprintf(seen, sizeof seen, "%s/seen", folder);
    return folder_count(seen);
}

/* covers: B.029 */
Test(plan, two_candidates_are_compiled_at_once_unless_asked_otherwise)
{
    cr_expect_eq(workers("", 1200), 2);
    cr_expect_eq(workers("--num_processes 1", 2), 1);
}

/* "search      first-fit: 2 candidates judged by ..." */
static int judged(const char *report)
{
    int n = -1;
    const char *line = strstr(report, "\nsearch ");
    if (line)
        sscanf(line, "\nsearch %*[^:]: %d", &n);
    return n;
}

/* No cut of it into stages is proven to be optimal by latency. */
#define OPEN                                                                                       \
    TEST_SOURCE_DIR "/tests/data/models/bert.dyn.onnx --bind batch_size=8,sequence_length=64 "

Test(plan, stops_when_it_is_near_enough_to_what_is_proven)
{
    run_result all = ran(0, "plan --max-tp 1 --devices 5 --no-output " OPEN);
    run_result near = ran(0, "plan --max-tp 1 --devices 5 --no-output --gap 99% " OPEN);
    cr_expect(strstr(near.out, "; near enough, as asked\nbound "), "%s", near.out);
    cr_expect_leq(judged(near.out), judged(all.out), "%s%s", near.out, all.out);
    run_free(&all);
    run_free(&near);
    check(0, "plan --max-tp 1 --devices 3 --copies 1 --objective throughput --no-output m.onnx",
          "; the bound is met\nbound       no cut of these units has less time between runs than ");
}

/* The first plans are judged in any case: a command that takes long enough. */
Test(plan, stops_at_the_deadline_with_the_best_so_far)
{
    check(0,
          "plan --devices 5 --no-output --deadline 0.01 --compiler 'sleep 0.1; echo "
          "\"{\\\"version\\\":1,\\\"outcome\\\":\\\"fits\\\",\\\"latency_ms\\\":2.5}\"' "
          "m.onnx",
          "; stopped at the deadline\nbound       not known\n");
}

Test(plan, knows_at_the_deadline_that_nothing_fitted_so_far)
{
    check(3,
          "plan --devices 5 --no-output --deadline 0.01 --compiler 'sleep 0.1; echo "
          "\"{\\\"version\\\":1,\\\"outcome\\\":\\\"oom\\\",\\\"device\\\":0,"
          "\\\"bytes\\\":5}\"' m.onnx",
          "; stopped at the deadline\n");
}

/* Five devices do not divide twelve layers, so that there is something to search.
 * covers: B.027 B.028 */
#define LATER TEST_SOURCE_DIR "/tests/data/models/resnet.static.onnx" /* not optimal at once */
Test(plan, without_optimal_perf_that_tool_stops_at_the_first_plan)
{
    run_result first = ran(0, "plan --num_ipus 5 --no-output --input_model " LATER);
    run_result all = ran(0, "plan --num_ipus 5 --no-output --optimal_perf --input_model " LATER);

    cr_expect_geq(judged(first.out), 1, "%s", first.out);
    cr_expect_lt(judged(first.out), judged(all.out), "%s%s", first.out, all.out);
    says_as_auto_sharding_does(first.out);
    says_as_auto_sharding_does(all.out);
    run_free(&first);
    run_free(&all);
}

/* covers: A.001 B.034 B.056 */
Test(plan, what_does_not_fit_is_reported_and_nothing_is_written)
{
    int before = folder_count(folder);
    run_result r = ran(3, "plan " TOO_LITTLE "--devices 2 m.onnx");

    cr_expect(strstr(r.out, "cannot be sharded into 2 devices"), "%s", r.out);
    cr_expect(strstr(r.out, "\nresult      no plan fits: gpu"), "%s", r.out);
    cr_expect(strstr(r.out, "cut behind  gpu0: ["), "the best plan so far: %s", r.out);
    cr_expect(!strstr(r.out, "annotated model"), "%s", r.out);
    cr_expect_eq(folder_count(folder), before);
    run_free(&r);
}

/* covers: A.001 */
Test(plan, a_model_is_cut_no_more_than_memory_asks_for)
{
    check(0, "plan --max-tp 1 --no-output m.onnx", "fits 1 of 8 devices in 1 stage\n");
    check(0, "plan --max-tp 1 --no-output " TWO_MIB "m.onnx", "fits 2 of 8 devices in 2 stages\n");
}

/* Eight devices of one kind, and between them the wires of a DGX H100 or ones of this bandwidth. */
static char *planned_over(const char *bandwidth)
{
    run_result r =
        run_in(folder,
               "sed s,450GB/s,%s, %s/configs/clusters/dgx-h100.json >wired.json && "
               "%s plan --max-tp 1 --copies 1 --cluster ./wired.json --objective throughput "
               "--no-output "
               "%s/tests/data/models/resnet.static.onnx",
               bandwidth, TEST_SOURCE_DIR, TEST_CLEAVE, TEST_SOURCE_DIR);
    cr_assert_eq(r.code, 0, "%s", r.err);
    free(r.err);
    return r.out;
}

/* covers: A.001 */
Test(plan, a_model_is_cut_only_where_the_wire_is_fast_enough)
{
    char *fast = planned_over("450GB/s"), *slow = planned_over("1MB/s");
    cr_expect(strstr(fast, "fits ") && !strstr(fast, "fits 1 of"), "%s", fast);
    cr_expect(strstr(slow, "fits 1 of 8 devices in 1 stage\n"), "%s", slow);
    free(fast);
    free(slow);
}

/* A compiler that lacks memory unless the proportion is lowered to its argument. */
static run_result plan_tightly(const char *enough)
{
    static const char script[] =
        "if grep -q \"available_memory_proportion\\\": $1\" options.json; then\n"
        "    echo '{\"version\":1,\"outcome\":\"fits\",\"latency_ms\":2.5}'\n"
        "else\n"
        "    echo '{\"version\":1,\"outcome\":\"oom\",\"device\":1,\"bytes\":12345,'\n"
        "    echo '\"place\":\"tile 1500\"}'\n"
        "fi\n";
    file_write(folder, "tight.sh", script, sizeof script - 1);
    return run_in(folder, "%s plan --devices 2 --compiler \"sh $PWD/tight.sh %s\" m.onnx",
                  TEST_CLEAVE, enough);
}

#define AT_3_TENTHS "with available memory proportion 0.3: device 1 lacks 12.06 KiB\n"
#define AT_1_TENTH  "with available memory proportion 0.1: device 1 lacks 12.06 KiB\n"

/* covers: B.024 B.025 B.030 B.056 */
Test(plan, lower_proportions_are_tried_until_one_fits)
{
    run_result r = plan_tightly("0.3");
    cr_expect_eq(r.code, 0, "%s", r.err);
    cr_expect(strstr(r.out, "available memory proportion lowered to 0.3\n"), "%s", r.out);
    cr_expect(!strstr(r.out, "lowered to 0.1"), "%s", r.out);
    run_free(&r);
    r = plan_tightly("0.1");
    cr_expect_eq(r.code, 0, "%s", r.err);
    cr_expect(strstr(r.out, AT_3_TENTHS), "%s", r.out);
    cr_expect(strstr(r.out, "available memory proportion lowered to 0.1\n"), "%s", r.out);
    run_free(&r);
}

/* covers: B.034 B.050 B.056 */
Test(plan, when_no_proportion_fits_each_is_reported_and_nothing_is_written)
{
    run_result r = plan_tightly("none");
    cr_expect_eq(r.code, 3, "%s", r.err);
    cr_expect(strstr(r.out, AT_3_TENTHS), "%s", r.out);
    cr_expect(strstr(r.out, AT_1_TENTH), "%s", r.out);
    cr_expect(strstr(r.out, "no plan fits: gpu1 lacks 12.06 KiB\n"), "%s", r.out);
    cr_expect(strstr(r.out, "memory is missing at: tile 1500\n"), "%s", r.out);
    cr_expect(!there("m.onnx.auto_sharded.onnx"));
    run_free(&r);
}

Test(plan, the_same_request_gives_the_same_bytes_at_any_number_of_jobs)
{
    check(0, "plan --devices 4 --jobs 1 -o a.onnx m.onnx", "The annotated model is in ");
    check(0, "plan --devices 4 --jobs 4 -o b.onnx m.onnx", "The annotated model is in ");
    cr_expect(file_same(folder, "a.onnx", "b.onnx"));
    cr_expect(file_same(folder, "a.onnx.plan.json", "b.onnx.plan.json"));
}

/* A stream cannot be taken back, but a model can be kept back. */
Test(plan, where_the_plan_cannot_be_written_is_no_model)
{
    int before = folder_count(folder);
    check(74, "plan --devices 2 -o o.onnx --plan-out /dev/full m.onnx", "");
    cr_expect_eq(folder_count(folder), before);
    check(74, "plan --devices 2 -o /dev/full --plan-out p.json m.onnx", "");
    cr_expect_eq(folder_count(folder), before);
}

Test(plan, files_are_written_only_where_asked)
{
    int before = folder_count(folder);
    check(0, "plan --devices 2 --no-output m.onnx", "result      optimal");
    cr_expect_eq(folder_count(folder), before);
    check(0, "plan --devices 2 --no-output --plan-out p.json m.onnx", "The plan is in p.json\n");
    cr_expect_eq(folder_count(folder), before + 1);
    run_result r = ran(0, "plan --devices 2 -q m.onnx");
    cr_expect_str_empty(r.out);
    cr_expect_str_empty(r.err);
    run_free(&r);
}

Test(plan, symbols_need_a_size)
{
    check(65, "plan open.onnx", "batch");
    check(65, "plan --bind bach=8 open.onnx", "bach");
    check(2, "plan --bind batch open.onnx", "'batch' is not NAME=SIZE");
    check(2, "plan --bind batch=0 open.onnx", "batch");
    check(2, "plan --bind batch=2 --bind batch=3 open.onnx", "twice");
    check(0, "plan --bind batch=8 --devices 2 --no-output open.onnx", "batch=8");
}

Test(plan, unknown_clusters_and_too_many_devices_are_reported)
{
    run_result r = run_in(folder, "%s plan --cluster nowhere m.onnx", TEST_CLEAVE);
    cr_expect(r.code == 2 || r.code == 65 || r.code == 74, "%d %s", r.code, r.err);
    cr_expect(strstr(r.err, "nowhere"), "%s", r.err);
    run_free(&r);
    check(2, "plan --devices 9 m.onnx", "9");
}

/* covers: A.007 */
Test(plan, strip_gives_the_model_back_byte_for_byte)
{
    check(0, "plan --devices 2 -o cut.onnx m.onnx", "The annotated model is in ");
    cr_expect(!file_same(folder, "m.onnx", "cut.onnx"));
    check(0, "strip -o back.onnx cut.onnx", "The stripped model is in back.onnx\n");
    cr_expect(file_same(folder, "m.onnx", "back.onnx"));
    check(65, "strip m.onnx", "m.onnx has no annotation of cleave");
    check(65, "strip --all -o none.onnx m.onnx", "m.onnx has no multi-device annotation");
    cr_expect(!there("m.onnx.stripped.onnx") && !there("none.onnx"));
}

/* covers: B.006 */
Test(plan, the_manual_says_that_the_best_plan_may_be_another)
{
    char *page = file_text(TEST_SOURCE_DIR, "docs/man/cleave-plan.1", NULL);
    cr_expect(strstr(page, "The search is a local one"));
    cr_expect(strstr(page, "To change a plan by hand"));
    free(page);
}

/* covers: B.001 B.006 */
Test(plan, a_plan_edited_by_hand_is_applied)
{
    check(0, "plan --devices 2 --max-tp 1 -o cut.onnx m.onnx", "The annotated model is in ");
    check(0, "annotate --plan cut.onnx.plan.json -o same.onnx m.onnx",
          "The annotated model is in same.onnx\n");
    cr_expect(file_same(folder, "cut.onnx", "same.onnx"));
    run_result r = run_in(folder, "python3 - <<'E'\n"
                                  "import json\n"
                                  "p = json.load(open('cut.onnx.plan.json'))\n"
                                  "p['operators']['device_runs'] = [[0, 9], [1, 27]]\n"
                                  "for i, d in enumerate(p['devices']):\n"
                                  "    del d['operators']; d['stage'] = i\n"
                                  "p['stages'] = 2\n"
                                  "json.dump(p, open('edited.json', 'w'))\n"
                                  "p['operators']['device_runs'] = [[1, 9], [0, 27]]\n"
                                  "json.dump(p, open('backwards.json', 'w'))\n"
                                  "p['fingerprint'] = '0' * 16\n"
                                  "json.dump(p, open('foreign.json', 'w'))\n"
                                  "E");
    cr_assert_eq(r.code, 0, "%s", r.err);
    run_free(&r);
    check(0, "annotate --plan edited.json -o edited.onnx m.onnx", "The annotated model is in ");
    cr_expect(!file_same(folder, "edited.onnx", "same.onnx"));
    check(65, "annotate --plan backwards.json -o no.onnx m.onnx", "not a later stage");
    check(65, "annotate --plan foreign.json -o no.onnx m.onnx", "");
    check(65, "annotate --plan m.onnx -o no.onnx m.onnx", "m.onnx");
    check(74, "annotate --plan missing.json -o no.onnx m.onnx", "missing.json");
    cr_expect(!there("no.onnx"));
}

Test(plan, inspect_shows_what_a_model_is)
{
    check(0, "inspect m.onnx", "operators: 36\n");
    check(0, "inspect m.onnx", "parameters: 786432\n"); /* 12 * 256 * 256 */
    check(0, "inspect m.onnx", "weights: 3.000 MiB");
    check(0, "inspect m.onnx", "12 candidates");
    check(0, "inspect open.onnx", "batch  open: give it a size with --bind 'batch=N'\n");
    check(0, "inspect --bind batch=2 open.onnx", "batch  bound\n");
    check(65, "inspect --bind none=2 open.onnx", "none");
}

/* Nine inputs, most operators without FLOPs. */
/* Three layers with two heads of keys and two of values, of 8 elements of 4 bytes. */
Test(plan, inspect_says_what_a_token_takes)
{
    const char *sizes = "--bind batch_size=4,sequence_length=1,past_sequence_length=15,"
                        "total_sequence_length=16",
               *llama = TEST_SOURCE_DIR "/tests/data/models/llama_gqa_decode.dyn.onnx";
    char line[1024];
    snprintf(line, sizeof line, "inspect %s", llama);
    check(0, line, "state: 6 inputs come back as outputs\n");
    check(0, line, "  384 bytes a token of a sequence along past_sequence_length, in 6 of them\n");
    snprintf(line, sizeof line, "inspect %s %s", sizes, llama); /* 4 x 16 x 384 bytes */
    check(0, line, "state: 6 inputs come back as outputs, 24.00 KiB\n");
    check(0, line, "  384 bytes a token of a sequence along past_sequence_length, in 6 of them\n");
    /* 694032 bytes of weights: 2 x 500000 - 694032 = 796.8 x 384 */
    snprintf(line, sizeof line, "inspect --devices 2 --memory 500000B %s", llama);
    check(0, line,
          "room: 2 devices of dgx-h100 for 976.6 KiB: the weights, and at most 796 tokens\n");
    snprintf(line, sizeof line, "inspect --devices 2 --memory 500000B --headroom 10%% %s", llama);
    check(0, line,
          "room: 2 devices of dgx-h100 for 878.9 KiB: the weights, and at most 536 tokens\n");
    snprintf(line, sizeof line, "inspect --devices 1 --memory 500000B %s", llama);
    check(0, line, "room: 1 device of dgx-h100 for 488.3 KiB, less than the weights\n");
    snprintf(line, sizeof line, "inspect --cluster nowhere %s", llama);
    check(2, line, "'nowhere' is no known cluster");
    check(2, "inspect --devices 9 m.onnx", "9 devices were asked for, expected 1 to 8");
    check(2, "inspect --headroom much m.onnx", "headroom is 'much': expected a part from 0%");
    check(2, "inspect --headroom 100% m.onnx", "headroom is '100%'");
    check(0, "inspect --devices 1 m.onnx", "room: 1 device of dgx-h100 for 66.06 GiB: the weights");
}

/* Keys and values of two layers, two heads of 8 elements of 4 bytes, of 2 x 8 tokens. */
Test(plan, inspect_says_what_a_prefill_leaves)
{
    const char *model =
        "inspect " TEST_SOURCE_DIR "/tests/data/runnable/mixtral_prefill.static.onnx";
    check(0, model, "state: 4 outputs are keys or values of attention, 4.000 KiB\n");
    check(0, model, "  256 bytes a token of a sequence, in 4 of them\n");
}

Test(plan, inspect_is_short_where_a_model_is_long)
{
    const char *llama = "inspect " TEST_SOURCE_DIR "/tests/data/models/llama_gqa_decode.dyn.onnx";
    run_result r = ran(0, llama);
    cr_expect(strstr(r.out, "inputs: 9\n  input_ids "), "%s", r.out);
    cr_expect(strstr(r.out, "\n  ... and 1 more\n"), "%s", r.out);
    cr_expect(!strstr(r.out, "past_key_values.2.value"), "%s", r.out);
    cr_expect(strstr(r.out, "FLOPs none or not known: Constant 281, Unsqueeze 109, "), "%s", r.out);
    for (const char *line = r.out; *line; line += strcspn(line, "\n") + 1)
        cr_expect_leq(strcspn(line, "\n"), 100, "%s", line);
    run_free(&r);
    r = run_in(folder, "%s %s --json", TEST_CLEAVE, llama);
    cr_expect(strstr(r.out, "past_key_values.2.value"), "the JSON form holds all");
    run_free(&r);
}

/* Its number is printed, and tput follows from it. The variable would make PopRT's
 * compiler write profiles while it measures. The protocol says to who writes a compiler how that
 * tool measures. covers: B.052 B.055 */
Test(plan, the_latency_is_what_the_external_compiler_measured)
{
    run_result r = run_in(folder,
                          "POPLAR_ENGINE_OPTIONS='{}' %s plan --devices 2 --no-output --compiler "
                          "'test -z \"$POPLAR_ENGINE_OPTIONS\" && echo "
                          "\"{\\\"version\\\":1,\\\"outcome\\\":\\\"fits\\\",\\\"latency_ms\\\":"
                          "2.5}\"' m.onnx",
                          TEST_CLEAVE);
    cr_expect_eq(r.code, 0, "%s%s", r.out, r.err);
    cr_expect(
        strstr(r.out, "latency     2.50 ms for one run; one after another, 400 runs a second\n"),
        "%s", r.out);
    cr_expect(strstr(r.out, "note: POPLAR_ENGINE_OPTIONS is unset"), "%s", r.out);
    run_free(&r);
    char *protocol = file_text(TEST_SOURCE_DIR, "docs/compiler-protocol.md", NULL);
    cr_expect(strstr(protocol, "inputs of ones, 20 warm-up runs, then the mean of 200 runs"));
    free(protocol);
}

/* A compiler for which the nodes of the first four layers take 5 ms each and the others 1 ms: the
 * three devices take 60, 12 and 12 ms if each gets four layers, and 30, 30 and 24 at best. */
static run_result plan_measured(const char *reports, const char *jobs)
{
    static const char script[] =
        "tr -d ' \n' <\"$CLEAVE_PLAN\" | sed 's/.*\"device_runs\":\\[\\[//; s/\\]\\].*//; "
        "s/\\],\\[/ /g' | awk -v n=\"$CLEAVE_DEVICES\" -v busy_too=$1 '{\n"
        "    for (i = 1; i <= NF; i++) {\n"
        "        split($i, run, \",\")\n"
        "        for (k = 0; k < run[2]; k++) busy[run[1]] += at++ < 12 ? 5 : 1\n"
        "    }\n"
        "    for (d = 0; d < n; d++) {\n"
        "        list = list (d ? \",\" : \"\") busy[d] + 0\n"
        "        if (busy[d] > most) most = busy[d]\n"
        "    }\n"
        "    printf \"{\\\"version\\\":1,\\\"outcome\\\":\\\"fits\\\",\\\"latency_ms\\\":84,\"\n"
        "    printf \"\\\"throughput\\\":%.6f\", 1000 / most\n"
        "    if (busy_too) printf \",\\\"busy_ms\\\":[%s]\", list\n"
        "    print \"}\"\n"
        "}'\n";
    file_write(folder, "measure.sh", script, sizeof script - 1);
    return run_in(
        folder,
        "%s plan --devices 3 --max-tp 1 --copies 1 --objective throughput --max-candidates 8 "
        "--jobs %s --plan-out p%s.json --compiler \"sh $PWD/measure.sh %s\" m.onnx",
        TEST_CLEAVE, jobs, jobs, reports);
}

Test(plan, what_the_external_compiler_measures_on_each_device_leads_to_other_cuts)
{
    run_result silent = plan_measured("0", "1"), one = plan_measured("1", "1"),
               four = plan_measured("1", "4");
    cr_assert_eq(silent.code + one.code + four.code, 0, "%s%s", silent.err, one.err);
    cr_expect_null(strstr(silent.out, "throughput  33.3 runs"), "%s", silent.out);
    cr_expect(strstr(one.out, "throughput  33.3 runs"), "%s", one.out);
    run_free(&silent);
    run_free(&one);
    run_free(&four);
    char *a = file_text(folder, "p1.json", NULL), *b = file_text(folder, "p4.json", NULL);
    cr_expect_str_eq(a, b, "the same at any number of jobs");
    free(a);
    free(b);
}

/* It runs in a folder of its own, and learns where the caller's is. */
Test(plan, the_external_compiler_finds_the_caller_s_folder)
{
    static const char judge[] = "test -e ./judge.sh && exit 1\n"
                                "echo '{\"version\":1,\"outcome\":\"fits\",\"latency_ms\":2.5}'\n";
    file_write(folder, "judge.sh", judge, sizeof judge - 1);
    check(0, "plan --devices 2 --no-output --compiler 'sh \"$CLEAVE_CALLER_DIR\"/judge.sh' m.onnx",
          "latency     2.50 ms");
    char *protocol = file_text(TEST_SOURCE_DIR, "docs/compiler-protocol.md", NULL);
    cr_expect(strstr(protocol, "`CLEAVE_CALLER_DIR`"));
    free(protocol);
}

/* Less than a millisecond is one, not the default of ten minutes. */
Test(plan, the_shortest_timeout_is_a_timeout)
{
    check(
        3,
        "plan --devices 2 --max-candidates 1 --compiler 'exec sleep 60' --compiler-timeout 0.0009 "
        "m.onnx",
        "no end within the time allowed");
}

Test(plan, names_of_files_are_shown_without_what_disturbs_a_terminal)
{
    check(0, "plan -o \"$(printf 'a\\033[31m\\nb\\302\\205\\377\\303\\251')\" m.onnx",
          "The annotated model is in a\\x1b[31m\\x0ab\\xc2\\x85\\xff\xc3\xa9\n"
          "The plan is in a\\x1b[31m\\x0ab\\xc2\\x85\\xff\xc3\xa9.plan.json\n");
    check(0, "annotate --plan *.plan.json -o \"$(printf 'c\\033')\" m.onnx",
          "model is in c\\x1b\n");
    check(0, "strip -o \"$(printf 'd\\033')\" \"$(printf 'c\\033')\"", "model is in d\\x1b\n");
}

/* Whatever is missing, the command ends by itself. An address space this small is not enough for
 * the sanitizers. */
Test(plan, a_lack_of_memory_is_reported)
{
    run_result r = run_in(
        folder,
        "grep -q 'CLEAVE_SANITIZE:[A-Z]*=.' %s/CMakeCache.txt && exit 0; "
        "for kb in 9000 13000 16000 21000 24000 28000 30000 32000 36000 38000 40000 42000 "
        "45000; do (ulimit -v $kb; exec %s plan -q --no-output --jobs 4 m.onnx 2>err); c=$?; "
        "case $c in 0 | 127) ;; 70) test $(wc -l <err) = 1 ;; *) false ;; esac || "
        "{ echo \"$kb KiB: $c\"; cat err; exit 1; }; done",
        TEST_BINARY_DIR, TEST_CLEAVE);
    cr_expect_eq(r.code, 0, "%s%s", r.out, r.err);
    run_free(&r);
}

#define ANSWERS(json) "--compiler 'echo \"" json "\"' "

/* It reports the whole run, not what is on which device and for how long. */
Test(plan, what_the_external_compiler_does_not_report_is_not_shown)
{
    static const char *const unknown[] = { "busy", "memory  ", " 0 ns", " 0 B", "transfer" };
    static const char *const keys[] = { "busy_ns", "_bytes\": 0", "peak_bytes", "transfers" };
    run_result r = ran(0, "plan --devices 2 --no-output --plan-out p.json " ANSWERS(
                              "{\\\"version\\\":1,\\\"outcome\\\":\\\"fits\\\","
                              "\\\"latency_ms\\\":2.5}") "m.onnx");
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        cr_expect(!strstr(r.out, unknown[i]), "'%s' in %s", unknown[i], r.out);
    run_free(&r);
    char *json = file_text(folder, "p.json", NULL);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        cr_expect(!strstr(json, keys[i]), "'%s' in %s", keys[i], json);
    cr_expect(strstr(json, "\"latency_ns\": 2500000,"), "%s", json);
    free(json);
    check(0, "annotate --plan p.json -o a.onnx m.onnx", "The annotated model is in ");
}

Test(plan, a_compiler_that_cannot_be_run_is_not_a_lack_of_memory)
{
    int before = folder_count(folder);
    run_result r = ran(3, "plan --devices 2 --compiler no-such-compiler m.onnx");
    cr_expect(strstr(r.out, "m.onnx on dgx-h100: no candidate compiled; the first one:\n"), "%s",
              r.out);
    cr_expect(strstr(r.out, "note: no candidate compiled: exit status 127, command not found"),
              "%s", r.out);
    cr_expect(!strstr(r.out, "cannot be sharded"), "%s", r.out);
    cr_expect_eq(folder_count(folder), before);
    run_free(&r);
}

static void says_one_line(const char *arguments, const char *line)
{
    run_result r = ran(3, arguments);
    cr_expect_str_empty(r.out);
    cr_expect_eq(strncmp(r.err, line, strlen(line)), 0, "%s", r.err);
    cr_expect_eq(strchr(r.err, '\n'), r.err + strlen(r.err) - 1, "%s", r.err);
    run_free(&r);
}

Test(plan, a_quiet_run_without_a_plan_says_why_in_one_line)
{
    says_one_line("plan -q " TOO_LITTLE "--devices 2 m.onnx",
                  "cleave: no plan fits 2 devices: in the nearest one device ");
    says_one_line("plan -q --devices 2 --compiler no-such-compiler m.onnx",
                  "cleave: no candidate compiled: exit status 127, command not found");
}

static void write_with_external(const char *name, int files)
{
    char path[600], weight[24], file[24], in[48], out[24];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);

    onnx_input(g, "x0", 1, "5,5");
    for (int i = 0; i < files; i++) {
        snprintf(weight, sizeof weight, "w%d", i);
        snprintf(file, sizeof file, "w%d.bin", i);
        onnx_weight_external(g, weight, 1, "5,5", file, 0, 100);
        snprintf(in, sizeof in, "x%d,w%d", i, i);
        snprintf(out, sizeof out, "x%d", i + 1);
        onnx_node(g, "MatMul", "", in, out);
    }
    onnx_output(g, out, 1, NULL);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    onnx_write(m, path);
    onnx_free(m);
}

static void check_without(const char *arguments, const char *words)
{
    run_result r = ran(0, arguments);
    cr_expect(!strstr(r.out, words), "'%s' printed: %s", arguments, r.out);
    run_free(&r);
}

Test(plan, an_output_in_another_folder_is_reported_to_lack_its_weights)
{
    write_with_external("e.onnx", 1);
    write_with_external("e3.onnx", 3);
    run_result r = run_in(folder, "mkdir d && ln -s . here");
    run_free(&r);
    check(0, "plan --devices 1 -o d/e.onnx e.onnx",
          "\nnote: d/e.onnx looks for 'w0.bin' in d: copy or link it there\n");
    check(0, "plan --devices 1 -o d/e3.onnx e3.onnx",
          "\nnote: d/e3.onnx looks for 'w0.bin' and 2 more files in d: copy or link them there\n");
    check(0, "annotate --plan d/e.onnx.plan.json -o d/f.onnx e.onnx",
          "\nnote: d/f.onnx looks for 'w0.bin' in d: copy or link it there\n");
    check(0, "strip -o g.onnx d/f.onnx",
          "\nnote: g.onnx looks for 'w0.bin' in this folder: copy or link it there\n");
    check(0, "strip --json -o g.onnx d/f.onnx", "\"g.onnx looks for 'w0.bin' in this folder");
    check(0, "plan --json --devices 1 -o d/e.onnx e.onnx", "\"d/e.onnx looks for 'w0.bin' in d");
    check_without("plan --devices 1 -o here/e2.onnx e.onnx", "looks for");
    check_without("plan --devices 1 -o d/m.onnx m.onnx", "looks for");
    check_without("plan --devices 1 --no-output e.onnx", "looks for");
    check_without("plan --devices 1 -o /dev/null e.onnx", "looks for");
    check_without("strip -o d/h.onnx d/f.onnx", "looks for");
}

/* Nodes without names, no shapes of what is between, weights in a file that is not there.
 * covers: B.004 */
Test(plan, a_model_needs_no_preparation_but_sizes_of_its_symbols)
{
    char path[600];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);

    onnx_input(g, "x", 1, "batch,past + 1");
    onnx_weight_external(g, "w", 1, "5,5", "not_there.bin", 0, 100);
    onnx_node(g, "MatMul", "", "x,w", "y");
    onnx_node(g, "Relu", "", "y", "z");
    onnx_output(g, "z", 1, NULL);
    snprintf(path, sizeof path, "%s/raw.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
    check(65, "plan raw.onnx", "1 symbol of the inputs' shapes has no size");
    check(65, "plan raw.onnx", "--bind 'batch=1'");
    check(0, "plan raw.onnx --bind batch=2 --devices 2",
          "note: past + 1=5 follows from operators that read it");
    check(0, "plan raw.onnx --bind 'batch=2, past + 1=5' --devices 2",
          "The annotated model is in ");
    char *page = file_text(TEST_SOURCE_DIR, "docs/man/cleave-plan.1", NULL);
    cr_expect(strstr(page, "needs no preparation but sizes for its symbolic dimensions"));
    free(page);
}

/* Windows of 4 by 4: to follow the hint is enough. */
Test(plan, sizes_that_a_message_proposes_go_with_the_model)
{
    char path[600];
    const int64_t shape[] = { -1, 4, 4, 6 };
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "3,h,w,2");
    onnx_weight_ints(g, "s", "4", shape);
    onnx_node(g, "Reshape", "windows", "x,s", "y");
    onnx_output(g, "y", 1, NULL);
    snprintf(path, sizeof path, "%s/windows.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
    check(65, "plan windows.onnx", "as in --bind 'h=4,w=4'");
    check(0, "plan windows.onnx --bind h=4,w=4 --no-output", "result      optimal");
    check(65, "plan windows.onnx --bind h=16", "as in --bind 'w=1'");
    check(0, "plan windows.onnx --bind h=16,w=1 --no-output", "result      optimal");
}

Test(plan, the_report_says_how_the_first_fit_was_found)
{
    run_result r = ran(0, "plan --first-fit --devices 2 --no-output " OPEN);
    cr_expect(strstr(r.out, "first-fit: 1 candidate judged by builtin, 1 fits; "
                            "stopped at the first that fits\n"),
              "%s", r.out);
    run_free(&r);
    r = ran(0, "plan --first-fit --search documented --devices 2 --no-output " OPEN);
    cr_expect(strstr(r.out, "documented, first-fit: "), "%s", r.out);
    cr_expect(strstr(r.out, "result      best found, gap "), "%s", r.out);
    run_free(&r);
}

Test(plan, an_output_that_is_a_device_gets_no_plan_file_beside_it)
{
    run_result r = run_in(folder, "%s plan -o /dev/null m.onnx", TEST_CLEAVE);
    cr_expect_eq(r.code, 0, "%s", r.err);
    cr_expect_null(strstr(r.out, "The plan is in"), "%s", r.out);
    cr_expect_neq(access("/dev/null.plan.json", F_OK), 0);
    run_free(&r);
}

static long long number_after(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    cr_assert_not_null(at, "no %s in %s", key, text);
    return strtoll(at + strlen(key), NULL, 10);
}

/* Two chains of the input that meet nowhere, and of which none is a candidate to cut at: each runs
 * on a device of its own, as a rule would make it, and that is proven. */
Test(plan, two_chains_run_side_by_side_without_a_rule)
{
    char path[600];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "64,256");
    onnx_weight(g, "w", 1, "256,256");
    onnx_node(g, "Mul", "n0", "x,x", "a");
    onnx_node(g, "Mul", "n1", "a,a", "b");
    onnx_node(g, "Mul", "n2", "b,b", "c");
    onnx_node(g, "MatMul", "n3", "x,w", "d");
    onnx_node(g, "Sigmoid", "n4", "d", "e");
    onnx_output(g, "c", 1, "64,256");
    onnx_output(g, "e", 1, "64,256");
    snprintf(path, sizeof path, "%s/chains.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
    snprintf(path, sizeof path, "%s/apart.json", folder);
    FILE *f = fopen(path, "w");
    cr_assert_not_null(f);
    fputs("{ \"rules\": [ { \"place\": [\"n0\", \"n1\", \"n2\"], \"on\": 0 },"
          " { \"place\": [\"n3\", \"n4\"], \"on\": 1 } ] }",
          f);
    fclose(f);
    run_result free_plan =
        run_in(folder, "%s plan chains.onnx --cluster ipu-pod4 --max-tp 1 --no-output --json",
               TEST_CLEAVE);
    run_result ruled = run_in(folder,
                              "%s plan chains.onnx --cluster ipu-pod4 --max-tp 1 --no-output "
                              "--json --constraints apart.json",
                              TEST_CLEAVE);
    cr_assert_eq(free_plan.code, 0, "%s", free_plan.err);
    cr_assert_eq(ruled.code, 0, "%s", ruled.err);
    cr_expect_eq(number_after(free_plan.out, "\"latency_ns\": "),
                 number_after(ruled.out, "\"latency_ns\": "));
    cr_expect(strstr(free_plan.out, "\"stopped\": \"optimal\""), "%s", free_plan.out);
    run_free(&free_plan);
    run_free(&ruled);
}

/* A view takes no time, and nothing takes less. */
Test(plan, nothing_is_faster_than_no_time)
{
    char path[600];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "4,4");
    onnx_node(g, "Flatten", "flat", "x", "y");
    onnx_output(g, "y", 1, "4,4");
    snprintf(path, sizeof path, "%s/flat.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
    run_says(folder, 0, "plan", "flat.onnx --no-output", "latency than 0 ns; gap 0 %");
    run_says(folder, 0, "plan", "flat.onnx --no-output", "result      optimal");
}
