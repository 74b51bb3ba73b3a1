/* test_api.c - the library as a host uses it, through cleave.h alone. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/api.h"
#include "support/failing_alloc.h"
#include "support/onnx_builder.h"
#include "support/run.h"

static char *folder;
static uint8_t *bytes;
static size_t n_bytes;

/* Four layers of x -> MatMul -> Relu -> Add(x). */
static void set_up(void)
{
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    char a[32], b[16], c[16], d[16], name[32];

    folder = folder_new();
    onnx_input(g, "x0", 1, "batch,64");
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "w%d", i);
        onnx_weight(g, name, 1, "64,64");
        snprintf(a, sizeof a, "x%d,w%d", i, i);
        snprintf(b, sizeof b, "y%d", i);
        snprintf(name, sizeof name, "mm%d", i);
        onnx_node(g, "MatMul", name, a, b);
        snprintf(c, sizeof c, "r%d", i);
        snprintf(name, sizeof name, "relu%d", i);
        onnx_node(g, "Relu", name, b, c);
        snprintf(a, sizeof a, "r%d,x%d", i, i);
        snprintf(d, sizeof d, "x%d", i + 1);
        snprintf(name, sizeof name, "add%d", i);
        onnx_node(g, "Add", name, a, d);
    }
    onnx_output(g, "x4", 1, "batch,64");
    bytes = onnx_pack(m, &n_bytes);
    file_write(folder, "m.onnx", bytes, n_bytes);
    onnx_free(m);
}

static void tear_down(void)
{
    folder_free(folder);
    free(bytes);
}

TestSuite(api, .init = set_up, .fini = tear_down);

static const char *in_folder(char buf[static 600], const char *name)
{
    snprintf(buf, 600, "%s/%s", folder, name);
    return buf;
}

static cleave_model *opened(const cleave_allocator *allocator)
{
    char path[600];
    cleave_model *model = NULL;
    cleave_error error;
    cleave_control control = control_of(allocator);
    cr_assert_eq(cleave_model_open(in_folder(path, "m.onnx"), &control, &model, &error), CLEAVE_OK,
                 "%s", error.message);
    cr_assert_eq(cleave_model_bind(model, "batch", 2, &error), CLEAVE_OK, "%s", error.message);
    return model;
}

static cleave_plan *planned(cleave_model *model, const cleave_plan_options *options)
{
    cleave_plan *plan = NULL;
    cleave_error error;
    cr_assert_eq(cleave_plan_make(model, options, NULL, &plan, &error), CLEAVE_OK, "%s",
                 error.message);
    return plan;
}

Test(api, plans_annotates_and_strips)
{
    char path[600], back[600];
    cleave_model *model = opened(NULL), *annotated = NULL;
    cleave_plan_options options = plan_options();
    cleave_error error;
    options.devices = 2;
    options.max_tensor_devices = 1;
    cleave_plan *plan = planned(model, &options);

    cr_expect_eq(cleave_plan_fits(plan), 1);
    cr_expect_eq(cleave_plan_devices(plan), 2);
    cr_expect_eq(cleave_plan_stages(plan), 2, "exactly the devices that were asked for");
    cr_expect_gt(cleave_plan_latency_s(plan), 0);
    cr_expect_gt(cleave_plan_throughput(plan), 0);
    cr_expect_gt(cleave_plan_bound_s(plan), 0);
    cr_expect_leq(cleave_plan_bound_s(plan), cleave_plan_latency_s(plan));
    cr_expect_float_eq(cleave_plan_gap(plan),
                       1 - cleave_plan_bound_s(plan) / cleave_plan_latency_s(plan), 1e-9);
    cr_expect_neq(cleave_plan_end(plan), CLEAVE_END_UNKNOWN);
    cr_expect_eq(cleave_plan_device_of(plan, 12), -1, "past the end");
    cr_expect_eq(cleave_plan_device_of(plan, -1), -1);
    for (int i = 0; i < 12; i++)
        cr_expect(cleave_plan_device_of(plan, i) == 0 || cleave_plan_device_of(plan, i) == 1);
    cr_expect(strstr(plan_text(plan), "cut behind  gpu0: ["));
    cr_expect_eq(plan_json(plan)[0], '{');
    cr_assert_eq(cleave_annotate(model, plan, NULL, in_folder(path, "cut.onnx"), NULL, &error),
                 CLEAVE_OK, "%s", error.message);
    cr_assert_eq(cleave_model_open(path, NULL, &annotated, &error), CLEAVE_OK, "%s", error.message);
    cr_assert_eq(cleave_strip(annotated, 0, in_folder(back, "back.onnx"), NULL, &error), CLEAVE_OK,
                 "%s", error.message);
    cr_expect(file_same(folder, "m.onnx", "back.onnx"));
    cleave_model_free(annotated);
    cleave_plan_free(plan);
    cleave_model_free(model);
}

Test(api, a_saved_plan_is_loaded_for_its_own_model_only)
{
    char path[600];
    cleave_model *model = opened(NULL);
    cleave_plan *plan = planned(model, NULL), *loaded = NULL;
    cleave_error error;

    cr_assert_eq(cleave_report_save(cleave_plan_report(plan), in_folder(path, "p.json"), &error),
                 CLEAVE_OK);
    cr_assert_eq(cleave_plan_load(model, path, NULL, &loaded, &error), CLEAVE_OK, "%s",
                 error.message);
    cr_expect_str_eq(plan_json(plan), plan_json(loaded));
    cleave_plan_free(loaded);
    cleave_plan_free(plan);
    cleave_model_free(model);
}

Test(api, a_model_may_be_in_memory)
{
    cleave_model *model = NULL;
    cleave_error error;
    cleave_report *report = NULL;

    cr_assert_eq(cleave_model_open_bytes(bytes, n_bytes, NULL, NULL, &model, &error), CLEAVE_OK,
                 "%s", error.message);
    cr_assert_eq(cleave_model_inspect(model, NULL, &report, &error), CLEAVE_OK, "%s",
                 error.message);
    cr_expect(strstr(cleave_report_text(report), "operators: 12\n"));
    cleave_report_free(report);
    cleave_report_free(NULL);
    cleave_model_free(model);
}

Test(api, errors_have_a_code_and_a_sentence)
{
    cleave_model *model = NULL;
    cleave_error error;
    char path[600];

    cr_expect_eq(cleave_model_open(in_folder(path, "none.onnx"), NULL, &model, &error), CLEAVE_EIO);
    cr_expect(strstr(error.message, "none.onnx"), "%s", error.message);
    cr_expect_null(model, "results are written only on success");
    cr_expect_eq(cleave_model_open_bytes("garbage", 7, NULL, NULL, &model, NULL), CLEAVE_EINPUT);
    cr_expect_eq(cleave_model_open(NULL, NULL, &model, &error), CLEAVE_EUSAGE);
    model = opened(NULL);
    cr_expect_null(cleave_model_external(model, 0), "its weights are its own");
    cr_expect_eq(cleave_model_bind(model, "nothing", 2, &error), CLEAVE_EINPUT);
    cr_expect(strstr(error.message, "nothing"), "%s", error.message);
    cleave_model_free(model);
    cleave_model_free(NULL);
    cleave_plan_free(NULL);
}

Test(api, what_is_larger_than_a_limit_has_a_code_of_its_own)
{
    char path[600], deep[4000];
    cleave_model *model = opened(NULL);
    cleave_plan *plan = NULL;
    cleave_error error;

    memset(deep, '[', sizeof deep);
    file_write(folder, "deep.json", deep, sizeof deep);
    cr_expect_eq(cleave_plan_load(model, in_folder(path, "deep.json"), NULL, &plan, &error),
                 CLEAVE_ELIMIT);
    cr_expect(strstr(error.message, "deep.json"), "%s", error.message);
    cr_expect_null(plan);
    cleave_model_free(model);
}

Test(api, no_plan_is_an_outcome_with_the_nearest_plan)
{
    cleave_model *model = opened(NULL);
    cleave_plan_options options = plan_options();
    cleave_plan *plan = NULL;
    cleave_error error;
    options.devices = 2;
    options.memory_bytes = 64;

    cr_assert_eq(cleave_plan_make(model, &options, NULL, &plan, &error), CLEAVE_NO_PLAN);
    cr_expect_eq(cleave_plan_fits(plan), 0);
    cr_expect(strstr(plan_text(plan), "lacks"), "%s", plan_text(plan));
    cr_expect(strstr(error.message, "lacks"), "%s", error.message);
    cleave_plan_free(plan);
    cleave_model_free(model);
}

/* -- memory of the host -- */

Test(api, all_memory_of_the_host_is_given_back)
{
    failing c = { 0 };
    cleave_allocator allocator = { failing_resize, &c };
    cleave_model *model = opened(&allocator);
    cleave_plan *plan = planned(model, NULL);

    cr_expect_gt(c.calls, 0);
    cleave_plan_free(plan);
    cleave_model_free(model);
    cr_expect_eq(c.live, 0, "%ld blocks left", c.live);
}

/* The 1st, 2nd, 3rd ... allocation fails, until all of it works. */
Test(api, survives_running_out_of_memory_anywhere)
{
    bool was_refused = true;

    for (long at = 1; was_refused; at++) {
        failing c = { .fail_at = at };
        cleave_allocator allocator = { failing_resize, &c };
        cleave_model *model = NULL;
        cleave_plan *plan = NULL;
        cleave_error error;
        cleave_control control = control_of(&allocator);
        cleave_status s = cleave_model_open_bytes(bytes, n_bytes, NULL, &control, &model, &error);
        if (s == CLEAVE_OK)
            s = cleave_model_bind(model, "batch", 2, &error);
        if (s == CLEAVE_OK)
            s = cleave_plan_make(model, NULL, NULL, &plan, &error);
        was_refused = c.calls >= at;
        cr_assert(s == CLEAVE_OK || (was_refused && s == CLEAVE_ENOMEM && !plan),
                  "allocation %ld: %d %s", at, (int)s, error.message);
        cleave_plan_free(plan);
        cleave_model_free(model);
        cr_assert_eq(c.live, 0, "allocation %ld: %ld blocks left", at, c.live);
    }
}
