/* test_shards.c - cleave_model_shards: both forms, wrong requests, and no memory at any point. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cleave.h"
#include "support/onnx_builder.h"

typedef struct {
    long left; /* allocations that still succeed */
} budget;

static void *resize(void *ctx, void *p, size_t size)
{
    budget *b = ctx;
    if (size == 0) {
        free(p);
        return NULL;
    }
    return b->left-- > 0 ? realloc(p, size) : NULL;
}

/* One axis in two, on devices 0 and 1. */
static void put(test_graph *g, test_node *node, const char *tensor, int64_t axis)
{
    static const clv_simple_sharding two = { CLV_DIM_UNKNOWN, NULL, 2 };
    clv_sharded_dim dim = { axis, &two, 1 };
    clv_sharding_spec spec = { .tensor = tensor,
                               .device = (const int64_t[]){ 0, 1 },
                               .n_device = 2,
                               .dims = &dim,
                               .n_dims = 1 };
    onnx_node_spec(g, node, "two", &spec);
}

/* x[4] -> Relu -> y, x annotated on device 1 of 2; and a product whose parts are summed up,
 * delivered otherwise, then read by what they do not fit. */
static uint8_t *model_bytes(size_t *n)
{
    test_onnx *m = onnx_new(11, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "4");
    test_node *relu = onnx_node(g, "Relu", "relu", "x", "y");
    onnx_output(g, "y", 1, "4");
    onnx_configuration(m, "two", 2, "");
    onnx_node_device(g, relu, "two", 0, "x", 1);
    onnx_input(g, "a", 1, "4,6");
    onnx_weight(g, "w", 1, "6,8");
    test_node *mm = onnx_node(g, "MatMul", "mm", "a,w", "p");
    put(g, mm, "a", 1);
    put(g, mm, "w", 0);
    test_node *neg = onnx_node(g, "Neg", "neg", "p", "q");
    put(g, neg, "q", 1);
    onnx_node(g, "Softmax", "soft", "q", "s");
    onnx_output(g, "s", 1, "4,8");
    uint8_t *bytes = onnx_pack(m, n);
    onnx_free(m);
    return bytes;
}

static cleave_status show(const cleave_allocator *allocator, int as_json, const char *wanted)
{
    size_t n = 0;
    uint8_t *bytes = model_bytes(&n);
    cleave_model *model = NULL;
    char *text = NULL;
    int wrong = -1;
    cleave_status s = cleave_model_open_bytes(bytes, n, NULL, allocator, &model, NULL);
    if (s == CLEAVE_OK)
        s = cleave_model_backend(model, "onnx-formalism", NULL);
    if (s == CLEAVE_OK)
        s = cleave_model_shards(model, "two", CLEAVE_UNEVEN_CEIL, as_json, &text, &wrong, NULL);
    if (s == CLEAVE_OK) {
        cr_expect(strstr(text, wanted), "%s", text);
        cr_expect_eq(wrong, 0);
        cleave_text_free(model, text);
    }
    cleave_model_free(model);
    free(bytes);
    return s;
}

Test(api_shards, gives_text_and_json)
{
    cr_assert_eq(show(NULL, 0, "float[4]"), CLEAVE_OK);
    cr_assert_eq(show(NULL, 1, "\"bytes\": 16"), CLEAVE_OK);
    cr_assert_eq(show(NULL, 0, "all-reduce over 2 devices"), CLEAVE_OK);
    cr_assert_eq(show(NULL, 0, "backend 'onnx-formalism'"), CLEAVE_OK);
}

/* Bytes are malloc'd, and outlive it. */
static cleave_model *opened(uint8_t **bytes)
{
    size_t n = 0;
    cleave_model *model = NULL;
    cleave_error error;
    *bytes = model_bytes(&n);
    cr_assert_eq(cleave_model_open_bytes(*bytes, n, NULL, NULL, &model, &error), CLEAVE_OK);
    return model;
}

Test(api_shards, refuses_a_backend_that_is_not_there_and_has_none_then)
{
    uint8_t *bytes;
    cleave_model *model = opened(&bytes);
    cleave_error error;
    char *text = NULL;
    cr_expect_eq(cleave_model_backend(NULL, "one-axis", &error), CLEAVE_EUSAGE);
    cr_expect_eq(cleave_model_backend(model, "one-axis", &error), CLEAVE_OK);
    cr_expect_eq(cleave_model_backend(model, "../x", &error), CLEAVE_EIO);
    cr_expect_eq(cleave_model_backend(model, "nobody", &error), CLEAVE_EUSAGE);
    cr_expect(strstr(error.message, "'nobody' is no known backend"), "%s", error.message);
    cr_assert_eq(cleave_model_shards(model, NULL, CLEAVE_UNEVEN_CEIL, 0, &text, NULL, &error),
                 CLEAVE_OK);
    cr_expect_not(strstr(text, "checked for backend"), "%s", text);
    cleave_text_free(model, text);
    cr_expect_eq(cleave_model_backend(model, NULL, &error), CLEAVE_OK);
    cleave_model_free(model);
    free(bytes);
}

Test(api_shards, refuses_a_configuration_and_a_policy_that_are_not_there)
{
    uint8_t *bytes;
    cleave_model *model = opened(&bytes);
    cleave_error error;
    char *text = NULL;
    cr_expect_eq(cleave_model_shards(model, "x", CLEAVE_UNEVEN_CEIL, 0, &text, NULL, &error),
                 CLEAVE_EUSAGE);
    cr_expect(strstr(error.message, "'x'") && strstr(error.message, "'two'"), "%s", error.message);
    cr_expect_eq(cleave_model_shards(model, NULL, (cleave_uneven)7, 0, &text, NULL, &error),
                 CLEAVE_EUSAGE);
    cr_expect_eq(cleave_model_shards(NULL, NULL, CLEAVE_UNEVEN_CEIL, 0, &text, NULL, &error),
                 CLEAVE_EUSAGE);
    cr_expect_null(text);
    cleave_model_free(model);
    free(bytes);
}

Test(api_shards, says_so_when_memory_ends_at_any_point)
{
    for (int as_json = 0; as_json < 2; as_json++) {
        cleave_status s = CLEAVE_ENOMEM;
        for (long n = 0; s != CLEAVE_OK; n++) {
            budget b = { n };
            s = show(&(cleave_allocator){ resize, &b }, as_json, "two");
            cr_assert(s == CLEAVE_OK || s == CLEAVE_ENOMEM, "%ld allocations: %d", n, (int)s);
            cr_assert_lt(n, 10000);
        }
    }
}
