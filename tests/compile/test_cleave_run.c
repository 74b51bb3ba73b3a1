/* test_cleave_run.c - what a program that stands for cleave-run gets, and what is read of it. */
#include "compile/cleave_run.h"

#include <criterion/criterion.h>

static clv_arena *arena;
static clv_process_result run;
static void set_up(void) { arena = clv_arena_new(NULL, 0); }
static void tear_down(void) { clv_arena_free(arena); }
TestSuite(cleave_run, .init = set_up, .fini = tear_down, .timeout = 60);

static void call(const char *program, const char *const *words)
{
    const clv_cleave_run c = { program, words, "/", 60000, NULL, NULL };
    cr_assert_eq(clv_cleave_run_call(&c, arena, &run, NULL), CLV_OK);
    cr_assert_eq(run.end, CLV_PROCESS_EXITED);
}

Test(cleave_run, words_arrive_as_they_are)
{
    const char *const words[] = { "[%s]", "it's",       "two words", "",  "$HOME `id` \\",
                                  "a\nb", "\"quoted\"", "*",         "-", NULL };
    call("printf", words);
    cr_expect_eq(run.code, 0);
    cr_expect_str_eq(run.output, "[it's][two words][][$HOME `id` \\][a\nb][\"quoted\"][*][-]");
}

Test(cleave_run, it_runs_in_the_folder_and_is_found_by_name_or_path)
{
    call("pwd", (const char *const[]){ NULL });
    cr_expect_str_eq(run.output, "/\n");
    call("./bin/../bin/echo", (const char *const[]){ "x", NULL });
    cr_expect_str_eq(run.output, "x\n");
    call("./it's none", (const char *const[]){ NULL });
    cr_expect_eq(run.code, 127);
    clv_str line = clv_process_last_error_line(&run);
    cr_expect(line.n > 0 && line.at[line.n - 1] != '\n');
}

Test(cleave_run, its_answer_is_json_or_refused_by_its_name)
{
    clv_json *json;
    clv_json_at root;
    clv_error err;
    call("echo", (const char *const[]){ "{\"ms\": 1}", NULL });
    cr_assert_eq(clv_cleave_run_answer("echo", &run, arena, &json, &root, &err), CLV_OK);
    cr_expect(clv_json_is_object(&root));
    clv_json_free(json);
    call("echo", (const char *const[]){ "none", NULL });
    cr_assert_eq(clv_cleave_run_answer("echo", &run, arena, &json, &root, &err), CLV_EFORMAT);
    cr_expect(strstr(err.message, "the answer of 'echo': "), "%s", err.message);
}
