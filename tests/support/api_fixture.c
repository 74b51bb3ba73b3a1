#include "support/api_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/api.h"
#include "support/onnx_builder.h"
#include "support/run.h"

#define NODE(id)                                                                                   \
    "{\"id\": " #id ", \"supportedOnFpga\": 1, \"cpuLatency\": 9, \"fpgaLatency\": 4, "            \
    "\"isBackwardNode\": 0, \"size\": 5}"

static const char workload[] =
    "{\"maxSizePerFPGA\": 10, \"maxFPGAs\": 2, \"maxCPUs\": 0, \"nodes\": [" NODE(1) ", " NODE(
        2) "], \"edges\": [{\"sourceId\": 1, \"destId\": 2, \"cost\": 1}]}";

static void write_model(const char *path)
{
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "4,6");
    onnx_weight(g, "w", 1, "6,8");
    onnx_node(g, "MatMul", "mm", "x,w", "y");
    onnx_output(g, "y", 1, "4,8");
    onnx_write(m, path);
    onnx_free(m);
}

static void expect_ok(const api_fixture *f, cleave_status status)
{
    cr_assert_eq(status, CLEAVE_OK, "%s", f->error.message);
}

void api_fixture_make(api_fixture *f)
{
    static const char *const names[] = { "m.onnx", "plan.json", "w.json", "a.onnx", "s", "out" };
    cleave_plan_options o;
    cleave_error *error = &f->error;

    memset(f, 0, sizeof *f);
    cleave_allocator allocator = { failing_resize, &f->memory };
    cleave_control control = control_of(&allocator);
    f->folder = folder_new();
    for (int i = 0; i < API_N_PATHS; i++)
        snprintf(f->path[i], sizeof f->path[i], "%s/%s", f->folder, names[i]);
    write_model(f->path[API_MODEL]);
    file_write(f->folder, "w.json", workload, strlen(workload));
    cleave_plan_options_init(&o);
    o.devices = 2;
    o.mesh = "tp=2";
    expect_ok(f, cleave_model_open(f->path[API_MODEL], &control, &f->model, error));
    expect_ok(f, cleave_plan_make(f->model, &o, NULL, &f->plan, error));
    expect_ok(f, cleave_report_save(cleave_plan_report(f->plan), f->path[API_PLAN], error));
    expect_ok(f, cleave_annotate(f->model, f->plan, NULL, f->path[API_ANNOTATED], NULL, error));
    expect_ok(f, cleave_shard(f->model, f->path[API_PLAN], f->path[API_SHARDS], NULL, NULL, error));
    expect_ok(f, cleave_place_problem_open(f->path[API_WORKLOAD], &control, &f->place, error));
    expect_ok(f, cleave_intra_op_problem_open(TEST_SOURCE_DIR "/tests/data/strategy/example.json",
                                              &control, &f->intra_op, error));
}

void api_fixture_clean(const api_fixture *f)
{
    run_result r = run_in(f->folder, "rm -rf out");
    run_free(&r);
}

void api_fixture_free(api_fixture *f)
{
    cleave_intra_op_problem_free(f->intra_op);
    cleave_place_problem_free(f->place);
    cleave_plan_free(f->plan);
    cleave_model_free(f->model);
    cr_expect_eq(f->memory.live, 0, "%ld blocks left", f->memory.live);
    folder_free(f->folder);
}
