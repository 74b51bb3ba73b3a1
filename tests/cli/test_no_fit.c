/* test_no_fit.c - when nothing fits: what is missing where, and a change with which it would fit.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/effort.h"
#include "support/run.h"

#define MODELS "tests/data/models/"

/* The memory that is advised is the least, to one part in 16. */
static void less_is_too_little(const char *arguments, long long memory, int devices)
{
    run_result r = run_in(TEST_SOURCE_DIR, "%s plan --no-output %s --memory %lldB --devices %d",
                          TEST_CLEAVE, arguments, memory - memory / 12, devices);
    cr_expect_eq(r.code, 3, "'%s' with 1/12 less than %lld gave %d", arguments, memory, r.code);
    run_free(&r);
}

/* "103.1GiB" */
static long long bytes_of(const char *size)
{
    char *unit;
    double n = strtod(size, &unit);
    return (long long)(n * (*unit == 'G'   ? 1 << 30
                            : *unit == 'M' ? 1 << 20
                            : *unit == 'K' ? 1 << 10
                                           : 1));
}

/* Runs again with the option of a "it would fit ...: --option value" line; it comes later on the
 * command line and so must replace the one there, which is why the caller leaves a gap for it. */
static void hint_works(const char *hint, const char *arguments, const char *memory, int devices)
{
    char option[16] = "", value[40] = "", number[16];

    cr_assert_eq(sscanf(hint, "%15s %39s", option, value), 2, "%s", hint);
    snprintf(number, sizeof number, "%d", devices);
    bool sets_memory = strcmp(option, "--memory") == 0;
    cr_assert(sets_memory || strcmp(option, "--devices") == 0, "%s", hint);
    run_result r =
        run_in(TEST_SOURCE_DIR, "%s plan --no-output %s --memory %s --devices %s", TEST_CLEAVE,
               arguments, sets_memory ? value : memory, sets_memory ? number : value);
    cr_expect_eq(r.code, 0, "'%s' with %s %s gave %d", arguments, option, value, r.code);
    run_free(&r);
    if (sets_memory)
        less_is_too_little(arguments, bytes_of(value), devices);
}

static void explained(const char *arguments, const char *memory, int devices)
{
    run_result r = run_in(TEST_SOURCE_DIR, "%s plan --no-output %s --memory %s --devices %d",
                          TEST_CLEAVE, arguments, memory, devices);
    int n = 0;

    cr_assert_eq(r.code, 3, "'%s' gave %d: %s", arguments, r.code, r.err);
    cr_expect(strstr(r.out, "\nresult      no plan fits: "), "%s", r.out);
    cr_expect(strstr(r.out, "its memory is fullest at operator '"), "%s", r.out);
    for (char *at = r.out; (at = strstr(at, "note: it would fit ")); n++) {
        at = strstr(at, ": --") + 2;
        hint_works(at, arguments, memory, devices);
    }
    cr_expect_geq(n, 1, "'%s' gets no advice: %s", arguments, r.out);
    run_free(&r);
}

/* covers: B.034 */
Test(no_fit, advice_is_given_and_works)
{
    explained("--max-tp 1 " MODELS "resnet.static.onnx", "1KiB", 2);
    if (TEST_IS_SANITIZED)
        return;
    explained("--max-tp 1 --objective throughput " MODELS "resnet.static.onnx", "100KiB", 2);
    explained("--max-tp 1 " MODELS "resnet.static.onnx", "1KiB", 8);
    explained("--max-tp 1 --objective throughput " MODELS "gnmt.static.onnx", "1KiB", 2);
    explained("--max-tp 1 " MODELS "gnmt.static.onnx", "1KiB", 8);
    explained("--max-tp 1 " MODELS "vit_l_16.b16.onnx", "500MiB", 2);
    explained("--max-tp 1 --objective throughput " MODELS "vit_l_16.b16.onnx", "20MiB", 8);
}

/* A headroom that is asked for holds for the memory that is advised, too. */
Test(no_fit, advice_keeps_the_headroom)
{
    explained("--headroom 10% --max-tp 1 " MODELS "resnet.static.onnx", "1KiB", 2);
    if (!TEST_IS_SANITIZED)
        explained("--headroom 1MiB " MODELS "resnet.static.onnx", "1600KiB", 2);
}

Test(no_fit, advice_on_shards_is_given_and_works)
{
    explained(MODELS "resnet.static.onnx", "1KiB", 2);
    if (TEST_IS_SANITIZED)
        return;
    explained("--objective throughput " MODELS "gnmt.static.onnx", "1KiB", 4);
    explained(MODELS "vit_l_16.b16.onnx", "500MiB", 2);
}

static void proven(const char *arguments, const char *sentence)
{
    run_result r = run_in(TEST_SOURCE_DIR, "%s plan --no-output %s", TEST_CLEAVE, arguments);
    cr_expect_eq(r.code, 3, "%s", arguments);
    cr_expect(strstr(r.out, sentence), "%s", r.out);
    run_free(&r);
}

Test(no_fit, what_no_cut_can_help_is_reported_with_its_reason)
{
    proven("--memory 100MiB --devices 2 --max-tp 1 " MODELS "vit_l_16.b16.onnx",
           "no cut can fit: the weights alone take 1.134 GiB, the 2 devices of this run have 200.0 "
           "MiB\n");
    proven("--runtime none --memory 146MiB --devices 8 --max-tp 1 " MODELS "vit_l_16.b16.onnx",
           "no cut of the search can fit: the part that ends in operator '/encoder/layers/");
    proven("--runtime none --memory 660MiB --devices 2 --max-tp 1 " MODELS "vit_l_16.b16.onnx",
           "no cut of the search can fit: besides what operators hold while they run, the 2 "
           "devices of this run "
           "can take ");
}

/* What stays inside kernels takes no room. */
Test(no_fit, what_no_cut_of_kernels_can_help_is_reported_with_its_reason)
{
    proven("--memory 60MiB --devices 8 --max-tp 1 " MODELS "vit_l_16.b16.onnx",
           "no cut can fit: the weights alone take 1.134 GiB");
    proven("--memory 160MiB --devices 8 --max-tp 1 " MODELS "vit_l_16.b16.onnx",
           "no cut of the search can fit: besides what operators hold while they run, the 8 "
           "devices of this run can take ");
}

Test(no_fit, weights_and_states_that_no_shards_can_hold_are_reported)
{
    proven("--memory 100MiB --devices 2 " MODELS "vit_l_16.b16.onnx",
           "no plan can fit: the weights alone take 1.134 GiB, the 2 devices of this run have "
           "200.0 MiB\n");
    proven("--memory 10MiB --devices 4 --bind batch_size=1024,sequence_length=1,"
           "past_sequence_length=127 " MODELS "llama_gqa_decode.dyn.onnx",
           "no plan can fit: weights and states take 48.66 MiB, the 4 devices of this run have "
           "40.00 MiB\n");
}

/* The search finds a plan with as much: it is the given cut that does not fit. */
Test(no_fit, a_cut_by_hand_proves_nothing_of_others)
{
    run_result r = run_in(TEST_SOURCE_DIR,
                          "%s plan --no-output --memory 900MiB --devices 2 --sharding-nodes "
                          "/encoder/layers/encoder_layer_2/Add_1=0 " MODELS "vit_l_16.b16.onnx",
                          TEST_CLEAVE);
    cr_expect_eq(r.code, 3);
    cr_expect(!strstr(r.out, "no cut"), "%s", r.out);
    run_free(&r);
    proven("--memory 100MiB --devices 2 --sharding-nodes "
           "/encoder/layers/encoder_layer_2/Add_1=0 " MODELS "vit_l_16.b16.onnx",
           "no cut can fit: the weights alone take 1.134 GiB");
}

/* What another compiler needs for weights is not known. */
Test(no_fit, another_compiler_proves_nothing)
{
    run_result r = run_in(TEST_SOURCE_DIR,
                          "LIMIT=1 %s plan --no-output --memory 100MiB --devices 2 --compiler "
                          "'sh docs/examples/compiler-example.sh' " MODELS "vit_l_16.b16.onnx",
                          TEST_CLEAVE);
    cr_expect_eq(r.code, 3, "%s%s", r.out, r.err);
    cr_expect(!strstr(r.out, "no cut"), "%s", r.out);
    run_free(&r);
}
