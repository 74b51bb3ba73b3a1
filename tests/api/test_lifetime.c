/* test_lifetime.c - every object outlives those that it was made of, and says the same afterwards.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/api.h"
#include "support/api_fixture.h"
#include "support/failing_alloc.h"
#include "support/run.h"

static api_fixture f;

static void set_up(void) { api_fixture_make(&f); }
static void tear_down(void) { api_fixture_free(&f); }

TestSuite(lifetime, .init = set_up, .fini = tear_down);

/* All that an object says, as one text to be compared. */
typedef struct {
    char text[1 << 22];
    size_t n;
} said;

static void add(said *s, const char *text)
{
    int n = snprintf(s->text + s->n, sizeof s->text - s->n, "%s\n", text ? text : "(null)");
    cr_assert(n >= 0 && s->n + (size_t)n < sizeof s->text, "the buffer of this test is too small");
    s->n += (size_t)n;
}

static void add_number(said *s, double number)
{
    char text[64];
    snprintf(text, sizeof text, "%.17g", number);
    add(s, text);
}

static void add_report(said *s, const cleave_report *report)
{
    add(s, cleave_report_text(report));
    add(s, cleave_report_json(report, NULL));
}

static void add_plan(said *s, const cleave_plan *plan)
{
    const char *axis, *name;
    int count;
    add_report(s, cleave_plan_report(plan));
    add(s, cleave_plan_mesh(plan));
    add(s, cleave_end_name(cleave_plan_end(plan)));
    for (int i = 0; (name = cleave_plan_strategy(plan, i, &axis, &count)); i++) {
        add(s, name);
        add(s, axis);
        add_number(s, count);
    }
    for (int64_t node = 0; cleave_plan_split_of(plan, node); node++) {
        add(s, cleave_plan_split_of(plan, node));
        add_number(s, cleave_plan_device_of(plan, node));
    }
    for (int d = -1; d <= cleave_plan_devices(plan); d++)
        add_number(s, (double)cleave_plan_in_flight_bytes(plan, d));
    const double numbers[] = { cleave_plan_fits(plan),
                               cleave_plan_stages(plan),
                               cleave_plan_latency_s(plan),
                               cleave_plan_throughput(plan),
                               cleave_plan_bound_s(plan),
                               cleave_plan_gap(plan),
                               cleave_plan_microbatches(plan),
                               cleave_plan_run_s(plan),
                               cleave_plan_fill_s(plan),
                               cleave_plan_drain_s(plan),
                               cleave_plan_bubble(plan),
                               cleave_plan_mesh_devices(plan),
                               cleave_plan_collectives(plan),
                               cleave_plan_collective_s(plan),
                               (double)cleave_plan_collective_bytes(plan) };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        add_number(s, numbers[i]);
}

static void add_placement(said *s, const cleave_place_solution *solution)
{
    add_report(s, cleave_place_solution_report(solution));
    add(s, cleave_end_name(cleave_place_solution_end(solution)));
    add_number(s, cleave_place_solution_found(solution));
    add_number(s, cleave_place_solution_objective(solution));
    add_number(s, cleave_place_solution_bound(solution));
    add_number(s, cleave_place_solution_gap(solution));
    for (int64_t node = -1; node < 4; node++)
        add_number(s, cleave_place_solution_device_of(solution, node));
}

static void add_choices(said *s, const cleave_intra_op_solution *solution, int64_t n_nodes)
{
    add_report(s, cleave_intra_op_solution_report(solution));
    add(s, cleave_end_name(cleave_intra_op_solution_end(solution)));
    add(s, cleave_intra_op_solution_objective(solution));
    add(s, cleave_intra_op_solution_bound(solution));
    add_number(s, cleave_intra_op_solution_found(solution));
    add_number(s, cleave_intra_op_solution_gap(solution));
    for (int64_t node = -1; node <= n_nodes; node++)
        add_number(s, cleave_intra_op_solution_choice_of(solution, node));
}

static said before, after;

static void expect_the_same(void)
{
    cr_expect_gt(before.n, 100u, "nothing was said");
    cr_expect_str_eq(before.text, after.text);
}

/* -- plans: made, read, of stages and of a mesh -- */

#define MODEL TEST_SOURCE_DIR "/tests/data/models/resnet.static.onnx"

/* max_tensor_devices 1: whole operators in stages. */
static void outlives_its_model(int max_tensor_devices)
{
    cleave_plan_options o = plan_options();
    cleave_plan *made = NULL, *loaded = NULL;
    cleave_model *model = NULL;
    memset(&before, 0, sizeof before);
    memset(&after, 0, sizeof after);
    o.devices = 2 * max_tensor_devices;
    o.stages = 2;
    o.max_tensor_devices = max_tensor_devices;
    cr_assert_eq(cleave_model_open(MODEL, NULL, &model, &f.error), CLEAVE_OK);
    cr_assert_eq(cleave_plan_make(model, &o, NULL, &made, &f.error), CLEAVE_OK, "%s",
                 f.error.message);
    cr_assert_eq(cleave_report_save(cleave_plan_report(made), f.path[API_OUTPUT], &f.error),
                 CLEAVE_OK);
    cr_assert_eq(cleave_plan_load(model, f.path[API_OUTPUT], NULL, &loaded, &f.error), CLEAVE_OK,
                 "%s", f.error.message);
    add_plan(&before, made);
    add_plan(&before, loaded);
    cleave_model_free(model);
    add_plan(&after, made);
    add_plan(&after, loaded);
    expect_the_same();

    /* It may be used with the same model, opened anew. */
    cr_assert_eq(cleave_model_open(MODEL, NULL, &model, &f.error), CLEAVE_OK);
    api_fixture_clean(&f);
    cr_expect_eq(cleave_annotate(model, made, NULL, f.path[API_OUTPUT], NULL, &f.error), CLEAVE_OK,
                 "%s", f.error.message);
    api_fixture_clean(&f);
    cr_expect_eq(cleave_lower(model, loaded, NULL, f.path[API_OUTPUT], NULL, NULL, &f.error),
                 CLEAVE_OK, "%s", f.error.message);
    api_fixture_clean(&f);
    cleave_model_free(model);
    cleave_plan_free(made);
    cleave_plan_free(loaded);
}

Test(lifetime, a_plan_outlives_its_model)
{
    outlives_its_model(2);
    outlives_its_model(1);
}

Test(lifetime, a_plan_that_does_not_fit_outlives_its_model)
{
    cleave_plan_options o = plan_options();
    cleave_plan *plan = NULL;
    cleave_model *model = NULL;
    memset(&before, 0, sizeof before);
    memset(&after, 0, sizeof after);
    o.memory_bytes = 1;
    cr_assert_eq(cleave_model_open(f.path[API_MODEL], NULL, &model, &f.error), CLEAVE_OK);
    cr_assert_eq(cleave_plan_make(model, &o, NULL, &plan, &f.error), CLEAVE_NO_PLAN);
    add_plan(&before, plan);
    cleave_model_free(model);
    add_plan(&after, plan);
    expect_the_same();
    cleave_plan_free(plan);
}

/* -- solutions -- */

Test(lifetime, a_placement_outlives_its_problem)
{
    for (int objective = CLEAVE_LATENCY; objective <= CLEAVE_DEVICES; objective++)
        for (int is_free = 0; is_free < 2; is_free++) {
            cleave_place_options o;
            cleave_place_problem *problem = NULL;
            cleave_place_solution *solution = NULL;
            memset(&before, 0, sizeof before);
            memset(&after, 0, sizeof after);
            cleave_place_options_init(&o);
            o.objective = (cleave_objective)objective;
            o.free_assignment = is_free;
            cr_assert_eq(cleave_place_problem_open(f.path[API_WORKLOAD], NULL, &problem, &f.error),
                         CLEAVE_OK);
            cleave_status s = cleave_place_solve(problem, &o, NULL, &solution, &f.error);
            cr_assert(s == CLEAVE_OK || s == CLEAVE_NO_PLAN, "%s", f.error.message);
            add_placement(&before, solution);
            cleave_place_problem_free(problem);
            add_placement(&after, solution);
            expect_the_same();
            cleave_place_solution_free(solution);
        }
}

Test(lifetime, choices_outlive_their_problem)
{
    cleave_intra_op_problem *problem = NULL;
    cleave_intra_op_solution *solution = NULL;
    cr_assert_eq(cleave_intra_op_problem_open(TEST_SOURCE_DIR "/tests/data/strategy/example.json",
                                              NULL, &problem, &f.error),
                 CLEAVE_OK);
    int64_t n = cleave_intra_op_problem_nodes(problem);
    cr_assert_eq(cleave_intra_op_solve(problem, NULL, NULL, &solution, &f.error), CLEAVE_OK);
    add_choices(&before, solution, n);
    cleave_intra_op_problem_free(problem);
    add_choices(&after, solution, n);
    expect_the_same();
    cleave_intra_op_solution_free(solution);
}

/* -- reports and verifications -- */

Test(lifetime, reports_outlive_what_they_are_about)
{
    cleave_model *model = NULL, *annotated = NULL;
    cleave_plan *plan = NULL;
    cleave_report *inspected = NULL, *shards = NULL, *lowered = NULL;
    cleave_verification *v = NULL;
    cr_assert_eq(cleave_model_open(f.path[API_MODEL], NULL, &model, &f.error), CLEAVE_OK);
    cr_assert_eq(cleave_model_open(f.path[API_ANNOTATED], NULL, &annotated, &f.error), CLEAVE_OK);
    cr_assert_eq(cleave_plan_load(model, f.path[API_PLAN], NULL, &plan, &f.error), CLEAVE_OK);
    cr_assert_eq(cleave_model_inspect(model, NULL, &inspected, &f.error), CLEAVE_OK);
    cr_assert_eq(cleave_model_shards(annotated, NULL, NULL, &shards, NULL, &f.error), CLEAVE_OK);
    cr_assert_eq(cleave_lower(model, plan, NULL, f.path[API_OUTPUT], NULL, &lowered, &f.error),
                 CLEAVE_OK, "%s", f.error.message);
    cr_assert_eq(cleave_verify(model, plan, NULL, NULL, &v, &f.error), CLEAVE_OK);
    const cleave_report *reports[] = { inspected, shards, lowered, cleave_verification_report(v) };
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
        add_report(&before, reports[i]);
    cleave_plan_free(plan);
    cleave_model_free(annotated);
    cleave_model_free(model);
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
        add_report(&after, reports[i]);
    expect_the_same();
    cleave_report_free(inspected);
    cleave_report_free(shards);
    cleave_report_free(lowered);
    cleave_verification_free(v);
}

/* -- the host's allocator -- */

/* Its struct may go once the object is open; the memory comes from it until the last object goes.
 */
Test(lifetime, objects_keep_what_they_need_of_the_allocator)
{
    failing memory = { 0 };
    cleave_model *model = NULL;
    cleave_plan *plan = NULL;
    {
        cleave_allocator *allocator = malloc(sizeof *allocator);
        *allocator = (cleave_allocator){ failing_resize, &memory };
        cleave_control control = control_of(allocator);
        cr_assert_eq(cleave_model_open(f.path[API_MODEL], &control, &model, &f.error), CLEAVE_OK);
        free(allocator);
    }
    cr_assert_eq(cleave_plan_make(model, NULL, NULL, &plan, &f.error), CLEAVE_OK);
    cleave_model_free(model);
    cr_expect_gt(memory.live, 0);
    cr_expect_geq(cleave_plan_devices(plan), 1);
    cleave_plan_free(plan);
    cr_expect_eq(memory.live, 0);
}
