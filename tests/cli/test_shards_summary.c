/* test_shards_summary.c - cleave shards in sum: layers that are alike as one line; and details of
 * some nodes and tensors alone.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/onnx_builder.h"
#include "support/run.h"
#include "support/spec_text.h"

static char *folder;
static clv_arena *arena;

static void set_up(void)
{
    folder = folder_new();
    arena = clv_arena_new(NULL, 0);
}

static void tear_down(void)
{
    folder_free(folder);
    clv_arena_free(arena);
}

TestSuite(shards_summary, .init = set_up, .fini = tear_down);

typedef struct {
    test_onnx *m;
    test_graph *g;
} net;

static void put(const net *n, test_node *node, const char *tensor, const char *text)
{
    clv_sharding_spec spec = spec_text(text, tensor, arena);
    onnx_node_spec(n->g, node, "c", &spec);
}

/* Two products, columns then rows, whose input is whole: x[8,16] -> y[8,32] -> z[8,16]. */
static void add_layer(const net *n, int i, const char *columns, const char *rows)
{
    char up[64], down[64], x[16], y[16], z[16], w[16], v[16], inputs[64];
    snprintf(up, sizeof up, "/m/layers.%d/mlp/up/MatMul", i);
    snprintf(down, sizeof down, "/m/layers.%d/mlp/down/MatMul", i);
    snprintf(x, sizeof x, i ? "z%d" : "x", i - 1);
    snprintf(y, sizeof y, "y%d", i);
    snprintf(z, sizeof z, "z%d", i);
    snprintf(w, sizeof w, "w%d", i);
    snprintf(v, sizeof v, "v%d", i);
    onnx_weight(n->g, w, 1, "16,32");
    onnx_weight(n->g, v, 1, "32,16");
    snprintf(inputs, sizeof inputs, "%s,%s", x, w);
    test_node *first = onnx_node(n->g, "MatMul", up, inputs, y);
    put(n, first, x, "@ 0 1");
    put(n, first, w, columns);
    put(n, first, y, columns);
    snprintf(inputs, sizeof inputs, "%s,%s", y, v);
    test_node *second = onnx_node(n->g, "MatMul", down, inputs, z);
    put(n, second, y, columns);
    put(n, second, v, rows);
    put(n, second, z, "@ 0 1");
}

/* 12 layers, of which the one with that number is not split (-1: none); m.onnx. */
static void write_net(int whole)
{
    char path[600];
    net n = { .m = onnx_new(11, 17) };
    n.g = onnx_main(n.m);
    onnx_input(n.g, "x", 1, "8,16");
    for (int i = 0; i < 12; i++)
        add_layer(&n, i, i == whole ? "@ 0 1" : "1*2 @ 0 1", i == whole ? "@ 0 1" : "0*2 @ 0 1");
    put(&n, onnx_node(n.g, "Relu", "/m/norm/Relu", "z11", "r"), "r", "@ 0 1");
    onnx_output(n.g, "r", 1, "8,16");
    onnx_configuration(n.m, "c", 2, "");
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    onnx_write(n.m, path);
    onnx_free(n.m);
}

static char *says(int code, const char *line)
{
    run_result r = run_in(folder, "%s shards %s", TEST_CLEAVE, line);
    cr_assert_eq(r.code, code, "'%s' gave %d: %s%s", line, r.code, r.out, r.err);
    free(code ? r.out : r.err);
    return code ? r.err : r.out;
}

static void expect_in(const char *line, int code, const char *words)
{
    char *out = says(code, line);
    cr_expect(strstr(out, words), "'%s' does not say '%s': %s", line, words, out);
    free(out);
}

static void expect_not_in(const char *line, const char *words)
{
    char *out = says(0, line);
    cr_expect(!strstr(out, words), "'%s' says '%s': %s", line, words, out);
    free(out);
}

/* A layer has 2 * 16 * 32 * 4 / 2 bytes of weights on each device, and 8 * 4 * (16 + 32 / 2 + 16)
 * of others; each all-reduce of z sends 8 * 16 * 4. */
Test(shards_summary, layers_that_are_alike_are_one_line)
{
    write_net(-1);
    expect_in("m.onnx", 0,
              "tensors     50 in 73 specs of 25 nodes: 36 sharded, 14 replicated, "
              "0 on one\n            device\n");
    expect_in("m.onnx", 0,
              "\ndevices  weights of each     others\n"
              "0 to 1         24.00 KiB  13.00 KiB\n");
    expect_in("m.onnx", 0,
              "\nlayers       alike  nodes  tensors  sharded    weights     others  moves\n"
              "/m/layers.*     12      2        5        3  2.000 KiB  1.500 KiB      1\n"
              "/m/norm/*        1      1        1        0        0 B      512 B      0\n");
    expect_in("m.onnx", 0,
              "\ncommunication  over  number  sent by each\n"
              "all-reduce        2      12     6.000 KiB\n"
              "12 tensors are brought from one spec to another\n");
    expect_in("m.onnx", 0, "\ninferred: 1 (1 as the producer delivers it)\n");
    expect_not_in("m.onnx", "layers.7");
}

Test(shards_summary, a_layer_that_is_annotated_otherwise_has_its_own)
{
    write_net(7);
    expect_in("m.onnx", 0,
              "/m/layers.*     11      2        5        3  2.000 KiB  1.500 KiB      1\n"
              "/m/layers.7      1      2        5        0  4.000 KiB  2.000 KiB      0\n");
}

/* The same lines as with --all, and no others. */
Test(shards_summary, details_of_nodes_and_tensors_alone)
{
    write_net(-1);
    expect_in("--node '/m/layers.7/*/up/*' m.onnx", 0,
              "node '/m/layers.7/mlp/up/MatMul'\n"
              "  z6      float[8,16]        0  [0,0]   [8,16]     512\n");
    expect_not_in("--node '/m/layers.7/*/up/*' m.onnx", "down");
    expect_in("--node '/m/layers.7/*/up/*' m.onnx", 0, "\nannotated tensors: 3\n");
    expect_not_in("--node '/m/layers.7/*/up/*' m.onnx", "all-reduce");
    expect_in("--node '/m/layers.?/*/down/*' m.onnx", 0, "\ncommunication: 10\n");
    expect_in("--tensor w1 m.onnx", 0, "\nannotated tensors: 1\n");
    expect_in("--tensor 'w1*' m.onnx", 0, "\nannotated tensors: 3\n");
    expect_not_in("--tensor 'w1*' m.onnx", "y1");
    expect_in("--tensor 'y*' --node '*.3/*' m.onnx", 0, "\nannotated tensors: 2\n");
    run_result r = run_in(folder,
                          "%s shards --all m.onnx > all; %s shards --node '*' m.onnx > star; "
                          "cmp all star; %s shards --all --json m.onnx > a.json; "
                          "%s shards --json m.onnx > b.json; cmp a.json b.json",
                          TEST_CLEAVE, TEST_CLEAVE, TEST_CLEAVE, TEST_CLEAVE);
    cr_expect_eq(r.code, 0, "%s", r.out);
    run_free(&r);
}

Test(shards_summary, json_is_filtered_too)
{
    write_net(7);
    expect_in("--json m.onnx | tr -d ' \\n'", 0, "\"annotated_tensors\":73,");
    expect_in("--json --tensor 'w*' m.onnx | tr -d ' \\n'", 0, "\"annotated_tensors\":12,");
    expect_in("--json --node '*layers.7*' m.onnx | tr -d ' \\n'", 0, "\"communication\":[],");
    run_result r = run_in(folder, "%s shards --json --node '*.3/*' m.onnx > c.json", TEST_CLEAVE);
    run_free(&r);
    run_is_valid(folder, "shards", "c.json");
}

Test(shards_summary, patterns_that_match_nothing_are_refused)
{
    write_net(-1);
    expect_in("--node '/m/layers.3/mlp/up/MatMull' m.onnx", 2,
              "'/m/layers.3/mlp/up/MatMull' matches no node of the annotations, did you mean "
              "'/m/layers.3/mlp/up/MatMul'?");
    expect_in("--tensor 'q*' m.onnx", 2, "'q*' matches no tensor of the annotations;");
    expect_in("--tensor w1 --node '*.3/*' m.onnx", 2,
              "no tensor 'w1' is annotated at a node '*.3/*'");
    expect_in("--node '' m.onnx", 2, "--node is empty");
}

/* Eleven of eleven wrong specs are counted, ten are shown. */
Test(shards_summary, the_first_of_many_faults_are_shown)
{
    char path[600];
    net n = { .m = onnx_new(11, 17) };
    n.g = onnx_main(n.m);
    onnx_input(n.g, "x", 1, "8,16");
    for (int i = 0; i < 11; i++) {
        char name[32], y[16];
        snprintf(name, sizeof name, "/m/layers.%d/Relu", i);
        snprintf(y, sizeof y, "y%d", i);
        put(&n, onnx_node(n.g, "Relu", name, "x", y), y, "7*2 @ 0 1");
    }
    onnx_output(n.g, "y0", 1, "8,16");
    onnx_configuration(n.m, "c", 2, "");
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    onnx_write(n.m, path);
    onnx_free(n.m);
    expect_in("m.onnx", 0, "\nwrong: 11\n");
    expect_in("m.onnx", 0, "\n  ... and 1 more, see --all\n");
    expect_in("m.onnx", 0, "/m/layers.*     11      1        1        0      0 B     0 B      0\n");
    expect_not_in("--all m.onnx", "more, see");
    expect_in("--node '*.3/*' m.onnx", 0, "\nwrong: 1\n");
    expect_in("--check --node '*.3/*' m.onnx", 65, "wrong annotations: 1");
}

Test(shards_summary, a_model_without_annotations_says_so)
{
    expect_in(TEST_SOURCE_DIR "/tests/data/models/resnet.static.onnx", 0,
              "\nno multi-device annotations\n");
}

/* Names of operators that are numbered without layers, as of older exporters. */
Test(shards_summary, names_without_layers_are_taken_together_by_what_they_are)
{
    char path[600];
    net n = { .m = onnx_new(11, 17) };
    n.g = onnx_main(n.m);
    onnx_input(n.g, "x", 1, "8,16");
    put(&n, onnx_node(n.g, "Relu", "Relu_1", "x", "a"), "a", "@ 0 1");
    put(&n, onnx_node(n.g, "Neg", "Neg_2", "a", "b"), "b", "@ 0 1");
    put(&n, onnx_node(n.g, "Relu", "Relu_3", "b", "d"), "d", "@ 1");
    put(&n, onnx_node(n.g, "Relu", "/r50/Relu", "d", "e"), "e", "@ 1");
    onnx_output(n.g, "e", 1, "8,16");
    onnx_configuration(n.m, "c", 2, "");
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    onnx_write(n.m, path);
    onnx_free(n.m);
    expect_in("m.onnx", 0, "\nRelu_*      1      2        2        0");
    expect_in("m.onnx", 0, "\nNeg_*       1      1        1        0");
    expect_in("m.onnx", 0, "\n/r50/*      1      1        1        0");
    expect_in("m.onnx", 0, "4 in 4 specs of 4 nodes: 0 sharded, 2 replicated, 2 on one device");
}
