#include "cluster/kernel_times_json.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static clv_arena *arena;
static void open_arena(void) { arena = clv_arena_new(NULL, 0); }
static void close_arena(void) { clv_arena_free(arena); }
TestSuite(kernel_times_json, .init = open_arena, .fini = close_arena);

#define FILE_OF(tables)                                                                            \
    "{\"version\": 1, \"name\": \"d\", \"source\": \"s\", \"date\": \"2026\", \"tables\": "        \
    "[" tables "]}"
#define TYPES   "\"dtype\": \"BFLOAT16\", \"weights\": \"INT8\", "
#define PRODUCT "{\"kernel\": \"product\", " TYPES
#define AXES    "\"axes\": {\"m\": [1, 8], \"n\": [64], \"k\": [32, 64, 128]}, "
#define GOOD    PRODUCT AXES "\"us\": [1, 2, 3, 1, 2.5, 3]}"

static clv_status parse(const char *text, clv_kernel_times **ret, clv_error *err)
{
    return clv_kernel_times_parse(text, strlen(text), "t.json", arena, ret, err);
}

static void refused(const char *text, const char *words)
{
    clv_kernel_times *times = NULL;
    clv_error err = { 0 };
    cr_assert_eq(parse(text, &times, &err), CLV_EFORMAT, "%s", text);
    cr_expect(strstr(err.message, words) == err.message, "%s\nexpected %s", err.message, words);
    cr_expect_null(times);
}

Test(kernel_times_json, a_table_reads_back)
{
    clv_kernel_times *t = NULL;
    clv_error err = { 0 };
    double ns;
    cr_assert_eq(parse(FILE_OF(GOOD ", {\"kernel\": \"start\", \"axes\": {}, \"us\": [2.6], "
                                    "\"rows\": 40, \"error\": {\"median\": 0.1, \"p95\": 0.2}}"),
                       &t, &err),
                 CLV_OK, "%s", err.message);
    cr_assert_eq(t->n, 2);
    cr_expect_eq(t->at[0].kind, CLV_TIMED_PRODUCT);
    cr_expect_eq(t->at[0].weights, CLV_DT_INT8);
    cr_expect_float_eq(clv_time_table_ns(&t->at[0].table, (double[]){ 8, 64, 64 }), 2500, 1e-9);
    cr_expect(clv_start_ns(t, &ns) && ns == 2600);
    cr_expect_eq(t->at[1].rows, 40);
    cr_expect_float_eq(t->at[1].p95_error, 0.2, 0);
    cr_expect_lt(t->at[0].p95_error, 0, "not known");
    cr_expect_not(clv_memory_ns(t, 1, &ns));
}

Test(kernel_times_json, only_what_is_in_the_cache_may_fall)
{
    clv_kernel_times *t = NULL;
    clv_error err = { 0 };
    cr_assert_eq(parse(FILE_OF("{\"kernel\": \"product_cached\", " TYPES AXES
                               "\"us\": [1, 3, 2, 0.5, 2, 3]}"),
                       &t, &err),
                 CLV_OK, "%s", err.message);
    cr_expect_eq(t->at[0].kind, CLV_TIMED_PRODUCT_CACHED);
    refused(FILE_OF(PRODUCT AXES "\"us\": [1, 3, 2, 0.5, 2, 3]}"),
            "t.json: tables[0].us[2] is 2, expected at least the 3 of us[1]");
}

Test(kernel_times_json, of_what)
{
    refused(FILE_OF("{\"kernel\": \"sort\", \"axes\": {}, \"us\": [1]}"),
            "t.json: tables[0].kernel is 'sort', expected product, ");
    refused(FILE_OF("{\"kernel\": \"product\", " AXES "\"us\": [1, 1, 1, 1, 1, 1]}"),
            "t.json: tables[0] has no key 'dtype'");
    refused(FILE_OF("{\"kernel\": \"start\", \"dtype\": \"BFLOAT16\", \"axes\": {}, \"us\": [1]}"),
            "t.json: tables[0] has the unknown key 'dtype'");
    refused(
        FILE_OF("{\"kernel\": \"product\", \"dtype\": \"FLOAT16\", \"weights\": \"FLOAT16\", " AXES
                "\"us\": [1, 1, 1, 1, 1, 1]}"),
        "t.json: tables[0].dtype is 'FLOAT16', expected BFLOAT16, which stands for it");
    refused(FILE_OF("{\"kernel\": \"product\", \"dtype\": \"STRING\", \"weights\": \"INT8\", " AXES
                    "\"us\": [1, 1, 1, 1, 1, 1]}"),
            "t.json: tables[0].dtype is 'STRING', expected an element type");
    refused(FILE_OF("{\"kernel\": \"collective\", \"operation\": \"send\", \"devices\": 2, "
                    "\"library\": \"l\", \"axes\": {\"bytes\": [1]}, \"us\": [1]}"),
            "t.json: tables[0].operation is 'send', expected all_reduce, ");
    refused(FILE_OF("{\"kernel\": \"collective\", \"operation\": \"all_reduce\", \"devices\": 1, "
                    "\"library\": \"l\", \"axes\": {\"bytes\": [1]}, \"us\": [1]}"),
            "t.json: tables[0].devices is 1");
    refused(FILE_OF(GOOD ", " GOOD), "t.json: tables[1] is for the same kernels as tables[0]");
    refused(FILE_OF(""), "t.json: tables has 0 tables, expected 1 to");
    refused("{\"version\": 1}", "t.json has no key 'name'");
    refused("[]", "t.json");
}

Test(kernel_times_json, axes)
{
    refused(FILE_OF(PRODUCT "\"axes\": {\"m\": [1], \"n\": [1]}, \"us\": [1]}"),
            "t.json: tables[0].axes has no key 'k'");
    refused(FILE_OF(PRODUCT "\"axes\": {\"m\": [1], \"k\": [1], \"n\": [1]}, \"us\": [1]}"),
            "t.json: tables[0].axes has 'k' in place 2, expected 'n'");
    refused(FILE_OF(PRODUCT "\"axes\": {\"m\": [8, 8], \"n\": [1], \"k\": [1]}, \"us\": [1, 1]}"),
            "t.json: tables[0].axes.m[1] is 8, expected more than the 8 before it");
    refused(FILE_OF(PRODUCT "\"axes\": {\"m\": [0], \"n\": [1], \"k\": [1]}, \"us\": [1]}"),
            "t.json: tables[0].axes.m[0] is 0");
    refused(FILE_OF(PRODUCT "\"axes\": {\"m\": [], \"n\": [1], \"k\": [1]}, \"us\": []}"),
            "t.json: tables[0].axes.m has 0 sizes, expected 1 to 64");
}

Test(kernel_times_json, times)
{
    refused(FILE_OF(PRODUCT AXES "\"us\": [1, 2, 3, 1, 2]}"),
            "t.json: tables[0].us has 5 times, expected 6");
    refused(FILE_OF(PRODUCT AXES "\"us\": [1, 2, 3, 1, 2, 0]}"), "t.json: tables[0].us[5] is 0");
    refused(FILE_OF(PRODUCT AXES "\"us\": [1, 2, 3, 1, -2, 3]}"), "t.json: tables[0].us[4] is -2");
    refused(FILE_OF(PRODUCT AXES "\"us\": [1, 2, 3, 1, 1.5, 3]}"),
            "t.json: tables[0].us[4] is 1.5, expected at least the 2 of us[1]");
    refused(FILE_OF(PRODUCT AXES "\"us\": [1, 2, 1.5, 1, 2, 3]}"),
            "t.json: tables[0].us[2] is 1.5, expected at least the 2 of us[1]");
    refused(FILE_OF(PRODUCT AXES "\"us\": [1, 2, 3, 1, \"2\", 3]}"), "t.json: tables[0].us[4]");
    refused(FILE_OF("{\"kernel\": \"start\", \"axes\": {}, \"us\": [1], \"rows\": 0}"),
            "t.json: tables[0].rows is 0");
    refused(FILE_OF("{\"kernel\": \"start\", \"axes\": {}, \"us\": [1], \"error\": {}}"),
            "t.json: tables[0].error has no key 'median'");
}
