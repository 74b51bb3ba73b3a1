#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/onnx.pb-c.h"
#include "proto/onnx_read.h"

#include <criterion/criterion.h>

#include "proto/everything.h"

/* What reading these bytes says. */
static clv_status read_bytes(const uint8_t *bytes, size_t n, clv_error *err)
{
    clv_onnx_file *file = NULL;
    clv_model *model = NULL;
    clv_arena *arena = clv_arena_new(NULL, 0);
    *err = (clv_error){ CLV_OK, "" };
    clv_status s = clv_onnx_open_bytes(bytes, n, NULL, NULL, &file, err);
    if (s == CLV_OK)
        s = clv_onnx_read(file, arena, &model, err);
    cr_assert_eq(s == CLV_OK, model != NULL);
    cr_assert_eq(s == CLV_OK, err->message[0] == '\0');
    clv_onnx_close(file);
    clv_arena_free(arena);
    return s;
}

static void says(test_onnx *m, clv_status want, const char *what)
{
    size_t n;
    clv_error err;
    uint8_t *bytes = onnx_pack(m, &n);
    onnx_free(m);
    cr_assert_eq(read_bytes(bytes, n, &err), want, "said: %s", err.message);
    cr_assert(strstr(err.message, what), "said: %s", err.message);
    free(bytes);
}

static test_onnx *small(void)
{
    test_onnx *m = onnx_new(8, 17);
    onnx_input(onnx_main(m), "x", 1, "2");
    onnx_output(onnx_main(m), "y", 1, "2");
    onnx_node(onnx_main(m), "Relu", "relu", "x", "y");
    return m;
}

Test(read_bad, an_empty_file)
{
    clv_error err;
    cr_assert_eq(read_bytes((const uint8_t *)"", 0, &err), CLV_EFORMAT);
    cr_assert_str_eq(err.message, "model is empty: expected an ONNX model");
}

Test(read_bad, a_file_without_a_graph)
{
    clv_error err;
    cr_assert_eq(read_bytes((const uint8_t *)"\x08\x08", 2, &err), CLV_EFORMAT);
    cr_assert(strstr(err.message, "has no graph"), "said: %s", err.message);
}

Test(read_bad, text)
{
    clv_error err;
    cr_assert_eq(read_bytes((const uint8_t *)"hello, world", 12, &err), CLV_EFORMAT);
    cr_assert(strstr(err.message, "byte"), "said: %s", err.message);
}

static void cannot_open(const char *path, clv_status want, const char *what)
{
    clv_onnx_file *file = NULL;
    clv_error err = { CLV_OK, "" };
    cr_assert_eq(clv_onnx_open(path, NULL, &file, &err), want, "%s", path);
    cr_assert(strstr(err.message, what), "said: %s", err.message);
    cr_assert_null(file);
}

Test(read_bad, what_is_no_file)
{
    char folder[] = "/tmp/clv_bad_XXXXXX", path[64];
    cr_assert_not_null(mkdtemp(folder));
    cannot_open(folder, CLV_EIO, "is a folder");
    snprintf(path, sizeof path, "%s/none.onnx", folder);
    cannot_open(path, CLV_EIO, "No such file");
    snprintf(path, sizeof path, "%s/pipe", folder);
    cr_assert_eq(mkfifo(path, 0600), 0);
    cannot_open(path, CLV_EIO, "not a regular file");
    unlink(path);
    snprintf(path, sizeof path, "%s/empty.onnx", folder);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    cannot_open(path, CLV_EFORMAT, "is empty");
    unlink(path);
    rmdir(folder);
    cannot_open("/dev/null", CLV_EIO, "not a regular file");
}

/* Cut anywhere, it is an error with a sentence or a shorter model: the fields of ModelProto may end
 * after any of them. */
Test(read_bad, cut_short_at_every_byte)
{
    test_onnx *m = everything();
    size_t n, fine = 0;
    clv_error err;
    uint8_t *bytes = onnx_pack(m, &n);
    onnx_free(m);
    for (size_t cut = 0; cut <= n; cut++) {
        uint8_t *copy = malloc(cut ? cut : 1); /* of its own, so that a sanitizer sees its end */
        memcpy(copy, bytes, cut);
        clv_status s = read_bytes(copy, cut, &err);
        cr_assert(s == CLV_OK || s == CLV_EFORMAT, "cut at %zu: %s", cut, err.message);
        fine += s == CLV_OK;
        free(copy);
    }
    cr_assert(fine >= 1 && fine < 12, "%zu cuts gave a model", fine);
    free(bytes);
}

Test(read_bad, any_byte_changed)
{
    test_onnx *m = everything();
    size_t n;
    clv_error err;
    uint8_t *bytes = onnx_pack(m, &n);
    onnx_free(m);
    for (size_t i = 0; i < n; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            bytes[i] ^= (uint8_t)(1u << bit);
            (void)read_bytes(bytes, n, &err); /* it asserts that failures have a sentence */
            bytes[i] ^= (uint8_t)(1u << bit);
        }
    free(bytes);
}

Test(read_bad, a_known_field_with_the_wrong_wire_type)
{
    clv_error err;
    /* graph (3a) with its nodes (0a) as a varint (08) */
    cr_assert_eq(read_bytes((const uint8_t *)"\x3a\x02\x08\x05", 4, &err), CLV_EFORMAT);
    cr_assert(strstr(err.message, "field 'node' of GraphProto at byte 2 has wire type varint, "
                                  "expected bytes"),
              "said: %s", err.message);
    /* ir_version is no list */
    cr_assert_eq(read_bytes((const uint8_t *)"\x0a\x01\x05", 3, &err), CLV_EFORMAT);
    cr_assert(strstr(err.message, "'ir_version'"), "said: %s", err.message);
}

Test(read_bad, two_graphs)
{
    test_onnx *m = small();
    size_t n;
    clv_error err;
    uint8_t *bytes = onnx_pack(m, &n), *twice = malloc(2 * n);
    memcpy(twice, bytes, n);
    memcpy(twice + n, bytes, n);
    cr_assert_eq(read_bytes(twice, 2 * n, &err), CLV_EFORMAT);
    cr_assert(strstr(err.message, "a second 'graph'"), "said: %s", err.message);
    onnx_free(m);
    free(bytes);
    free(twice);
}

Test(read_bad, a_negative_dimension_of_a_weight)
{
    test_onnx *m = small();
    onnx_weight(onnx_main(m), "w", 1, "2,3")->dims[1] = -3;
    says(m, CLV_EFORMAT, "tensor 'w': dimension 1 of [2, -3] is negative");
}

Test(read_bad, a_weight_too_big_to_count)
{
    /* 2^32 * 2^31 elements are 2^63; and 2^61 doubles are 2^64 bytes */
    test_onnx *m = small();
    onnx_weight(onnx_main(m), "w", 1, "0,0")->dims[0] = INT64_C(1) << 32;
    onnx_message(m)->graph->initializer[0]->dims[1] = INT64_C(1) << 31;
    says(m, CLV_EFORMAT, "'w': [4294967296, 2147483648] of FLOAT is more than 64 bits");
    m = small();
    onnx_weight(onnx_main(m), "w", 11, "0")->dims[0] = INT64_C(1) << 61;
    says(m, CLV_EFORMAT, "of DOUBLE is more than 64 bits");
}

Test(read_bad, a_payload_that_does_not_fit_its_dimensions)
{
    test_onnx *m = small();
    onnx_weight(onnx_main(m), "w", 1, "4")->raw_data.len = 15;
    says(m, CLV_EFORMAT, "tensor 'w': [4] of FLOAT needs 16 in raw_data (bytes), the file has 15");
    m = small();
    onnx_weight_ints(onnx_main(m), "w", "3", (const int64_t[]){ 1, 2, 3 })->n_int64_data = 2;
    says(m, CLV_EFORMAT, "needs 3 in int64_data, the file has 2");
    m = small();
    onnx_weight_floats(onnx_main(m), "w", "3", (const float[]){ 1, 2, 3 })->n_float_data = 0;
    says(m, CLV_EFORMAT, "needs 3 in float_data, the file has 0");
}

Test(read_bad, element_types_that_are_missing_or_unknown)
{
    test_onnx *m = small();
    onnx_weight(onnx_main(m), "w", 1, "4")->data_type = 0;
    says(m, CLV_EFORMAT, "'w' has no element type");
    m = small();
    onnx_weight(onnx_main(m), "w", 1, "4")->data_type = 99;
    says(m, CLV_EUNSUPP, "'w' has element type 99");
    m = small();
    onnx_input(onnx_main(m), "z", 77, "1");
    says(m, CLV_EUNSUPP, "element type 77");
}

Test(read_bad, segments)
{
    test_onnx *m = small();
    Onnx__TensorProto__Segment segment = ONNX__TENSOR_PROTO__SEGMENT__INIT;
    onnx_weight(onnx_main(m), "w", 1, "4")->segment = &segment;
    says(m, CLV_EUNSUPP, "'w' is stored in segments");
}

Test(read_bad, too_many_dimensions)
{
    char dims[200] = "1";
    for (int i = 1; i < 65; i++)
        strcat(dims, ",1");
    test_onnx *m = small();
    onnx_weight(onnx_main(m), "w", 1, dims);
    says(m, CLV_ELIMIT, "over 64 dimensions");
    m = small();
    onnx_input(onnx_main(m), "z", 1, dims);
    says(m, CLV_ELIMIT, "65 dimensions, the limit is 64");
}

Test(read_bad, a_node_without_a_type_and_an_attribute_without_a_value)
{
    test_onnx *m = small();
    onnx_message(m)->graph->node[0]->op_type = NULL;
    says(m, CLV_EFORMAT, "node 'relu'");
    m = small();
    onnx_attr_tensor(onnx_main(m), onnx_message(m)->graph->node[0], "value", NULL);
    says(m, CLV_EFORMAT, "attribute 'value'");
    m = small();
    onnx_attr_int(onnx_main(m), onnx_message(m)->graph->node[0], "value", 1);
    onnx_message(m)->graph->node[0]->attribute[0]->type = (Onnx__AttributeProto__AttributeType)40;
    says(m, CLV_EUNSUPP, "attribute 'value' has type 40");
}

/* Bytes nested depth times: each level is head[] followed by its length and the level within. */
static uint8_t *nested(const uint8_t *const *heads, const size_t *head_n, int n_heads, int depth,
                       size_t *ret_n)
{
    size_t room = (size_t)depth * 8 * (size_t)n_heads + 8, n = 0;
    uint8_t *bytes = malloc(room), *at = bytes + room;
    for (int d = depth * n_heads - 1; d >= 0; d--) {
        uint8_t length[10];
        size_t width = 0, rest = n;
        do
            length[width++] = (uint8_t)((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
        while (rest >>= 7);
        at -= width;
        memcpy(at, length, width);
        at -= head_n[d % n_heads];
        memcpy(at, heads[d % n_heads], head_n[d % n_heads]);
        n += width + head_n[d % n_heads];
    }
    memmove(bytes, at, n);
    *ret_n = n;
    return bytes;
}

static void wrap(uint8_t **bytes, size_t *n, uint8_t key)
{
    uint8_t *outer = malloc(*n + 8), length[8];
    size_t width = 0, rest = *n;
    do
        length[width++] = (uint8_t)((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    while (rest >>= 7);
    outer[0] = key;
    memcpy(outer + 1, length, width);
    memcpy(outer + 1 + width, *bytes, *n);
    free(*bytes);
    *bytes = outer;
    *n += 1 + width;
}

Test(read_bad, graphs_ten_thousand_deep)
{
    /* node (0a) with op type "If" and an attribute (2a) that has a graph (32), over and over */
    static const uint8_t node[] = { 0x0a }, attr[] = { 0x22, 2, 'I', 'f', 0x2a },
                         graph[] = { 0x32 };
    const uint8_t *heads[] = { node, attr, graph };
    const size_t head_n[] = { 1, 5, 1 };
    size_t n;
    clv_error err;
    uint8_t *bytes = nested(heads, head_n, 3, 10000, &n);
    wrap(&bytes, &n, 0x3a);
    cr_assert_eq(read_bytes(bytes, n, &err), CLV_ELIMIT, "said: %s", err.message);
    cr_assert(strstr(err.message, "nested over 64 deep"), "said: %s", err.message);
    free(bytes);
}

Test(read_bad, types_ten_thousand_deep)
{
    /* a type that is a sequence (22) of elem_type (0a), over and over; value info field 2, input 11
     */
    static const uint8_t sequence[] = { 0x22 }, elem[] = { 0x0a };
    const uint8_t *heads[] = { sequence, elem };
    const size_t head_n[] = { 1, 1 };
    size_t n;
    clv_error err;
    uint8_t *bytes = nested(heads, head_n, 2, 10000, &n);
    wrap(&bytes, &n, 0x12);
    wrap(&bytes, &n, 0x5a);
    wrap(&bytes, &n, 0x3a);
    cr_assert_eq(read_bytes(bytes, n, &err), CLV_ELIMIT, "said: %s", err.message);
    cr_assert(strstr(err.message, "nested over 64 deep"), "said: %s", err.message);
    free(bytes);
}
