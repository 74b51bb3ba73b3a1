/* test_plan_check.c - the judge of plans finds each fault. */
#include "plan/plan_check.h"

#include <criterion/criterion.h>

#include "support/line_model.h"

/*   x -> a -> b -> c        in the file: c, a, b, d
 *         \-> d                so that order and file_index differ
 */
static clv_arena *arena;
static clv_graph *graph;
static int32_t device_of[4]; /* by file: c, a, b, d */
static clv_plan_device devices[3];
static clv_plan plan;

static const char *const lines[] = { "in x",         "c=Relu tb tc", "a=Relu x ta", "b=Relu ta tb",
                                     "d=Relu ta td", "out tc",       NULL };

/* a, d on device 0; b, c on device 1; device 2 unused. */
static void set_up(void)
{
    arena = clv_arena_new(NULL, 0);
    graph = line_model(arena, lines)->main;
    device_of[0] = 1;
    device_of[1] = 0;
    device_of[2] = 1;
    device_of[3] = 0;
    devices[0] = (clv_plan_device){
        .name = "gpu0", .stage = 0, .n_ops = 2, .peak_bytes = 10, .capacity_bytes = 10
    };
    devices[1] = (clv_plan_device){ .name = "gpu1", .stage = 1, .n_ops = 2, .peak_bytes = 99 };
    devices[2] = (clv_plan_device){ .name = "gpu2", .stage = -1 };
    plan = (clv_plan){
        .n_devices = 3, .n_stages = 2, .n_ops = 4, .devices = devices, .device_of_op = device_of
    };
}

static void tear_down(void) { clv_arena_free(arena); }

TestSuite(plan_check, .init = set_up, .fini = tear_down);

static void refused(const char *says)
{
    clv_error err = { 0 };
    cr_assert_eq(clv_plan_check(&plan, graph, arena, &err), CLV_EFORMAT);
    cr_assert(strstr(err.message, says), "said: %s", err.message);
}

Test(plan_check, a_good_plan_passes)
{
    clv_error err = { 0 };
    cr_assert_eq(clv_plan_check(&plan, graph, arena, &err), CLV_OK, "%s", err.message);
}

Test(plan_check, another_number_of_operators_is_refused)
{
    plan.n_ops = 3;
    refused("the plan is for 3 operators, the model has 4");
}

Test(plan_check, a_device_that_does_not_exist_is_refused)
{
    device_of[3] = 3;
    refused("'d' is on device 3, there are 3");
    device_of[3] = -1;
    refused("'d' is on device -1");
}

Test(plan_check, a_wrong_count_of_operators_is_refused)
{
    devices[1].n_ops = 3;
    refused("'gpu1' says it has 3 operators, the plan gives it 2");
}

Test(plan_check, a_stage_on_an_unused_device_is_refused)
{
    devices[2].stage = 1;
    refused("'gpu2' has no operators but stage 1");
}

Test(plan_check, a_used_device_without_a_stage_in_range_is_refused)
{
    devices[1].stage = 2;
    refused("'gpu1' has stage 2, expected 0 to 1");
    devices[1].stage = -1;
    refused("'gpu1' has stage -1, expected 0 to 1");
}

Test(plan_check, a_stage_that_nobody_has_is_refused)
{
    plan.n_stages = 3;
    refused("3 stages but no device has stage 2");
    plan.n_stages = 4;
    refused("4 stages on 3 devices");
}

Test(plan_check, a_tensor_that_goes_to_an_earlier_stage_is_refused)
{
    devices[0].stage = 1;
    devices[1].stage = 0;
    refused("tensor 'ta' goes from 'a' on device 'gpu0' (stage 1) to 'b' on device 'gpu1' (stage "
            "0)");
}

/* Both at one stage: each would wait for the other if an edge led back. */
Test(plan_check, a_tensor_between_devices_of_one_stage_is_refused)
{
    devices[1].stage = 0;
    plan.n_stages = 1;
    refused("not a later stage");
}

Test(plan_check, too_little_memory_is_refused_only_when_the_plan_says_it_fits)
{
    devices[0].peak_bytes = 11;
    refused("'gpu0' needs 11 bytes but has 10");
    plan.outcome = CLV_OOM;
    cr_assert_eq(clv_plan_check(&plan, graph, arena, NULL), CLV_OK);
}

Test(plan_check, gives_its_scratch_back_and_survives_without_memory)
{
    size_t before = clv_arena_bytes(arena);
    cr_assert_eq(clv_plan_check(&plan, graph, arena, NULL), CLV_OK);
    cr_assert_eq(clv_arena_bytes(arena), before);

    clv_status s = CLV_ENOMEM;
    for (size_t limit = 1; s != CLV_OK; limit += 32) {
        clv_arena *small = clv_arena_new(NULL, limit);
        if (!small)
            continue;
        s = clv_plan_check(&plan, graph, small, NULL);
        cr_assert(s == CLV_OK || s == CLV_ENOMEM);
        clv_arena_free(small);
    }
}
