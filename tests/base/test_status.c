#include "base/status.h"

#include <criterion/criterion.h>
#include <string.h>

Test(status, fail_fills_the_error_and_returns_the_code)
{
    clv_error err = { 0 };

    clv_status s = clv_fail(&err, CLV_EFORMAT, "%s is %d, expected %d", "axis", 4, 3);

    cr_assert_eq(s, CLV_EFORMAT);
    cr_assert_eq(err.status, CLV_EFORMAT);
    cr_assert_str_eq(err.message, "axis is 4, expected 3");
}

Test(status, without_an_error_only_the_code_is_given)
{
    cr_assert_eq(clv_fail(NULL, CLV_EIO, "%s", "unseen"), CLV_EIO);
}

Test(status, a_long_message_is_cut_at_the_size_of_the_buffer)
{
    char name[2000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    clv_error err = { 0 };

    clv_fail(&err, CLV_ELIMIT, "%s", name);

    cr_assert_eq(strlen(err.message), CLV_MESSAGE_SIZE - 1);
    cr_assert_str_eq(err.message + CLV_MESSAGE_SIZE - 6, "xx...", "and shows that it is");
    clv_fail(&err, CLV_ELIMIT, "%.*s", CLV_MESSAGE_SIZE - 1, name);
    cr_assert_eq(err.message[CLV_MESSAGE_SIZE - 2], 'x', "what just fits is whole");
}

Test(status, a_message_is_cut_between_characters)
{
    char name[2000] = "";
    clv_error err = { 0 };
    for (int k = 0; k < 600; k++)
        strcat(name, "\xe2\x82\xac"); /* three bytes each */
    for (int before = 0; before < 3; before++) {
        clv_fail(&err, CLV_ELIMIT, "%.*s%s", before, "xx", name);
        size_t n = strlen(err.message);
        cr_assert_str_eq(err.message + n - 6, "\xe2\x82\xac...");
        cr_assert_geq(n, CLV_MESSAGE_SIZE - 3);
    }
}

Test(status, words_are_added_until_they_are_cut)
{
    char buf[12];
    size_t n = clv_add_words(buf, sizeof buf, 0, "%s", "one");
    cr_assert_eq(n, 3);
    n = clv_add_words(buf, sizeof buf, n, ", %d", 234567);
    cr_assert_eq(n, 11);
    cr_assert_str_eq(buf, "one, 234567", "what just fits is whole");
    n = clv_add_words(buf, sizeof buf, n, "8");
    cr_assert_geq(n, sizeof buf);
    cr_assert_str_eq(buf, "one, 234...");
    cr_assert_eq(clv_add_words(buf, sizeof buf, n, "9"), n);
    cr_assert_str_eq(buf, "one, 234...");
    n = clv_add_words(buf, sizeof buf, 0, "1234567\xc3\xa4 and more");
    cr_assert_str_eq(buf, "1234567...", "between characters");
}

Test(status, control_characters_of_a_name_do_not_reach_a_terminal)
{
    clv_error err = { 0 };
    clv_fail(&err, CLV_EFORMAT, "operator '%s'", "a\x1b[31m\n\x7f");
    cr_assert_str_eq(err.message, "operator 'a\\x1b[31m\\x0a\\x7f'");
    clv_fail(&err, CLV_EFORMAT, "operator '%s'",
             "\xc2\x9b"
             "2J\xc2\xa0\xc3\xa9\xff");
    cr_assert_str_eq(err.message, "operator '\\xc2\\x9b2J\xc2\xa0\xc3\xa9\\xff'",
                     "controls of 8 bits too, and what is no UTF-8");
    clv_error again = { 0 };
    clv_fail(&again, CLV_EFORMAT, "%s", err.message);
    cr_assert_str_eq(again.message, err.message, "what is shown once stays");
}

Test(status, an_escape_is_never_cut)
{
    char name[CLV_MESSAGE_SIZE];
    clv_error err = { 0 };
    memset(name, '\x1b', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (int before = 0; before < 4; before++) {
        clv_fail(&err, CLV_ELIMIT, "%.*s%s", before, "xxx", name);
        size_t n = strlen(err.message);
        cr_assert_str_eq(err.message + n - 7, "\\x1b...");
        cr_assert_geq(n, CLV_MESSAGE_SIZE - 4);
    }
}

Test(status, lack_of_memory_says_for_what)
{
    clv_error err = { 0 };
    cr_assert_eq(clv_fail_nomem(&err, "a table of names"), CLV_ENOMEM);
    cr_assert_str_eq(err.message, "out of memory: no room for a table of names");
}
