/* test_colour.c - what reports look like on a terminal, and that nothing of it is anywhere else. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

#define VIT  TEST_SOURCE_DIR "/tests/data/models/vit_l_16.b16.onnx"
#define PLAN "plan --devices 2 --no-output " VIT
#define ESC  "\x1b["

static char *folder;
static void set_up(void) { folder = folder_new(); }
static void tear_down(void) { folder_free(folder); }
TestSuite(colour, .init = set_up, .fini = tear_down);

/* What stands on a terminal of so many columns, malloc'd. environment: "NAME=VALUE" words. */
static char *shown(int columns, const char *environment, const char *line)
{
    run_result r = run_in(folder,
                          "env -u NO_COLOR -u COLUMNS TERM=xterm %s python3 "
                          "%s/tests/cli/on_terminal.py %d %s %s",
                          environment, TEST_SOURCE_DIR, columns, TEST_CLEAVE, line);
    free(r.err);
    if (r.code == 77) {
        free(r.out);
        cr_skip_test("no pseudo-terminal here (/dev/pts is not mounted)");
    }
    return r.out;
}

static char *printed(const char *environment, const char *line)
{
    run_result r = run_in(folder, "env %s %s %s", environment, TEST_CLEAVE, line);
    free(r.err);
    return r.out;
}

/* Without escape sequences, in place. */
static char *bare(char *text)
{
    char *to = text;
    for (const char *at = text; *at;)
        if (strncmp(at, ESC, 2) == 0)
            at = strchr(at, 'm') + 1;
        else
            *to++ = *at++;
    *to = '\0';
    return text;
}

static void expect_in(char *text, const char *words)
{
    cr_expect(strstr(text, words), "no '%s' in: %s", words, text);
    free(text);
}

static void expect_plain(char *text)
{
    cr_expect(*text && !strstr(text, ESC), "%s", text);
    free(text);
}

Test(colour, a_terminal_shows_the_answer_and_heads)
{
    char *all = shown(80, "", PLAN);
    cr_expect(strstr(all, "dgx-h100: " ESC "32mfits 2 of 2 devices in 1 stage" ESC "0m\n"), "%s",
              all);
    cr_expect(strstr(all, "\n" ESC "1mdevice  kind      stage  operators        FLOPs" ESC "0m\n"),
              "%s", all);
    free(all);
    expect_in(shown(80, "", "clusters"), ESC "1mcluster ");
    expect_in(shown(80, "", "inspect " VIT), ESC "1moperator type ");
}

Test(colour, what_is_bad_is_red_and_what_deserves_a_look_yellow)
{
    char *all = shown(80, "", "plan --devices 2 --memory 300MiB --no-output " VIT);
    cr_expect(strstr(all, ESC "31mcannot be sharded into 2 devices; "), "%s", all);
    cr_expect(strstr(all, "\nresult      " ESC "31mno plan fits: gpu"), "%s", all);
    cr_expect(strstr(all, ESC "31m2"), "no peak above the capacity: %s", all);
    free(all);
    expect_in(shown(80, "", "plan --devices 1 --memory 1260MiB --no-output " VIT),
              ESC "33m9"); /* 1247 of 1260 MiB */
}

/* The same report but for colours, byte by byte. */
Test(colour, files_and_pipes_have_none)
{
    char *plain = printed("TERM=xterm COLUMNS=120", PLAN), *coloured = shown(80, "", PLAN);
    cr_expect(!strstr(plain, ESC), "%s", plain);
    cr_expect_str_eq(bare(coloured), plain);
    free(plain);
    free(coloured);
    expect_plain(printed("", PLAN " --color never"));
    expect_plain(printed("", PLAN " --json"));
    expect_plain(shown(80, "", PLAN " --json"));
    expect_plain(shown(80, "", PLAN " --json --color always"));
    expect_in(printed("TERM=dumb NO_COLOR=1", PLAN " --color always"), ESC "32mfits");
}

Test(colour, who_wants_none_gets_none)
{
    expect_plain(shown(80, "NO_COLOR=1", PLAN));
    expect_plain(shown(80, "TERM=dumb", PLAN));
    expect_plain(shown(80, "TERM=", PLAN));
    expect_plain(shown(80, "", PLAN " --color=never"));
    expect_in(shown(80, "NO_COLOR=", PLAN), ESC "32mfits");
    run_result r = run_in(folder, "%s %s --color red", TEST_CLEAVE, PLAN);
    cr_expect_eq(r.code, 2);
    cr_expect(strstr(r.err, "--color is 'red': expected 'auto' or 'always' or 'never'"), "%s",
              r.err);
    run_free(&r);
}

Test(colour, tables_are_as_wide_as_the_terminal)
{
    static const char whole[] = "\n/encoder/layers/encoder_layer_0/ln_2/LayerNormalization  memory";
    char *wide = bare(shown(120, "", PLAN)), *usual = bare(shown(80, "", PLAN));
    char *narrow = bare(shown(60, "", PLAN)), *least = bare(shown(20, "", PLAN));
    cr_expect(strstr(wide, whole), "%s", wide);
    cr_expect(!strstr(usual, whole), "%s", usual);
    cr_expect(strstr(usual, "\n/encoder/...2/LayerNormalization  memory"), "%s", usual);
    cr_expect(strstr(narrow, "\n/en...zation  memory"), "%s", narrow);
    cr_expect_str_eq(least, narrow, "not below 60");
    free(wide);
    free(usual);
    free(narrow);
    free(least);
    expect_in(bare(shown(0, "COLUMNS=120", PLAN)), whole);
    expect_in(bare(shown(0, "COLUMNS=no", PLAN)), "\n/encoder/...2/LayerNormalization  memory");
    expect_in(bare(shown(0, "", PLAN)), "\n/encoder/...2/LayerNormalization  memory");
}

Test(colour, no_table_of_a_report_is_wider_than_the_terminal)
{
    static const int columns[] = { 70, 80, 100, 120, 200 };
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        char *text = bare(shown(columns[i], "", "inspect " VIT));
        const char *table = strstr(text, "\nlargest subgraphs");
        cr_assert_not_null(table);
        cr_expect_leq(text_width(table), (size_t)columns[i], "%s", text);
        free(text);
    }
}
