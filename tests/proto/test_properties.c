/* test_properties.c - metadata that is put into a model changes nothing else of it. */
#include "proto/onnx_properties.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "proto/memory_sink.h"
#include "proto/onnx.pb-c.h"
#include "support/onnx_builder.h"

#define N_NODES 3

/* x -> Relu -> a -> If (a body of one node) -> b -> Neg -> c, and fields that nobody knows. */
static uint8_t *write_model(size_t *n)
{
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m), *body = onnx_body(m, "body");
    onnx_metadata(m, "author", "somebody");
    onnx_metadata(m, "mine", "old");
    onnx_input(g, "x", 1, "4,4");
    onnx_weight(g, "yes", 9, "");
    onnx_node(g, "Relu", "r", "x", "a");
    onnx_node(body, "Abs", "inside", "a", "i");
    onnx_output(body, "i", 1, "4,4");
    test_node *iff = onnx_node(g, "If", "if", "yes", "b");
    onnx_attr_graph(g, iff, "then_branch", body);
    onnx_attr_graph(g, iff, "else_branch", body);
    onnx_node(g, "Neg", "", "b", "c");
    onnx_output(g, "c", 1, "4,4");
    onnx_unknown(m, &onnx_message(m)->graph->node[0]->base);
    onnx_unknown(m, &onnx_message(m)->base);
    uint8_t *bytes = onnx_pack(m, n);
    onnx_free(m);
    return bytes;
}

/* The bytes with these properties; what comes back is malloc'd by the sink. */
static clv_status put(const void *bytes, size_t n, const clv_properties *p, memory *ret,
                      clv_error *err)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_onnx_file *file;
    *ret = (memory){ 0 };
    cr_assert_eq(clv_onnx_open_bytes(bytes, n, NULL, NULL, &file, err), CLV_OK);
    clv_sink sink = memory_sink(ret);
    clv_status status = clv_onnx_put_properties(file, p, &sink, arena, err);
    clv_onnx_close(file);
    clv_arena_free(arena);
    return status;
}

static clv_properties properties(const char *a, const char *b, const char *c, const char *mine,
                                 clv_new_property *model, clv_str *value)
{
    *model = (clv_new_property){ clv_str_of("mine"), clv_str_of(mine) };
    value[0] = clv_str_of(a);
    value[1] = clv_str_of(b);
    value[2] = clv_str_of(c);
    return (clv_properties){
        .model = model, .n_model = 1, .key = clv_str_of("layer"), .value = value, .n_nodes = N_NODES
    };
}

static void has(size_t n, Onnx__StringStringEntryProto **at, const char *key, const char *value)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += strcmp(at[i]->key, key) == 0 && strcmp(at[i]->value, value) == 0;
    cr_expect_eq(found, 1, "'%s' is not '%s' once", key, value);
}

/* Taken out again, what is left is the original, byte for byte. */
Test(properties, are_all_that_changes)
{
    size_t n;
    uint8_t *bytes = write_model(&n);
    clv_new_property model;
    clv_str value[N_NODES];
    clv_error err;
    memory out;
    clv_properties p = properties("one", "", "three", "new", &model, value);
    cr_assert_eq(put(bytes, n, &p, &out, &err), CLV_OK, "%s", err.message);
    Onnx__ModelProto *m = onnx__model_proto__unpack(NULL, out.n, out.bytes);
    Onnx__ModelProto *before = onnx__model_proto__unpack(NULL, n, bytes);
    cr_assert(m && before);
    has(m->n_metadata_props, m->metadata_props, "mine", "new");
    has(m->n_metadata_props, m->metadata_props, "author", "somebody");
    cr_assert_eq(m->n_metadata_props, 2);
    for (size_t i = 0; i < N_NODES; i++) {
        Onnx__NodeProto *node = m->graph->node[i];
        static const char *const wanted[] = { "one", "", "three" };
        cr_assert_eq(node->n_metadata_props, 1);
        has(1, node->metadata_props, "layer", wanted[i]);
        node->n_metadata_props = 0;
    }
    m->n_metadata_props = before->n_metadata_props = 0;
    size_t size = onnx__model_proto__get_packed_size(m);
    cr_assert_eq(size, onnx__model_proto__get_packed_size(before));
    uint8_t *a = malloc(size), *b = malloc(size);
    onnx__model_proto__pack(m, a);
    onnx__model_proto__pack(before, b);
    cr_assert_eq(memcmp(a, b, size), 0);
    for (size_t i = 0; i < N_NODES; i++)
        m->graph->node[i]->n_metadata_props = 1;
    m->n_metadata_props = before->n_metadata_props = 2;
    onnx__model_proto__free_unpacked(m, NULL);
    onnx__model_proto__free_unpacked(before, NULL);
    free(a);
    free(b);
    free(bytes);
    free(out.bytes);
}

Test(properties, of_the_same_key_are_replaced)
{
    size_t n;
    uint8_t *bytes = write_model(&n);
    clv_new_property model;
    clv_str value[N_NODES];
    clv_error err;
    memory first, again, once;
    clv_properties p = properties("a", "b", "c", "x", &model, value);
    cr_assert_eq(put(bytes, n, &p, &first, &err), CLV_OK);
    p = properties("a longer one", "", "c", "y", &model, value);
    cr_assert_eq(put(first.bytes, first.n, &p, &again, &err), CLV_OK);
    cr_assert_eq(put(bytes, n, &p, &once, &err), CLV_OK);
    cr_assert_eq(again.n, once.n);
    cr_assert_eq(memcmp(again.bytes, once.bytes, once.n), 0);
    free(first.bytes);
    free(again.bytes);
    free(once.bytes);
    free(bytes);
}

Test(properties, none_of_nodes_leave_nodes_as_they_are)
{
    size_t n;
    uint8_t *bytes = write_model(&n);
    clv_error err;
    memory out;
    cr_assert_eq(put(bytes, n, &(clv_properties){ .n_model = 0 }, &out, &err), CLV_OK);
    cr_assert_eq(out.n, n);
    cr_assert_eq(memcmp(out.bytes, bytes, n), 0);
    free(out.bytes);
    free(bytes);
}

Test(properties, for_another_number_of_nodes_are_refused)
{
    size_t n;
    uint8_t *bytes = write_model(&n);
    clv_new_property model;
    clv_str value[N_NODES + 1] = { { 0 } };
    clv_error err;
    memory out;
    clv_properties p = properties("a", "b", "c", "x", &model, value);
    for (p.n_nodes = 0; p.n_nodes <= N_NODES + 1; p.n_nodes++) {
        clv_status wanted = p.n_nodes == N_NODES ? CLV_OK : CLV_EUSAGE;
        cr_expect_eq(put(bytes, n, &p, &out, &err), wanted);
        cr_expect(wanted == CLV_OK || out.n == 0, "something was written");
        free(out.bytes);
    }
    free(bytes);
}

/* Cut anywhere, or with any byte changed, a file is written or refused. */
Test(properties, of_damaged_files_do_no_harm)
{
    size_t n;
    uint8_t *bytes = write_model(&n);
    clv_new_property model;
    clv_str value[N_NODES];
    clv_error err;
    memory out;
    clv_properties p = properties("a", "b", "c", "x", &model, value);
    for (size_t i = 1; i < n; i++) {
        uint8_t *copy = malloc(i);
        memcpy(copy, bytes, i);
        (void)put(copy, i, &p, &out, &err);
        free(out.bytes);
        free(copy);
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] ^= (uint8_t)(1 << bit);
            (void)put(bytes, n, &p, &out, &err);
            free(out.bytes);
            bytes[i] ^= (uint8_t)(1 << bit);
        }
    }
    free(bytes);
}
