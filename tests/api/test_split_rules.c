/* test_split_rules.c - rules on tensors and a mesh through the library: what they bind, and what is
 * refused. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleave.h"
#include "support/api.h"
#include "support/onnx_builder.h"
#include "support/run.h"

static char *folder, path[4096];
static cleave_model *model;
static cleave_plan *plan;
static const char *cluster; /* NULL: the usual one */
static int max_devices;     /* of a stage; 0: as many as are best */
static const char *runtime; /* NULL: what the devices name */
static cleave_error error;

enum { EMBED, UP, ACT, DOWN, SOFT, STRANGE, SUM };

/* ids[8,16] -> Gather embed -> x -> MatMul up -> Relu act -> MatMul down -> Softmax soft ->
 * odd[8,16,32]
 *                             \---------------------- Add sum -> y -------------------/ */
static void set_up(void)
{
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    folder = folder_new();
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    onnx_input(g, "ids", 7, "8,16");
    onnx_weight(g, "table", 1, "4096,32");
    onnx_weight(g, "w1", 1, "32,6");
    onnx_weight(g, "w2", 1, "6,32");
    onnx_weight_ints(g, "shape", "2", (const int64_t[]){ 128, 32 });
    onnx_node(g, "Gather", "embed", "table,ids", "x");
    onnx_node(g, "MatMul", "up", "x,w1", "h");
    onnx_node(g, "Relu", "act", "h", "r");
    onnx_node(g, "MatMul", "down", "r,w2", "d");
    onnx_attr_int(g, onnx_node(g, "Softmax", "soft", "d", "s"), "axis", -1);
    onnx_node_domain(g, onnx_node(g, "Mystery", "strange", "s", "o"), "some.where", NULL);
    onnx_value(g, "o", 1, "8,16,32");
    onnx_node(g, "Add", "sum", "o,x", "y");
    onnx_output(g, "y", 1, "8,16,32");
    onnx_write(m, path);
    onnx_free(m);
    cr_assert_eq(cleave_model_open(path, NULL, &model, &error), CLEAVE_OK);
    plan = NULL;
    cluster = NULL;
    max_devices = 0;
    runtime = NULL;
}

static void tear_down(void)
{
    cleave_plan_free(plan);
    cleave_model_free(model);
    folder_free(folder);
}

TestSuite(api_split_rules, .init = set_up, .fini = tear_down);

/* rules: as "{...}, {...}"; "": none. devices: as the mesh has, times the stages. */
static cleave_status make_on(const char *mesh, int devices, const char *rules, int data_parallel)
{
    char text[2048];
    cleave_plan_options o = plan_options();
    snprintf(text, sizeof text, "{\"rules\":[%s]}", rules);
    o.cluster = cluster;
    o.runtime = runtime;
    o.devices = devices;
    o.max_tensor_devices = max_devices;
    o.mesh = mesh;
    o.constraints = text;
    o.data_parallel = data_parallel;
    cleave_plan_free(plan);
    plan = NULL;
    return cleave_plan_make(model, &o, NULL, &plan, &error);
}

static void make(const char *mesh, int devices, const char *rules)
{
    cr_assert_eq(make_on(mesh, devices, rules, 0), CLEAVE_OK, "%s: %s", rules, error.message);
}

static void expect_split(int node, const char *want)
{
    cr_expect_str_eq(cleave_plan_split_of(plan, node), want, "node %d: %s, expected %s\n%s", node,
                     cleave_plan_split_of(plan, node), want, plan_text(plan));
}

static void refuse(const char *mesh, int devices, const char *rules, const char *words)
{
    cleave_status status = make_on(mesh, devices, rules, 0);
    cr_expect_eq(status, CLEAVE_EINPUT, "%s: status %d: %s", rules, status, error.message);
    cr_expect(strstr(error.message, words), "%s: '%s' does not say '%s'", rules, error.message,
              words);
}

/* The spec of a tensor at a node splits that dimension, and no other. */
static void expect_lies(int node, const char *tensor, int dim)
{
    char out[4200];
    snprintf(out, sizeof out, "%s/a.onnx", folder);
    cr_assert_eq(cleave_annotate(model, plan, NULL, out, NULL, &error), CLEAVE_OK, "%s",
                 error.message);
    run_result r = run_in(
        folder,
        TEST_CLEAVE " shards --json a.onnx | python3 -c \"import json, re, sys\n"
                    "t = [t for t in json.load(sys.stdin)['nodes'][%d]['tensors']"
                    " if t['tensor'] == '%s'][0]\n"
                    "whole = [int(d) for d in re.findall('[0-9]+', t['type'].split('[')[1])]\n"
                    "print([i for i, d in enumerate(whole) if t['shards'][0]['shape'][i] < d])\"",
        node, tensor);
    char want[16];
    snprintf(want, sizeof want, "[%d]\n", dim);
    cr_expect_str_eq(r.out, want, "%s of node %d: %s%s", tensor, node, r.out, r.err);
    run_free(&r);
}

static int state_count(const char *state)
{
    char word[64];
    int n = 0;
    snprintf(word, sizeof word, "\"state\": \"%s\"", state);
    for (const char *at = plan_json(plan); (at = strstr(at, word)); at++)
        n++;
    return n;
}

/* covers: C.002 C.019 */
Test(api_split_rules, a_weight_is_split_as_the_rule_says)
{
    make("2", 2, "{\"split\":{\"tensor\":\"w1\"},\"dim\":1,\"over\":\"tp\"}");
    expect_split(UP, "tp=n");
    cr_expect_eq(state_count("in force"), 1);
    make("2", 2, "{\"split\":{\"tensor\":\"w1\"},\"dim\":0,\"over\":\"tp\"}");
    expect_split(UP, "tp=k");
    make("2", 2, "{\"split\":{\"tensor\":\"w?\"},\"dim\":-1,\"over\":\"tp\"}");
    expect_split(UP, "tp=n");
    expect_split(DOWN, "tp=n");
}

Test(api_split_rules, operators_split_the_factor_of_the_rule)
{
    make("2", 2,
         "{\"split\":\"up\",\"factor\":\"n\",\"over\":\"tp\"},"
         "{\"split\":\"down\",\"factor\":\"k\",\"over\":[\"tp\"]}");
    expect_split(UP, "tp=n");
    expect_split(ACT, "tp=d2"); /* nothing else is as cheap */
    expect_split(DOWN, "tp=k");
}

Test(api_split_rules, what_is_whole_is_never_split)
{
    make("2x2", 4,
         "{\"whole\":[{\"op_type\":\"Gather\"},\"up\"]},"
         "{\"whole\":{\"tensor\":\"w2\"},\"over\":\"tp\"}");
    expect_split(EMBED, "");
    expect_split(UP, "");
    cr_expect_null(strstr(cleave_plan_split_of(plan, DOWN), "tp=n"));
    cr_expect_eq(state_count("in force"), 2);
}

static void expect_split_over(int node, const char *axis, const char *factor)
{
    char want[16];
    snprintf(want, sizeof want, "%s=%s", axis, factor);
    expect_split(node, want);
}

/* An axis that no rule names is named for what it does. covers: C.001 */
Test(api_split_rules, data_parallel_splits_the_batch_alone)
{
    for (int by_rule = 0; by_rule < 2; by_rule++) {
        cr_assert_eq(make_on("4", 4, by_rule ? "{\"data_parallel\":\"tp\"}" : "", !by_rule),
                     CLEAVE_OK, "%s", error.message);
        const char *axis = by_rule ? "tp" : "dp";
        expect_split_over(EMBED, axis, "i0");
        expect_split_over(UP, axis, "d0");
        expect_split_over(ACT, axis, "d0");
        expect_split_over(DOWN, axis, "d0");
        expect_split_over(SOFT, axis, "a0");
        expect_split(STRANGE, ""); /* it has no rule */
        expect_split_over(SUM, axis, "d0");
        cr_expect_eq(state_count("in force"), by_rule);
    }
}

/* Operators that no rule names are data parallel. covers: C.001 C.003 */
Test(api_split_rules, one_axis_splits_the_batch_and_another_the_model)
{
    cr_assert_eq(make_on("2x2", 4, "{\"split\":\"up\",\"factor\":\"n\",\"over\":\"tp\"}", 1),
                 CLEAVE_OK, "%s", error.message);
    expect_split(UP, "dp=d0 tp=n");
    expect_split(EMBED, "dp=i0");
}

Test(api_split_rules, what_a_node_writes_lies_as_the_rule_says)
{
    runtime = "none"; /* else ids comes in as the rule says, but is gathered before it is read */
    make("2", 2, "{\"split\":\"act\",\"dim\":1,\"over\":\"tp\"}");
    expect_lies(ACT, "r", 1);
    make("2", 2, "{\"split\":{\"tensor\":\"r\"},\"dim\":-3,\"over\":\"tp\"}");
    expect_lies(ACT, "r", 0);
    make("2", 2, "{\"split\":{\"tensor\":\"ids\"},\"dim\":1,\"over\":\"tp\"}");
    expect_lies(EMBED, "ids", 1);
}

#define SPLIT(what, how) "{\"split\":" what "," how ",\"over\":\"tp\"}"

Test(api_split_rules, what_contradicts_the_rule_of_an_operator_is_refused)
{
    refuse("2", 2, SPLIT("\"soft\"", "\"dim\":2"),
           "rules[0]: 'soft' cannot split dim 2 over tp: the factor");
    refuse("2", 2, SPLIT("\"soft\"", "\"dim\":2"), "of Softmax must be whole");
    refuse("2", 2, SPLIT("\"strange\"", "\"dim\":0"), "'strange' cannot split dim 0 over tp: ");
    refuse("2", 2, SPLIT("\"up\"", "\"factor\":\"zz\""),
           "'up' (MatMul) has no factor 'zz' for tp: it has 'd0', 'm'");
    refuse("2", 2, SPLIT("\"strange\"", "\"factor\":\"n\""),
           "'strange' (Mystery) has no factor 'n' for tp: ");
    refuse("8", 8, SPLIT("\"up\"", "\"factor\":\"n\""), "6 elements, fewer than 8 parts");
    refuse("8", 8, SPLIT("{\"tensor\":\"w1\"}", "\"dim\":1"),
           "rules[0]: dim 1 of 'w1' has 6 elements, fewer than the 8 parts of tp");
    refuse("2", 2, SPLIT("{\"tensor\":\"w1\"}", "\"dim\":2"), "'w1' has 2 dimensions, so no dim 2");
    refuse("2", 2, SPLIT("{\"tensor\":\"w1\"}", "\"dim\":-3"), "so no dim -3 that tp");
    refuse("2", 2, "{\"split\":\"up\",\"dim\":0,\"over\":\"ep\"}",
           "rules[0]: the mesh has no axis 'ep', expected one of 'tp'");
    refuse("2x2", 4, "{\"split\":\"up\",\"dim\":0,\"over\":[\"tp\",\"dp\"]}",
           "'dp' is an axis outside of 'tp' in the mesh");
}

Test(api_split_rules, rules_that_contradict_each_other_are_named)
{
    refuse("2", 2,
           SPLIT("{\"tensor\":\"w1\"}", "\"dim\":0") "," SPLIT("{\"tensor\":\"w1\"}", "\"dim\":1"),
           "rules[0] and rules[1] contradict each other on 'w1'");
    refuse("2", 2, SPLIT("{\"tensor\":\"w1\"}", "\"dim\":0") ",{\"whole\":\"up\"}",
           "rules[0] and rules[1] contradict each other on 'up'");
    refuse("2", 2, SPLIT("\"up\"", "\"factor\":\"n\"") ",{\"whole\":\"up\",\"name\":\"no\"}",
           "rules[0] and rules[1] 'no' contradict each other on 'up'");
    refuse("2", 2, SPLIT("{\"tensor\":\"w1\"}", "\"dim\":0") ",{\"data_parallel\":\"tp\"}",
           "rules[0] and rules[1] contradict each other on 'w1'");
    refuse("2", 2, SPLIT("\"up\"", "\"factor\":\"n\"") ",{\"data_parallel\":\"tp\"}",
           "rules[0] and rules[1] contradict each other on 'up'");
}

/* Each two of them can be met: 6 columns in 4 parts, but not in 8. */
Test(api_split_rules, three_rules_that_leave_nothing_are_no_plan)
{
    cr_expect_eq(make_on("2x2x2", 8,
                         "{\"split\":{\"tensor\":\"w1\"},\"dim\":1,\"over\":\"dp\"},"
                         "{\"split\":\"up\",\"factor\":\"n\",\"over\":\"sp\"}," SPLIT(
                             "\"up\"", "\"factor\":\"n\""),
                         0),
                 CLEAVE_NO_PLAN);
    cr_expect(
        strstr(error.message, "no way to split 'up' satisfies rules[0], rules[1] and rules[2]"),
        "%s", error.message);
    cr_assert_not_null(plan);
    cr_expect_eq(state_count("left out"), 3);
}

/* Copies of all weights do not fit; parts of them do. */
Test(api_split_rules, rules_that_leave_too_little_memory_are_no_plan)
{
    cleave_plan_options o = plan_options();
    o.devices = 8;
    o.mesh = "8";
    o.memory_bytes = 256 << 10; /* the table has 512 KiB */
    cr_expect_eq(cleave_plan_make(model, &o, NULL, &plan, &error), CLEAVE_OK, "%s", error.message);
    cleave_plan_free(plan);
    plan = NULL;
    o.constraints = "{\"rules\":[{\"whole\":{\"tensor\":\"table\"}}]}";
    cr_expect_eq(cleave_plan_make(model, &o, NULL, &plan, &error), CLEAVE_NO_PLAN);
    cr_expect(strstr(error.message, "lacks"), "%s", error.message);
    cr_expect(strstr(plan_text(plan), "without what is asked of tensors there is a plan"), "%s",
              plan_text(plan));
    cleave_plan_free(plan);
    plan = NULL;
    o.memory_bytes = 16 << 10; /* too little for any plan */
    cr_expect_eq(cleave_plan_make(model, &o, NULL, &plan, &error), CLEAVE_NO_PLAN);
    cr_expect_null(strstr(plan_text(plan), "without what is asked"), "%s", plan_text(plan));
}

Test(api_split_rules, a_rule_that_binds_nothing_is_unused)
{
    make("2", 2, SPLIT("\"nobody\"", "\"dim\":0") ",{\"whole\":{\"tensor\":\"none\"}}");
    cr_expect_eq(state_count("unused"), 2);
    cr_expect(strstr(plan_text(plan), "rules[1]: no tensor of the main graph is named 'none'"),
              "%s", plan_text(plan));
}

/* Whoever does not speak of meshes gets one where rules need it. */
Test(api_split_rules, a_mesh_is_found_for_the_rules)
{
    cr_expect_eq(make_on(NULL, 2, SPLIT("\"up\"", "\"dim\":0"), 0), CLEAVE_OK, "%s", error.message);
    cr_expect_eq(state_count("in force"), 1);
    cr_expect_gt(cleave_plan_mesh_devices(plan), 1);
}

/* A plan without shards meets a rule that forbids them, and no other. */
Test(api_split_rules, without_a_mesh_nothing_can_be_split)
{
    max_devices = 1;
    cr_expect_eq(make_on(NULL, 2, "{\"whole\":{\"op_type\":\"Gather\"}}", 0), CLEAVE_OK, "%s",
                 error.message);
    cr_expect_eq(state_count("in force"), 1);
    cr_expect_eq(make_on(NULL, 2, SPLIT("\"up\"", "\"dim\":0"), 0), CLEAVE_EUSAGE);
    cr_expect(strstr(error.message, "--max-tp 1 keeps operators whole"), "%s", error.message);
    cr_expect_eq(make_on(NULL, 2, "", 1), CLEAVE_EUSAGE);
    cr_expect(strstr(error.message, "--max-tp 1 keeps operators whole"), "%s", error.message);
}

Test(api_split_rules, data_parallel_needs_a_batch_that_is_large_enough)
{
    cluster = "dgx-h100-x2";
    refuse("16", 16, "{\"data_parallel\":\"tp\"}", "is 8, fewer than the 16 parts of tp");
}

/* Among the forms that are searched only those count with which the rules go. */
Test(api_split_rules, forms_that_do_not_go_with_the_rules_are_passed_over)
{
    cleave_plan_options o = plan_options();
    o.devices = 8;
    o.max_tensor_devices = 8;
    o.constraints = "{\"rules\":[" SPLIT("{\"tensor\":\"w1\"}", "\"dim\":1") "]}";
    cr_assert_eq(cleave_plan_make(model, &o, NULL, &plan, &error), CLEAVE_OK, "%s", error.message);
    cr_expect(strstr(cleave_plan_split_of(plan, UP), "tp=n"), "%s", cleave_plan_split_of(plan, UP));
    cleave_plan_free(plan);
    plan = NULL;
    o.constraints = "{\"rules\":[" SPLIT("{\"tensor\":\"w1\"}", "\"dim\":5") "]}";
    cr_expect_eq(cleave_plan_make(model, &o, NULL, &plan, &error), CLEAVE_EINPUT);
    cr_expect(strstr(error.message, "no dim 5"), "%s", error.message);
}

/* Of the rules on places a mesh takes those on stages, and what is together or apart. */
Test(api_split_rules, rules_on_stages_hold_beside_a_mesh)
{
    make("2", 4,
         "{\"boundary_after\":\"act\"},{\"max_stages\":2},{\"place\":\"soft\",\"stage\":1},"
         "{\"together\":[\"embed\",\"up\"]},{\"apart\":[\"up\",\"down\"]}," SPLIT(
             "\"up\"", "\"factor\":\"n\""));
    cr_expect_eq(cleave_plan_stages(plan), 2);
    cr_expect_neq(cleave_plan_device_of(plan, ACT), cleave_plan_device_of(plan, DOWN));
    expect_split(UP, "tp=n");
    cr_expect_eq(state_count("in force"), 6);
    cr_expect_eq(make_on("2", 4, "{\"name\":\"here\",\"place\":\"up\",\"on\":1}", 0),
                 CLEAVE_EUSAGE);
    cr_expect(strstr(error.message, "rules[0] 'here' places nodes by"), "%s", error.message);
    cr_expect_eq(make_on("2", 4, "{\"boundary_after\":\"act\"},{\"max_stages\":1}", 0),
                 CLEAVE_NO_PLAN);
    cr_expect(strstr(error.message, "contradict each other"), "%s", error.message);
}

/* -- what comes of the batch -- */

enum { PLACE, FLAT, ROWS, TURN, MIX, MIXED };

/* The batch is 8. x[8,4,6] + pos[4,6] -> Reshape flat[32,6] -> MatMul rows, where rows are batch by
 * place; and -> Transpose turn[4,8,6] -> Reshape mix[32,6] -> MatMul mixed, where they are place by
 * batch. */
static void write_batches(void)
{
    static const int64_t turned[] = { 1, 0, 2 };
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "8,4,6");
    onnx_input(g, "pos", 1, "4,6");
    onnx_weight(g, "w", 1, "6,64");
    onnx_weight_ints(g, "two", "2", (const int64_t[]){ 32, 6 });
    onnx_node(g, "Add", "place", "x,pos", "p");
    onnx_node(g, "Reshape", "flat", "p,two", "f");
    onnx_node(g, "MatMul", "rows", "f,w", "r");
    onnx_attr_ints(g, onnx_node(g, "Transpose", "turn", "p", "t"), "perm", 3, turned);
    onnx_node(g, "Reshape", "mix", "t,two", "i");
    onnx_node(g, "MatMul", "mixed", "i,w", "o");
    onnx_output(g, "r", 1, "32,64");
    onnx_output(g, "o", 1, "32,64");
    onnx_write(m, path);
    onnx_free(m);
    cleave_model_free(model);
    cr_assert_eq(cleave_model_open(path, NULL, &model, &error), CLEAVE_OK);
}

/* covers: C.001 */
Test(api_split_rules, the_batch_is_known_through_reshapes_and_transposes)
{
    write_batches();
    make("4", 4, "{\"data_parallel\":\"tp\"}");
    expect_split(PLACE, "tp=d0");
    expect_split(ROWS, "tp=m");
    expect_split(MIXED, ""); /* a part of its rows is a part of the places */
    refuse("4", 4, "{\"data_parallel\":\"tp\"}," SPLIT("\"mixed\"", "\"factor\":\"m\""),
           "rules[0] and rules[1] contradict each other on 'mixed'");
    refuse("4", 4, "{\"data_parallel\":\"tp\"}," SPLIT("\"turn\"", "\"dim\":0"),
           "rules[0] and rules[1] contradict each other on 't'");
    make("4", 4, "{\"data_parallel\":\"tp\"}," SPLIT("\"turn\"", "\"dim\":1"));
    expect_lies(TURN, "t", 1);
    refuse("8", 8, "{\"data_parallel\":\"tp\"}," SPLIT("{\"tensor\":\"pos\"}", "\"dim\":0"),
           "dim 0 of 'pos' has 4 elements, fewer than the 8 parts of tp");
}

/* Every rule on one tensor or operator over one axis of a mesh of two is refused, or kept. */
Test(api_split_rules, whatever_is_not_refused_is_kept)
{
    static const char *const axis[] = { "dp", "tp" }, *const factor[] = { "m", "k", "n", "d0" };
    int kept = 0, refused = 0;
    for (int i = 0; i < 8; i++) {
        char rule[256], want[32];
        cleave_status status;
        snprintf(rule, sizeof rule, "{\"split\":\"up\",\"factor\":\"%s\",\"over\":\"%s\"}",
                 factor[i / 2], axis[i % 2]);
        snprintf(want, sizeof want, "%s=%s", axis[i % 2], factor[i / 2]);
        status = make_on("2x2", 4, rule, 0);
        cr_assert_eq(status, CLEAVE_OK, "%s: %s", rule, error.message);
        cr_expect(strstr(cleave_plan_split_of(plan, UP), want), "%s: %s", rule,
                  cleave_plan_split_of(plan, UP));
        for (int dim = 0; dim < 2; dim++) { /* and a weight beside it */
            char both[600];
            const char *by = dim == 0 ? "k" : "n";
            bool same = i / 2 == (dim == 0 ? 1 : 2);
            snprintf(both, sizeof both,
                     "%s,{\"split\":{\"tensor\":\"w1\"},\"dim\":%d,\"over\":\"tp\"}", rule, dim);
            status = make_on("2x2", 4, both, 0);
            if (i % 2 == 1 && !same) {
                cr_expect_eq(status, CLEAVE_EINPUT, "%s", both);
                refused++;
                continue;
            }
            cr_assert_eq(status, CLEAVE_OK, "%s: %s", both, error.message);
            snprintf(both, sizeof both, "tp=%s", by);
            cr_expect(strstr(cleave_plan_split_of(plan, UP), both), "%s",
                      cleave_plan_split_of(plan, UP));
            cr_expect(strstr(cleave_plan_split_of(plan, UP), want), "%s",
                      cleave_plan_split_of(plan, UP));
            kept++;
        }
    }
    cr_expect(kept == 10 && refused == 6, "%d kept, %d refused", kept, refused);
}
