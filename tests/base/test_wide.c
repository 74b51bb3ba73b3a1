#include "base/wide.h"

#include <criterion/criterion.h>
#include <stdint.h>

static void shows(clv_wide value, const char *text)
{
    char buf[CLV_WIDE_TEXT];
    cr_expect_str_eq(clv_wide_text(buf, value), text);
}

Test(wide, all_digits_are_shown)
{
    const clv_wide most = (clv_wide)((((unsigned __int128)1 << 127)) - 1);
    shows(0, "0");
    shows(-1, "-1");
    shows(10, "10");
    shows(INT64_MAX, "9223372036854775807");
    shows((clv_wide)INT64_MAX * 10 + 1, "92233720368547758071");
    shows(most, "170141183460469231731687303715884105727");
    shows(-most - 1, "-170141183460469231731687303715884105728");
}
