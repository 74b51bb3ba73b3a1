/* test_shards.c - cleave_model_shards: both forms, wrong requests, and no memory at any point. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "support/api.h"
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

static cleave_shards_options of_backend(const char *backend)
{
    cleave_shards_options o;
    cleave_shards_options_init(&o);
    o.backend = backend;
    return o;
}

static cleave_status show(const cleave_allocator *allocator, const char *in_text,
                          const char *in_json)
{
    size_t n = 0;
    uint8_t *bytes = model_bytes(&n);
    cleave_model *model = NULL;
    cleave_report *report = NULL;
    int wrong = -1;
    cleave_control control = control_of(allocator);
    cleave_shards_options o = of_backend("onnx-formalism");
    o.configuration = "two";
    o.all = strcmp(in_text, "communication") != 0;
    cleave_status s = cleave_model_open_bytes(bytes, n, NULL, &control, &model, NULL);
    if (s == CLEAVE_OK)
        s = cleave_model_shards(model, &o, NULL, &report, &wrong, NULL);
    if (s == CLEAVE_OK) {
        cr_expect(strstr(cleave_report_text(report), in_text), "%s", cleave_report_text(report));
        cr_expect(strstr(cleave_report_json(report, NULL), in_json));
        cr_expect_eq(wrong, 0);
    } else {
        cr_expect(!report && wrong == -1, "results are written only on success");
    }
    cleave_report_free(report);
    cleave_model_free(model);
    free(bytes);
    return s;
}

Test(api_shards, gives_text_and_json)
{
    cr_assert_eq(show(NULL, "float[4]", "\"bytes\": 16"), CLEAVE_OK);
    cr_assert_eq(show(NULL, "all-reduce over 2 devices", "\"two\""), CLEAVE_OK);
    cr_assert_eq(show(NULL, "backend 'onnx-formalism'", "onnx-formalism"), CLEAVE_OK);
    cr_assert_eq(show(NULL, "communication", "\"two\""), CLEAVE_OK);
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

Test(api_shards, refuses_what_is_not_there)
{
    cleave_shards_options none = of_backend("nobody"), path = of_backend("../x"),
                          name = of_backend(NULL), policy = of_backend(NULL);
    name.configuration = "x";
    policy.uneven = (cleave_uneven)7;
    const struct {
        const cleave_shards_options *options;
        cleave_status want;
        const char *words;
    } cases[] = {
        { &none, CLEAVE_EUSAGE, "'nobody' is no known backend" },
        { &path, CLEAVE_EIO, "x" },
        { &name, CLEAVE_EUSAGE, "'two'" },
        { &policy, CLEAVE_EUSAGE, "7" },
    };
    uint8_t *bytes;
    cleave_model *model = opened(&bytes);
    cleave_error error;
    cleave_report *report = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_eq(cleave_model_shards(model, cases[i].options, NULL, &report, NULL, &error),
                     cases[i].want, "case %zu", i);
        cr_expect(strstr(error.message, cases[i].words), "%s", error.message);
    }
    cr_expect_eq(cleave_model_shards(NULL, NULL, NULL, &report, NULL, &error), CLEAVE_EUSAGE);
    cr_expect_null(report);
    cr_assert_eq(cleave_model_shards(model, NULL, NULL, &report, NULL, &error), CLEAVE_OK);
    cr_expect_not(strstr(cleave_report_text(report), "checked for backend"));
    cleave_report_free(report);
    cleave_model_free(model);
    free(bytes);
}

Test(api_shards, says_so_when_memory_ends_at_any_point)
{
    cleave_status s = CLEAVE_ENOMEM;
    for (long n = 0; s != CLEAVE_OK; n++) {
        budget b = { n };
        s = show(&(cleave_allocator){ resize, &b }, "two", "two");
        cr_assert(s == CLEAVE_OK || s == CLEAVE_ENOMEM, "%ld allocations: %d", n, (int)s);
        cr_assert_lt(n, 10000);
    }
}
