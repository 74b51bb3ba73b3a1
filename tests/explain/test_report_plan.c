/* test_report_plan.c - what a person reads of a plan. */
#include "explain/report_plan.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "explain/says.h"

static clv_arena *arena;
static const char *nodes[2] = { "/encoder/layers/encoder_layer_11/Add_1", "Add_2" };
static clv_plan_device devices[3];
static clv_plan_transfer transfers[2];
static clv_plan plan;

/* Two of three devices in use; 2.712721 ms one by one. */
static void set_up(void)
{
    arena = clv_arena_new(NULL, 0);
    devices[0] = (clv_plan_device){ .name = "gpu0",
                                    .kind = "h100-sxm",
                                    .stage = 0,
                                    .n_ops = 412,
                                    .weight_bytes = 600 << 20,
                                    .activation_bytes = 30 << 20,
                                    .workspace_bytes = 4 << 20,
                                    .peak_bytes = 640 << 20,
                                    .capacity_bytes = 1280 << 20,
                                    .flops = 61200000000,
                                    .busy_ns = 1300000,
                                    .sharding_nodes = nodes,
                                    .n_sharding_nodes = 1 };
    devices[1] = (clv_plan_device){ .name = "gpu1", .kind = "h100-sxm", .stage = 1, .n_ops = 388 };
    devices[2] = (clv_plan_device){ .name = "gpu2", .kind = "h100-sxm", .stage = -1 };
    transfers[0] = (clv_plan_transfer){ "small", 0, 1, 10, 2000, CLV_FITTED };
    transfers[1] = (clv_plan_transfer){ "large", 0, 1, 4 << 20, 12000, CLV_FITTED };
    plan = (clv_plan){ .model = "vit.onnx",
                       .cluster = "dgx-h100",
                       .compiler = "builtin",
                       .n_devices = 3,
                       .n_stages = 2,
                       .n_ops = 800,
                       .devices = devices,
                       .latency_ns = 2712721,
                       .period_ns = 1500000,
                       .transfers = transfers,
                       .n_transfers = 2,
                       .search = "default",
                       .n_judged = 41,
                       .n_fitting = 12 };
}

static void tear_down(void) { clv_arena_free(arena); }

TestSuite(report_plan, .init = set_up, .fini = tear_down);

static const char *text(void) { return plan_report(arena, &plan); }
static void says(const char *words) { expect_words(text(), words); }
static void says_not(const char *words) { expect_no_words(text(), words); }

Test(report_plan, begins_with_the_answer)
{
    cr_expect_eq(strncmp(text(), "vit.onnx on dgx-h100: fits 2 of 3 devices in 2 stages\n", 54), 0,
                 "%s", text());
}

Test(report_plan, shows_a_line_for_each_device_in_use)
{
    says("gpu0    h100-sxm      0        412");
    says("gpu1    h100-sxm      1        388");
    says("50.0 %"); /* 640 of 1280 MiB */
    says_not("gpu2");
}

static const char *coloured(void)
{
    const char *ret = NULL;
    clv_error err;
    cr_assert_eq(clv_report_plan(&plan, (clv_text_form){ .colour = true }, true, arena, &ret, &err),
                 CLV_OK);
    return ret;
}

/* The gap is 1 - bound / latency. */
Test(report_plan, colours_what_deserves_a_look)
{
    plan.bound_ns = 2600000;
    expect_words(coloured(),
                 "vit.onnx on dgx-h100: \x1b[32mfits 2 of 3 devices in 2 stages\x1b[0m");
    expect_words(coloured(), "\n\x1b[1mdevice  kind ");
    expect_words(coloured(), "  50.0 %\n");
    expect_words(coloured(), "; gap 4.16 %\n");
    plan.bound_ns = 2500000;
    devices[0].peak_bytes = 1220 << 20;
    expect_words(coloured(), "; \x1b[33mgap 7.85 %\x1b[0m\n");
    expect_words(coloured(), "  \x1b[33m95.3 %\x1b[0m\n");
    plan.outcome = CLV_OOM;
    devices[0].peak_bytes = 1408 << 20;
    expect_words(coloured(), "  \x1b[31m110.0 %\x1b[0m\n");
    expect_words(coloured(),
                 "\x1b[31mcannot be sharded into 3 devices; the best plan so far:\x1b[0m");
    expect_words(coloured(), "\x1b[31m[Failed] Out of memory: device 0 (gpu0) lacks ");
    plan.outcome = CLV_INFEASIBLE;
    expect_words(coloured(), "\n\x1b[31m[Failed] The rules contradict each other\x1b[0m\n");
    expect_no_words(text(), "\x1b");
}

/* covers: B.031 B.043 B.044 */
Test(report_plan, names_the_sharding_nodes_of_each_device_but_the_last)
{
    says("\nSharding nodes: Device 0 - ['/encoder/layers/encoder_layer_11/Add_1']\n");
    says_not("Device 1 -");
    devices[0].n_sharding_nodes = 2;
    says("Device 0 - ['/encoder/layers/encoder_layer_11/Add_1', 'Add_2']\n");
    devices[2].stage = 2;
    says("\nSharding nodes: Device 1 - []\n");
    says_not("Device 2 -");
}

/* 1000 / 2.712721 = 368.6335602...
 * covers: B.032 */
Test(report_plan, gives_latency_and_runs_a_second)
{
    says("[Success] Compile successfully and solution:\n");
    says("[Success] The latency 2.71 ms, tput 369\n");
    says("one after another, 369 runs a second\n");
    says("throughput  667 runs a second as a pipeline, one every 1.50 ms\n");
    plan.objective = CLV_THROUGHPUT; /* 1e9 / 1500000 */
    says("[Success] The latency 2.71 ms, tput 667\n");
}

Test(report_plan, says_when_the_first_token_of_a_prefill_comes)
{
    says_not("first token");
    plan.first_token_ns = plan.latency_ns + 50000000;
    says("first token 52.7 ms after the request, 50.0 ms of it in the front end\n");
}

Test(report_plan, gives_inputs_and_outputs_beside_the_latency)
{
    static const int32_t both[] = { 0, 1 };
    static const clv_plan_host_copy in[] = { { "ids", both, 2, 512, 10008 },
                                             { "mask", both, 2, 512, 10008 } };
    static const clv_plan_host_copies copies = { in, in, 2, 0, 20016, 0, CLV_ASSUMED };
    says_not("in and out");
    plan.host_copies = &copies;
    says("\nin and out  1.000 KiB in, 20.0 us; 0 B out, 0 ns; not in the latency\n");
    says("latency     2.71 ms for one run");
}

/* 2712721 - 2600000 is 4.155...% of 2712721: rounded up. */
Test(report_plan, reports_how_far_the_plan_is_from_what_is_proven)
{
    says_not("bound"); /* a plan file that says nothing of it */
    plan.stopped = "searched";
    says("12 fit; searched to the end\nbound       not known\n");
    plan.bound_ns = 2600000;
    says("bound       no cut of these units has less latency than 2.60 ms; gap 4.16 %\n");
    says("[Success] Compile successfully and solution:\n");
    says("[Success] The latency 2.71 ms");
    plan.stopped = "optimal";
    plan.bound_ns = plan.latency_ns;
    says("12 fit; the bound is met\n");
    says("latency than 2.71 ms; gap 0 %\n");
    says("[Success] The optimal solution:\n");
    says("[Success] The optimal latency 2.71 ms, tput 369\n");
    plan.objective = CLV_THROUGHPUT;
    says("[Success] The optimal solution:\n");
    says("[Success] The latency 2.71 ms, tput 667\n");
    plan.bound_ns = plan.period_ns;
    says("less time between runs than 1.50 ms; gap 0 %\n");
    plan.stopped = "a word of somebody else";
    says("12 fit\nbound ");
}

Test(report_plan, reports_no_bound_of_a_plan_that_does_not_fit)
{
    plan.outcome = CLV_OOM;
    plan.bound_ns = 5;
    plan.stopped = "infeasible";
    says("; proven that none fits\n");
    says_not("bound ");
}

/* covers: B.030 */
Test(report_plan, reports_the_proportion_only_when_it_was_lowered)
{
    says_not("proportion");
    plan.proportion = 0.3;
    says("[Success] Compile successfully available_memory_proportion 0.3 and solution:\n");
    says("available memory proportion lowered to 0.3");
}

/* covers: B.034 */
Test(report_plan, a_plan_that_does_not_fit_says_how_much_is_missing_where)
{
    static const char *notes[] = { "it would fit with 103.1GiB on each device: --memory 103.1GiB" };
    plan.outcome = CLV_OOM;
    plan.short_device = 1;
    plan.short_bytes = 1299227607; /* 1.21 GiB */
    plan.notes = notes;
    plan.n_notes = 1;

    says("cannot be sharded into 3 devices; the best plan so far:\n");
    says("[Failed] The model cannot be sharded into 3 devices\n");
    says("Sharding nodes: Device 0 - ['/encoder/layers/encoder_layer_11/Add_1']\n");
    says("[Failed] Out of memory: device 1 (gpu1) lacks 1.210 GiB (1299227607 bytes)\n");
    says("note: it would fit with 103.1GiB on each device: --memory 103.1GiB\n");
    says_not("[Success]");
}

/* That says nothing of whether the model fits. */
Test(report_plan, a_compiler_that_accepts_nothing_is_reported)
{
    plan.outcome = CLV_FAILED;
    says("vit.onnx on dgx-h100: no candidate compiled; the first one:\n");
    says("[Failed] The compiler did not accept any candidate\n");
    says_not("Out of memory");
    says_not("cannot be sharded");
    says_not("best plan");
}

static void forget(clv_plan_device *d)
{
    d->weight_bytes = d->activation_bytes = d->workspace_bytes = CLV_PLAN_UNKNOWN;
    d->peak_bytes = d->busy_ns = CLV_PLAN_UNKNOWN;
}

/* An external compiler says something of a whole candidate only. */
Test(report_plan, what_is_not_known_is_left_out_or_a_dash)
{
    forget(&devices[1]);
    forget(&devices[2]);
    devices[1].flops = CLV_PLAN_UNKNOWN;
    says("gpu1    h100-sxm      1        388            -        -\n");
    says("gpu1          -            -          -         -        -         -       -\n");
    forget(&devices[0]);
    plan.transfers = NULL;
    plan.n_transfers = 0;
    says("device  kind      stage  operators        FLOPs\n");
    says_not("\nmemory  ");
    says_not("transfer");
    says_not(" 0 B");
    says_not(" 0 ns");
}

Test(report_plan, what_is_in_memory_and_its_gaps_add_up_to_the_peak)
{
    says("memory  weights  activations  workspace      gaps     peak  capacity    used\n");
    says("gpu0    600 MiB     30.0 MiB   4.00 MiB  6.00 MiB  640 MiB");
    devices[0].peak_bytes = 630 << 20; /* edited by hand */
    says("gpu0    600 MiB     30.0 MiB   4.00 MiB     -  630 MiB");
}

/* 80 columns, 5 of them for " on :"; the answer has 32. */
Test(report_plan, names_are_cut_only_where_they_have_no_room_on_a_line_of_their_own)
{
    static const char answer[] = "fits 2 of 3 devices in 2 stages\n";
    char line[200], fits[64], longer[128];
    snprintf(fits, sizeof fits, "%031d.onnx", 7);
    fits[35] = '\0'; /* with the cluster 43 columns, beside 37 of the rest */
    plan.model = fits;
    snprintf(line, sizeof line, "%s on dgx-h100: %s", fits, answer);
    cr_expect_eq(strncmp(text(), line, strlen(line)), 0, "%s", text());
    fits[35] = 'x'; /* one more */
    snprintf(line, sizeof line, "%s on dgx-h100:\n%s", fits, answer);
    cr_expect_eq(strncmp(text(), line, strlen(line)), 0, "%s", text());
    snprintf(longer, sizeof longer, "%0100d.onnx", 7);
    plan.model = longer;
    cr_expect_eq(strcspn(text(), "\n"), 80, "%s", text());
    says("...");
    says(" on dgx-h100:\nfits");
    plan.cluster = longer; /* both are cut alike */
    cr_expect_leq(strcspn(text(), "\n"), 80, "%s", text());
    plan.model = "vit.onnx"; /* the cluster alone is cut */
    says("vit.onnx on 0000");
    cr_expect_eq(strcspn(text(), "\n"), 80, "%s", text());
}

Test(report_plan, shows_the_largest_transfers_first)
{
    const char *all = text();
    cr_expect(strstr(all, "large  ") < strstr(all, "small  "), "%s", all);
    says(" a run; bandwidth fitted\n");
    transfers[1].basis = CLV_ASSUMED;
    says(" a run; bandwidth partly assumed\n");
    says("2 transfers, 4");
    transfers[0].bytes = CLV_PLAN_UNKNOWN;
    says("2 transfers; bandwidth partly assumed\n");
}

Test(report_plan, reports_what_was_left_out_of_the_sums)
{
    static const char *names[] = { "t1", "t2", "t3", "t4", "t5", "t6", "t7" };
    plan.open_tensors = plan.unknown_ops = names;
    plan.n_open_tensors = 7;
    plan.n_unknown_ops = 2;
    says("tensors whose shape is open: 7\n  t1\n  t2\n  t3\n  t4\n  t5\n  ... and 2 more\n");
    says("operators that are not known: 2\n  t1\n  t2\n");
}

/* A file decides neither what the terminal does nor where a line ends. */
Test(report_plan, names_cannot_control_the_terminal)
{
    nodes[0] = "a\033[2J\nb\xff";
    plan.model = "m\033]0;x\007.onnx";
    says("Device 0 - ['a\\x1b[2J\\x0ab\\xff']\n");
    says("m\\x1b]0;x\\x07.onnx on");
    says_not("\033");
    nodes[0] = "it's";
    says("[\"it's\"]");
    nodes[0] = "/encoder/layers/encoder_layer_11/Add_1";
}

Test(report_plan, stays_within_eighty_columns_but_for_sharding_nodes)
{
    char longest[400];
    memset(longest, 'n', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    transfers[0].tensor = devices[0].name = longest;
    nodes[0] = longest;

    for (const char *line = text(), *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        cr_assert_not_null(end);
        if (strncmp(line, "Sharding nodes", 14) != 0)
            cr_expect_leq(end - line, 80, "%.*s", (int)(end - line), line);
        else
            cr_expect_gt(end - line, 400, "the name is exact");
    }
    nodes[0] = "/encoder/layers/encoder_layer_11/Add_1";
}

Test(report_plan, a_plan_of_nothing_has_a_report)
{
    plan = (clv_plan){ .model = "empty.onnx", .cluster = "c", .n_devices = 3, .devices = devices };
    devices[0] = devices[1] = devices[2] = (clv_plan_device){ .name = "gpu", .stage = -1 };
    says("empty.onnx on c: fits 0 of 3 devices in 0 stages\n");
    says_not("Sharding nodes");
    says_not("nan");
    says_not("inf");
}

Test(report_plan, survives_running_out_of_memory_anywhere)
{
    clv_status s = CLV_ENOMEM;
    for (size_t limit = 1; s != CLV_OK; limit += 256) {
        clv_arena *small = clv_arena_new(NULL, limit);
        const char *ret = NULL;
        if (!small)
            continue;
        s = clv_report_plan(&plan, (clv_text_form){ 0 }, true, small, &ret, NULL);
        cr_assert(s == CLV_OK || (s == CLV_ENOMEM && !ret));
        clv_arena_free(small);
    }
}

Test(report_plan, reports_the_run_of_a_pipeline)
{
    plan.microbatches = 5;
    plan.why_microbatches = CLV_MICRO_MEMORY;
    plan.fill_ns = 1200000;
    plan.drain_ns = 1100000;
    devices[0].in_flight_bytes = 2 << 20;
    devices[0].peak_bytes += 2 << 20;
    const char *shown = text();
    cr_expect(strstr(shown, "throughput  574 runs a second in what memory allows; one every 1.5"),
              "%s", shown);
    cr_expect(strstr(shown, "pipeline    5 micro-batches in 8.71 ms, 574 runs a second\n"
                            "            fill 1.20 ms, drain 1.10 ms, bubble 13.9 %; no more fit "
                            "in memory\n"),
              "%s", shown);
    cr_expect(strstr(shown, "in flight"), "%s", shown);
    cr_expect(strstr(shown, "2.00 MiB"), "%s", shown);
    cr_expect_null(strstr(shown, "1F1B"));
}

/* Everything in turn: as many forward parts as are kept, then pairs, then what is left. */
Test(report_plan, reports_the_order_of_a_training_run)
{
    static bool backward[800];
    backward[799] = true;
    plan.backward_op = backward;
    plan.microbatches = 3;
    const char *shown = text();
    cr_expect(strstr(shown, "training    1 operators backward, in 1F1B order"), "%s", shown);
    cr_expect(strstr(shown, " stage 0: F0 F1 B0 F2 B1 B2\n"), "%s", shown);
    cr_expect(strstr(shown, " stage 1: F0 B0 F1 B1 F2 B2\n"), "%s", shown);
    plan.microbatches = 1000000;
    shown = text();
    cr_expect(strstr(shown, " stage 1: F0 B0 F1 B1 F2"), "%s", shown);
    cr_expect(strstr(shown, " ...\n"), "%s", shown);
}
