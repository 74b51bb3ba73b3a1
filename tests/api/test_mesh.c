/* test_mesh.c - a plan file with a mesh through the library: what it reports, and the model that
 * comes of it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleave.h"
#include "support/api.h"
#include "support/onnx_builder.h"
#include "support/run.h"

static char *folder, path[4][4096];
enum { MODEL, PLAN, ANNOTATED, STRIPPED };

static cleave_model *model;
static cleave_plan *plan;
static cleave_error error;

/* x[2,8] -> MatMul up -> Relu -> MatMul down -> y */
static void set_up(void)
{
    static const char *const names[] = { "m.onnx", "p.json", "a.onnx", "s.onnx" };
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);

    folder = folder_new();
    for (int i = 0; i < 4; i++)
        snprintf(path[i], sizeof path[i], "%s/%s", folder, names[i]);
    onnx_input(g, "x", 1, "2,8");
    onnx_weight(g, "w1", 1, "8,6");
    onnx_weight(g, "w2", 1, "6,8");
    onnx_node(g, "MatMul", "up", "x,w1", "h");
    onnx_node(g, "Relu", "act", "h", "r");
    onnx_node(g, "MatMul", "down", "r,w2", "y");
    onnx_output(g, "y", 1, "2,8");
    onnx_write(m, path[MODEL]);
    onnx_free(m);
    cr_assert_eq(cleave_model_open(path[MODEL], NULL, &model, &error), CLEAVE_OK);
    plan = NULL;
}

static void tear_down(void)
{
    cleave_plan_free(plan);
    cleave_model_free(model);
    folder_free(folder);
}

TestSuite(api_mesh, .init = set_up, .fini = tear_down);

/* The fingerprint is that of any plan for the model. */
static void fingerprint(char ret[17])
{
    cleave_plan *any = NULL;
    cleave_plan_options o = plan_options();
    o.devices = 1;
    cr_assert_eq(cleave_plan_make(model, &o, NULL, &any, &error), CLEAVE_OK, "%s", error.message);
    const char *at = strstr(plan_json(any), "\"fingerprint\": \"");
    cr_assert_not_null(at);
    snprintf(ret, 17, "%.16s", at + strlen("\"fingerprint\": \""));
    cleave_plan_free(any);
}

/* Column, then row, over two devices; x comes in two parts. ns: of the second collective. */
static cleave_status load(const char *ns)
{
    char print[17];
    FILE *f = fopen(path[PLAN], "w");
    cr_assert_not_null(f);
    fingerprint(print);
    fprintf(f,
            "{\"schema_version\": 2, \"fingerprint\": \"%s\", \"objective\": \"latency\",\n"
            " \"outcome\": \"fits\", \"stages\": 1,\n"
            " \"mesh\": {\"axes\": [{\"name\": \"tp\", \"size\": 2}], \"devices\": [[0, 1]]},\n"
            " \"operators\": {\"count\": 3, \"device_runs\": [[0, 3]],\n"
            "  \"split_runs\": [[\"tp=n\", 1], [\"tp=d1\", 1], [\"tp=k\", 1]]},\n"
            " \"devices\": [{\"name\": \"gpu0\", \"stage\": 0}, {\"name\": \"gpu1\", "
            "\"stage\": 0}],\n"
            " \"collectives\": [\n"
            "  {\"kind\": \"all-reduce\", \"axes\": \"tp\", \"stage\": 0, \"tensor\": \"y\",\n"
            "   \"from\": \"{-, -} sum(tp)\", \"to\": \"{-, -}\", \"bytes\": 64, \"ns\": "
            "1500000},\n"
            "  {\"kind\": \"all-gather\", \"axes\": \"tp\", \"stage\": 0, \"tensor\": \"x\",\n"
            "   \"from\": \"{tp, -}\", \"to\": \"{-, -}\", \"bytes\": 32%s}],\n"
            " \"found\": [{\"name\": \"Megatron column\", \"axes\": \"tp\", \"count\": 1,\n"
            "  \"of\": \"matmuls\"}]}\n",
            print, ns);
    cr_assert_eq(fclose(f), 0);
    return cleave_plan_load(model, path[PLAN], NULL, &plan, &error);
}

Test(api_mesh, reports_the_mesh_and_what_its_devices_exchange)
{
    const char *axis = NULL;
    int count = 0;
    cr_assert_eq(load(", \"ns\": 500000"), CLEAVE_OK, "%s", error.message);
    cr_expect_str_eq(cleave_plan_mesh(plan), "tp=2");
    cr_expect_eq(cleave_plan_mesh_devices(plan), 2);
    cr_expect_eq(cleave_plan_collectives(plan), 2);
    cr_expect_eq(cleave_plan_collective_bytes(plan), 96);
    cr_expect_float_eq(cleave_plan_collective_s(plan), 2.0e-3, 1e-12);
    cr_expect_str_eq(cleave_plan_strategy(plan, 0, &axis, &count), "Megatron column");
    cr_expect_str_eq(axis, "tp");
    cr_expect_eq(count, 1);
    cr_expect_str_eq(cleave_plan_strategy(plan, 1, &axis, &count), "Megatron row");
    cr_expect_null(cleave_plan_strategy(plan, 2, &axis, &count));
    cr_expect_null(cleave_plan_strategy(plan, -1, NULL, NULL));
    cr_expect_str_eq(cleave_plan_split_of(plan, 2), "tp=k");
    cr_expect_null(cleave_plan_split_of(plan, 3));
    cr_expect_eq(cleave_plan_device_of(plan, 2), 0);
    cr_expect(strstr(plan_text(plan), "gpu0-1"), "%s", plan_text(plan));
}

Test(api_mesh, a_time_that_is_not_known_is_not_summed)
{
    cr_assert_eq(load(""), CLEAVE_OK, "%s", error.message);
    cr_expect_eq(cleave_plan_collective_bytes(plan), 96);
    cr_expect_lt(cleave_plan_collective_s(plan), 0);
}

Test(api_mesh, a_plan_of_whole_operators_has_none)
{
    cleave_plan_options o = plan_options();
    o.devices = 1;
    cr_assert_eq(cleave_plan_make(model, &o, NULL, &plan, &error), CLEAVE_OK, "%s", error.message);
    cr_expect_str_eq(cleave_plan_mesh(plan), "");
    cr_expect_eq(cleave_plan_mesh_devices(plan), 1);
    cr_expect_eq(cleave_plan_collectives(plan), 0);
    cr_expect_eq(cleave_plan_collective_bytes(plan), 0);
    cr_expect_float_eq(cleave_plan_collective_s(plan), 0, 0);
    cr_expect_str_eq(cleave_plan_split_of(plan, 0), "");
    cr_expect_null(cleave_plan_strategy(plan, 0, NULL, NULL));
}

/* covers: A.002 A.007 A.022 C.013 */
Test(api_mesh, the_annotated_model_shows_each_part_and_strips_to_the_same_bytes)
{
    cleave_model *annotated = NULL;
    cleave_report *report = NULL;
    cleave_shards_options shards;
    int wrong = -1;
    cr_assert_eq(load(""), CLEAVE_OK, "%s", error.message);
    cr_assert_eq(cleave_annotate(model, plan, NULL, path[ANNOTATED], NULL, &error), CLEAVE_OK);
    cr_assert_eq(cleave_model_open(path[ANNOTATED], NULL, &annotated, &error), CLEAVE_OK);
    cleave_shards_options_init(&shards);
    shards.uneven = CLEAVE_UNEVEN_REFUSE;
    shards.all = 1;
    cr_assert_eq(cleave_model_shards(annotated, &shards, NULL, &report, &wrong, &error), CLEAVE_OK);
    const char *text = cleave_report_text(report);
    cr_expect_eq(wrong, 0, "%s", text);
    cr_expect(strstr(text, "gpu1") && strstr(text, "[8,3]") && strstr(text, "[3,8]"), "%s", text);
    cleave_report_free(report);
    cr_assert_eq(cleave_strip(annotated, 0, path[STRIPPED], NULL, &error), CLEAVE_OK);
    cleave_model_free(annotated);
    cr_expect(file_same(folder, "m.onnx", "s.onnx"));
}

Test(api_mesh, saved_and_loaded_it_is_the_same_file_and_what_its_schema_says)
{
    cr_assert_eq(load(", \"ns\": 1"), CLEAVE_OK, "%s", error.message);
    char *before = strdup(plan_json(plan));
    cr_assert_eq(cleave_report_save(cleave_plan_report(plan), path[PLAN], &error), CLEAVE_OK);
    cleave_plan_free(plan);
    cr_assert_eq(cleave_plan_load(model, path[PLAN], NULL, &plan, &error), CLEAVE_OK, "%s",
                 error.message);
    cr_expect_str_eq(plan_json(plan), before);
    free(before);
    run_result r = run_in(folder,
                          "python3 - <<'E'\n"
                          "import json, jsonschema\n"
                          "s = json.load(open('%s/docs/formats/plan.schema.json'))\n"
                          "jsonschema.validate(json.load(open('p.json')), s,\n"
                          "                    jsonschema.Draft202012Validator)\n"
                          "E",
                          TEST_SOURCE_DIR);
    cr_expect_eq(r.code, 0, "%s", r.err);
    run_free(&r);
}

/* -- found by the search -- */

/* One token through a wide block: reading its weights is all the work. */
static cleave_model *wide_block(void)
{
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    cleave_model *wide = NULL;

    onnx_input(g, "x", 1, "1,4096");
    onnx_weight_external(g, "w1", 1, "4096,16384", "weights", 0, -1);
    onnx_weight_external(g, "w2", 1, "16384,4096", "weights", 268435456, -1);
    onnx_node(g, "MatMul", "up", "x,w1", "h");
    onnx_node(g, "Relu", "act", "h", "r");
    onnx_node(g, "MatMul", "down", "r,w2", "y");
    onnx_output(g, "y", 1, "1,4096");
    onnx_write(m, path[MODEL]);
    onnx_free(m);
    cr_assert_eq(cleave_model_open(path[MODEL], NULL, &wide, &error), CLEAVE_OK, "%s",
                 error.message);
    return wide;
}

static int has_found(const char *name)
{
    const char *one;
    for (int i = 0; (one = cleave_plan_strategy(plan, i, NULL, NULL)); i++)
        if (strcmp(one, name) == 0)
            return 1;
    return 0;
}

/* Planned, annotated, shown part by part, loaded again and stripped.
 * covers: A.002 A.012 A.022 A.042 */
Test(api_mesh, a_wide_block_is_split_by_column_and_row_from_file_to_file)
{
    cleave_model *wide = wide_block(), *annotated = NULL;
    cleave_plan *again = NULL;
    cleave_plan_options o = plan_options();
    cleave_report *report = NULL;
    cleave_shards_options shards;
    int wrong = -1;

    o.mesh = "tp=4";
    o.devices = 4;
    cr_assert_eq(cleave_plan_make(wide, &o, NULL, &plan, &error), CLEAVE_OK, "%s", error.message);
    cr_expect(has_found("Megatron column") && has_found("Megatron row"), "%s", plan_text(plan));
    cr_expect_geq(cleave_plan_collectives(plan), 1);
    cr_assert_eq(cleave_annotate(wide, plan, NULL, path[ANNOTATED], NULL, &error), CLEAVE_OK, "%s",
                 error.message);
    cr_assert_eq(cleave_report_save(cleave_plan_report(plan), path[PLAN], &error), CLEAVE_OK);
    cr_assert_eq(cleave_plan_load(wide, path[PLAN], NULL, &again, &error), CLEAVE_OK, "%s",
                 error.message);
    cr_expect_str_eq(plan_json(again), plan_json(plan));
    cr_expect_str_eq(plan_text(again), plan_text(plan));
    cleave_plan_free(again);
    cr_assert_eq(cleave_model_open(path[ANNOTATED], NULL, &annotated, &error), CLEAVE_OK);
    cleave_shards_options_init(&shards);
    shards.uneven = CLEAVE_UNEVEN_REFUSE;
    shards.all = 1;
    cr_assert_eq(cleave_model_shards(annotated, &shards, NULL, &report, &wrong, &error), CLEAVE_OK);
    const char *text = cleave_report_text(report);
    cr_expect_eq(wrong, 0, "%s", text);
    cr_expect(strstr(text, "[4096,4096]"), "%s", text);
    cleave_report_free(report);
    cr_assert_eq(cleave_strip(annotated, 0, path[STRIPPED], NULL, &error), CLEAVE_OK);
    cleave_model_free(annotated);
    cleave_model_free(wide);
    cr_expect(file_same(folder, "m.onnx", "s.onnx"));
}
