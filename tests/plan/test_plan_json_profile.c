/* test_plan_json_profile.c - who is to run a plan, in the plan file. */
#include "plan/plan_json_read.h"
#include "plan_text.h"

static clv_arena *arena;

static void set_up(void) { arena = clv_arena_new(NULL, 0); }
static void tear_down(void) { clv_arena_free(arena); }

TestSuite(plan_json_profile, .init = set_up, .fini = tear_down);

static clv_plan_device device = { .name = "gpu0", .kind = "h100", .stage = 0, .n_ops = 1 };
static const int32_t device_of_op[1];
static clv_plan_profile profile = { .name = "vllm",
                                    .command = "vllm serve MODEL --tensor-parallel-size 8",
                                    .servers = 2,
                                    .layers = "3,4",
                                    .with = { "TP8", 8, 110 },
                                    .without = { "CP2xTP4", 16, 100 } };

static clv_plan one_device(void)
{
    return (clv_plan){ .model = "m.onnx",
                       .configuration = "cleave",
                       .cluster = "one",
                       .compiler = "builtin",
                       .n_devices = 1,
                       .n_stages = 1,
                       .n_ops = 1,
                       .devices = &device,
                       .device_of_op = device_of_op,
                       .profile = &profile };
}

Test(plan_json_profile, comes_back_as_it_was_written)
{
    clv_plan plan = one_device();
    const char *text = text_of_plan(arena, &plan);
    clv_plan *back = plan_of_text(arena, text);
    cr_assert_not_null(back->profile);
    cr_expect_str_eq(back->profile->command, profile.command);
    cr_expect_str_eq(back->profile->layers, "3,4");
    cr_expect_eq(back->profile->servers, 2);
    cr_expect_eq(back->profile->without.devices, 16);
    cr_expect_float_eq(clv_plan_profile_price(back->profile), 0.1, 1e-9);
    cr_expect_str_eq(text_of_plan(arena, back), text);
    plan.profile = NULL;
    text = text_of_plan(arena, &plan);
    cr_expect_not(strstr(text, "profile"));
    cr_expect_null(plan_of_text(arena, text)->profile);
}

Test(plan_json_profile, a_price_is_never_below_nothing_and_may_be_unknown)
{
    clv_plan_profile p = profile;
    p.with.objective_ns = 90;
    cr_expect_float_eq(clv_plan_profile_price(&p), 0, 0);
    p.without.form = NULL;
    cr_expect_lt(clv_plan_profile_price(&p), 0);
}

Test(plan_json_profile, what_is_wrong_with_it_is_said)
{
    static const char *const wrong[][3] = {
        { "\"name\": \"vllm\"", "\"nam\": \"vllm\"", "nam" },
        { "\"servers\": 2", "\"servers\": 0", "profile.servers" },
        { "\"devices\": 16", "\"devices\": -1", "profile.without.devices" },
        { "\"form\": \"TP8\"", "\"forms\": \"TP8\"", "forms" },
    };
    clv_plan plan = one_device();
    const char *text = text_of_plan(arena, &plan);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        clv_error err = { 0 };
        clv_plan *back = NULL;
        const char *at = strstr(text, wrong[k][0]);
        cr_assert(at, "no %s in %s", wrong[k][0], text);
        char *bad = clv_arena_printf(arena, "%.*s%s%s", (int)(at - text), text, wrong[k][1],
                                     at + strlen(wrong[k][0]));
        cr_assert_eq(clv_plan_read(bad, strlen(bad), "p.json", arena, &back, &err), CLV_EFORMAT);
        cr_expect(strstr(err.message, wrong[k][2]), "%s", err.message);
    }
}
