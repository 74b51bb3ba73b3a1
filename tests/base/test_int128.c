#include "base/int128.h"

#include <criterion/criterion.h>
#include <stdint.h>

static void shows(clv_int128 value, const char *text)
{
    char buf[CLV_INT128_TEXT];
    cr_expect_str_eq(clv_int128_text(buf, value), text);
}

Test(int128, all_digits_are_shown)
{
    const clv_int128 most = (clv_int128)((((unsigned __int128)1 << 127)) - 1);
    shows(0, "0");
    shows(-1, "-1");
    shows(10, "10");
    shows(INT64_MAX, "9223372036854775807");
    shows((clv_int128)INT64_MAX * 10 + 1, "92233720368547758071");
    shows(most, "170141183460469231731687303715884105727");
    shows(-most - 1, "-170141183460469231731687303715884105728");
}
