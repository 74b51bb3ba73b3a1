/* test_control.c - stop, progress and allocator of every long call, and calls without arguments. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/api.h"
#include "support/api_fixture.h"
#include "support/run.h"

static api_fixture f;

static void set_up(void) { api_fixture_make(&f); }
static void tear_down(void) { api_fixture_free(&f); }

TestSuite(api_control, .init = set_up, .fini = tear_down, .timeout = 300);

/* -- each long call, under a control -- */

static cleave_status open_model(const cleave_control *c)
{
    cleave_model *m = NULL;
    cleave_status s = cleave_model_open(f.path[API_MODEL], c, &m, &f.error);
    cr_expect_eq(s == CLEAVE_OK, m != NULL);
    cleave_model_free(m);
    return s;
}

static cleave_status inspect(const cleave_control *c)
{
    cleave_report *r = NULL;
    cleave_status s = cleave_model_inspect(f.model, c, &r, &f.error);
    cr_expect_eq(s == CLEAVE_OK, r != NULL);
    cleave_report_free(r);
    return s;
}

static cleave_status shards(const cleave_control *c)
{
    cleave_report *r = NULL;
    cleave_status s = cleave_model_shards(f.model, NULL, c, &r, NULL, &f.error);
    cr_expect_eq(s == CLEAVE_OK, r != NULL);
    cleave_report_free(r);
    return s;
}

static cleave_status rules(const cleave_control *c)
{
    cleave_report *r = NULL;
    cleave_status s = cleave_rules("MatMul", c, &r, &f.error);
    cr_expect_eq(s == CLEAVE_OK, r != NULL);
    cleave_report_free(r);
    return s;
}

static cleave_status clusters(const cleave_control *c)
{
    cleave_report *r = NULL;
    cleave_status s = cleave_clusters(NULL, c, &r, &f.error);
    cr_expect_eq(s == CLEAVE_OK, r != NULL);
    cleave_report_free(r);
    return s;
}

static cleave_status make_plan(const cleave_control *c)
{
    cleave_plan *p = NULL;
    cleave_status s = cleave_plan_make(f.model, NULL, c, &p, &f.error);
    cr_expect_eq(s == CLEAVE_OK, p != NULL);
    cleave_plan_free(p);
    return s;
}

static cleave_status load_plan(const cleave_control *c)
{
    cleave_plan *p = NULL;
    cleave_status s = cleave_plan_load(f.model, f.path[API_PLAN], c, &p, &f.error);
    cr_expect_eq(s == CLEAVE_OK, p != NULL);
    cleave_plan_free(p);
    return s;
}

static cleave_status open_place(const cleave_control *c)
{
    cleave_place_problem *p = NULL;
    cleave_status s = cleave_place_problem_open(f.path[API_WORKLOAD], c, &p, &f.error);
    cr_expect_eq(s == CLEAVE_OK, p != NULL);
    cleave_place_problem_free(p);
    return s;
}

static cleave_status place(const cleave_control *c)
{
    cleave_place_solution *a = NULL;
    cleave_status s = cleave_place_solve(f.place, NULL, c, &a, &f.error);
    cr_expect_eq(s == CLEAVE_OK, a != NULL);
    cleave_place_solution_free(a);
    return s;
}

static cleave_status save_mps(const cleave_control *c)
{
    return cleave_place_problem_save_mps(f.place, NULL, f.path[API_OUTPUT], c, &f.error);
}

static cleave_status open_intra_op(const cleave_control *c)
{
    cleave_intra_op_problem *p = NULL;
    cleave_status s = cleave_intra_op_problem_open(
        TEST_SOURCE_DIR "/tests/data/strategy/example.json", c, &p, &f.error);
    cr_expect_eq(s == CLEAVE_OK, p != NULL);
    cleave_intra_op_problem_free(p);
    return s;
}

static cleave_status solve(const cleave_control *c)
{
    cleave_intra_op_solution *a = NULL;
    cleave_status s = cleave_intra_op_solve(f.intra_op, NULL, c, &a, &f.error);
    cr_expect_eq(s == CLEAVE_OK, a != NULL);
    cleave_intra_op_solution_free(a);
    return s;
}

static cleave_status shard(const cleave_control *c)
{
    return cleave_shard(f.model, f.path[API_PLAN], f.path[API_OUTPUT], NULL, c, &f.error);
}

static cleave_status reshard(const cleave_control *c)
{
    cleave_report *r = NULL;
    cleave_status s = cleave_reshard(f.path[API_SHARDS], f.path[API_PLAN], f.path[API_OUTPUT], NULL,
                                     c, &r, &f.error);
    cr_expect_eq(s == CLEAVE_OK, r != NULL);
    cleave_report_free(r);
    return s;
}

static cleave_status collect(const cleave_control *c)
{
    return cleave_collect(f.path[API_SHARDS], f.path[API_OUTPUT], c, &f.error);
}

static cleave_status annotate(const cleave_control *c)
{
    return cleave_annotate(f.model, f.plan, NULL, f.path[API_OUTPUT], c, &f.error);
}

static cleave_status strip(const cleave_control *c)
{
    cleave_model *m = NULL;
    cr_assert_eq(cleave_model_open(f.path[API_ANNOTATED], NULL, &m, &f.error), CLEAVE_OK);
    cleave_status s = cleave_strip(m, 0, f.path[API_OUTPUT], c, &f.error);
    cleave_model_free(m);
    return s;
}

static cleave_status lower(const cleave_control *c)
{
    cleave_report *r = NULL;
    cleave_lower_options o;
    cleave_lower_options_init(&o);
    o.form = CLEAVE_FORM_DEVICES;
    cleave_status s = cleave_lower(f.model, f.plan, &o, f.path[API_OUTPUT], c, &r, &f.error);
    cr_expect_eq(s == CLEAVE_OK, r != NULL);
    cleave_report_free(r);
    return s;
}

static cleave_status verify(const cleave_control *c)
{
    cleave_verification *v = NULL;
    cleave_status s = cleave_verify(f.model, f.plan, NULL, c, &v, &f.error);
    cr_expect_eq(s == CLEAVE_OK, v != NULL);
    cleave_verification_free(v);
    return s;
}

static const struct {
    const char *name;
    cleave_status (*call)(const cleave_control *control);
    bool has_progress; /* of control */
} calls[] = {
    { "model_open", open_model, false },
    { "model_inspect", inspect, false },
    { "model_shards", shards, false },
    { "rules", rules, false },
    { "clusters", clusters, false },
    { "plan_make", make_plan, true },
    { "plan_load", load_plan, false },
    { "place_problem_open", open_place, false },
    { "place_solve", place, true },
    { "place_problem_save_mps", save_mps, false },
    { "intra_op_problem_open", open_intra_op, false },
    { "intra_op_solve", solve, true },
    { "shard", shard, false },
    { "reshard", reshard, false },
    { "collect", collect, false },
    { "annotate", annotate, false },
    { "strip", strip, false },
    { "lower", lower, false },
    { "verify", verify, false },
};

#define N_CALLS (sizeof calls / sizeof *calls)

typedef struct {
    int asked, stop_at; /* stop_at 0: never */
    int reports;
    cleave_progress last;
} caller;

static int stop(void *ctx)
{
    caller *c = ctx;
    return ++c->asked >= c->stop_at && c->stop_at > 0;
}

static void listen(void *ctx, const cleave_progress *p)
{
    caller *c = ctx;
    cr_expect(p->method && p->elapsed_s >= c->last.elapsed_s);
    cr_expect(p->found ? isfinite(p->objective) : isinf(p->objective));
    cr_expect_leq(p->bound, p->objective);
    c->reports++;
    c->last = *p;
}

static cleave_control control_by(caller *c)
{
    cleave_control control = control_of(NULL);
    control.stop = stop;
    control.progress = listen;
    control.ctx = c;
    return control;
}

Test(api_control, every_long_call_asks_whether_to_stop)
{
    for (size_t i = 0; i < N_CALLS; i++) {
        caller c = { 0 };
        cleave_control control = control_by(&c);
        api_fixture_clean(&f);
        cr_expect_eq(calls[i].call(&control), CLEAVE_OK, "%s: %s", calls[i].name, f.error.message);
        cr_expect_gt(c.asked, 0, "%s", calls[i].name);
        if (calls[i].has_progress)
            cr_expect_gt(c.reports, 0, "%s", calls[i].name);
        else
            cr_expect_eq(c.reports, 0, "%s", calls[i].name);
    }
}

/* At the first, second, third ... question, until nobody asks any more. */
Test(api_control, every_long_call_stops_and_leaves_no_file)
{
    for (size_t i = 0; i < N_CALLS; i++) {
        api_fixture_clean(&f);
        int before = folder_count(f.folder), at = 0;
        caller c;
        do {
            c = (caller){ .stop_at = ++at };
            cleave_control control = control_by(&c);
            cleave_status s = calls[i].call(&control);
            cr_expect(s == CLEAVE_ECANCELED ||
                          (s == CLEAVE_OK && (calls[i].has_progress || c.asked < at)),
                      "%s at question %d: %d", calls[i].name, at, (int)s);
            if (s != CLEAVE_ECANCELED)
                break;
            cr_expect(strstr(f.error.message, "stopped"), "%s: %s", calls[i].name, f.error.message);
            cr_expect_eq(folder_count(f.folder), before, "%s at question %d", calls[i].name, at);
        } while (at < 1000);
        cr_expect_gt(at, 1, "%s", calls[i].name);
    }
}

/* -- calls without what they need -- */

#define EXPECT_REFUSED(call)                                                                       \
    do {                                                                                           \
        memset(&f.error, 0, sizeof f.error);                                                       \
        cr_expect_eq(call, CLEAVE_EUSAGE, #call);                                                  \
        cr_expect(strstr(f.error.message, " needs "), #call ": %s", f.error.message);              \
    } while (0)

Test(api_control, a_call_without_what_it_needs_is_refused)
{
    cleave_model *m = NULL;
    cleave_report *r = NULL;
    cleave_plan *p = NULL;
    cleave_place_problem *w = NULL;
    cleave_place_solution *a = NULL;
    cleave_intra_op_problem *i = NULL;
    cleave_intra_op_solution *b = NULL;
    cleave_verification *v = NULL;
    const char *path = f.path[API_OUTPUT];
    cleave_error *e = &f.error;
    EXPECT_REFUSED(cleave_report_save(NULL, path, e));
    EXPECT_REFUSED(cleave_report_save(cleave_plan_report(f.plan), NULL, e));
    EXPECT_REFUSED(cleave_model_open(NULL, NULL, &m, e));
    EXPECT_REFUSED(cleave_model_open(path, NULL, NULL, e));
    EXPECT_REFUSED(cleave_model_open_bytes(NULL, 1, NULL, NULL, &m, e));
    EXPECT_REFUSED(cleave_model_open_bytes("", 0, NULL, NULL, NULL, e));
    EXPECT_REFUSED(cleave_model_bind(NULL, "n", 1, e));
    EXPECT_REFUSED(cleave_model_bind(f.model, NULL, 1, e));
    EXPECT_REFUSED(cleave_model_inspect(NULL, NULL, &r, e));
    EXPECT_REFUSED(cleave_model_inspect(f.model, NULL, NULL, e));
    EXPECT_REFUSED(cleave_model_shards(NULL, NULL, NULL, &r, NULL, e));
    EXPECT_REFUSED(cleave_model_shards(f.model, NULL, NULL, NULL, NULL, e));
    EXPECT_REFUSED(cleave_rules(NULL, NULL, NULL, e));
    EXPECT_REFUSED(cleave_clusters(NULL, NULL, NULL, e));
    EXPECT_REFUSED(cleave_plan_make(NULL, NULL, NULL, &p, e));
    EXPECT_REFUSED(cleave_plan_make(f.model, NULL, NULL, NULL, e));
    EXPECT_REFUSED(cleave_plan_load(NULL, path, NULL, &p, e));
    EXPECT_REFUSED(cleave_plan_load(f.model, NULL, NULL, &p, e));
    EXPECT_REFUSED(cleave_plan_load(f.model, path, NULL, NULL, e));
    EXPECT_REFUSED(cleave_place_problem_open(NULL, NULL, &w, e));
    EXPECT_REFUSED(cleave_place_problem_open(path, NULL, NULL, e));
    EXPECT_REFUSED(cleave_place_solve(NULL, NULL, NULL, &a, e));
    EXPECT_REFUSED(cleave_place_solve(f.place, NULL, NULL, NULL, e));
    EXPECT_REFUSED(cleave_place_problem_save_mps(NULL, NULL, path, NULL, e));
    EXPECT_REFUSED(cleave_place_problem_save_mps(f.place, NULL, NULL, NULL, e));
    EXPECT_REFUSED(cleave_intra_op_problem_open(NULL, NULL, &i, e));
    EXPECT_REFUSED(cleave_intra_op_problem_open(path, NULL, NULL, e));
    EXPECT_REFUSED(cleave_intra_op_solve(NULL, NULL, NULL, &b, e));
    EXPECT_REFUSED(cleave_intra_op_solve(f.intra_op, NULL, NULL, NULL, e));
    EXPECT_REFUSED(cleave_shard(NULL, path, path, NULL, NULL, e));
    EXPECT_REFUSED(cleave_shard(f.model, NULL, path, NULL, NULL, e));
    EXPECT_REFUSED(cleave_shard(f.model, path, NULL, NULL, NULL, e));
    EXPECT_REFUSED(cleave_reshard(NULL, path, NULL, NULL, NULL, NULL, e));
    EXPECT_REFUSED(cleave_reshard(path, NULL, NULL, NULL, NULL, NULL, e));
    EXPECT_REFUSED(cleave_collect(NULL, path, NULL, e));
    EXPECT_REFUSED(cleave_collect(path, NULL, NULL, e));
    EXPECT_REFUSED(cleave_check_output(f.model, NULL, e));
    EXPECT_REFUSED(cleave_annotate(NULL, f.plan, NULL, path, NULL, e));
    EXPECT_REFUSED(cleave_annotate(f.model, NULL, NULL, path, NULL, e));
    EXPECT_REFUSED(cleave_annotate(f.model, f.plan, NULL, NULL, NULL, e));
    EXPECT_REFUSED(cleave_strip(NULL, 0, path, NULL, e));
    EXPECT_REFUSED(cleave_strip(f.model, 0, NULL, NULL, e));
    EXPECT_REFUSED(cleave_lower(NULL, f.plan, NULL, path, NULL, NULL, e));
    EXPECT_REFUSED(cleave_lower(f.model, NULL, NULL, path, NULL, NULL, e));
    EXPECT_REFUSED(cleave_lower(f.model, f.plan, NULL, NULL, NULL, NULL, e));
    EXPECT_REFUSED(cleave_verify(NULL, f.plan, NULL, NULL, &v, e));
    EXPECT_REFUSED(cleave_verify(f.model, NULL, NULL, NULL, &v, e));
    EXPECT_REFUSED(cleave_verify(f.model, f.plan, NULL, NULL, NULL, e));
    EXPECT_REFUSED(cleave_calibrate(NULL, NULL, NULL, NULL, e));
    EXPECT_REFUSED(cleave_measured_fit(NULL, NULL, path, NULL, NULL, e));
    EXPECT_REFUSED(cleave_measured_score(NULL, NULL, NULL, NULL, e));
    cr_expect(!m && !r && !p && !w && !a && !i && !b && !v, "results are written only on success");
}

Test(api_control, all_frees_take_null)
{
    cleave_report_free(NULL);
    cleave_model_free(NULL);
    cleave_plan_free(NULL);
    cleave_place_problem_free(NULL);
    cleave_place_solution_free(NULL);
    cleave_intra_op_problem_free(NULL);
    cleave_intra_op_solution_free(NULL);
    cleave_verification_free(NULL);
}

Test(api_control, a_report_has_what_was_asked_for)
{
    cleave_error error;
    for (int form = CLEAVE_REPORT_BOTH; form <= CLEAVE_REPORT_JSON; form++) {
        cleave_control control;
        cleave_report *report = NULL;
        cleave_control_init(&control);
        control.report = (cleave_report_form)form;
        cr_assert_eq(cleave_rules("MatMul", &control, &report, &error), CLEAVE_OK);
        cr_expect_eq(cleave_report_text(report) != NULL, form != CLEAVE_REPORT_JSON);
        cr_expect_eq(cleave_report_json(report, NULL) != NULL, form != CLEAVE_REPORT_TEXT);
        if (form == CLEAVE_REPORT_TEXT)
            cr_expect_eq(cleave_report_save(report, "/tmp/none.json", &error), CLEAVE_EUSAGE);
        cleave_report_free(report);
    }
}
