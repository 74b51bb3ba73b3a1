/* test_pipeline.c - micro-batches through the public API. */
#include "cleave.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/api.h"
#include "support/onnx_builder.h"
#include "support/run.h"

static char *folder;
static cleave_model *model;

/* Four layers of x = relu(x w). */
static void set_up(void)
{
    char path[600], in[16], out[16], both[40], weight[16];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);

    folder = folder_new();
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    onnx_input(g, "x0", 1, "256,256");
    for (int i = 0; i < 4; i++) {
        snprintf(in, sizeof in, "x%d", i + 1);
        snprintf(out, sizeof out, "y%d", i);
        snprintf(weight, sizeof weight, "w%d", i);
        snprintf(both, sizeof both, "x%d,w%d", i, i);
        onnx_weight(g, weight, 1, "256,256");
        onnx_node(g, "MatMul", NULL, both, out);
        onnx_node(g, "Relu", NULL, out, in);
    }
    onnx_output(g, in, 1, "256,256");
    onnx_write(m, path);
    onnx_free(m);
    cr_assert_eq(cleave_model_open(path, NULL, &model, NULL), CLEAVE_OK);
}

static void tear_down(void)
{
    cleave_model_free(model);
    folder_free(folder);
}

TestSuite(pipeline, .init = set_up, .fini = tear_down);

static cleave_plan *planned(cleave_objective objective, int microbatches)
{
    cleave_plan_options options = plan_options();
    options.copies = 1;
    cleave_plan *plan = NULL;
    cleave_error error;
    options.devices = 2;
    options.objective = objective;
    options.microbatches = microbatches;
    cr_assert_eq(cleave_plan_make(model, &options, NULL, &plan, &error), CLEAVE_OK, "%s",
                 error.message);
    return plan;
}

Test(pipeline, a_plan_for_latency_has_one)
{
    cleave_plan *plan = planned(CLEAVE_LATENCY, 0);
    cr_assert_eq(cleave_plan_microbatches(plan), 1);
    cr_assert_float_eq(cleave_plan_run_s(plan), cleave_plan_latency_s(plan), 0);
    cr_assert_lt(cleave_plan_fill_s(plan), 0);
    cr_assert_lt(cleave_plan_bubble(plan), 0);
    cr_assert_eq(cleave_plan_in_flight_bytes(plan, 0), 0);
    cleave_plan_free(plan);
}

Test(pipeline, reports_the_run_and_what_is_in_flight)
{
    cleave_plan *plan = planned(CLEAVE_THROUGHPUT, 6);
    double period = 1 / cleave_plan_throughput(plan);
    cr_assert_eq(cleave_plan_microbatches(plan), 6);
    cr_assert_float_eq(cleave_plan_run_s(plan), cleave_plan_latency_s(plan) + 5 * period, 1e-12);
    cr_assert_gt(cleave_plan_fill_s(plan), 0);
    cr_assert_gt(cleave_plan_drain_s(plan), 0);
    cr_assert_float_eq(cleave_plan_bubble(plan), 1 - 6 * period / cleave_plan_run_s(plan), 1e-9);
    cr_assert_eq(cleave_plan_in_flight_bytes(plan, 0), 2 * 256 * 256 * 4, "an input, a result");
    cr_assert_eq(cleave_plan_in_flight_bytes(plan, 1), 2 * 256 * 256 * 4,
                 "one received, an output");
    cr_assert_eq(cleave_plan_in_flight_bytes(plan, 2), -1);
    cr_assert_eq(cleave_plan_in_flight_bytes(plan, -1), -1);
    cleave_plan_free(plan);
}

Test(pipeline, chooses_enough_to_lose_little)
{
    cleave_plan *plan = planned(CLEAVE_THROUGHPUT, 0);
    cr_assert_geq(cleave_plan_microbatches(plan), 2);
    cr_assert_leq(cleave_plan_bubble(plan), 0.05);
    cleave_plan_free(plan);
}

Test(pipeline, a_number_out_of_range_is_refused)
{
    cleave_plan_options options = plan_options();
    cleave_plan *plan = NULL;
    cleave_error error;
    options.microbatches = -1;
    cr_assert_eq(cleave_plan_make(model, &options, NULL, &plan, &error), CLEAVE_EUSAGE);
    cr_assert(strstr(error.message, "microbatches is -1"), "%s", error.message);
    options.microbatches = 1000001;
    cr_assert_eq(cleave_plan_make(model, &options, NULL, &plan, &error), CLEAVE_EUSAGE);
}
