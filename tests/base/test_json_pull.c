/* test_json_pull.c - JSON read piece by piece: what is read, what is refused how, and that it does
 * not matter where a piece of the file ends. */
#include "base/json_pull_int.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/run.h"

static clv_error err;

/* -- whole numbers -- */

static clv_status read_int(const char *text, int64_t low, int64_t high, int64_t *ret)
{
    clv_json_pull j;
    clv_json_pull_text(&j, text, strlen(text), "t");
    int64_t value;
    CLV_TRY(clv_json_pull_int(&j, low, high, &value, &err));
    CLV_TRY(clv_json_pull_end(&j, &err));
    *ret = value;
    return CLV_OK;
}

static void is_int(const char *text, int64_t value)
{
    int64_t got = 77;
    cr_expect_eq(read_int(text, INT64_MIN, INT64_MAX, &got), CLV_OK, "%s: %s", text, err.message);
    cr_expect_eq(got, value, "%s is %lld", text, (long long)got);
}

static void no_int(const char *text, const char *words)
{
    int64_t got = 77;
    cr_expect_eq(read_int(text, INT64_MIN, INT64_MAX, &got), CLV_EFORMAT, "%s", text);
    cr_expect(strstr(err.message, words), "%s: %s", text, err.message);
    cr_expect_eq(got, 77);
}

Test(json_pull, whole_numbers_however_written)
{
    is_int("0", 0);
    is_int("-0", 0);
    is_int(" 17\n", 17);
    is_int("-17", -17);
    is_int("10.0", 10);
    is_int("10.00e-1", 1);
    is_int("1e18", INT64_C(1000000000000000000));
    is_int("1.5E+1", 15);
    is_int("0.000000000000000000000000000000e99999999999999999999", 0);
    is_int("0e5", 0);
    is_int("1230000000000000000000000000000000e-30", 1230);
    is_int("0.00000000000000000000000000000017e32", 17);
    is_int("9223372036854775807", INT64_MAX);
    is_int("-9223372036854775808", INT64_MIN);
    is_int("9223372036854775807.000", INT64_MAX);
    is_int("9007199254740993", INT64_C(9007199254740993)); /* no double */
}

Test(json_pull, other_numbers_are_refused)
{
    no_int("1.5", "t is 1.5, expected a whole number from");
    no_int("9223372036854775808", "t is 9223372036854775808, expected");
    no_int("-9223372036854775809", "expected a whole number");
    no_int("18446744073709551617", "expected a whole number"); /* 1 modulo 2^64 */
    no_int("99999999999999999999999999999999999999999999", "is 9999999999999999999999999999...");
    no_int("1e19", "1e19");
    no_int("1e-1", "1e-1");
    no_int("10000000000000000000000000000001e-31", "expected a whole number");
    no_int("1e99999999999999999999999", "expected a whole number");
    no_int("01", "not JSON");
    no_int("1.", "expected a digit");
    no_int("-", "expected a digit");
    no_int("+1", "not JSON: '+'");
    no_int("1e", "expected a digit");
    no_int("1e+", "expected a digit");
    no_int(".5", "not JSON");
    no_int("1 2", "nothing behind");
    no_int("1x", "nothing behind");
    no_int("nan", "t is null, expected"); /* as its first letter says */
    no_int("true", "t is true or false");
    no_int("\"1\"", "t is a string");
    no_int("[1]", "t is an array");
    no_int("{}", "t is an object");
    no_int("", "the end");
    no_int("\x01", "byte 0x01");
}

Test(json_pull, numbers_have_to_be_in_their_range)
{
    int64_t got = 77;
    cr_expect_eq(read_int("5", 0, 4, &got), CLV_EFORMAT);
    cr_expect_str_eq(err.message, "t is 5, expected a whole number from 0 to 4");
    cr_expect_eq(read_int("-1", 0, 4, &got), CLV_EFORMAT);
    cr_expect_eq(read_int("4", 0, 4, &got), CLV_OK);
    cr_expect_eq(got, 4);
}

/* -- rows of them, in pieces -- */

static clv_json_ints row_of(clv_json_pull *j, clv_arena *arena)
{
    clv_json_ints row = { .arena = arena };
    cr_assert_eq(clv_json_pull_ints(j, INT64_MIN, INT64_MAX, &row, &err), CLV_OK, "%s",
                 err.message);
    cr_assert_eq(clv_json_pull_end(j, &err), CLV_OK, "%s", err.message);
    return row;
}

Test(json_pull, rows_are_the_same_with_any_space)
{
    static const char *const texts[] = {
        "[1,22,333,0,-5,4444444444,6.0,7]", "[ 1, 22, 333, 0, -5, 4444444444, 6.0, 7 ]",
        "\n[\n1\n,\n22\n,\r\n333,\t0,-5 ,4444444444 ,6.0 ,7\n]\n"
    };
    static const int64_t want[] = { 1, 22, 333, 0, -5, 4444444444, 6, 7 };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        clv_json_pull j;
        clv_json_pull_text(&j, texts[i], strlen(texts[i]), "t");
        clv_json_ints row = row_of(&j, arena);
        cr_assert_eq(row.n, 8, "%s", texts[i]);
        cr_expect_arr_eq(row.at, want, sizeof want, "%s", texts[i]);
        clv_arena_free(arena);
    }
}

Test(json_pull, an_empty_row)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_json_pull j;
    clv_json_pull_text(&j, "[ ]", 3, "t");
    cr_expect_eq(row_of(&j, arena).n, 0);
    clv_arena_free(arena);
}

/* Numbers of every length from a file larger than any buffer: some lie across the ends of pieces.
 */
Test(json_pull, it_does_not_matter_where_a_piece_of_the_file_ends)
{
    enum { N = 300000 };
    char *folder = folder_new(), path[4096];
    clv_arena *arena = clv_arena_new(NULL, 0);
    int64_t *want = malloc(N * sizeof *want);
    uint64_t state = 1;
    snprintf(path, sizeof path, "%s/n.json", folder);
    FILE *f = fopen(path, "w");
    fputc('[', f);
    for (int i = 0; i < N; i++) {
        state = state * UINT64_C(6364136223846793005) + 1;
        want[i] = (int64_t)(state >> (1 + (unsigned)i % 63));
        fprintf(f, i % 7 ? "%s%lld" : "%s\n  %lld.0", i ? "," : "", (long long)want[i]);
    }
    fputc(']', f);
    fclose(f);
    int fd = open(path, O_RDONLY);
    clv_json_pull j;
    cr_assert_eq(clv_json_pull_file(&j, fd, path, arena, &err), CLV_OK);
    clv_json_ints row = row_of(&j, arena);
    cr_assert_eq(row.n, N);
    for (int i = 0; i < N; i++)
        cr_assert_eq(row.at[i], want[i], "element %d is %lld", i, (long long)row.at[i]);
    close(fd);
    free(want);
    clv_arena_free(arena);
    folder_free(folder);
}

static void refused_row(const char *text, const char *message)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_json_ints row = { .arena = arena };
    clv_json_pull j;
    clv_json_pull_text(&j, text, strlen(text), "t");
    cr_expect_eq(clv_json_pull_ints(&j, 0, 100, &row, &err), CLV_EFORMAT, "%s", text);
    cr_expect_str_eq(err.message, message, "%s: %s", text, err.message);
    clv_arena_free(arena);
}

Test(json_pull, a_row_says_which_element_is_wrong)
{
    refused_row("[1,2,3,4,5,6,7,8,9,101,11,12,13,14,15,16,17,18,19,20,21,22,23]",
                "t[9] is 101, expected a whole number from 0 to 100");
    refused_row("[1, 2, -3]", "t[2] is -3, expected a whole number from 0 to 100");
    refused_row("[1,2,null]", "t[2] is null, expected a whole number from 0 to 100");
    refused_row("[1,2,]", "t: line 1, byte 6: not JSON: ']', expected a value after ','");
    refused_row("[1,2,3,4,5,6,7,8,9,1,1,1,1,1,1,1,1,1,1,1,]                            ",
                "t: line 1, byte 42: not JSON: ']', expected a value");
    refused_row("[1 2]", "t: line 1, byte 4: not JSON: '2', expected ',' or ']'");
    refused_row("[1,\n2", "t: line 2, byte 2: not JSON: the end, expected ',' or ']'");
    refused_row("[,1]", "t: line 1, byte 2: not JSON: ',', expected a value");
    refused_row("{}", "t is an object, expected an array");
}

/* -- objects -- */

static const char *const keys[] = { "a", "bb", "c", NULL };

/* {"a": number, "bb": {the same}, "c": string}; the order of keys as letters in seen. */
static clv_status walk(clv_json_pull *j, char *seen, char *string)
{
    CLV_TRY(clv_json_pull_object(j, &err));
    for (int key;;) {
        int64_t number;
        CLV_TRY(clv_json_pull_key(j, keys, 1, &key, &err));
        if (key < 0)
            return CLV_OK;
        strncat(seen, keys[key], 1);
        if (key == 0)
            CLV_TRY(clv_json_pull_int(j, 0, 9, &number, &err));
        else if (key == 1)
            CLV_TRY(walk(j, seen, string));
        else
            CLV_TRY(clv_json_pull_string(j, string, 16, &err));
    }
}

static clv_status walk_text(const char *text, size_t n, char *seen, char *string)
{
    clv_json_pull j;
    *seen = *string = '\0';
    clv_json_pull_text(&j, text, n, "t");
    clv_status status = walk(&j, seen, string);
    return status == CLV_OK ? clv_json_pull_end(&j, &err) : status;
}

static void walks(const char *text, const char *order, const char *last)
{
    char seen[64], string[16];
    cr_expect_eq(walk_text(text, strlen(text), seen, string), CLV_OK, "%s: %s", text, err.message);
    cr_expect_str_eq(seen, order, "%s: %s", text, seen);
    cr_expect_str_eq(string, last, "%s: %s", text, string);
}

static void stumbles(const char *text, const char *message)
{
    char seen[64], string[16];
    cr_expect_eq(walk_text(text, strlen(text), seen, string), CLV_EFORMAT, "%s", text);
    cr_expect_str_eq(err.message, message, "%s: %s", text, err.message);
}

Test(json_pull, objects_in_any_order)
{
    walks("{\"a\":1}", "a", "");
    walks("\xef\xbb\xbf {\"c\": \"x\", \"bb\" : {\"a\":2,\"c\":\"y\"},\"a\" :1 } ", "cbaca", "y");
    walks("{\"\\u0061\":1}", "a", "");
}

Test(json_pull, strings)
{
    walks("{\"a\":1,\"c\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "ac", "\"\\/\b\f\n\r\t");
    walks("{\"a\":1,\"c\":\"\\u00e9\\u20AC\\ud83d\\ude00\"}", "ac",
          "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    walks("{\"a\":1,\"c\":\"\xc3\xa9\xf0\x9f\x98\x80\"}", "ac", "\xc3\xa9\xf0\x9f\x98\x80");
    walks("{\"a\":1,\"c\":\"12345678901234\xc3\xa9z\"}", "ac",
          "12345678901234"); /* cut, not in two */
    walks("{\"a\":1,\"c\":\"1234567890123456789\"}", "ac", "123456789012345");
}

Test(json_pull, broken_strings_are_refused)
{
#define IN_C(s) "{\"a\":1,\"c\":\"" s "\"}"
    stumbles(IN_C("\\x"), "t: line 1, byte 14: not JSON: 'x', expected an escape that JSON has");
    stumbles(IN_C("\\u0000"), "t: line 1, byte 19: not JSON: '\"', expected no \\u0000 in a text");
    stumbles(IN_C("\\u12g4"),
             "t: line 1, byte 17: not JSON: 'g', expected four hexadecimal digits");
    stumbles(IN_C("\\ud83d."),
             "t: line 1, byte 19: not JSON: '.', expected the second half of a pair of codes");
    stumbles(IN_C("\xff"), "t: line 1, byte 14: not JSON: '\"', expected UTF-8");
    stumbles(IN_C("\xc3("), "t: line 1, byte 14: not JSON: '(', expected UTF-8");
    stumbles(IN_C("\n"),
             "t: line 1, byte 13: not JSON: byte 0x0a, expected '\"' or a character of a string");
}

Test(json_pull, broken_objects_are_refused)
{
    stumbles("{}", "t has no key 'a', which is required");
    stumbles("{\"a\":1,\"bb\":{}}", "t: bb has no key 'a', which is required");
    stumbles("{\"a\":1,\"b\":2}", "t has the unknown key 'b', expected only 'a', 'bb', 'c'");
    stumbles("{\"a\":1,\"bb\":{\"a\":1,\"x\":2}}",
             "t: bb has the unknown key 'x', expected only 'a', 'bb', 'c'");
    stumbles("{\"a\":1,\"c\":\"\",\"a\":1}", "t has the key 'a' twice, expected once");
    stumbles("{\"a\":10}", "t: a is 10, expected a whole number from 0 to 9");
    stumbles("{\"bb\":{\"a\":[]}}", "t: bb.a is an array, expected a whole number from 0 to 9");
    stumbles("{\"a\":1,}", "t: line 1, byte 8: not JSON: '}', expected a value after ','");
    stumbles("{\"a\" 1}", "t: line 1, byte 6: not JSON: '1', expected ':'");
    stumbles("{a:1}", "t: line 1, byte 2: not JSON: 'a', expected a key in quotes");
    stumbles("{\"a\":1 \"c\":2}", "t: line 1, byte 8: not JSON: '\"', expected ',' or '}'");
    stumbles("{\"a\":1}}", "t: line 1, byte 8: not JSON: '}', expected nothing behind the value");
    stumbles("[1]", "t is an array, expected an object");
    stumbles("", "t: line 1, byte 1: not JSON: the end, expected a value");
}

Test(json_pull, any_beginning_of_a_text_is_refused)
{
    static const char text[] =
        "{\"a\":1,\"bb\":{\"c\":\"\\ud83d\\ude00\xc3\xa9\",\"a\":1.50e1},\"c\":\"x\"}";
    char seen[64], string[16];
    for (size_t n = 0; n < sizeof text - 1; n++) {
        char *copy = malloc(n ? n : 1); /* so that sanitizers see what is read behind it */
        memcpy(copy, text, n);
        cr_expect_eq(walk_text(copy, n, seen, string), CLV_EFORMAT, "%zu", n);
        free(copy);
    }
}

Test(json_pull, too_deep_is_refused)
{
    clv_json_pull j;
    bool more = true;
    clv_status status = CLV_OK;
    clv_json_pull_text(&j, "[[[[[[[[[[[[[[[[[[[[", 20, "t");
    for (int i = 0; i < 20 && status == CLV_OK; i++) {
        status = clv_json_pull_array(&j, &err);
        if (status == CLV_OK)
            status = clv_json_pull_next(&j, &more, &err);
    }
    cr_expect_eq(status, CLV_ELIMIT);
    cr_expect(strstr(err.message, "nested more than 16 deep"), "%s", err.message);
}

Test(json_pull, a_read_that_fails_is_reported)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_json_pull j;
    int64_t value;
    int fd = open("/", O_RDONLY);
    cr_assert_eq(clv_json_pull_file(&j, fd, "t", arena, &err), CLV_OK);
    cr_expect_eq(clv_json_pull_int(&j, 0, 1, &value, &err), CLV_EIO);
    cr_expect(strstr(err.message, "could not read t: "), "%s", err.message);
    close(fd);
    clv_arena_free(arena);
}
