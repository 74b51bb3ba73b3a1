/* test_runtime_json.c - what a description of a runtime may hold, and how a wrong one is refused.
 */
#include <stdio.h>
#include <string.h>

#include "kernels/runtime_json.h"

#include <criterion/criterion.h>

#define HEAD "{\"version\":1,\"name\":\"r\",\"source\":\"s\",\"starts\":\"graph\","

static clv_status parse(clv_arena *arena, const char *text, clv_runtime **ret, clv_error *err)
{
    return clv_runtime_parse(text, strlen(text), "r.json", arena, ret, err);
}

Test(runtime_json, a_pattern_has_its_stages_and_sets)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_runtime *r = NULL;
    clv_error err = { 0 };
    clv_status s =
        parse(arena,
              HEAD "\"sets\":{\"p\":[\"Add\",\"Mul\"]},\"patterns\":[{\"name\":\"x\","
                   "\"kind\":\"product\",\"source\":\"s\",\"start\":[\"MatMul\"],"
                   "\"packed\":true,\"after\":[{\"operators\":[\"@p\",\"Relu\"],\"max\":2}]"
                   "}]}",
              &r, &err);
    cr_assert_eq(s, CLV_OK, "%s", err.message);
    cr_expect(r->graph && r->n == 1 && r->patterns[0].packed);
    cr_expect(r->patterns[0].kind == CLV_KERNEL_PRODUCT && r->patterns[0].n_after == 1);
    cr_expect_eq(r->patterns[0].after[0].max, 2);
    clv_arena_free(arena);
}

Test(runtime_json, one_that_extends_another_has_the_host_and_no_patterns)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_runtime *r = NULL;
    clv_error err = { 0 };
    clv_status s =
        parse(arena,
              "{\"version\":1,\"name\":\"r\",\"source\":\"s\",\"extends\":\"engine\",\"host\":{"
              "\"run\":{\"value\":\"0.25ms\",\"source\":\"s\"},"
              "\"sequence\":{\"value\":\"30us\",\"source\":\"s\"}}}",
              &r, &err);
    cr_assert_eq(s, CLV_OK, "%s", err.message);
    cr_expect_str_eq(r->extends, "engine");
    cr_expect(r->host.run_ns == 250000 && r->host.sequence_ns == 30000 && r->n == 0);
    cr_expect(r->host.request_ns == 0 && r->host.prompt_token_ns == 0 && !r->last_token);
    s = parse(arena, HEAD "\"quantises\":\"producer\",\"patterns\":[]}", &r, &err);
    cr_assert_eq(s, CLV_OK, "%s", err.message);
    cr_expect(r->quantised && !r->extends && r->host.run_ns == 0);
    clv_arena_free(arena);
}

#define HOST(more)                                                                                 \
    HEAD "\"patterns\":[],\"host\":{\"run\":{\"value\":\"1ms\",\"source\":\"s\"},"                 \
         "\"sequence\":{\"value\":\"1us\",\"source\":\"s\"}" more "}}"

Test(runtime_json, a_serving_loop_has_a_front_end_and_logits_of_the_last_token)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_runtime *r = NULL;
    clv_error err = { 0 };
    clv_status s = parse(arena,
                         HOST(",\"request\":{\"value\":\"40ms\",\"source\":\"s\"},"
                              "\"prompt_token\":{\"value\":\"9us\",\"source\":\"s\"}"),
                         &r, &err);
    cr_assert_eq(s, CLV_OK, "%s", err.message);
    cr_expect(r->host.request_ns == 40000000 && r->host.prompt_token_ns == 9000);
    s = parse(arena, HEAD "\"logits\":\"last_token\",\"patterns\":[]}", &r, &err);
    cr_assert_eq(s, CLV_OK, "%s", err.message);
    cr_expect(r->last_token);
    s = parse(arena, HEAD "\"logits\":\"all_tokens\",\"patterns\":[]}", &r, &err);
    cr_assert_eq(s, CLV_OK, "%s", err.message);
    cr_expect(!r->last_token);
    clv_arena_free(arena);
}

#define PATTERN(more)                                                                              \
    HEAD "\"patterns\":[{\"name\":\"x\",\"kind\":\"memory\",\"source\":\"s\"," more "}]}"

Test(runtime_json, what_is_wrong_is_said_with_where)
{
    static const char *const bad[][2] = {
        { "{", "r.json" },
        { "{\"version\":2}", "version is 2" },
        { HEAD "\"patterns\":[],\"more\":1}", "unknown key 'more'" },
        { "{\"version\":1,\"name\":\"r\",\"source\":\"s\",\"starts\":\"soon\",\"patterns\":[]}",
          "starts is 'soon', expected graph or host" },
        { HEAD "\"extends\":\"engine\",\"patterns\":[]}",
          "starts stands beside 'extends', expected the kernels of 'engine' as they are" },
        { HEAD "\"quantises\":\"nobody\",\"patterns\":[]}",
          "quantises is 'nobody', expected product or producer" },
        { HEAD "\"logits\":\"first_token\",\"patterns\":[]}",
          "logits is 'first_token', expected all_tokens or last_token" },
        { HOST(",\"request\":{\"value\":\"1ms\",\"source\":\"s\"}"),
          "host has no key 'prompt_token'" },
        { HOST(",\"prompt_token\":{\"value\":\"1ms\",\"source\":\"s\"}"),
          "host has no key 'request'" },
        { HEAD "\"host\":{\"run\":{\"value\":\"1ms\",\"source\":\"s\"}},\"patterns\":[]}",
          "host has no key 'sequence'" },
        { HEAD "\"host\":{\"run\":{\"value\":\"-1ms\",\"source\":\"s\"},\"sequence\":{\"value\":"
               "\"1us\",\"source\":\"s\"}},\"patterns\":[]}",
          "host.run.value is '-1ms'" },
        { PATTERN("\"start\":[]"), "patterns[0].start is empty" },
        { PATTERN("\"start\":[\"MatMull\"]"), "start[0] is 'MatMull', expected an operator" },
        { PATTERN("\"start\":[\"@none\"]"), "'@none', expected the name of one of the sets" },
        { PATTERN("\"start\":[\"Add\",\"Add\"]"),
          "start[1] is 'Add', which is in the list already" },
        { PATTERN("\"start\":[\"Conv/grouped\"]"), "'Conv/grouped', expected an operator" },
        { PATTERN("\"start\":[\"Add\"],\"after\":[{\"operators\":[\"Add\"],\"min\":3,\"max\":2}]"),
          "after[0] can never match: min is 3 and max 2" },
        { PATTERN("\"start\":[\"Add\"],\"after\":[{\"operators\":[\"Add\"],\"max\":0}]"),
          "can never match" },
        { PATTERN("\"start\":[\"Add\"],\"after\":[{\"operators\":[\"Add\"],\"min\":-1}]"),
          "min is -1" },
        { PATTERN("\"start\":[\"Add\"],\"after\":[{\"operators\":[\"Add\"],\"shared\":true}]"),
          "unknown key 'shared'" },
        { PATTERN("\"start\":[\"Add\"],\"after\":[{\"operators\":[\"Add\"],\"with\":\"it\"}]"),
          "after[0].with is 'it', expected 'constants', 'a constant row'" },
        { PATTERN("\"start\":[\"Add\"],\"after\":[{\"operators\":[\"Transpose\"],"
                  "\"transposes\":\"any\"}]"),
          "after[0].transposes is 'any', expected 'of matrices'" },
        { PATTERN("\"start\":[\"Add\"],\"before\":[{\"operators\":[\"Add\"],"
                  "\"transposes\":\"of matrices\"}]"),
          "before[0].transposes says how to transpose, expected Transpose in the list" },
        { PATTERN("\"runs_as\":\"Gemm\",\"start\":[\"Add\"]"),
          "runs_as is 'Gemm', expected an operator by elements or rows" },
        { PATTERN("\"runs_as\":\"Gelu2\",\"start\":[\"Add\"]"), "runs_as is 'Gelu2', expected" },
        { HEAD "\"patterns\":[{\"name\":\"x\",\"kind\":\"product\",\"source\":\"s\",\"runs_as\":"
               "\"Relu\",\"start\":[\"MatMul\"]}]}",
          "runs_as is 'Relu', expected a product such as Gemm" },
        { PATTERN("\"start\":[\"Add\"],\"before\":[{\"operators\":[\"Add\"],\"alone\":true}]"),
          "unknown key 'alone'" },
        { PATTERN("\"start\":[\"Add\"],\"after\":[{\"operators\":[\"Add\"],\"alone\":1}]"),
          "alone" },
        { PATTERN("\"start\":[\"Add\"]},{\"name\":\"y\",\"kind\":\"memory\",\"source\":\"s\","
                  "\"start\":[\"Add\"]"),
          "pattern 'y' can never match, for 'x' before it takes all" },
        { PATTERN("\"start\":[\"Add\"]},{\"name\":\"x\",\"kind\":\"memory\",\"source\":\"s\","
                  "\"start\":[\"Mul\"]"),
          "there are two patterns 'x'" },
        { HEAD
          "\"patterns\":[{\"name\":\"x\",\"kind\":\"fast\",\"source\":\"s\",\"start\":[\"Add\"]}]}",
          "kind is 'fast', expected memory, product, attention or experts" },
        { HEAD "\"patterns\":[{\"name\":\"x\",\"kind\":\"attention\",\"source\":\"s\",\"start\":"
               "[\"Softmax\"],\"before\":[{\"operators\":[\"Add\"]},{\"operators\":[\"Mul\"]}]}]}",
          "expected a product with a min of 1" },
        { HEAD "\"patterns\":[{\"name\":\"x\",\"kind\":\"experts\",\"source\":\"s\",\"start\":"
               "[\"TopK\"],\"after\":[{\"operators\":[\"Slice\"]},{\"operators\":[\"Mul\"],"
               "\"operands\":[\"Relu\"]}]}]}",
          "pattern 'x' can never match, expected products in a stage behind" },
        { HEAD
          "\"sets\":{\"p\":[\"@p\"]},\"patterns\":[{\"name\":\"x\",\"kind\":\"memory\",\"source\":"
          "\"s\",\"start\":[\"@p\"]}]}",
          "expected an operator" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        clv_runtime *r = NULL;
        clv_error err = { 0 };
        cr_expect_eq(parse(arena, bad[i][0], &r, &err), CLV_EFORMAT, "%s", bad[i][0]);
        cr_expect(strstr(err.message, bad[i][1]) && strstr(err.message, "r.json"), "%s: '%s'",
                  bad[i][0], err.message);
        cr_expect_null(r);
        clv_arena_free(arena);
    }
}
