/* test_memory.c - no memory at any point of lowering: it is said so, and nothing is left behind, in
 * memory or in the folder. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lower/lower.h"
#include "lower/plan_types.h"
#include "support/memory_end.h"
#include "support/onnx_builder.h"
#include "support/run.h"

enum { N_OPS = 4, N_DEVICES = 2 };

static char *folder;
static clv_arena *kept;
static clv_onnx_file *file;
static clv_model *model;

static const char *in_folder(char path[static 600], const char *name)
{
    snprintf(path, 600, "%s/%s", folder, name);
    return path;
}

/* "if": reads around itself in both of its bodies. */
static void add_choice(test_onnx *m, test_graph *g)
{
    static const char *const names[] = { "then_branch", "else_branch" }, *const out[] = { "t",
                                                                                          "n" };
    test_node *choice = onnx_node(g, "If", "if", "which", "r");
    onnx_input(g, "which", 9, "");
    for (int i = 0; i < 2; i++) {
        test_graph *body = onnx_body(m, names[i]);
        onnx_node(body, i ? "Relu" : "Neg", "", "u", out[i]);
        onnx_output(body, out[i], 1, "4,96");
        onnx_attr_graph(g, choice, names[i], body);
    }
}

/* A table that is looked up, a product whose columns are split, a choice or not, and a product that
 * is a sum; two of the weights are in a file. */
static void open_model(bool choice)
{
    static const uint8_t zeros[16384];
    char path[600];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);

    file_write(folder, "w.bin", zeros, sizeof zeros);
    onnx_input(g, "ids", 7, "4");
    onnx_weight_external(g, "table", 1, "64,16", "w.bin", 0, 64 * 16 * 4);
    onnx_weight_external(g, "up", 1, "16,96", "w.bin", 4096, 16 * 96 * 4);
    onnx_weight(g, "down", 1, "96,12");
    onnx_node(g, "Gather", "look", "table,ids", "e");
    onnx_node(g, "MatMul", "up", "e,up", "u");
    if (choice)
        add_choice(m, g);
    else
        onnx_node(g, "Relu", "relu", "u", "r");
    onnx_node(g, "MatMul", "down", "r,down", "y");
    onnx_output(g, "y", 1, "4,12");
    onnx_write(m, in_folder(path, "m.onnx"));
    onnx_free(m);
    cr_assert_eq(clv_onnx_open(path, NULL, &file, NULL), CLV_OK);
    cr_assert_eq(clv_onnx_read(file, kept, &model, NULL), CLV_OK);
}

/* split: over both devices; else two operators on each. */
static clv_plan plan_of(bool split)
{
    static const char *ways[N_OPS] = { "tp=v", "tp=n", "", "tp=k" };
    static const int32_t alone[N_OPS] = { 0, 0, 1, 1 }, together[N_OPS];
    static clv_plan_device devices[N_DEVICES] = { { .name = "gpu0" }, { .name = "gpu1" } };
    devices[1].stage = split ? 0 : 1;
    static clv_plan_axis axis = { .name = "tp", .size = N_DEVICES };
    static int32_t mesh[N_DEVICES] = { 0, 1 };
    clv_plan plan = { .n_devices = N_DEVICES,
                      .n_stages = split ? 1 : 2,
                      .n_ops = N_OPS,
                      .devices = devices,
                      .device_of_op = split ? together : alone };
    if (split) {
        plan.axes = &axis;
        plan.n_axes = 1;
        plan.mesh_devices = N_DEVICES;
        plan.n_meshes = 1;
        plan.mesh_device = mesh;
        plan.split_of_op = ways;
    }
    return plan;
}

static void set_up(void)
{
    folder = folder_new();
    kept = clv_arena_new(NULL, 0);
}

static void tear_down(void)
{
    clv_onnx_close(file);
    clv_arena_free(kept);
    folder_free(folder);
}

TestSuite(memory, .init = set_up, .fini = tear_down, .timeout = 600);

static clv_status lower(void *ctx, clv_arena *arena, clv_error *err)
{
    clv_lowering l = *(const clv_lowering *)ctx;
    char path[600];
    CLV_TRY(clv_plan_types(model, l.plan, arena, &l.types, err));
    return clv_lower(&l, in_folder(path, "out"), arena, &(clv_lower_summary){ 0 }, err);
}

static void runs_out(bool split, clv_lowering l)
{
    const clv_plan plan = plan_of(split);
    l.file = file;
    l.model = model;
    l.plan = &plan;
    l.model_name = "m.onnx";
    memory_ends(folder, lower, &l);
}

Test(memory, survives_its_end_anywhere_where_operators_are_split)
{
    open_model(true);
    runs_out(true, (clv_lowering){ .form = CLV_FORM_EMULATE });
    runs_out(true, (clv_lowering){ .form = CLV_FORM_DEVICES, .dialect = CLV_DIALECT_ORT });
    runs_out(true, (clv_lowering){ .form = CLV_FORM_DEVICES,
                                   .dialect = CLV_DIALECT_TENSORRT,
                                   .weights = CLV_PARTS_SAFETENSORS });
    runs_out(true, (clv_lowering){ .form = CLV_FORM_DEVICES,
                                   .dialect = CLV_DIALECT_ORT,
                                   .weights = CLV_PARTS_RANGES });
}

Test(memory, survives_its_end_anywhere_where_operators_are_whole)
{
    open_model(false);
    runs_out(false, (clv_lowering){ .form = CLV_FORM_STAGES });
    runs_out(false, (clv_lowering){ .form = CLV_FORM_ORT_OPTIONS });
    runs_out(false, (clv_lowering){ .form = CLV_FORM_OLIVE, .weights = CLV_PARTS_RANGES });
}
