#include "base/units.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static int64_t bytes(const char *text)
{
    int64_t v = -1;
    clv_error err = { 0 };
    clv_status s = clv_parse_bytes(text, "memory", &v, &err);
    cr_assert_eq(s, CLV_OK, "%s", err.message);
    return v;
}

/* Fails with EFORMAT, says all of said, and leaves the result alone. */
static void refused(const char *text, const char *said, const char *also)
{
    int64_t v = -77;
    clv_error err = { 0 };
    clv_status s = clv_parse_bytes(text, "memory", &v, &err);
    cr_assert_eq(s, CLV_EFORMAT, "'%s' gave %d, %lld", text, (int)s, (long long)v);
    cr_assert_eq(v, -77);
    cr_assert(strstr(err.message, said) && strstr(err.message, also), "said: %s", err.message);
    cr_assert(strncmp(err.message, "memory", 6) == 0, "said: %s", err.message);
}

Test(units, sizes_with_every_prefix)
{
    cr_assert_eq(bytes("4096B"), 4096);
    cr_assert_eq(bytes("0B"), 0);
    cr_assert_eq(bytes("1kB"), 1000);
    cr_assert_eq(bytes("1KB"), 1000);
    cr_assert_eq(bytes("900MB"), 900000000);
    cr_assert_eq(bytes("80GB"), INT64_C(80000000000));
    cr_assert_eq(bytes("2TB"), INT64_C(2000000000000));
    cr_assert_eq(bytes("512KiB"), 524288);
    cr_assert_eq(bytes("20MiB"), 20971520);
    cr_assert_eq(bytes("80GiB"), INT64_C(85899345920));
    cr_assert_eq(bytes("1TiB"), INT64_C(1099511627776));
}

Test(units, fractions_exponents_and_one_space)
{
    cr_assert_eq(bytes("1.5GiB"), 1610612736); /* 1.5 * 2^30 */
    cr_assert_eq(bytes("80 GB"), INT64_C(80000000000));
    cr_assert_eq(bytes("1e3kB"), 1000000);
    cr_assert_eq(bytes("1e+3B"), 1000);
    cr_assert_eq(bytes("25e-1kB"), 2500);
    cr_assert_eq(bytes("0.0005kB"), 1, "rounded to the nearest, halves up");
    cr_assert_eq(bytes("0e999GB"), 0);
    cr_assert_eq(bytes("0.000000000000000000000001TB"), 0);
    cr_assert_eq(bytes("0000000000000000000000000000000000000001B"), 1);
    cr_assert_eq(bytes("1000000000000000000000e-18kB"), 1000000);
}

Test(units, five_thousand_zeros_and_back)
{
    char text[6000] = "1";
    memset(text + 1, '0', 5000);
    strcpy(text + 5001, "e-4997B");
    cr_assert_eq(bytes(text), 1000);
    strcpy(text + 5001, "e-9999B");
    cr_assert_eq(bytes(text), 0);
}

Test(units, the_largest_size_is_below_2_to_63)
{
    cr_assert_gt(bytes("8.9e18B"), INT64_C(8000000000000000000));
    refused("9.3e18B", "less than 9e18 bytes", "9.3e18B");
    refused("9223372036854775807B", "less than 9e18 bytes", "9223372036854775807B");
    refused("1e400B", "less than 9e18 bytes", "1e400B");
    refused("1e99999999999999999999B", "less than 9e18 bytes", "1e9");
    refused("99999999999999999999999999999999TiB", "less than 9e18 bytes", "999");
}

Test(units, bytes_are_whole)
{
    refused("1.5B", "expected a whole number of bytes", "'1.5B'");
    refused("0.5 B", "expected a whole number of bytes", "'0.5 B'");
    cr_assert_eq(bytes("1.1GiB"), 1181116006, "what is no whole number in bytes is rounded");
    cr_assert_eq(bytes("15e-1kB"), 1500);
    cr_assert_eq(bytes("2.0B"), 2);
}

Test(units, a_negative_size_is_named_so)
{
    refused("-5GB", "must not be negative", "'-5GB'");
    refused("-0B", "must not be negative", "'-0B'");
    refused("-", "must not be negative", "'-'");
}

Test(units, a_missing_or_unknown_unit_is_answered_with_the_units)
{
    refused("80", "has no unit", "KiB, MiB, GiB, TiB");
    refused("80 ", "has no unit", "GB");
    refused("80gb", "unknown unit 'gb'", "B, KB, kB, MB, GB, TB, KiB");
    refused("80GB ", "unknown unit 'GB '", "GB");
    refused("80  GB", "unknown unit", "GB");
    refused("80GB/s", "unknown unit 'GB/s'", "GB");
    refused("1E3GB", "unknown unit 'E3GB'", "GB");
    refused("1eGB", "unknown unit 'eGB'", "GB");
    refused("1.2.3GB", "unknown unit '.3GB'", "GB");
    refused("1,5GB", "unknown unit ',5GB'", "GB");
}

Test(units, what_is_no_number_is_refused)
{
    const char *const bad[] = { "",     ".",    "GB",    ".5GB",  "5.GB",
                                "+5GB", " 5GB", "infGB", "nanGB", "e3GB" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(bad[i], "expected a number", "GiB");
    int64_t v;
    cr_assert_eq(clv_parse_bytes("0x10B", "memory", &v, NULL), CLV_EFORMAT);
}

Test(units, portions_are_parts_or_sizes)
{
    static const char *const bad[] = { "", "%", "100%", "-1%", "nan%", "10", "10%%", "0x1%", "x" };
    clv_portion p = { 0 };
    cr_assert_eq(clv_parse_portion("12.5%", "p", &p, NULL), CLV_OK);
    cr_expect(p.part == 0.125 && p.bytes == 0);
    cr_assert_eq(clv_parse_portion("4GB", "p", &p, NULL), CLV_OK);
    cr_expect(p.part == 0 && p.bytes == INT64_C(4000000000));
    cr_assert_eq(clv_parse_portion("0", "p", &p, NULL), CLV_OK);
    cr_expect(p.part == 0 && p.bytes == 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        clv_error err = { .message = "" };
        cr_expect_eq(clv_parse_portion(bad[i], "p", &p, &err), CLV_EFORMAT, "%s", bad[i]);
        cr_expect(strstr(err.message, "expected a part from 0% to below 100%, or a size"), "%s",
                  err.message);
    }
}

Test(units, bandwidths_in_bytes_and_bits)
{
    double v = 0;
    cr_assert_eq(clv_parse_bandwidth("3.35TB/s", "b", &v, NULL), CLV_OK);
    cr_assert_eq(v, 3.35e12);
    cr_assert_eq(clv_parse_bandwidth("47.5TB/s", "b", &v, NULL), CLV_OK);
    cr_assert_eq(v, 47.5e12);
    cr_assert_eq(clv_parse_bandwidth("400Gb/s", "b", &v, NULL), CLV_OK);
    cr_assert_eq(v, 50e9);
    cr_assert_eq(clv_parse_bandwidth("8Mb/s", "b", &v, NULL), CLV_OK);
    cr_assert_eq(v, 1e6);
    cr_assert_eq(clv_parse_bandwidth("1GiB/s", "b", &v, NULL), CLV_OK);
    cr_assert_eq(v, 1073741824.0);
}

Test(units, rates_of_both_kinds)
{
    double v = 0;
    cr_assert_eq(clv_parse_rate("989.4TFLOP/s", "r", &v, NULL), CLV_OK);
    cr_assert_eq(v, 989.4e12);
    cr_assert_eq(clv_parse_rate("1.979PFLOP/s", "r", &v, NULL), CLV_OK);
    cr_assert_eq(v, 1.979e15);
    cr_assert_eq(clv_parse_rate("624TOP/s", "r", &v, NULL), CLV_OK);
    cr_assert_eq(v, 624e12);
}

Test(units, rates_and_bandwidths_are_above_0_and_finite)
{
    double v = -1;
    clv_error err = { 0 };
    cr_assert_eq(clv_parse_rate("0TFLOP/s", "r", &v, &err), CLV_EFORMAT);
    cr_assert(strstr(err.message, "above 0"), "said: %s", err.message);
    cr_assert_eq(clv_parse_bandwidth("1e-400GB/s", "b", &v, &err), CLV_EFORMAT);
    cr_assert_eq(clv_parse_bandwidth("1e400GB/s", "b", &v, &err), CLV_EFORMAT);
    cr_assert(strstr(err.message, "finite"), "said: %s", err.message);
    cr_assert_eq(clv_parse_bandwidth("-1GB/s", "b", &v, &err), CLV_EFORMAT);
    cr_assert(strstr(err.message, "must not be negative"), "said: %s", err.message);
    cr_assert_eq(v, -1);
}

Test(units, times_become_nanoseconds)
{
    int64_t ns = -1;
    cr_assert_eq(clv_parse_time("2us", "t", &ns, NULL), CLV_OK);
    cr_assert_eq(ns, 2000);
    cr_assert_eq(clv_parse_time("350ns", "t", &ns, NULL), CLV_OK);
    cr_assert_eq(ns, 350);
    cr_assert_eq(clv_parse_time("1.5ms", "t", &ns, NULL), CLV_OK);
    cr_assert_eq(ns, 1500000);
    cr_assert_eq(clv_parse_time("2s", "t", &ns, NULL), CLV_OK);
    cr_assert_eq(ns, 2000000000);
    cr_assert_eq(clv_parse_time("0ns", "t", &ns, NULL), CLV_OK);
    cr_assert_eq(ns, 0);
    clv_error err = { 0 };
    cr_assert_eq(clv_parse_time("5min", "t", &ns, &err), CLV_EFORMAT);
    cr_assert(strstr(err.message, "ns, us, ms, s"), "said: %s", err.message);
}

Test(units, whole_numbers_in_their_range)
{
    int64_t v = -1;
    cr_assert_eq(clv_parse_int("42", "jobs", 1, 100, &v, NULL), CLV_OK);
    cr_assert_eq(v, 42);
    cr_assert_eq(clv_parse_int("-3", "x", -5, 5, &v, NULL), CLV_OK);
    cr_assert_eq(v, -3);
    cr_assert_eq(clv_parse_int("9223372036854775807", "x", 0, INT64_MAX, &v, NULL), CLV_OK);
    cr_assert_eq(v, INT64_MAX);
    cr_assert_eq(clv_parse_int("-9223372036854775808", "x", INT64_MIN, 0, &v, NULL), CLV_OK);
    cr_assert_eq(v, INT64_MIN);
}

Test(units, what_is_no_whole_number_or_out_of_range_is_a_usage_error)
{
    const char *const bad[] = { "",
                                " 4",
                                "4 ",
                                "+4",
                                "4.0",
                                "1e1",
                                "0x4",
                                "four",
                                "--4",
                                "- 4",
                                "-",
                                "0",
                                "101",
                                "-1",
                                "4k",
                                "\t4",
                                "99999999999999999999",
                                "-99999999999999999999" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t v = 7;
        clv_error err = { 0 };
        cr_assert_eq(clv_parse_int(bad[i], "--jobs", 1, 100, &v, &err), CLV_EUSAGE, "'%s'", bad[i]);
        cr_assert_eq(v, 7);
        cr_assert(strstr(err.message, "--jobs") && strstr(err.message, "from 1 to 100"), "said: %s",
                  err.message);
    }
}

Test(units, shows_sizes_with_four_digits)
{
    char b[32];
    cr_assert_str_eq(clv_show_bytes(b, 0), "0 B");
    cr_assert_str_eq(clv_show_bytes(b, 1023), "1023 B");
    cr_assert_str_eq(clv_show_bytes(b, 1024), "1.000 KiB");
    cr_assert_str_eq(clv_show_bytes(b, 1300000000), "1.211 GiB"); /* / 2^30 = 1.2107 */
    cr_assert_str_eq(clv_show_bytes(b, INT64_C(85899345920)), "80.00 GiB");
    cr_assert_str_eq(clv_show_bytes(b, 1048575), "1.000 MiB", "rounds up to the next unit");
    cr_assert_str_eq(clv_show_bytes(b, INT64_MAX), "8.000 EiB");
    cr_assert_str_eq(clv_show_bytes(b, INT64_MIN), "-8.000 EiB");
    cr_assert_str_eq(clv_show_bytes(b, -2048), "-2.000 KiB");
}

Test(units, shows_times_and_flops)
{
    char b[32];
    cr_assert_str_eq(clv_show_time(b, 0), "0 ns");
    cr_assert_str_eq(clv_show_time(b, 999), "999 ns");
    cr_assert_str_eq(clv_show_time(b, 2713000), "2.71 ms");
    cr_assert_str_eq(clv_show_time(b, 999960), "1.00 ms");
    cr_assert_str_eq(clv_show_time(b, 9999600), "10.0 ms");
    cr_assert_str_eq(clv_show_flops(b, 123.4e9), "123.4 GFLOP");
    cr_assert_str_eq(clv_show_flops(b, 0.5), "0.500 FLOP");
    cr_assert_lt(strlen(clv_show_flops(b, 1e300)), 31);
    cr_assert(strstr(clv_show_flops(b, 1e300), "EFLOP"));
    cr_assert_str_eq(clv_show_flops(b, 319800), "319.8 kFLOP");
    cr_assert_lt(strlen(clv_show_flops(b, INFINITY)), 31);
}

Test(units, shows_numbers_with_as_many_digits)
{
    char b[32];
    cr_assert_str_eq(clv_show_number(b, 37.7), "37.7");
    cr_assert_str_eq(clv_show_number(b, 400), "400");
    cr_assert_str_eq(clv_show_number(b, 999.96), "1000");
    cr_assert_str_eq(clv_show_number(b, 1e9), "1000000000");
    cr_assert_str_eq(clv_show_number(b, 0.0125), "0.0125");
    cr_assert_str_eq(clv_show_number(b, 0.99996), "1.00");
    cr_assert_lt(strlen(clv_show_number(b, 1e-300)), 31);
    cr_assert_lt(strlen(clv_show_number(b, 1e300)), 31);
    cr_assert_lt(strlen(clv_show_number(b, INFINITY)), 31);
}
