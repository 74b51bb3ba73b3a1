/* test_constraints.c - cleave plan --constraints, as a user calls it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

#define MODEL    TEST_SOURCE_DIR "/tests/data/models/vit_l_16.b16.onnx"
#define LAYER(n) "/encoder/layers/encoder_layer_" #n "/*"
#define END(n)   "/encoder/layers/encoder_layer_" #n "/Add_1"

static char *folder;
static void set_up(void) { folder = folder_new(); }
static void tear_down(void) { folder_free(folder); }
TestSuite(cli_constraints, .init = set_up, .fini = tear_down);

static run_result plan(const char *rules, const char *arguments)
{
    char text[4096];
    snprintf(text, sizeof text, "{ \"rules\": [ %s ] }\n", rules);
    file_write(folder, "rules.json", text, strlen(text));
    return run_in(folder, "%s plan %s --no-output --constraints rules.json %s", TEST_CLEAVE, MODEL,
                  arguments);
}

/* All words, one a line, are said. */
static void expect(const char *rules, const char *arguments, int code, const char *words)
{
    run_result r = plan(rules, arguments);
    cr_expect_eq(r.code, code, "%s exits %d: %s", rules, r.code, r.err);
    for (const char *w = words; *w;) {
        char line[256];
        size_t n = strcspn(w, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, w);
        cr_expect(strstr(r.out, line) || strstr(r.err, line), "%s does not say '%s': %s%s", rules,
                  line, r.out, r.err);
        w += n + (w[n] == '\n');
    }
    run_free(&r);
}

Test(cli_constraints, layers_go_where_they_are_bound)
{
    expect("{ \"place\": \"" LAYER(0) "\", \"on\": 1 }", "--devices 2", 0,
           "cut behind  gpu1: ['" END(11) "']\nrules       1 in force of 1");
    expect("{ \"place\": \"" LAYER(20) "\", \"on\": \"gpu0\" }", "--devices 2 --search documented",
           0, "cut behind  gpu1: ['");
    expect("{ \"place\": \"" LAYER(0) "\", \"not_on\": 0 }", "--devices 2 --first-fit", 0,
           "cut behind  gpu1: ['");
}

Test(cli_constraints, boundaries_and_stages_are_kept)
{
    expect("{ \"boundary_after\": \"" END(7) "\" }", "--devices 2", 0,
           "cut behind  gpu0: ['" END(7) "']");
    expect(
        "{ \"boundary_after\": { \"tensor\": \"/encoder/layers/encoder_layer_3/Add_1_output_0\" } "
        "}",
        "--devices 2", 0, "cut behind  gpu0: ['" END(3) "']");
    expect("{ \"boundary_after\": \"" END(3) "\" }, { \"boundary_after\": \"" END(15) "\" }",
           "--devices 3", 0, "cut behind  gpu0: ['" END(3) "']\ncut behind  gpu1: ['" END(15) "']");
    expect("{ \"place\": \"" LAYER(9) "\", \"stage\": 2 }, { \"place\": \"" LAYER(
               10) "\", \"stage\": 3 }",
           "--devices 4", 0, "in 4 stages\n'" END(9) "'");
    expect("{ \"max_stages\": 2 }", "--devices 4 --max-tp 1", 0, "in 2 stages");
}

Test(cli_constraints, together_and_apart)
{
    expect("{ \"together\": [\"" LAYER(4) "\", \"" LAYER(16) "\"] }", "--devices 2", 0,
           "fits 2 of 2");
    expect("{ \"apart\": [\"" LAYER(4) "\", \"" LAYER(5) "\"] }", "--devices 2", 0,
           "cut behind  gpu0: ['" END(4) "']");
    expect("{ \"each_apart\": [\"" END(4) "\", \"" END(5) "\", \"" END(6) "\"] }", "--devices 3", 0,
           "in 3 stages");
}

Test(cli_constraints, a_rule_that_matches_nothing_is_a_note)
{
    expect("{ \"name\": \"typo\", \"place\": \"/encodr/*\", \"on\": 1 }", "--devices 2", 0,
           "note: rules[0] 'typo': no operator of the main graph is named '/encodr/*'\n"
           "rules       0 in force of 1");
    expect("{ \"name\": \"typo\", \"place\": \"/encodr/*\", \"on\": 1 }", "--devices 2 --json", 0,
           "\"state\": \"unused\"\n\"says\": \"place '/encodr/*' on device 1\"\n"
           "no operator of the main graph is named");
}

#define THREE                                                                                      \
    "{ \"max_stages\": 8 }, { \"place\": { \"op_type\": \"Gather\" }, \"on\": [0, 1] }, "          \
    "{ \"name\": \"first\", \"place\": \"" LAYER(                                                  \
        0) "\", \"on\": 1, \"why\": \"it is near\" }, "                                            \
           "{ \"name\": \"last\", \"place\": \"" LAYER(                                            \
               9) "\", \"on\": 1 }, "                                                              \
                  "{ \"name\": \"cut\", \"boundary_after\": \"" END(7) "\" }"

Test(cli_constraints, the_smallest_conflicting_set_is_reported)
{
    expect(THREE, "--devices 2", 3,
           "rules[2] 'first', rules[3] 'last' and rules[4] 'cut' contradict each other: no plan "
           "satisfies them all\nnote: rules[2] 'first': place '" LAYER(
               0) "' on device 1; it is near\n"
                  "note: without rules[2] 'first' a plan has a latency of\n"
                  "note: without rules[4] 'cut' a plan has a latency of\nresult      rules[2]");
    expect(THREE, "--devices 2 --json", 3,
           "\"fits\": false\n\"outcome\": \"rules conflict\"\n\"state\": \"conflict\"\n"
           "\"state\": \"in force\"\n\"conflict\": \"rules[2] 'first'");
    expect(THREE, "--devices 2 --quiet", 3, "cleave: rules[2] 'first', rules[3] 'last'");
    expect("{ \"place\": \"*\", \"on\": 0 }, { \"place\": \"" LAYER(3) "\", \"stage\": 5 }",
           "--devices 4", 3, "no plan can satisfy rules[1]");
    expect("{ \"each_apart\": \"*/Add_1\" }", "--devices 2", 3, "no plan can satisfy rules[0]");
}

/* The rules that make memory short are found: one by itself; two of which each may hold. */
Test(cli_constraints, rules_that_make_a_model_too_large_are_reported)
{
    expect("{ \"place\": \"*\", \"on\": 0 }, { \"max_stages\": 3 }",
           "--runtime none --devices 2 --memory 900MiB", 3,
           "no plan was found that satisfies rules[0] and fits\n"
           "note: rules[0]: place '*' on device 0\n"
           "note: without rules[0] a plan has a latency of");
    const char *rules = "{ \"max_stages\": 3 }, { \"name\": \"low\", \"place\": \"" LAYER(
        0) "\", \"on\": 0 }, { \"max_stages\": 4 }, { \"place\": \"" LAYER(13) "\", \"on\": 0 }";
    expect(rules, "--runtime none --devices 2 --memory 800MiB", 3,
           "rules[1] 'low' and rules[3] leave too little memory: no plan was found that satisfies "
           "both "
           "and fits\nnote: without rules[1] 'low' a plan has a latency of\n"
           "note: without rules[3] a plan has a latency of");
    expect(rules, "--runtime none --devices 2 --memory 800MiB --json", 3,
           "\"outcome\": \"out of memory\"\n\"state\": \"conflict\"\n\"state\": \"in force\"");
    expect(rules, "--runtime none --devices 2 --memory 700MiB", 3,
           "without the rules no plan was found that fits either");
    expect(rules, "--runtime none --devices 2 --memory 900MiB", 0, "rules       4 in force of 4");
}

Test(cli_constraints, a_cut_by_hand_is_held_against_the_rules)
{
    const char *rules = "{ \"name\": \"low\", \"place\": \"" LAYER(
        0) "\", \"on\": 0 }, "
           "{ \"name\": \"late\", \"place\": \"" LAYER(0) "\", \"on\": 1 }, "
                                                          "{ \"max_stages\": 1 }";
    expect(rules, "--sharding-nodes '" END(3) "=0'", 3,
           "the cut given by hand breaks rules[1] 'late'\nrules[2]: at most 1 stage");
    expect("{ \"place\": \"" LAYER(0) "\", \"on\": 0 }", "--sharding-nodes '" END(3) "=0'", 0,
           "cut behind  gpu0: ['" END(3) "']");
}

Test(cli_constraints, bad_files_are_refused)
{
    expect("{ \"place\": \"k\" }", "", 65, "rules[0] says \"place\" without where");
    expect("{ \"name\": \"x\", \"place\": \"k\", \"on\": 8 }", "", 65, "(rule 'x')");
    expect("{ \"place\": \"k\", \"on\": 2 }", "--devices 2", 65, "rules[0].on");
    expect("{ \"plase\": \"k\" }", "--json", 65, "\"code\": \"input\"");
    expect("7,", "", 65, "constraints");
    run_result r =
        run_in(folder, "%s plan %s --no-output --constraints none.json", TEST_CLEAVE, MODEL);
    cr_expect_eq(r.code, 74, "%s", r.err);
    cr_expect(strstr(r.err, "none.json"), "%s", r.err);
    run_free(&r);
    file_write(folder, "nul.json", "{}\0{}", 5);
    r = run_in(folder, "%s plan %s --no-output --constraints nul.json", TEST_CLEAVE, MODEL);
    cr_expect_eq(r.code, 65, "%s", r.err);
    run_free(&r);
}

/* Rules are as before for another number of workers, and the file is never written over. */
Test(cli_constraints, plans_with_rules_do_not_depend_on_workers)
{
    run_result a = plan(THREE, "--devices 4 --jobs 1 --plan-out a.json --objective throughput");
    run_result b = plan(THREE, "--devices 4 --jobs 4 --plan-out b.json --objective throughput");
    cr_expect_eq(a.code, b.code);
    run_free(&a);
    run_free(&b);
    a = plan("{ \"place\": \"" LAYER(9) "\", \"on\": 1 }",
             "--devices 4 --jobs 1 --plan-out a.json --objective throughput");
    b = plan("{ \"place\": \"" LAYER(9) "\", \"on\": 1 }",
             "--devices 4 --jobs 4 --plan-out b.json --objective throughput");
    cr_expect_eq(a.code, 0, "%s", a.err);
    cr_expect(file_same(folder, "a.json", "b.json"));
    run_free(&a);
    run_free(&b);
    a = plan("{ \"max_stages\": 2 }", "--plan-out rules.json");
    cr_expect_eq(a.code, 2, "%s", a.err);
    run_free(&a);
}

/* -- tensors over a mesh -- */

#define SPLIT(what, how) "{ \"split\": " what ", " how ", \"over\": \"tp\" }"
#define WEIGHT           "{ \"tensor\": \"onnx::MatMul_2692\" }" /* of the first layer, 1024 x 4096 */

/* covers: C.019 */
Test(cli_constraints, tensors_are_split_as_rules_say)
{
    expect(
        "{ \"name\": \"never shard embeddings\", \"whole\": { \"op_type\": \"Gather\" } }, " SPLIT(
            WEIGHT, "\"dim\": 1"),
        "--devices 2 --mesh 2", 0, "rules       2 in force of 2\nMegatron column over tp");
    expect("", "--devices 4 --mesh 4 --data-parallel", 0, "data parallel over dp (50 matmuls)");
    expect("{ \"data_parallel\": \"dp\" }", "--devices 4 --mesh 2x2 --json", 0,
           "\"says\": \"data parallel over dp\"\n\"state\": \"in force\"");
    expect("{ \"whole\": \"nobody\" }", "--devices 2 --mesh 2", 0,
           "note: rules[0]: no operator of the main graph is named 'nobody'\n"
           "rules       0 in force of 1");
    expect("{ \"boundary_after\": \"" END(7) "\" }, { \"data_parallel\": \"tp\" }",
           "--devices 4 --mesh 2", 0, "in 2 stages\nrules       2 in force of 2");
}

Test(cli_constraints, rules_on_tensors_that_cannot_hold_are_refused)
{
    expect("{ \"max_stages\": 9 }, " SPLIT("{ \"op_type\": \"Softmax\" }", "\"dim\": -1"),
           "--devices 2 --mesh 2", 65,
           "rules[1]: \ncannot split dim 2 over tp: the factor\n"
           "of Softmax must be whole");
    expect(SPLIT(WEIGHT, "\"dim\": 2"), "--devices 2 --mesh 2", 65,
           "has 2 dimensions, so no dim 2 that tp could split");
    expect(SPLIT("{ \"tensor\": \"conv_proj.weight\" }", "\"dim\": 1"), "--devices 4 --mesh 4", 65,
           "dim 1 of 'conv_proj.weight' has 3 elements, fewer than the 4 parts of tp");
    expect("{ \"whole\": \"*\", \"over\": \"ep\" }", "--devices 2 --mesh 2", 65,
           "rules[0]: the mesh has no axis 'ep', expected one of 'tp'");
    expect(SPLIT(WEIGHT, "\"dim\": 0") ", " SPLIT(WEIGHT, "\"dim\": 1"), "--devices 2 --mesh 2", 65,
           "rules[0] and rules[1] contradict each other on 'onnx::MatMul_2692'");
    expect("{ \"place\": \"*\", \"on\": 0 }", "--devices 2 --mesh 2", 2,
           "rules[0] places nodes by \"on\"");
    expect(SPLIT(WEIGHT, "\"dim\": 0"), "--devices 2 --max-tp 1", 2,
           "--max-tp 1 keeps operators whole: expected 2 or more, or none");
    expect(SPLIT(WEIGHT, "\"dim\": 0"), "--devices 2 --first-fit", 2, "a mesh is expected");
    expect("", "--devices 2 --max-tp 1 --data-parallel", 2,
           "--max-tp 1 keeps operators whole: expected 2 or more, or none");
    expect("", "--devices 2 --first-fit --data-parallel", 2, "--data-parallel goes with --mesh");
    expect("{ \"data_parallel\": \"tp\" }", "--devices 2 --mesh 2 --memory 900MiB", 3,
           "lacks\nwithout what is asked of tensors there is a plan that fits");
}
