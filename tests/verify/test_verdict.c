/* test_verdict.c - what a verification comes to, from what was seen of each form. */
#include "verify/verdict.h"

#include <criterion/criterion.h>

static clv_arena *arena;
static clv_verify_result seen;

static void set_up(void)
{
    arena = clv_arena_new(NULL, 0);
    seen = (clv_verify_result){ .proof = { .holds = true },
                                .stages = { .holds = true },
                                .form = { { .form = "stages", .n = 2 },
                                          { .form = "devices", .n = 2 } },
                                .n_forms = 2 };
}

static void tear_down(void) { clv_arena_free(arena); }

TestSuite(verdict, .init = set_up, .fini = tear_down);

static void comes_to(const char *name, const char *sentence)
{
    const char *words = NULL;
    clv_error err;
    cr_expect_str_eq(clv_verdict_name(clv_verdict_of(&seen)), name);
    cr_assert_eq(clv_verdict_sentence(&seen, arena, &words, &err), CLV_OK);
    cr_expect_str_eq(words, sentence);
}

Test(verdict, all_forms_ran_and_are_equal)
{
    comes_to("agrees", "the plan is proven, and computes what the model computes");
}

Test(verdict, nothing_was_run)
{
    seen.n_forms = 0;
    seen.why_not_run = "only the proof was asked for";
    comes_to("proven", "the plan is proven, not run (only the proof was asked for)");
}

/* A folder is held against what the plan gives, without a run. */
Test(verdict, a_folder_that_was_not_run_is_not_equal)
{
    seen.n_forms = 1;
    seen.is_folder = true;
    seen.why_not_run = "only the proof was asked for";
    comes_to("proven",
             "the plan is proven and the folder is what it gives, not run (only the proof "
             "was asked for)");
}

Test(verdict, numbers_that_say_nothing_are_not_compared)
{
    seen.form[0].n_blind = 1;
    seen.form[1].n_blind = 1;
    comes_to("agrees", "the plan is proven, and computes what the model computes");
    seen.form[1].n_blind = 2;
    comes_to("proven",
             "the plan is proven, not compared (as 'devices' all outputs are within the errors "
             "allowed)");
}

Test(verdict, one_of_the_two_proofs_fails)
{
    seen.n_forms = 0;
    seen.stages = (clv_proof){ .fault = "an element is made twice" };
    comes_to("not_proven", "the plan is not proven: an element is made twice");
    seen.proof = (clv_proof){ .fault = "an element is not made" };
    comes_to("not_proven", "the plan is not proven: an element is not made");
}

Test(verdict, a_form_that_was_not_looked_at_is_not_equal)
{
    seen.form[1].why_not = "it is trained";
    comes_to("not_written", "the plan is proven, but cannot be written as 'devices'");
    seen.form[0].fault = "no kernel";
    comes_to("does_not_run", "the plan is proven, but does not run as 'stages'");
    seen.form[0] = (clv_verified_form){ .form = "stages", .n_differ = 1 };
    comes_to("differs", "the plan does not compute what the model computes");
}

Test(verdict, the_model_itself_does_not_run)
{
    seen.n_forms = 0;
    seen.original_fault = "no kernel";
    comes_to("does_not_run", "the plan is proven, not run: the model itself does not run");
}

Test(verdict, the_model_itself_is_not_what_it_says)
{
    seen.original_fault = "other sizes";
    seen.form[1].n_differ = 1;
    comes_to("does_not_run",
             "the plan is proven, not compared: the model itself is not what its file says");
}

Test(verdict, no_program_can_be_made_of_the_plan)
{
    seen.n_forms = 0;
    seen.proof.holds = seen.stages.holds = false;
    seen.why_not_written = "a tensor has no size";
    comes_to("not_written", "the plan cannot be written: a tensor has no size");
}
