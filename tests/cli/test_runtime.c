/* test_runtime.c - cleave plan --runtime, --weights and --kv, as a user runs them. */
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
    double none = number("latency_ns", EXPORT),
           alone = number("latency_ns", "--runtime none " EXPORT),
           engine = number("latency_ns", "--runtime engine " EXPORT),
           ort = number("latency_ns", "--runtime onnxruntime " EXPORT);
    cr_expect_eq(none, alone, "it is the default");
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
                "headroom is 'half': expected a part of the memory from 0% to below 100%");
    run_says(folder, 3, "plan", "--no-output --devices 1 --headroom 1TB " EXPORT, "Out of memory");
}

/* The same two layers, as operators of opset 23 and of com.microsoft. */
Test(runtime, time_depends_on_the_model_not_on_the_export)
{
    double fused = number("latency_ns",
                          "--runtime engine " MODELS "runnable/opset23_decode.dyn.onnx" DECODE),
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
