/* test_verify_annotated.c - cleave verify MODEL ANNOTATED: annotations of anyone, taken as a plan.
 *
 * The annotated files are written here, node by node, as another tool would; those of cleave plan
 * are judged beside every plan in tests/corpus/legal.py.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/onnx_builder.h"
#include "support/run.h"

static char *folder;

/* -- files -- */

/* One node's spec: `text` is "TENSOR [AXIS] DEVICE..."; a tensor without axis is whole on each. */
static void add_spec(test_graph *g, test_node *node, const char *text)
{
    char tensor[20];
    int axis = -1, n = 0, used = 0;
    int64_t device[8];
    cr_assert_eq(sscanf(text, "%19s [%d]%n", tensor, &axis, &used) >= 1, 1);
    const char *at = axis < 0 ? text + strlen(tensor) : text + used;
    for (long long one; sscanf(at, "%lld%n", &one, &used) == 1; at += used)
        device[n++] = one;
    const clv_simple_sharding simple = { .dim = CLV_DIM_UNKNOWN, .num_shards = n };
    const clv_sharded_dim dim = { axis, &simple, 1 };
    const clv_sharding_spec spec = {
        .tensor = tensor, .device = device, .n_device = n, .dims = &dim, .n_dims = axis >= 0
    };
    onnx_node_spec(g, node, "other", &spec);
}

/* A node with specs, "x 0 1; w [1] 0 1", and a stage (-1: none). */
static void add_node(test_graph *g, const char *type, const char *name, const char *in,
                     const char *out, int stage, const char *specs)
{
    char text[200], *rest = text;
    test_node *node = onnx_node(g, type, name, in, out);
    if (!specs)
        return;
    if (stage >= 0)
        onnx_node_device(g, node, "other", stage, NULL, 0);
    snprintf(text, sizeof text, "%s", specs);
    for (char *one; *rest && (one = strsep(&rest, ";"));) {
        add_spec(g, node, one);
        if (!rest)
            break;
    }
}

typedef struct {
    const char *up, *act, *down; /* specs; NULL: none */
    int up_stage, down_stage;    /* -1: none */
    int devices;
    float change; /* added to a weight */
} annotated;

/* (x W) V */
static void write_model(const char *name, const annotated *a)
{
    char path[600];
    float numbers[96];
    test_onnx *m = onnx_new(a ? 11 : 8, 17);
    test_graph *g = onnx_main(m);
    for (int i = 0; i < 96; i++)
        numbers[i] = (float)(i % 7) - 3;
    onnx_input(g, "x", 1, "4,6");
    onnx_weight_floats(g, "w", "6,8", numbers);
    numbers[5] += a ? a->change : 0;
    onnx_weight_floats(g, "v", "8,12", numbers);
    if (a)
        onnx_configuration(m, "other", a->devices, "");
    add_node(g, "MatMul", "up", "x,w", "h", a ? a->up_stage : -1, a ? a->up : NULL);
    add_node(g, "Relu", "act", "h", "r", a ? a->up_stage : -1, a ? a->act : NULL);
    add_node(g, "MatMul", "down", "r,v", "y", a ? a->down_stage : -1, a ? a->down : NULL);
    onnx_output(g, "y", 1, "4,12");
    snprintf(path, sizeof path, "%s/%s", folder, name);
    onnx_write(m, path);
    onnx_free(m);
}

static void set_up(void)
{
    folder = folder_new();
    write_model("m.onnx", NULL);
}

static void tear_down(void) { folder_free(folder); }

TestSuite(verify_annotated, .init = set_up, .fini = tear_down, .timeout = 300);

static void says(const annotated *a, const char *words)
{
    write_model("a.onnx", a);
    run_says(folder, 0, "verify", "m.onnx a.onnx --proof-only", words);
}

static void refused(int code, const annotated *a, const char *words)
{
    write_model("a.onnx", a);
    run_refused(folder, code, "verify", "m.onnx a.onnx --proof-only", words);
}

/* -- what is a plan -- */

static const annotated megatron = { .up = "x 0 1;w [1] 0 1;h [1] 0 1",
                                    .act = "h [1] 0 1;r [1] 0 1",
                                    .down = "r [1] 0 1;v [0] 0 1;y 0 1",
                                    .up_stage = 0,
                                    .down_stage = 0,
                                    .devices = 2 };

Test(verify_annotated, columns_then_rows_are_proven)
{
    says(&megatron, "proof     holds: 6 tensors in 7 layouts, 3 operators, 1 step, 0 transfers, on "
                    "2 devices in 1 stage");
    says(&megatron, "The plan is proven");
}

Test(verify_annotated, inputs_without_a_spec_come_as_they_are_delivered)
{
    annotated a = megatron;
    a.up = "w [1] 0 1";
    a.act = NULL;
    a.down = "v [0] 0 1";
    says(&a, "proof     holds: 6 tensors in 7 layouts, 3 operators, 1 step,");
}

/* A convolution whose image is cut, with a border of the neighbour, and an operator of numbers that
 * are known before the run: no plan of the search splits either. */
static void write_image(const char *name, bool is_annotated)
{
    char path[600];
    const float numbers[12] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    test_onnx *m = onnx_new(is_annotated ? 11 : 8, 13);
    test_graph *g = onnx_main(m);
    const int64_t shape[] = { 1, 1, 1, 4 };
    onnx_input(g, "x", 1, "1,1,8,4");
    onnx_weight_floats(g, "w", "1,1,3,3", numbers);
    onnx_weight_floats(g, "b", "4", numbers);
    onnx_weight_ints(g, "s", "4", shape);
    if (is_annotated)
        onnx_configuration(m, "other", 2, "");
    test_node *conv = onnx_node(g, "Conv", "conv", "x,w", "h");
    onnx_attr_ints(g, conv, "pads", 4, (const int64_t[]){ 1, 1, 1, 1 });
    test_node *shaped = onnx_node(g, "Reshape", "shape", "b,s", "t");
    if (is_annotated) {
        add_spec(g, conv, "x [2] 0 1");
        add_spec(g, conv, "h [2] 0 1");
        add_spec(g, shaped, "b [0] 0 1");
    }
    onnx_node(g, "Add", "add", "h,t", "y");
    onnx_output(g, "y", 1, "1,1,8,4");
    snprintf(path, sizeof path, "%s/%s", folder, name);
    onnx_write(m, path);
    onnx_free(m);
}

Test(verify_annotated, what_no_search_splits_may_be_split)
{
    write_image("image.onnx", false);
    write_image("cut.onnx", true);
    run_says(folder, 0, "verify", "image.onnx cut.onnx --proof-only", "proof     holds");
}

Test(verify_annotated, stages_are_not_needed)
{
    annotated a = megatron;
    a.up_stage = a.down_stage = -1;
    says(&a, "on 2 devices in 1 stage");
    a.down = "r [1] 2 3;v [0] 2 3;y 2 3";
    a.devices = 4;
    says(&a, "on 4 devices in 2 stages");
}

Test(verify_annotated, an_output_goes_where_its_spec_says)
{
    annotated a = megatron;
    a.down = "r [1] 0 1;v [0] 0 1;y [0] 0 1"; /* a reduce-scatter */
    says(&a, "3 operators, 1 step,");
    a.down = "r 0 1;v 0 1;y 0 1"; /* r is gathered: an act that says so, and a reader that does */
    says(&a, "3 operators, 1 step,");
}

Test(verify_annotated, stages_alone_are_a_pipeline)
{
    annotated a = { .up = "", .act = "", .down = "", .down_stage = 7, .up_stage = 3, .devices = 2 };
    says(&a, "1 transfer, on 2 devices in 2 stages");
}

/* -- what is none -- */

Test(verify_annotated, specs_that_contradict_each_other_are_no_plan)
{
    annotated a = megatron;
    a.up = "x [0] 0 1;w [1] 0 1;h [1] 0 1";
    refused(65, &a,
            "no split of operator 'up' (MatMul) over 2 devices takes its inputs as their "
            "specs say");
    a.up = "x [0] 0 1;nothing 0 1";
    refused(65, &a, "'nothing'");
}

Test(verify_annotated, meshes_of_unequal_size_are_no_plan)
{
    annotated a = megatron;
    a.devices = 3;
    a.down_stage = 1;
    a.down = "r 2;v 2;y 2";
    refused(65, &a, "some nodes are split over 2 devices and others over 1, expected equally many");
}

Test(verify_annotated, a_device_of_two_stages_is_no_plan)
{
    annotated a = megatron;
    a.down_stage = 1;
    refused(65, &a, "which has nodes of stage");
}

Test(verify_annotated, stages_that_run_backwards_are_no_plan)
{
    annotated a = { .up = "x 1", .act = "h 1", .down = "y 0", .up_stage = 1, .devices = 2 };
    refused(65, &a, "stage");
}

Test(verify_annotated, another_model_is_refused)
{
    annotated a = megatron;
    a.change = 1;
    refused(65, &a,
            "a.onnx is not m.onnx with annotations: beside it, its TensorProto 'v' has "
            "another float_data");
}

Test(verify_annotated, a_file_without_annotations_is_refused)
{
    run_refused(folder, 65, "verify", "m.onnx m.onnx", "m.onnx has no multi-device annotations");
}

Test(verify_annotated, options_of_annotations_are_theirs)
{
    write_model("a.onnx", &megatron);
    run_says(folder, 0, "verify", "m.onnx a.onnx --proof-only --configuration other",
             "The plan is proven");
    run_refused(folder, 2, "verify", "m.onnx a.onnx --configuration none",
                "a.onnx has no configuration 'none', but 'other'");
    file_write(folder, "p.json", "{}", 2);
    run_refused(folder, 2, "verify", "m.onnx p.json --bind a=1",
                "--bind is for an annotated model, and 'p.json' is a plan file");
}
