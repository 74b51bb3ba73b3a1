/* test_text.c - names made safe and cut, numbers, tables. */
#include "explain/text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "explain/table.h"

static clv_arena *arena;

static void set_up(void) { arena = clv_arena_new(NULL, 0); }
static void tear_down(void) { clv_arena_free(arena); }

TestSuite(text, .init = set_up, .fini = tear_down);

Test(text, a_name_that_fits_is_shown_as_it_is)
{
    cr_expect_str_eq(clv_show_name_cut(arena, clv_str_of("conv1"), 5), "conv1");
    cr_expect_str_eq(clv_show_name(arena, clv_str_of("")), "");
}

/* 10 columns: 2 + "..." + 5 */
Test(text, a_long_name_loses_its_middle)
{
    cr_expect_str_eq(clv_show_name_cut(arena, clv_str_of("0123456789abcdef"), 10), "01...bcdef");
    cr_expect_str_eq(clv_show_name_cut(arena, clv_str_of("äöüäöüäöüäöü"), 7), "ä...äöü");
}

Test(text, what_is_not_printable_is_escaped)
{
    cr_expect_str_eq(clv_show_name(arena, clv_str_of("a\tb\x7f")), "a\\x09b\\x7f");
    cr_expect_str_eq(clv_show_name(arena, clv_str_of("é€😀")), "é€😀");
    cr_expect_str_eq(clv_show_name(arena, clv_str_of("\xc3")), "\\xc3", "cut off");
    cr_expect_str_eq(clv_show_name(arena, clv_str_of("\xc0\xaf")), "\\xc0\\xaf", "overlong");
    cr_expect_str_eq(clv_show_name(arena, clv_str_of("\xed\xa0\x80")), "\\xed\\xa0\\x80",
                     "surrogate");
    cr_expect_str_eq(clv_show_name(arena, clv_str_of("\xc2\x9b")), "\\xc2\\x9b", "C1 control");
    cr_expect_str_eq(clv_show_name(arena, (clv_str){ "a\0b", 3 }), "a\\x00b");
}

Test(text, strings_are_quoted_as_in_a_python_list)
{
    clv_text t = { .arena = arena };
    clv_text_quoted(&t, "Add_938");
    clv_text_quoted(&t, "it's");
    clv_text_quoted(&t, "'\"");
    cr_expect_str_eq(clv_text_end(&t), "'Add_938'\"it's\"'\\'\"'");
}

Test(text, columns_are_as_wide_as_they_need)
{
    static const char *const titles[] = { "name", ">n", "rest" };
    clv_table table = clv_table_of(titles, 3);
    clv_text t = { .arena = arena };
    clv_table_row(&table, &t, (const char *[]){ "é", "1", "x" });
    clv_table_row(&table, &t, (const char *[]){ "longer", "100", NULL });
    clv_table_write(&table, &t);
    cr_expect_str_eq(clv_text_end(&t), "name      n  rest\n"
                                       "é         1  x\n"
                                       "longer  100  -\n");
}

/* Beside the others, 21 of 80 columns are left for the first: 60 characters are too many. */
Test(text, a_table_of_whole_names_cuts_none)
{
    static const char *const titles[] = { "name", "of words", ">n" };
    static const char sixty[] = "012345678901234567890123456789012345678901234567890123456789";
    static const char word[] = "longer than other tables leave a column of words it is";
    char wanted[600];
    clv_table table = clv_table_of(titles, 3);
    clv_text t = { .arena = arena };
    table.whole_names = true;
    clv_table_row(&table, &t, (const char *[]){ sixty, "", "" });
    clv_table_row(&table, &t, (const char *[]){ "short", word, "1" });
    clv_table_row(&table, &t, (const char *[]){ sixty, "x", "2" });
    clv_table_write(&table, &t);
    snprintf(wanted, sizeof wanted, "%-21s  %-54s  n\n%s\n%-21s  %-54s  1\n%s\n%-21s  %-54s  2\n",
             "name", "of words", sixty, "short", word, sixty, "", "x");
    cr_expect_str_eq(clv_text_end(&t), wanted);
}

/* What a table of a long name has to be at so many columns. */
static void expect_row(int32_t columns, const char *wanted)
{
    static const char *const titles[] = { "name", "word", ">n" };
    clv_table table = clv_table_of(titles, 3);
    clv_text t = { .arena = arena, .form = { .columns = columns } };
    clv_table_row(
        &table, &t,
        (const char *[]){ "0123456789012345678901234567890123456789012345678901234567890123456789",
                          "a word of 24 characters.", "1" });
    clv_table_write(&table, &t);
    const char *row = strchr(clv_text_end(&t), '\n') + 1;
    cr_expect_str_eq(row, wanted, "%d columns: %s", (int)columns, row);
}

Test(text, a_table_fits_its_columns)
{
    expect_row(60, "012345678901...45678901234567890123456789  a w...racters.  1\n");
    expect_row(
        80, "0123456789012345678...123456789012345678901234567890123456789  a w...racters.  1\n");
    expect_row(
        0, "0123456789012345678...123456789012345678901234567890123456789  a w...racters.  1\n");
    expect_row(120, "0123456789012345678901234567890123456789012345678901234567890123456789  "
                    "a word of 24 characters.  1\n");
}

/* 39 columns of numbers and 12 of a name are more than 46. */
Test(text, a_table_of_many_numbers_is_cut_as_if_it_had_80_columns)
{
    static const char *const titles[] = { "name", ">some number", ">some number", ">some number" };
    clv_table table = clv_table_of(titles, 4);
    clv_text t = { .arena = arena, .form = { .columns = 46 } };
    clv_table_row(&table, &t, (const char *[]){ "a name of 24 characters.", "1", "2", "3" });
    clv_table_write(&table, &t);
    cr_expect(strstr(clv_text_end(&t), "\na name of 24 characters.  "), "%s", t.at);
}

Test(text, tones_are_there_in_colour_only_and_have_no_width)
{
    static const char *const titles[] = { "name", ">used" };
    for (int colour = 0; colour < 2; colour++) {
        clv_table table = clv_table_of(titles, 2);
        clv_text t = { .arena = arena, .form = { .colour = colour } };
        clv_table_row(&table, &t, (const char *[]){ "a", clv_toned(&t, CLV_TONE_BAD, "120 %") });
        clv_table_row(&table, &t, (const char *[]){ "b", "5 %" });
        clv_table_write(&table, &t);
        cr_expect_str_eq(clv_text_end(&t), colour ? "\x1b[1mname   used\x1b[0m\n"
                                                    "a     \x1b[31m120 %\x1b[0m\n"
                                                    "b       5 %\n"
                                                  : "name   used\n"
                                                    "a     120 %\n"
                                                    "b       5 %\n");
    }
    cr_expect_eq(clv_show_width("\x1b[1m\x1b[31m\xc3\xa9\x1b[0m"), 1);
}

Test(text, lines_are_cut_at_spaces)
{
    clv_text t = { .arena = arena }, none = { .arena = arena };
    char words[200] = "";
    for (int i = 0; i < 14; i++)
        strcat(words, i ? " 0123456789" : "é12345678"); /* 9 characters, 10 bytes */
    clv_text_labelled(&t, "label", "%s", words);
    /* 12 + 9 + 5 * 11 are 76 */
    cr_expect_str_eq(
        clv_text_end(&t),
        "label       é12345678 0123456789 0123456789 0123456789 0123456789 0123456789\n"
        "            0123456789 0123456789 0123456789 0123456789 0123456789 0123456789\n"
        "            0123456789 0123456789\n");
    clv_text_labelled(&none, "empty", "%s", "");
    cr_expect_str_eq(clv_text_end(&none), "empty       \n");
}

Test(text, remembers_that_memory_ran_out)
{
    clv_arena *small = clv_arena_new(NULL, 1);
    clv_text t = { .arena = small };
    if (!small)
        return;
    for (int i = 0; i < 100000; i++)
        clv_text_printf(&t, "some words ");
    cr_expect_null(clv_text_end(&t));
    clv_arena_free(small);
}
