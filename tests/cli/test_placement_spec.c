/* test_placement_spec.c - cleave shard and cleave reshard by placement specs, with the numbers of
 * PyTorch's RFC on model sharding.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/onnx_builder.h"
#include "support/run.h"

enum { ROWS = 4, COLUMNS = 8, N_DEVICES = 8 };

static char *folder;

/* The tensor of the RFC: its devices, from 1, by the part that each is to have. */
static void set_up(void)
{
    char path[600];
    float w[ROWS * COLUMNS], bias[COLUMNS] = { 9, 9, 9, 9, 9, 9, 9, 9 };
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);

    folder = folder_new();
    for (int i = 0; i < ROWS * COLUMNS; i++)
        w[i] = (float)(1 + i / COLUMNS / 2 * 4 + i % COLUMNS / 2);
    onnx_input(g, "x", 1, "2,4");
    onnx_weight_floats(g, "net/w", "4,8", w);
    onnx_weight_floats(g, "net/b", "8", bias);
    onnx_node(g, "MatMul", "mm", "x,net/w", "y");
    onnx_node(g, "Add", "add", "y,net/b", "z");
    onnx_output(g, "z", 1, NULL);
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
}

static void tear_down(void) { folder_free(folder); }

TestSuite(placement_spec, .init = set_up, .fini = tear_down);

static void put(const char *name, const char *text)
{
    file_write(folder, name, text, strlen(text));
}

static void says(int code, const char *line, const char *words)
{
    run_result r = run_in(folder, "%s %s", TEST_CLEAVE, line);
    cr_assert_eq(r.code, code, "'%s' gave %d: %s%s", line, r.code, r.out, r.err);
    cr_expect(strstr(r.out, words) || strstr(r.err, words), "%s%s", r.out, r.err);
    run_free(&r);
}

#define MESH "{" MESH_SPEC "}"
#define MESH_SPEC                                                                                  \
    "\"spec\":{\"composite\":{\"net.w\":{\"mesh\":["                                               \
    "[\"rank:0/cuda:0\",\"rank:0/cuda:1\",\"rank:0/cuda:2\",\"rank:0/cuda:3\"],"                   \
    "[\"rank:1/cuda:4\",\"rank:1/cuda:5\",\"rank:1/cuda:6\",\"rank:1/cuda:7\"]]}}}"

#define COLUMNS_ON_THREE                                                                           \
    "{\"spec\":{\"composite\":{\"net\":{\"single_split\":{\"dim\":-1,\"placements\":"              \
    "[\"cuda:0\",\"cuda:1\",\"cuda:2\"]}}}}}"

/* n numbers, all of them value, are all that the file has. */
static void expect_numbers(const char *file, int n, float value)
{
    size_t bytes = 0;
    char *text = file_text(folder, file, &bytes);
    cr_assert_not_null(text, "%s", file);
    cr_assert_geq(bytes, (size_t)n * sizeof(float), "%s", file);
    for (int i = 0; i < n; i++) {
        float number;
        memcpy(&number, text + (size_t)i * sizeof number, sizeof number);
        cr_expect_eq(number, value, "%s[%d] is %g, not %g", file, i, (double)number, (double)value);
    }
    free(text);
}

/* covers: D.008 D.021 D.024 D.039 */
Test(placement_spec, each_device_of_the_mesh_has_its_numbers)
{
    put("mesh.json", MESH);
    says(0, "shard --layout mesh.json -o d m.onnx",
         "1 weight is without a spec, not sharded: 'net/b'");
    for (int i = 0; i < N_DEVICES; i++) {
        char file[64];
        snprintf(file, sizeof file, "d/rank_%d_cuda_%d.data", i / 4, i);
        expect_numbers(file, 4, (float)(i + 1)); /* cuda:0 has 1s, cuda:4 has 5s */
    }
}

/* From the mesh to other devices, fewer of them, and back: the model is the same, byte for byte.
 * covers: D.022 D.032 D.033 D.034 */
Test(placement_spec, any_spec_becomes_any_other)
{
    put("mesh.json", "{\"others\":\"copy\"," MESH_SPEC "}");
    put("three.json", COLUMNS_ON_THREE);
    says(0, "shard --layout mesh.json -o d m.onnx",
         "1 weight is without a spec, copied to every device: 'net/b'");
    says(0, "reshard --layout three.json -o d3 d", "rank:1/cuda:7 -> cuda:2");
    says(0, "reshard --layout mesh.json -o d8 d3", "cuda:2 -> rank:1/cuda:7");
    expect_numbers("d8/rank_1_cuda_6.data", 4, 7);
    says(0, "collect -o c.onnx d8", "");
    cr_expect(file_same(folder, "m.onnx", "c.onnx"));
    says(0, "shard --layout three.json -o again c.onnx", "");
    cr_expect(file_same(folder, "again/cuda_0.data", "d3/cuda_0.data"));
}

/* covers: D.016 D.017 */
Test(placement_spec, what_is_wrong_is_reported_and_nothing_is_written)
{
    put("s.json",
        "{\"spec\":{\"single_split\":{\"dim\":0,\"placements\":[\"cuda:0\",\"cdua:1\"]}}}");
    says(65, "shard --layout s.json -o d m.onnx",
         "s.json: spec.single_split.placements[1]: device 'cdua:1': 'cdua' is no device type");
    put("s.json",
        "{\"spec\":{\"single_split\":{\"dim\":1,\"placements\":[\"cuda:0\",\"cuda:1\"]}}}");
    says(65, "shard --layout s.json -o d m.onnx",
         "weight 'net/b': its single_split is of dim 1, but it has 1 dimension");
    cr_expect_eq(folder_count(folder), 2); /* model and spec */
    put("s.json", "{\"spec\":{\"composite\":{\"net\":{\"single_split\":{\"dim\":1,\"placements\":"
                  "[\"cuda:0\",\"cuda:1\"]}},\"nat\":\"cpu\"}},\"cannot_apply\":\"skip\"}");
    says(0, "shard --layout s.json -o d m.onnx",
         "'nat' of the placement spec is no weight of the model");
    expect_numbers("d/cuda_1.data", 2, 3);
}
