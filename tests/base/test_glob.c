/* test_glob.c - names by patterns. */
#include "base/glob.h"

#include <criterion/criterion.h>

Test(glob, patterns_match_whole_names)
{
    cr_expect(clv_glob_match("a*b*c", clv_str_of("aXbYbZc")));
    cr_expect(clv_glob_match("*", clv_str_of("")));
    cr_expect(clv_glob_match("**a", clv_str_of("aa")));
    cr_expect_not(clv_glob_match("a", clv_str_of("ab")));
    cr_expect_not(clv_glob_match("ab", clv_str_of("a")));
    cr_expect_not(clv_glob_match("?", clv_str_of("")));
    cr_expect_not(clv_glob_match("a*b", clv_str_of("abc")));
}
