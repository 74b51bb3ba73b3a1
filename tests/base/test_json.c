#include "base/json.h"
#include "base/json_out.h"

#include <criterion/criterion.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static clv_json *parsed(const char *text)
{
    clv_json *json = NULL;
    clv_error err = { 0 };
    clv_status s = clv_json_parse(text, strlen(text), "doc", &json, &err);
    cr_assert_eq(s, CLV_OK, "%s", err.message);
    return json;
}

/* The n bytes are copied to where the next one may not be read. */
static clv_status parse_exactly(const char *text, size_t n, clv_error *err)
{
    clv_json *json = NULL;
    char *copy = malloc(n ? n : 1);
    memcpy(copy, text, n);
    clv_status s = clv_json_parse(copy, n, "doc", &json, err);
    cr_assert(s == CLV_OK || json == NULL);
    clv_json_free(json);
    free(copy);
    return s;
}

static void refused(const char *text, const char *said)
{
    clv_error err = { 0 };
    clv_status s = parse_exactly(text, strlen(text), &err);
    cr_assert(s == CLV_EFORMAT || s == CLV_ELIMIT, "%s gave %d", text, (int)s);
    cr_assert(strstr(err.message, said), "%s: said: %s", text, err.message);
    cr_assert(strncmp(err.message, "doc", 3) == 0, "said: %s", err.message);
}

/* -- reading -- */

Test(json, reads_members_of_every_type)
{
    clv_json *json = parsed(" {\"s\": \"a\\u00e9\\n\", \"n\": -1.5e2, \"i\": 9007199254740992, "
                            "\"b\": true, \"a\": [1, 2, 3]} \n");
    clv_json_at root = clv_json_root(json, "doc"), at, e = { 0 };
    const char *s;
    double n;
    int64_t i;
    bool b;
    int32_t len;

    cr_assert_eq(clv_json_member(&root, "s", true, &at, NULL), CLV_OK);
    cr_assert_eq(clv_json_string(&at, &s, NULL), CLV_OK);
    cr_assert_str_eq(s, "a\xc3\xa9\n");
    cr_assert_eq(clv_json_member(&root, "n", true, &at, NULL), CLV_OK);
    cr_assert_eq(clv_json_number(&at, -DBL_MAX, DBL_MAX, &n, NULL), CLV_OK);
    cr_assert_eq(n, -150);
    cr_assert_eq(clv_json_member(&root, "i", true, &at, NULL), CLV_OK);
    cr_assert_eq(clv_json_int(&at, INT64_MIN, INT64_MAX, &i, NULL), CLV_OK);
    cr_assert_eq(i, INT64_C(1) << 53);
    cr_assert_eq(clv_json_member(&root, "b", true, &at, NULL), CLV_OK);
    cr_assert_eq(clv_json_bool(&at, &b, NULL), CLV_OK);
    cr_assert(b);
    cr_assert_eq(clv_json_member(&root, "a", true, &at, NULL), CLV_OK);
    cr_assert_eq(clv_json_length(&at, &len, NULL), CLV_OK);
    cr_assert_eq(len, 3);
    for (int32_t k = 0; k < len; k++) {
        e = clv_json_element(&at, k, &e);
        cr_assert_eq(clv_json_int(&e, 1, 3, &i, NULL), CLV_OK);
        cr_assert_eq(i, k + 1);
    }
    e = clv_json_element(&at, 1, NULL);
    cr_assert_eq(clv_json_int(&e, 2, 2, &i, NULL), CLV_OK, "not in order too");
    cr_assert_null(clv_json_element(&at, 3, NULL).json);
    clv_json_free(json);
}

Test(json, an_absent_member_is_no_error_unless_required)
{
    clv_json *json = parsed("{\"a\": {}}");
    clv_json_at root = clv_json_root(json, "doc"), a, at = { 0 };
    clv_error err = { 0 };
    cr_assert_eq(clv_json_member(&root, "x", false, &at, NULL), CLV_OK);
    cr_assert_null(at.json);
    cr_assert_eq(clv_json_member(&root, "a", true, &a, NULL), CLV_OK);
    cr_assert_eq(clv_json_member(&a, "x", true, &at, &err), CLV_EFORMAT);
    cr_assert_str_eq(err.message, "doc: a has no key 'x', which is required");
    cr_assert_eq(clv_json_member(&root, "A", false, &at, NULL), CLV_OK);
    cr_assert_null(at.json, "case matters");
    clv_json_free(json);
}

Test(json, a_list_of_texts_is_copied_and_may_be_absent)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_json *json = parsed("{\"a\": [\"one\", \"\", \"two\"], \"b\": [], \"c\": [\"x\", 2]}");
    clv_json_at root = clv_json_root(json, "doc");
    const char **texts = NULL;
    int32_t n = -1;
    clv_error err = { 0 };
    cr_assert_eq(clv_json_copy_texts(&root, "none", arena, &texts, &n, &err), CLV_OK);
    cr_assert(n == -1 && !texts);
    cr_assert_eq(clv_json_copy_texts(&root, "b", arena, &texts, &n, &err), CLV_OK);
    cr_assert_eq(n, 0);
    cr_assert_eq(clv_json_copy_texts(&root, "c", arena, &texts, &n, &err), CLV_EFORMAT);
    cr_assert(strstr(err.message, "doc: c[1]"), "%s", err.message);
    cr_assert_eq(clv_json_copy_texts(&root, "a", arena, &texts, &n, &err), CLV_OK);
    clv_json_free(json);
    cr_assert_eq(n, 3);
    cr_assert_str_eq(texts[0], "one");
    cr_assert_str_empty(texts[1]);
    cr_assert_str_eq(texts[2], "two");
    clv_arena_free(arena);
}

Test(json, a_wrong_type_names_place_value_and_what_was_expected)
{
    clv_json *json = parsed("{\"a\": [{\"b\": \"text\"}, 7, null, 1.5, true, [], {}]}");
    clv_json_at root = clv_json_root(json, "doc"), a, e, b;
    clv_error err = { 0 };
    const char *s;
    double n;
    int64_t i;
    bool flag;
    int32_t len;
    cr_assert_eq(clv_json_member(&root, "a", true, &a, NULL), CLV_OK);
    e = clv_json_element(&a, 0, NULL);
    cr_assert_eq(clv_json_member(&e, "b", true, &b, NULL), CLV_OK);

    cr_assert_eq(clv_json_number(&b, 0, 1, &n, &err), CLV_EFORMAT);
    cr_assert_str_eq(err.message, "doc: a[0].b is \"text\", expected a number from 0 to 1");
    cr_assert_eq(clv_json_length(&b, &len, &err), CLV_EFORMAT);
    cr_assert_str_eq(err.message, "doc: a[0].b is \"text\", expected an array");
    e = clv_json_element(&a, 1, NULL);
    cr_assert_eq(clv_json_string(&e, &s, &err), CLV_EFORMAT);
    cr_assert_str_eq(err.message, "doc: a[1] is 7, expected a string");
    cr_assert_eq(clv_json_bool(&e, &flag, &err), CLV_EFORMAT);
    cr_assert_str_eq(err.message, "doc: a[1] is 7, expected true or false");
    cr_assert_eq(clv_json_member(&e, "x", false, &b, &err), CLV_EFORMAT);
    cr_assert_str_eq(err.message, "doc: a[1] is 7, expected an object");
    e = clv_json_element(&a, 2, NULL);
    cr_assert_eq(clv_json_int(&e, 0, 9, &i, &err), CLV_EFORMAT);
    cr_assert_str_eq(err.message, "doc: a[2] is null, expected a whole number from 0 to 9");
    e = clv_json_element(&a, 3, NULL);
    cr_assert_eq(clv_json_int(&e, 0, 9, &i, &err), CLV_EFORMAT);
    cr_assert_str_eq(err.message, "doc: a[3] is 1.5, expected a whole number from 0 to 9");
    e = clv_json_element(&a, 4, NULL);
    cr_assert_eq(clv_json_number(&e, 2, DBL_MAX, &n, &err), CLV_EFORMAT);
    cr_assert_str_eq(err.message, "doc: a[4] is true, expected a number of at least 2");
    cr_assert_eq(clv_json_int(&root, 0, 9, &i, &err), CLV_EFORMAT);
    cr_assert_str_eq(err.message, "doc is an object, expected a whole number from 0 to 9");
    clv_json_free(json);
}

Test(json, whole_numbers_beyond_2_to_53_are_refused_rather_than_rounded)
{
    clv_json *json =
        parsed("[9007199254740993, 9007199254740994, 1e300, -9007199254740992, -1e300]");
    clv_json_at root = clv_json_root(json, "doc"), e = { 0 };
    int64_t i = 5;
    for (int32_t k = 0; k < 5; k++) {
        e = clv_json_element(&root, k, &e);
        clv_status s = clv_json_int(&e, INT64_MIN, INT64_MAX, &i, NULL);
        /* 2^53 + 1 is read as 2^53 by any reader with doubles */
        cr_assert_eq(s, k == 0 || k == 3 ? CLV_OK : CLV_EFORMAT, "element %d", (int)k);
    }
    cr_assert_eq(i, -(INT64_C(1) << 53));
    clv_json_free(json);
}

Test(json, numbers_are_rounded_to_the_digit)
{
    clv_json *json = parsed("{\"\\\"1\": [true, 2.5, 9007199254740993.5, 0.9007199254740993001e16, "
                            "999999999999999999, 1000000000000000001]}");
    static const int64_t want[][2] = { { 2, 3 },
                                       { 9007199254740993, 9007199254740994 },
                                       { 9007199254740993, 9007199254740994 },
                                       { 999999999999999999, 999999999999999999 } };
    const int64_t most = INT64_C(1000000000000000000);
    clv_json_at root = clv_json_root(json, "doc"), list, e;
    int64_t i = 5;
    cr_assert_eq(clv_json_member(&root, "\"1", true, &list, NULL), CLV_OK);
    e = clv_json_element(&list, 0, NULL);
    cr_assert_eq(clv_json_rounded(&e, most, true, &i, NULL), CLV_EFORMAT);
    for (int32_t k = 0; k < 4; k++) {
        e = clv_json_element(&list, k + 1, &e);
        for (int32_t up = 0; up < 2; up++) {
            cr_assert_eq(clv_json_rounded(&e, most, up, &i, NULL), CLV_OK);
            cr_assert_eq(i, want[k][up], "element %d: %lld", (int)k + 1, (long long)i);
        }
    }
    e = clv_json_element(&list, 5, &e);
    cr_assert_eq(clv_json_rounded(&e, most, true, &i, NULL), CLV_EFORMAT);
    clv_json_free(json);
}

Test(json, unknown_keys_are_named_with_those_that_are_known)
{
    static const char *const keys[] = { "name", "size", NULL };
    clv_json *json = parsed("{\"name\": 1, \"sise\": 2}");
    clv_json_at root = clv_json_root(json, "doc");
    clv_error err = { 0 };
    cr_assert_eq(clv_json_keys(&root, keys, &err), CLV_EFORMAT);
    cr_assert_str_eq(err.message, "doc has the unknown key 'sise', expected only name, size");
    cr_assert_str_eq(clv_json_key_at(&root, 0), "name");
    cr_assert_str_eq(clv_json_key_at(&root, 1), "sise");
    cr_assert_null(clv_json_key_at(&root, 2));
    clv_json_free(json);
}

/* Marks and line breaks in texts are none. */
#define LINES                                                                                      \
    "\n{ \"a\": [1,\r\n  true, \"]\\\"\\n,\", 4 ], \"b\\\"\": {},\n"                               \
    "  \"c\":\n    { \"d\": null }, \"e\": [\n] }\n"

Test(json, places_have_the_line_of_a_document_of_several)
{
    static const char *const keys[] = { "a", "b\"", "c", NULL };
    clv_json *json = parsed(LINES);
    clv_json_at root = clv_json_root(json, "doc"), a, b, c, d;
    clv_error err = { 0 };
    char path[64];
    cr_assert_eq(clv_json_member(&root, "a", true, &a, &err), CLV_OK);
    cr_expect_str_eq(clv_json_path(&a, path, sizeof path), "doc:2: a");
    for (int32_t i = 0; i < 4; i++) {
        clv_json_at at = clv_json_element(&a, i, NULL);
        char want[64];
        snprintf(want, sizeof want, "doc:%d: a[%d]", i == 0 ? 2 : 3, (int)i);
        cr_expect_str_eq(clv_json_path(&at, path, sizeof path), want);
    }
    cr_assert_eq(clv_json_member(&root, "b\"", true, &b, &err), CLV_OK);
    cr_expect_str_eq(clv_json_path(&b, path, sizeof path), "doc:3: b\"");
    cr_assert_eq(clv_json_member(&root, "c", true, &c, &err), CLV_OK);
    cr_assert_eq(clv_json_member(&c, "x", false, &d, &err), CLV_OK);
    cr_expect_str_eq(clv_json_path(&d, path, sizeof path), "doc:5: c.x", "where it is absent");
    cr_expect_str_eq(clv_json_path(&root, path, sizeof path), "doc");
    cr_assert_eq(clv_json_keys(&root, keys, &err), CLV_EFORMAT);
    cr_expect(strstr(err.message, "doc:5 has the unknown key 'e'"), "%s", err.message);
    clv_json_free(json);
    refused("{\"a\": 1,\n\"b\": {\n\"c\": 1,\n\"c\": 2}}", "doc:4: b has the key 'c' twice");
    json = parsed("\n {\"a\": [5]}\n");
    root = clv_json_root(json, "doc");
    cr_assert_eq(clv_json_member(&root, "a", true, &a, &err), CLV_OK);
    cr_expect_str_eq(clv_json_path(&a, path, sizeof path), "doc: a", "all is on one line");
    clv_json_free(json);
}

Test(json, an_empty_text_is_said_to_be_empty)
{
    refused("", "doc is empty");
    refused(" \n\t\r ", "doc is empty");
    refused("\xef\xbb\xbf", "doc is empty");
}

Test(json, of_a_line_the_column_alone_is_named)
{
    clv_json *json = NULL;
    clv_error err;
    cr_assert_eq(clv_json_parse_line("{\"a\" 1}", 7, "doc: line 3", &json, &err), CLV_EFORMAT);
    cr_assert_str_eq(err.message,
                     "doc: line 3, column 6: not JSON: '1', expected ':' behind a key");
    cr_assert_eq(clv_json_parse_line("{\"a\": 1}", 8, "doc: line 3", &json, &err), CLV_OK);
    clv_json_free(json);
}

Test(json, a_syntax_error_names_line_column_and_what_was_expected)
{
    refused("{\n  \"a\": 1,\n  \"b\" 2\n}",
            "line 3, column 7: not JSON: '2', expected ':' behind a key");
    refused("{\"\xc3\xa9\" 1}", "line 1, column 6"); /* a column is a character, not a byte */
    refused("[1, 2", "the end, expected ',' or ']'");
    refused("{\"a\": 1", "the end, expected ',' or '}'");
    refused("{\"a\": 1,", "the end, expected a string in double quotes");
    refused("{\"1\":1,", "the end, expected a string"); /* cJSON 1.7.15 reads past this one */
    refused("[1,]", "']', expected a value");
    refused("[,1]", "expected a value");
    refused("{a: 1}", "'a', expected a string in double quotes");
    refused("[1 2]", "expected ',' or ']'");
    refused("[1}", "expected ',' or ']'");
    refused("tru", "expected a value");
    refused("nul", "expected a value");
    refused("'a'", "expected a value");
    refused("NaN", "expected a value");
    refused("Infinity", "expected a value");
}

Test(json, text_after_the_value_is_refused)
{
    refused("{} x", "'x', expected nothing behind the value");
    refused("1 2", "expected nothing behind the value");
    refused("{}{}", "expected nothing behind the value");
    clv_error err = { 0 };
    cr_assert_eq(parse_exactly("{}\0", 3, &err), CLV_EFORMAT);
    cr_assert(strstr(err.message, "byte 0x00"), "said: %s", err.message);
}

Test(json, numbers_are_those_of_the_standard_and_finite)
{
    const char *const bad[] = { "01", "-",   "+1",  ".5",   "1.",  "1.e3",
                                "1e", "1e+", "-01", "0x10", "--1", "1.2.3" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(bad[i], "line 1");
    refused("{\"a\": [1e400]}", "doc: a[0] is a number beyond 1.8e308");
    refused("-1e999", "beyond");
    refused("1111111111222222222233333333334444444444555555555566666666667777",
            "at most 63 characters");
    const char *const good[] = {
        "0", "-0", "1e-400", "0.1", "1E5", "1e+5", "123456789012345678901234567890"
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        cr_assert_eq(parse_exactly(good[i], strlen(good[i]), NULL), CLV_OK, "%s", good[i]);
}

Test(json, strings_are_utf_8_without_control_characters)
{
    refused("\"a\nb\"", "no control character");
    refused("\"a", "closing quote");
    refused("\"a\\", "behind a backslash");
    refused("\"\\x41\"", "behind a backslash");
    refused("\"\\u12g4\"", "four hexadecimal digits");
    refused("\"\\u0000\"", "without \\u0000");
    refused("\"\\ud800\"", "low half");
    refused("\"\\ud800\\u0041\"", "low half");
    refused("\"\\udc00\"", "high half");
    refused("\"\xff\"", "byte 0xff, expected a string in UTF-8");
    refused("\"\xc0\x80\"", "UTF-8");         /* overlong */
    refused("\"\xed\xa0\x80\"", "UTF-8");     /* a surrogate */
    refused("\"\xf4\x90\x80\x80\"", "UTF-8"); /* above U+10FFFF */
    refused("\"\xe2\x82\"", "UTF-8");         /* cut off */
    clv_json *json = parsed("\"\\ud83d\\ude00\xf0\x9f\x98\x80\\/\"");
    clv_json_at root = clv_json_root(json, "doc");
    const char *s;
    cr_assert_eq(clv_json_string(&root, &s, NULL), CLV_OK);
    cr_assert_str_eq(s, "\xf0\x9f\x98\x80\xf0\x9f\x98\x80/");
    clv_json_free(json);
}

Test(json, a_key_given_twice_is_refused_at_any_depth)
{
    refused("{\"a\": 1, \"b\": 2, \"a\": 3}", "doc has the key 'a' twice");
    refused("[{\"x\": {\"k\": 1, \"k\": 1}}]", "doc: [0].x has the key 'k' twice");
    refused("{\"a\": 1, \"\\u0061\": 2}", "'a' twice");
    refused(
        "{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"j\":1,\"b\":2}",
        "'b' twice");
}

Test(json, nesting_over_64_is_refused_and_64_is_not)
{
    char text[400];
    for (int depth = 64; depth <= 65; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        clv_error err = { 0 };
        clv_status s = parse_exactly(text, (size_t)depth * 2, &err);
        cr_assert_eq(s, depth == 64 ? CLV_OK : CLV_ELIMIT);
        cr_assert(depth == 64 || strstr(err.message, "nested more than 64 deep"), "%s",
                  err.message);
    }
}

Test(json, a_million_brackets_do_not_overflow_the_stack)
{
    size_t n = 1000000;
    char *text = malloc(n);
    memset(text, '[', n);
    cr_assert_eq(parse_exactly(text, n, NULL), CLV_ELIMIT);
    free(text);
}

/* Pair by pair this would be 5e9 comparisons. */
Test(json, an_object_with_many_keys_is_not_quadratic, .timeout = 20)
{
    enum { N = 100000 };
    char *text = malloc(N * 16 + 2);
    size_t n = (size_t)sprintf(text, "{");
    for (int i = 0; i < N; i++)
        n += (size_t)sprintf(text + n, "%s\"k%d\":0", i ? "," : "", i);
    n += (size_t)sprintf(text + n, "}");
    cr_assert_eq(parse_exactly(text, n, NULL), CLV_OK);
    free(text);
}

/* No prefix of a document is read past its end, nor taken for the whole. */
Test(json, every_prefix_of_a_document_is_refused)
{
    const char text[] =
        "{\"a\": [1, -2.5e3, \"x\\u00e9\\n\", true, false, null], \"b\": {\"1\":1, \"c\": {}}}";
    for (size_t n = 0; n < sizeof text - 1; n++)
        cr_assert_eq(parse_exactly(text, n, NULL), CLV_EFORMAT, "%zu bytes", n);
    cr_assert_eq(parse_exactly(text, sizeof text - 1, NULL), CLV_OK);
}

Test(json, paths_are_cut_to_the_buffer)
{
    clv_json *json = parsed("{\"abc\": [[1]]}");
    clv_json_at root = clv_json_root(json, "doc"), a, b, c;
    char path[64];
    cr_assert_eq(clv_json_member(&root, "abc", true, &a, NULL), CLV_OK);
    b = clv_json_element(&a, 0, NULL);
    c = clv_json_element(&b, 0, NULL);
    cr_assert_str_eq(clv_json_path(&c, path, sizeof path), "doc: abc[0][0]");
    cr_assert_str_eq(clv_json_path(&c, path, 8), "doc: ab");
    cr_assert_str_eq(clv_json_path(&c, path, 1), "");
    clv_json_free(json);
}

/* -- writing -- */

static void write_sample(clv_json_out *out)
{
    clv_json_open_object(out, NULL);
    clv_json_put_string(out, "s", "a\"\\\n\x01");
    clv_json_put_int(out, "i", INT64_MIN);
    clv_json_open_array(out, "a");
    clv_json_put_number(out, NULL, 0.1);
    clv_json_put_bool(out, NULL, true);
    clv_json_open_object(out, NULL);
    clv_json_close_object(out);
    clv_json_close_array(out);
    clv_json_open_array(out, "e");
    clv_json_close_array(out);
    clv_json_put_null(out, "n");
    clv_json_close_object(out);
}

Test(json, writes_compact_text)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_json_out out;
    clv_json_begin(&out, arena, false);
    write_sample(&out);
    cr_assert_eq(clv_json_end(&out, NULL), CLV_OK);
    cr_assert_str_eq(out.text, "{\"s\":\"a\\\"\\\\\\n\\u0001\",\"i\":-9223372036854775808,"
                               "\"a\":[0.1,true,{}],\"e\":[],\"n\":null}\n");
    cr_assert_eq(out.n, strlen(out.text));
    clv_arena_free(arena);
}

Test(json, writes_pretty_text)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_json_out out;
    clv_json_begin(&out, arena, true);
    write_sample(&out);
    cr_assert_eq(clv_json_end(&out, NULL), CLV_OK);
    cr_assert_str_eq(out.text, "{\n"
                               "  \"s\": \"a\\\"\\\\\\n\\u0001\",\n"
                               "  \"i\": -9223372036854775808,\n"
                               "  \"a\": [\n"
                               "    0.1,\n"
                               "    true,\n"
                               "    {}\n"
                               "  ],\n"
                               "  \"e\": [],\n"
                               "  \"n\": null\n"
                               "}\n");
    clv_json_free(parsed(out.text));
    clv_arena_free(arena);
}

static const char *number(double v)
{
    static char buf[32];
    return clv_json_number_text(buf, v);
}

Test(json, numbers_are_the_shortest_that_read_back_the_same)
{
    cr_assert_str_eq(number(0), "0");
    cr_assert_str_eq(number(0.1), "0.1");
    cr_assert_str_eq(number(1.0 / 3), "0.3333333333333333");
    cr_assert_str_eq(number(0.1 + 0.2), "0.30000000000000004");
    cr_assert_str_eq(number(989.4e12), "989400000000000");
    cr_assert_str_eq(number(-1.5e-7), "-1.5e-07");
    uint64_t bits = 88172645463325252;
    for (int i = 0; i < 20000; i++) { /* xorshift over all bit patterns */
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        double v;
        memcpy(&v, &bits, sizeof v);
        if (isfinite(v))
            cr_assert_eq(strtod(number(v), NULL), v);
    }
    cr_assert_eq(strtod(number(DBL_MAX), NULL), DBL_MAX);
    cr_assert_eq(strtod(number(DBL_TRUE_MIN), NULL), DBL_TRUE_MIN);
}

Test(json, nan_and_infinity_become_null)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_json_out out;
    clv_json_begin(&out, arena, false);
    clv_json_open_array(&out, NULL);
    clv_json_put_number(&out, NULL, NAN);
    clv_json_put_number(&out, NULL, -INFINITY);
    clv_json_put_string(&out, NULL, NULL);
    clv_json_close_array(&out);
    cr_assert_eq(clv_json_end(&out, NULL), CLV_OK);
    cr_assert_str_eq(out.text, "[null,null,null]\n");
    clv_arena_free(arena);
}

/* A host may have called setlocale. Where no such locale is installed there is nothing to see. */
Test(json, a_locale_with_a_decimal_comma_changes_nothing)
{
    const char *const comma[] = { "de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "ru_RU.UTF-8" };
    bool set = false;
    for (size_t i = 0; i < sizeof comma / sizeof *comma && !set; i++)
        set = setlocale(LC_NUMERIC, comma[i]) != NULL;
    if (!set)
        cr_skip("no locale with a decimal comma is installed");
    cr_assert_str_eq(number(0.5), "0.5");
    clv_json *json = parsed("2.5");
    clv_json_at root = clv_json_root(json, "doc");
    double v;
    cr_assert_eq(clv_json_number(&root, 0, 9, &v, NULL), CLV_OK);
    cr_assert_eq(v, 2.5);
    clv_json_free(json);
    setlocale(LC_NUMERIC, "C");
}

Test(json, invalid_utf_8_and_nul_are_written_as_the_replacement_character)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_json_out out;
    clv_json_begin(&out, arena, false);
    clv_json_put_str(&out, NULL, (clv_str){ "a\xff\0\xc3\xa9\xe2\x82", 7 });
    cr_assert_eq(clv_json_end(&out, NULL), CLV_OK);
    cr_assert_str_eq(out.text, "\"a\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\"\n");
    clv_json_free(parsed(out.text));
    clv_arena_free(arena);
}

/* As "\u009b" they say the same to a reader, and nothing to a terminal. */
Test(json, control_characters_are_escaped)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_json_out out;
    clv_json_begin(&out, arena, false);
    clv_json_put_string(&out, NULL, "a\x1b\x7f\xc2\x80z\xc2\x9f\xc2\xa0");
    cr_assert_eq(clv_json_end(&out, NULL), CLV_OK);
    cr_assert_str_eq(out.text, "\"a\\u001b\\u007f\\u0080z\\u009f\xc2\xa0\"\n");
    clv_json_free(parsed(out.text));
    clv_arena_free(arena);
}

/* Any bytes as a string, written and read: what is valid comes back the same. */
Test(json, every_character_survives_writing_and_reading)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    for (int c = 1; c < 0x80; c++) {
        char text[3] = { (char)c, 'z', 0 };
        clv_json_out out;
        const char *back;
        clv_json_begin(&out, arena, false);
        clv_json_put_string(&out, NULL, text);
        cr_assert_eq(clv_json_end(&out, NULL), CLV_OK);
        clv_json *json = parsed(out.text);
        clv_json_at root = clv_json_root(json, "doc");
        cr_assert_eq(clv_json_string(&root, &back, NULL), CLV_OK);
        cr_assert_str_eq(back, text);
        clv_json_free(json);
    }
    clv_arena_free(arena);
}

/* Give it a little more each time: it fails cleanly until it succeeds. */
Test(json, writing_survives_running_out_of_memory_anywhere)
{
    clv_status s = CLV_ENOMEM;
    int failures = 0;
    for (size_t limit = 1; s != CLV_OK; limit += 16) {
        clv_arena *arena = clv_arena_new(NULL, limit);
        clv_json_out out;
        clv_error err = { 0 };
        clv_json_begin(&out, arena, true);
        clv_json_open_array(&out, NULL);
        for (int i = 0; i < 20; i++)
            write_sample(&out);
        clv_json_close_array(&out);
        s = clv_json_end(&out, &err);
        cr_assert(s == CLV_OK || s == CLV_ENOMEM);
        failures += s != CLV_OK;
        clv_arena_free(arena);
    }
    cr_assert_gt(failures, 10);
}
