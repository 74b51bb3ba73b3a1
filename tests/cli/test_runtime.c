/* test_runtime.c - who forms the kernels of a plan: cleave plan --runtime, what clusters name, and
 * --weights and --kv, as a user runs them. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

#define DECODE                                                                                     \
    " --bind batch_size=2,sequence_length=1,past_sequence_length=15,total_sequence_length=16"
#define MODELS TEST_SOURCE_DIR "/tests/data/"

static char *folder;

static void set_up(void) { folder = folder_new(); }
static void tear_down(void) { folder_free(folder); }

TestSuite(runtime, .init = set_up, .fini = tear_down);

/* A number of a plan on one H100. */
static double number(const char *key, const char *arguments)
{
    char line[1000], name[60];
    snprintf(line, sizeof line, "--json --no-output --devices 1 %s", arguments);
    snprintf(name, sizeof name, "\"%s\":", key);
    run_result r = run_cleave(folder, 0, "plan", line);
    const char *at = strstr(r.out, name);
    cr_assert(at, "%s: no %s", arguments, key);
    double found = strtod(at + strlen(name), NULL);
    run_free(&r);
    return found;
}

#define EXPORT MODELS "models/llama_gqa_decode.dyn.onnx" DECODE

Test(runtime, kernels_take_less_than_their_operators)
{
    double given = number("latency_ns", EXPORT),
           none = number("latency_ns", "--runtime none " EXPORT),
           engine = number("latency_ns", "--runtime engine " EXPORT),
           ort = number("latency_ns", "--runtime onnxruntime " EXPORT);
    cr_expect_eq(given, engine, "it is the default of an H100");
    cr_expect_lt(engine, none / 4);
    cr_expect(ort > engine && ort < none);
}

/* Of two sequences, in latency and period alike; the plan stays the best. */
Test(runtime, a_serving_loop_adds_what_the_host_does)
{
    double engine = number("latency_ns", "--runtime engine " EXPORT),
           serving = number("latency_ns", "--runtime serving " EXPORT),
           host = number("host_ns", "--runtime serving " EXPORT);
    cr_expect_eq(host, 310000 + 2 * 29000);
    cr_expect_eq(serving, engine + host);
    cr_expect_eq(number("period_ns", "--runtime serving " EXPORT),
                 number("period_ns", "--runtime engine " EXPORT) + host);
    cr_expect_eq(number("gap", "--runtime serving " EXPORT), 0);
    run_says(folder, 0, "plan", "--no-output --devices 1 --runtime serving " EXPORT,
             "host        368 us of each run, while its devices wait");
}

#define PREFILL MODELS "runnable/mixtral_prefill.static.onnx"

/* 2 prompts of 8 tokens, 64 wide, 320 words of 4 bytes: a product and a Cast. */
Test(runtime, a_serving_loop_computes_logits_of_the_last_token)
{
    static const char note[] = "note: logits of the last token of each sequence only, as runtime "
                               "'serving' computes them; the file returns those of all tokens\n";
    double engine = number("flops", "--runtime engine " PREFILL),
           serving = number("flops", "--runtime serving " PREFILL);
    cr_expect_eq(engine - serving, 2 * (8 - 1) * 320 * (2 * 64 + 1));
    cr_expect_leq(number("peak_bytes", "--runtime serving " PREFILL),
                  number("peak_bytes", "--runtime engine " PREFILL) - 2 * (8 - 1) * 320 * 4);
    run_says(folder, 0, "plan", "--no-output --devices 1 --runtime serving " PREFILL, note);
    run_says(folder, 0, "plan",
             "--no-output --devices 2 --mesh 2 --stages 1 --runtime serving " PREFILL, note);
    run_result r =
        run_cleave(folder, 0, "plan", "--no-output --devices 1 --runtime engine " PREFILL);
    cr_expect_null(strstr(r.out, "logits of"));
    run_free(&r);
    r = run_cleave(folder, 0, "plan", "--no-output --devices 1 --runtime serving " EXPORT);
    cr_expect_null(strstr(r.out, "logits of"), "one token is the last");
    run_free(&r);
}

/* What is written computes what the file says. */
Test(runtime, plans_of_a_serving_loop_are_annotated_and_lowered_as_the_file_is)
{
    run_says(
        folder, 0, "plan",
        "--devices 4 --mesh 4 --stages 1 --memory 400000B --runtime serving -o a.onnx " PREFILL,
        "fits 4 of 4 devices");
    run_is_valid(folder, "plan", "a.onnx.plan.json");
    run_says(folder, 0, "lower", "--form devices -o low " PREFILL " a.onnx.plan.json", "4 models");
    run_says(folder, 0, "verify", "--proof-only " PREFILL " low", "The plan is proven");
    run_says(folder, 0, "verify", "--proof-only " PREFILL " a.onnx", "proven");
}

Test(runtime, a_prefill_has_a_time_to_first_token)
{
    double latency = number("latency_ns", "--runtime serving " PREFILL),
           first = number("first_token_ns", "--runtime serving " PREFILL);
    cr_expect_eq(first - latency, 36e6 + 8 * 12e3);
    run_says(folder, 0, "plan", "--no-output --devices 1 --runtime serving " PREFILL,
             "ms after the request, 36.1 ms of it in the front end\n");
    run_result r = run_cleave(folder, 0, "plan", "--json --no-output --runtime engine " PREFILL);
    cr_expect_null(strstr(r.out, "first_token_ns"));
    run_free(&r);
    r = run_cleave(folder, 0, "plan", "--json --no-output --runtime serving " EXPORT);
    cr_expect_null(strstr(r.out, "first_token_ns"), "a step of decoding");
    run_free(&r);
}

#define EXTENDS(base) "{\"version\":1,\"name\":\"r\",\"source\":\"s\",\"extends\":\"" base "\"}"

Test(runtime, one_extends_another_that_has_patterns)
{
    file_write(folder, "r.json", EXTENDS("engine"), sizeof EXTENDS("engine") - 1);
    cr_expect_eq(number("latency_ns", "--runtime r.json " EXPORT),
                 number("latency_ns", "--runtime engine " EXPORT));
    file_write(folder, "s.json", EXTENDS("serving"), sizeof EXTENDS("serving") - 1);
    run_refused(folder, 65, "plan", "--no-output --runtime s.json " EXPORT,
                "extends is 'serving', which extends 'engine', expected a runtime with patterns");
    file_write(folder, "t.json", EXTENDS("engin"), sizeof EXTENDS("engin") - 1);
    run_refused(folder, 2, "plan", "--no-output --runtime t.json " EXPORT,
                "'engin' is no known runtime");
}

/* 2 sequences x 16 tokens x 384 bytes, in place. */
Test(runtime, states_are_counted)
{
    char words[160];
    double engine = number("state_bytes", "--runtime engine " EXPORT),
           room = number("capacity_bytes", "--runtime engine " EXPORT) -
                  number("peak_bytes", "--runtime engine " EXPORT);
    cr_expect_eq(engine, 2 * 16 * 384);
    cr_expect_geq(number("activation_bytes", "--runtime engine " EXPORT), engine);
    cr_expect_eq(number("state_tokens", EXPORT), 2 * 16);
    snprintf(
        words, sizeof words,
        "states      12.00 KiB a device of its activations, for 32 tokens; room for %.0f more\n",
        floor(room / 384));
    run_says(folder, 0, "plan", "--no-output --devices 1 --runtime engine " EXPORT, words);
}

/* What a device's memory is made of adds up. */
Test(runtime, the_report_says_what_a_capacity_is_made_of)
{
    double kept = number("reserved_bytes", EXPORT) + number("headroom_bytes", EXPORT);
    cr_expect_eq(number("buffer_bytes", EXPORT), 0, "a device alone has none");
    cr_expect_eq(number("capacity_bytes", EXPORT) + kept, 80e9);
    cr_expect_eq(number("headroom_bytes", "--headroom 2GB " EXPORT), 2e9);
    cr_expect_eq(number("headroom_bytes", "--headroom 0 " EXPORT), 0);
    cr_expect_eq(number("capacity_bytes", "--memory 1GB " EXPORT), 1e9);
    cr_expect_eq(number("capacity_bytes", "--memory 1GB --headroom 25% " EXPORT), 75e7);
    run_says(folder, 0, "plan", "--no-output --devices 1 " EXPORT,
             "capacity    74.51 GiB - 1.000 GiB reserved - 10 % headroom\n");
    run_says(folder, 0, "plan", "--no-output --devices 2 " EXPORT,
             "capacity    74.51 GiB - 1.000 GiB reserved - 656.1 MiB buffers - 10 % headroom\n");
    run_refused(folder, 2, "plan", "--no-output --headroom half " EXPORT,
                "headroom is 'half': expected a part from 0% to below 100%");
    run_refused(folder, 2, "plan", "--no-output --devices 1 --headroom 1TB " EXPORT,
                "headroom is '1TB': expected less than 73.51 GiB, the memory of a device");
}

/* -- what the devices of a cluster name -- */

/* The plan file and the report name the same one. */
static void expect_runtime(const char *arguments, const char *want)
{
    char line[600], words[100];
    snprintf(line, sizeof line, "--no-output --plan-out p.json --max-tp 1 %s " EXPORT, arguments);
    snprintf(words, sizeof words, " that take time, by runtime %s\n", want);
    run_says(folder, 0, "plan", line, words);
    char *plan = file_text(folder, "p.json", NULL);
    snprintf(words, sizeof words, "\"runtime\": \"%s\",", want);
    cr_expect(plan && strstr(plan, words), "%s: no %s", arguments, words);
    free(plan);
}

Test(runtime, a_cluster_gets_the_one_that_its_devices_name)
{
    static const char *const accelerators[] = { "dgx-h100",      "dgx-a100-80", "dgx-a100-40",
                                                "dgx-h200",      "dgx-b200",    "l40s-pcie-2",
                                                "h100-l40s",     "tpu-v5e-8",   "hgx-mi300x-8",
                                                "ascend-910b-8", "ipu-pod4" };
    char line[100];
    for (size_t i = 0; i < sizeof accelerators / sizeof *accelerators; i++) {
        snprintf(line, sizeof line, "--cluster %s", accelerators[i]);
        expect_runtime(line, "engine");
    }
    expect_runtime("--cluster cpu-2", "none");
    expect_runtime("", "engine");
}

Test(runtime, what_is_asked_for_counts_before_what_devices_name)
{
    expect_runtime("--runtime none", "none");
    expect_runtime("--runtime onnxruntime", "onnxruntime");
    expect_runtime("--cluster cpu-2 --runtime engine", "engine");
}

/* A cluster of two devices like an H100 in c.json, whose files name these; NULL: nothing. */
static void write_cluster(const char *a, const char *b)
{
    static const char cluster[] =
        "{\"version\": 1, \"name\": \"two\", \"devices\": [{\"kind\": \"a\", \"name\": \"a\"}, "
        "{\"kind\": \"b\", \"name\": \"b\"}], \"levels\": [{\"name\": \"wire\", \"size\": 2, "
        "\"bandwidth\": {\"value\": \"450GB/s\", \"source\": \"made up for a test\"}, "
        "\"latency\": {\"value\": \"2us\", \"source\": \"made up for a test\"}}]}";
    file_write(folder, "c.json", cluster, sizeof cluster - 1);
    const char *const runtimes[] = { a, b };
    for (int i = 0; i < 2; i++) {
        char line[100] = "/\"runtime\":/d";
        if (runtimes[i])
            snprintf(line, sizeof line, "s,\"runtime\": \"engine\",\"runtime\": \"%s\",",
                     runtimes[i]);
        run_result r = run_in(folder,
                              "sed 's/\"name\": \"h100-sxm\"/\"name\": \"%c\"/; %s' "
                              "%s/configs/devices/h100-sxm.json >%c.json",
                              'a' + i, line, TEST_SOURCE_DIR, 'a' + i);
        cr_assert_eq(r.code, 0, "%s", r.err);
        run_free(&r);
    }
}

Test(runtime, devices_that_do_not_agree_get_none)
{
    write_cluster("onnxruntime", "onnxruntime");
    expect_runtime("--cluster ./c.json", "onnxruntime");
    write_cluster("engine", "onnxruntime");
    expect_runtime("--cluster ./c.json", "none");
    write_cluster("engine", NULL);
    expect_runtime("--cluster ./c.json", "none");
    write_cluster(NULL, "engine");
    expect_runtime("--cluster ./c.json", "none");
    write_cluster(NULL, NULL);
    expect_runtime("--cluster ./c.json", "none");
    expect_runtime("--cluster ./c.json --runtime engine", "engine");
}

/* A path is from the folder of the device's file on, whatever the folder of the caller. */
Test(runtime, a_device_may_name_a_file_of_its_own)
{
    write_cluster("mine.json", "./mine.json");
    run_result r = run_in(folder,
                          "sed 's/\"name\": \"engine\"/\"name\": \"mine\"/' "
                          "%s/configs/runtimes/engine.json >mine.json && mkdir in && "
                          "mv [abc].json mine.json in && sed -i s,./mine,mine, in/b.json",
                          TEST_SOURCE_DIR);
    cr_assert_eq(r.code, 0, "%s", r.err);
    run_free(&r);
    expect_runtime("--cluster in/c.json", "mine");
    expect_runtime("--cluster in/c.json --runtime none", "none");
}

Test(runtime, a_device_that_names_one_that_is_not_there_is_refused)
{
    write_cluster("engin", "engin");
    run_refused(folder, 65, "plan", "--no-output --cluster ./c.json " EXPORT,
                "device 'a': runtime is 'engin', which is not there; did you mean 'engine'?");
    expect_runtime("--cluster ./c.json --runtime none", "none");
    write_cluster("../engine", "../engine");
    run_refused(folder, 74, "plan", "--no-output --cluster ./c.json " EXPORT, "./../engine");
    write_cluster("c.json", "c.json");
    run_refused(folder, 65, "plan", "--no-output --cluster ./c.json " EXPORT, "./c.json");
    write_cluster("", "");
    run_refused(folder, 65, "plan", "--no-output --cluster ./c.json " EXPORT, "runtime");
}

/* -- the others -- */

/* The same two layers, as operators of opset 23 and of com.microsoft, whose weights have 4 bits. */
Test(runtime, time_depends_on_the_model_not_on_the_export)
{
    double fused = number("latency_ns", "--runtime engine --weights int4 " MODELS
                                        "runnable/opset23_decode.dyn.onnx" DECODE),
           contrib = number("latency_ns",
                            "--runtime engine " MODELS "runnable/genai_q4_decode.dyn.onnx" DECODE);
    cr_expect_float_eq(fused, contrib, 0.1 * fused, "%.0f and %.0f ns", fused, contrib);
}

Test(runtime, what_is_not_known_is_refused)
{
    run_refused(folder, 2, "plan", "--no-output --runtime engin " EXPORT,
                "'engin' is no known runtime; did you mean 'engine'?");
    run_refused(folder, 2, "plan", "--no-output --kv fp9 " EXPORT,
                "kv is 'fp9': expected bf16, fp8, int8, int4 or nvfp4");
    file_write(folder, "r.json", "{\"version\":1}", 13);
    run_refused(folder, 65, "plan", "--no-output --runtime r.json " EXPORT, "r.json");
}

Test(runtime, a_hypothetical_precision_is_said_and_no_model_is_written)
{
    run_says(folder, 0, "plan", "--devices 1 --weights fp8 " EXPORT,
             "hypothetical: weights in fp8");
    run_refused(folder, 2, "plan", "--devices 1 --weights fp8 -o out.onnx " EXPORT,
                "exclude each other");
    cr_expect_eq(folder_count(folder), 0);
}

Test(runtime, narrower_weights_and_caches_take_less_memory)
{
    double weights = number("weight_bytes", "--runtime engine " EXPORT),
           int8 = number("weight_bytes", "--runtime engine --weights int8 " EXPORT),
           int4 = number("weight_bytes", "--runtime engine --weights int4 " EXPORT);
    cr_expect(int8 < weights && int4 < int8);
    /* of FLOAT, INT8 saves three bytes a weight, INT4 with its scales 7/16 more */
    cr_expect_eq((int8 - int4) * 48, (weights - int8) * 7);
    cr_expect_eq(int4, number("weight_bytes", "--runtime engine --weights nvfp4 " EXPORT));
    double peak = number("peak_bytes", "--runtime engine " EXPORT),
           fp8 = number("peak_bytes", "--runtime engine --kv fp8 " EXPORT);
    cr_expect_lt(fp8, peak);
}
