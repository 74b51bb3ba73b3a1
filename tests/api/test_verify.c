/* test_verify.c - cleave_verify: the proof alone, a runner's outputs compared, plans that are
 * wrong, stop, and no memory at any point.
 *
 * A few lines of shell stand for cleave-run, which may not be built: docs/verifying.md has what it
 * is asked for.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cleave.h"
#include "support/api.h"
#include "support/onnx_builder.h"
#include "support/run.h"

static char *folder;
static cleave_model *model;
static cleave_plan *plan;

static const char *in_folder(char path[static 600], const char *name)
{
    snprintf(path, 600, "%s/%s", folder, name);
    return path;
}

/* x W: its columns can be split. relus more operators behind it. */
static void write_model(const char *name, int relus)
{
    static const char *const values[] = { "h", "y", "z" };
    char path[600];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "4,6");
    onnx_weight(g, "w", 1, "6,8");
    onnx_node(g, "MatMul", "up", "x,w", values[0]);
    for (int i = 0; i < relus; i++)
        onnx_node(g, "Relu", "", values[i], values[i + 1]);
    onnx_output(g, values[relus], 1, "4,8");
    onnx_write(m, in_folder(path, name));
    onnx_free(m);
}

static cleave_model *opened(const char *name, const cleave_allocator *allocator)
{
    char path[600];
    cleave_model *ret = NULL;
    cleave_control control = control_of(allocator);
    cr_assert_eq(cleave_model_open(in_folder(path, name), &control, &ret, NULL), CLEAVE_OK);
    return ret;
}

/* The columns of the product split over two devices. */
static cleave_plan *split_plan(cleave_model *of)
{
    static const char rules[] =
        "{\"rules\": [{\"split\": \"up\", \"factor\": \"n\", \"over\": \"tp\"}]}";
    cleave_plan_options options = plan_options();
    cleave_plan *ret = NULL;
    cleave_error error;
    options.devices = 2;
    options.mesh = "tp=2";
    options.constraints = rules;
    cr_assert_eq(cleave_plan_make(of, &options, NULL, &ret, &error), CLEAVE_OK, "%s",
                 error.message);
    return ret;
}

static void set_up(void)
{
    char path[600];
    folder = folder_new();
    cr_assert_eq(mkdir(in_folder(path, "tmp"), 0700), 0);
    setenv("TMPDIR", path, 1);
    write_model("m.onnx", 1);
    model = opened("m.onnx", NULL);
    plan = split_plan(model);
}

static void tear_down(void)
{
    char path[600];
    cr_expect_eq(folder_count(in_folder(path, "tmp")), 0, "nothing is left behind");
    cleave_plan_free(plan);
    cleave_model_free(model);
    folder_free(folder);
}

TestSuite(api_verify, .init = set_up, .fini = tear_down, .timeout = 300);

static cleave_status verify(const cleave_verify_options *options, cleave_verification **ret,
                            cleave_error *error)
{
    return cleave_verify(model, plan, options, NULL, ret, error);
}

/* -- the proof alone -- */

Test(api_verify, proves_and_says_why_nothing_was_run)
{
    cleave_verify_options options;
    cleave_verify_options_init(&options);
    cleave_verification *v = NULL;
    cleave_error error;
    options.proof_only = 1;
    cr_assert_eq(verify(&options, &v, &error), CLEAVE_OK, "%s", error.message);
    cr_expect_eq(cleave_verification_verdict(v), CLEAVE_VERDICT_PROVEN);
    cr_expect_str_eq(cleave_verification_conclusion(v),
                     "the plan is proven, not run (only the proof was asked for)");
    cr_expect(strstr(cleave_report_text(cleave_verification_report(v)),
                     "nothing: only the proof was asked for"),
              "%s", cleave_report_text(cleave_verification_report(v)));
    file_write(folder, "v.json", cleave_report_json(cleave_verification_report(v), NULL),
               strlen(cleave_report_json(cleave_verification_report(v), NULL)));
    run_is_valid(folder, "verify", "v.json");
    cleave_verification_free(v);
}

Test(api_verify, without_options_there_is_no_runner)
{
    cleave_verification *v = NULL;
    cr_assert_eq(verify(NULL, &v, NULL), CLEAVE_OK);
    cr_expect_eq(cleave_verification_verdict(v), CLEAVE_VERDICT_PROVEN);
    cr_expect(strstr(cleave_report_text(cleave_verification_report(v)),
                     "there is no cleave-run to run models with"),
              "%s", cleave_report_text(cleave_verification_report(v)));
    cleave_verification_free(v);
    cleave_verification_free(NULL);
}

/* -- with a runner -- */

/* y, 4 x 8 floats, all of them value but the last. */
static void write_output(const char *name, float value, float last)
{
    char bytes[256] = { 0x08, 4, 0x08, 8, 0x10, 1, 0x42, 1, 'y', 0x4a, (char)0x80, 1 };
    for (int i = 0; i < 32; i++) {
        float x = i == 31 ? last : value;
        memcpy(bytes + 12 + 4 * i, &x, sizeof x);
    }
    file_write(folder, name, bytes, 12 + 4 * 32);
}

/* For the model it gives whole.pb, for a folder that was lowered part.pb; or it does `instead`. */
static cleave_verify_options with_runner(char program[static 600], char path[static 600],
                                         const char *instead)
{
    cleave_verify_options options;
    cleave_verify_options_init(&options);
    char text[2500];
    snprintf(text, sizeof text,
             "#!/bin/sh\n"
             "for a; do test \"$b\" = -o && out=$a; b=$a; last=$a; done\n"
             "mkdir -p \"$out\"\n"
             "%s\n"
             "test -d \"$last\" && from=part || from=whole\n"
             "cp %s/$from.pb \"$out/output_0.pb\"\n",
             instead, folder);
    file_write(folder, "runner", text, strlen(text));
    options.runner = in_folder(program, "runner");
    options.model_path = in_folder(path, "m.onnx");
    cr_assert_eq(chmod(program, 0755), 0);
    return options;
}

Test(api_verify, reports_whether_outputs_are_those_of_the_model)
{
    char program[600], path[600];
    cleave_verify_options options = with_runner(program, path, "");
    cleave_verification *v = NULL;
    cleave_error error;
    write_output("whole.pb", 1, 2);
    write_output("part.pb", 1, 2);
    cr_assert_eq(verify(&options, &v, &error), CLEAVE_OK, "%s", error.message);
    cr_expect_eq(cleave_verification_verdict(v), CLEAVE_VERDICT_AGREES);
    cleave_verification_free(v);
    write_output("part.pb", 1, 3);
    cr_assert_eq(verify(&options, &v, &error), CLEAVE_OK, "%s", error.message);
    cr_expect_eq(cleave_verification_verdict(v), CLEAVE_VERDICT_DIFFERS);
    cr_expect(strstr(cleave_report_text(cleave_verification_report(v)),
                     "'y' differs: element 31 is 3, expected 2"),
              "%s", cleave_report_text(cleave_verification_report(v)));
    cleave_verification_free(v);
}

Test(api_verify, a_model_that_does_not_run_is_a_verdict_and_no_runner_an_error)
{
    char program[600], path[600];
    cleave_verify_options options = with_runner(program, path, "exit 3");
    cleave_verification *v = NULL;
    cleave_error error;
    cr_assert_eq(verify(&options, &v, &error), CLEAVE_OK, "%s", error.message);
    cr_expect_eq(cleave_verification_verdict(v), CLEAVE_VERDICT_DOES_NOT_RUN);
    cr_expect(strstr(cleave_report_text(cleave_verification_report(v)),
                     "the model itself does not run: the runner ended with code 3"));
    cleave_verification_free(v);
    v = NULL;
    options.runner = in_folder(program, "none");
    cr_expect_eq(verify(&options, &v, &error), CLEAVE_EIO);
    cr_expect(strstr(error.message, "none' cannot be run"), "%s", error.message);
    cr_expect_null(v, "a failed call leaves its result alone");
}

/* Not when the call begins: once the runner runs. */
static int stop_the_second_time(void *ctx) { return ++*(int *)ctx >= 2; }

Test(api_verify, the_stop_callback_ends_the_runner)
{
    char program[600], path[600];
    cleave_verify_options options = with_runner(program, path, "exec sleep 600");
    cleave_verification *v = NULL;
    cleave_error error;
    int asked = 0;
    cleave_control control = control_of(NULL);
    control.stop = stop_the_second_time;
    control.ctx = &asked;
    cr_expect_eq(cleave_verify(model, plan, &options, &control, &v, &error), CLEAVE_ECANCELED);
    cr_expect_str_eq(error.message, "stopped while a model was running");
    cr_expect_eq(asked, 2);
    cr_expect_null(v);
}

/* -- bad input -- */

Test(api_verify, refuses_a_plan_that_is_wrong)
{
    char path[600];
    const char *text = plan_json(plan);
    char *wrong = strdup(text), *at = strstr(wrong, "tp=n");
    cleave_plan *read = NULL;
    cleave_error error;
    cr_assert_not_null(at);
    memcpy(at, "tp=z", 4);
    file_write(folder, "wrong.json", wrong, strlen(wrong));
    free(wrong);
    cr_assert_eq(cleave_plan_load(model, in_folder(path, "wrong.json"), NULL, &read, &error),
                 CLEAVE_EINPUT);
    cr_expect(strstr(error.message, "splits operator 'up' by 'z'"), "%s", error.message);
    cr_expect_null(read);
}

Test(api_verify, refuses_a_plan_of_another_model)
{
    cleave_verification *v = NULL;
    cleave_error error;
    write_model("other.onnx", 2);
    cleave_model *other = opened("other.onnx", NULL);
    cr_expect_eq(cleave_verify(other, plan, NULL, NULL, &v, &error), CLEAVE_EUSAGE);
    cr_expect_str_eq(error.message, "the plan is for another model");
    cr_expect_null(v);
    char path[600];
    cr_expect_eq(cleave_lower(other, plan, NULL, in_folder(path, "o"), NULL, NULL, &error),
                 CLEAVE_EUSAGE);
    cleave_model_free(other);
}

Test(api_verify, refuses_to_go_without_its_arguments)
{
    cleave_verification *v = NULL;
    cr_expect_eq(cleave_verify(NULL, plan, NULL, NULL, &v, NULL), CLEAVE_EUSAGE);
    cr_expect_eq(cleave_verify(model, NULL, NULL, NULL, &v, NULL), CLEAVE_EUSAGE);
    cr_expect_eq(cleave_verify(model, plan, NULL, NULL, NULL, NULL), CLEAVE_EUSAGE);
}

/* -- memory -- */

static void *resize(void *ctx, void *p, size_t size)
{
    long *left = ctx;
    if (size == 0) {
        free(p);
        return NULL;
    }
    return (*left)-- > 0 ? realloc(p, size) : NULL;
}

Test(api_verify, survives_running_out_of_memory_anywhere)
{
    long left = 1 << 20;
    const cleave_allocator allocator = { resize, &left };
    cleave_verification *v = NULL;
    cleave_model *limited = opened("m.onnx", &allocator);
    cleave_plan *its = split_plan(limited);
    cleave_status status = CLEAVE_ENOMEM;
    long n = 0;
    for (; status != CLEAVE_OK; n++) {
        left = n;
        status = cleave_verify(limited, its, NULL, NULL, &v, NULL);
        cr_assert(status == CLEAVE_OK || (status == CLEAVE_ENOMEM && !v));
    }
    cr_expect_gt(n, 1);
    cleave_verification_free(v);
    left = 1 << 20;
    cleave_plan_free(its);
    cleave_model_free(limited);
}
