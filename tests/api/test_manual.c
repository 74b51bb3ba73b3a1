/* test_manual.c - plans whose cuts a person gives. */
#include "cleave.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "support/api.h"
#include "support/onnx_builder.h"

static cleave_model *model;
static uint8_t *bytes;

/* Two branches from x that meet:   x - left - \
 *                                    \- right - add - last   nodes in the file: 0 left, 1 right, 2
 * add, 3 last
 */
static void set_up(void)
{
    size_t n;
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "8,64");
    onnx_weight(g, "w", 1, "64,64");
    onnx_weight(g, "v", 1, "64,64");
    onnx_node(g, "MatMul", "left", "x,w", "a");
    onnx_node(g, "MatMul", "right", "x,v", "b");
    onnx_node(g, "Add", "add", "a,b", "c");
    onnx_node(g, "Relu", "last", "c", "y");
    onnx_output(g, "y", 1, "8,64");
    bytes = onnx_pack(m, &n);
    onnx_free(m);
    cr_assert_eq(cleave_model_open_bytes(bytes, n, NULL, NULL, &model, NULL), CLEAVE_OK);
}

static void tear_down(void)
{
    cleave_model_free(model);
    free(bytes);
}

TestSuite(manual, .init = set_up, .fini = tear_down);

static cleave_plan *cut_at(const char *nodes)
{
    cleave_plan_options options = plan_options();
    cleave_plan *plan = NULL;
    cleave_error error;
    options.sharding_nodes = nodes;
    cr_assert_eq(cleave_plan_make(model, &options, NULL, &plan, &error), CLEAVE_OK, "%s",
                 error.message);
    return plan;
}

static void expect_devices(const char *nodes, const int want[static 4])
{
    cleave_plan *plan = cut_at(nodes);
    for (int i = 0; i < 4; i++)
        cr_expect_eq(cleave_plan_device_of(plan, i), want[i], "%s: node %d is on device %d", nodes,
                     i, cleave_plan_device_of(plan, i));
    cleave_plan_free(plan);
}

/* covers: B.001 */
Test(manual, a_sharding_node_takes_what_is_before_it_and_the_rest_goes_to_the_next_device)
{
    expect_devices("add=0", (int[]){ 0, 0, 0, 1 });
    expect_devices("left=0", (int[]){ 0, 1, 1, 1 });
    expect_devices("left=0,right=1", (int[]){ 0, 1, 2, 2 });
    expect_devices("left=0,right=0", (int[]){ 0, 0, 1, 1 });
}

Test(manual, devices_take_in_their_order_whatever_the_order_of_writing)
{
    expect_devices("add=1,left=0", (int[]){ 0, 1, 1, 2 });
}

/* covers: B.001 B.058 */
Test(manual, json_gives_the_devices_and_the_stages_beside_them)
{
    const char *nodes = "{\"sharding_info\": {\"left\": 0, \"right\": 1},"
                        " \"pipelining_info\": {\"left\": 0, \"right\": 1}}";
    cleave_plan *plan = cut_at(nodes);
    cr_assert_eq(cleave_plan_stages(plan), 3, "left, right, and the rest after both");
    cleave_plan_free(plan);
    plan = cut_at("{\"sharding_info\": {\"left\": 0, \"right\": 1}}");
    cr_assert_eq(cleave_plan_stages(plan), 2, "without them, two branches are one stage");
    cleave_plan_free(plan);
}

static void expect_in(const char *nodes, const char *(*as)(const cleave_plan *), const char *words)
{
    cleave_plan *plan = cut_at(nodes);
    cr_expect(strstr(as(plan), words), "no '%s' in %s", words, as(plan));
    cleave_plan_free(plan);
}

/* add reads what left writes, so left does not end the group that has both. The last device has
 * none, though a node was given for it. */
/* covers: B.031 B.043 B.044 */
Test(manual, the_sharding_nodes_of_a_device_are_the_ends_of_its_group)
{
    expect_in("left=0,add=0", plan_text, "cut behind  gpu0: ['add']\n");
    expect_in("left=0,right=0", plan_text, "cut behind  gpu0: ['left', 'right']\n");
    cleave_plan *plan = cut_at("add=0,last=1");
    cr_expect(strstr(plan_json(plan), "\"add\""), "%s", plan_json(plan));
    cr_expect(!strstr(plan_json(plan), "\"last\""), "%s", plan_json(plan));
    cleave_plan_free(plan);
}

/* A list is a request, JSON an input. */
static void refuse(const char *nodes, const char *words)
{
    cleave_status wrong = nodes[0] == '{' ? CLEAVE_EINPUT : CLEAVE_EUSAGE;
    cleave_plan_options options = plan_options();
    cleave_plan *plan = NULL;
    cleave_error error;
    options.sharding_nodes = nodes;
    cr_expect_eq(cleave_plan_make(model, &options, NULL, &plan, &error), wrong, "%s", nodes);
    cr_expect_null(plan);
    cr_expect(strstr(error.message, words), "%s said: %s", nodes, error.message);
}

Test(manual, what_cannot_be_meant_is_refused_in_a_sentence)
{
    refuse("", "expected NODE=DEVICE");
    refuse("left", "expected NODE=DEVICE");
    refuse("left=", "expected NODE=DEVICE");
    refuse("=0", "expected NODE=DEVICE");
    refuse("left=0,left=1", "given twice");
    refuse("nobody=0", "'nobody' is not an operator");
    refuse("left=8", "expected 0 to 7");
    refuse("left=7", "goes to the device after the highest");
    refuse("{", "sharding nodes");
    refuse("{\"sharding_info\": {\"left\": -1}}", "left");
    refuse("{\"pipelining_info\": {}}", "sharding_info");
    refuse("{\"sharding_info\": {\"left\": 0}, \"pipelining_info\": {\"right\": 0}}", "left");
    refuse("{\"sharding_info\": {\"left\": 0, \"right\": 0},"
           " \"pipelining_info\": {\"left\": 0, \"right\": 1}}",
           "expected one stage a device");
    refuse("{\"sharding_info\": {\"left\": 0}, \"pipelining_info\": {\"left\": 0, \"add\": 1}}",
           "expected the nodes of sharding_info");
}

Test(manual, a_node_that_an_earlier_device_takes_is_not_for_a_later_one)
{
    const char *says =
        "'left' is for device 3, but 'add' comes after it and brings it to device 1: "
        "expected a device of at most 1";
    refuse("left=3,add=1", says);
    refuse("left=3,add=1,last=4", says);
    refuse("{\"sharding_info\": {\"add\": 1, \"left\": 3, \"last\": 3}}", says);
    expect_devices("add=1,left=1", (int[]){ 1, 1, 1, 2 });
}

Test(manual, one_device_cannot_be_cut)
{
    cleave_plan_options options = plan_options();
    cleave_plan *plan = NULL;
    cleave_error error;
    options.sharding_nodes = "left=0";
    options.devices = 1;
    cr_expect_eq(cleave_plan_make(model, &options, NULL, &plan, &error), CLEAVE_EUSAGE);
    cr_expect(strstr(error.message, "for 1 device: expected at least 2"), "%s", error.message);
}

Test(manual, stages_that_would_run_backwards_are_refused)
{
    refuse("{\"sharding_info\": {\"left\": 0, \"add\": 1},"
           " \"pipelining_info\": {\"left\": 1, \"add\": 0}}",
           "not a later stage");
}
