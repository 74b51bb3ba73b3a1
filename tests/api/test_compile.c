/* test_compile.c - a function of the calling program as the compiler. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleave.h"
#include "support/api.h"
#include "support/nets.h"
#include "support/run.h"

#define JOBS 3

static char *folder;
static cleave_model *model;
static cleave_plan *plan;
static cleave_error error;

static void set_up(void)
{
    char path[4096];
    folder = folder_new();
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    net_llama(&net_small_decoder, path);
    cr_assert_eq(cleave_model_open(path, NULL, &model, &error), CLEAVE_OK, "%s", error.message);
}

static void tear_down(void)
{
    cleave_plan_free(plan);
    cleave_model_free(model);
    folder_free(folder);
}

TestSuite(compile, .init = set_up, .fini = tear_down, .timeout = 300);

/* What the function found wrong; calls may be at one time. */
typedef struct {
    int wrong, calls;
    const char *says;
    int code;
} host;

static int compile(void *ctx, const cleave_candidate *candidate, char *answer, size_t capacity)
{
    host *h = ctx;
    bool right = candidate->size == sizeof *candidate && candidate->devices == 8 &&
                 candidate->worker >= 0 && candidate->worker < JOBS &&
                 access(candidate->model, R_OK) == 0 && access(candidate->plan, R_OK) == 0 &&
                 access(candidate->options, R_OK) == 0 && capacity > strlen(h->says);
    __atomic_fetch_add(&h->wrong, !right, __ATOMIC_RELAXED);
    __atomic_fetch_add(&h->calls, 1, __ATOMIC_RELAXED);
    snprintf(answer, capacity, "%s", h->says);
    return h->code;
}

static cleave_status planned(host *h, const char *command)
{
    cleave_plan_options o = plan_options();
    o.cluster = "dgx-h100";
    o.devices = 8;
    o.jobs = JOBS;
    o.mesh = "8";
    o.compile = compile;
    o.compile_ctx = h;
    o.compiler = command;
    return cleave_plan_make(model, &o, NULL, &plan, &error);
}

Test(compile, its_answer_is_the_plans_time)
{
    host h = { .says = "{\"version\":1,\"outcome\":\"fits\",\"latency_ms\":2.5}" };
    cr_assert_eq(planned(&h, NULL), CLEAVE_OK, "%s", error.message);
    cr_expect_float_eq(cleave_plan_latency_s(plan), 0.0025, 1e-12);
    cr_expect_eq(h.wrong, 0);
    cr_expect_gt(h.calls, 0);
    cr_expect(
        strstr(cleave_report_text(cleave_plan_report(plan)), "judged by the calling program"));
}

Test(compile, what_fails_says_why)
{
    host h = { .says = "out of licences", .code = 7 };
    cr_assert_eq(planned(&h, NULL), CLEAVE_NO_PLAN, "%s", error.message);
    cr_expect(strstr(error.message, "exit status 7: out of licences"), "%s", error.message);
}

Test(compile, a_command_beside_it_is_refused)
{
    host h = { .says = "" };
    cr_assert_eq(planned(&h, "true"), CLEAVE_EUSAGE);
    cr_expect_str_eq(error.message, "compiler is 'true' and compile is given: expected one");
    cr_expect_eq(h.calls, 0);
}
