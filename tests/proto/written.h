/* written.h - a new ONNX file and what protobuf-c, which is not ours, reads in it: for the tests of
 * onnx_write. */
#ifndef CLV_TESTS_PROTO_WRITTEN_H
#define CLV_TESTS_PROTO_WRITTEN_H

#include "proto/onnx.pb-c.h"
#include "proto/onnx_write.h"

#include "proto/opened.h"
#include "support/copied.h"

typedef struct {
    opened o;
    clv_new_model *m; /* all of it, under its own names or with a suffix */
    clv_new_node *nodes;
} source;

static inline source source_of(test_onnx *built, const char *suffix)
{
    source s = { .o = open_built(built) };
    s.m = test_copied(s.o.file, s.o.model, suffix, s.o.arena);
    s.nodes = (clv_new_node *)(uintptr_t)s.m->nodes;
    return s;
}

static inline memory written(const source *s)
{
    memory to = { 0 };
    clv_sink sink = memory_sink(&to);
    clv_error err = { CLV_OK, "" };
    clv_status status = clv_onnx_write(s->m, &sink, s->o.arena, &err);
    cr_assert_eq(status, CLV_OK, "said: %s", err.message);
    return to;
}

static inline Onnx__ModelProto *unpacked(const source *s)
{
    memory to = written(s);
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, to.n, to.bytes);
    cr_assert_not_null(model);
    free(to.bytes);
    return model;
}

static inline void done(source *s, Onnx__ModelProto *model)
{
    if (model)
        onnx__model_proto__free_unpacked(model, NULL);
    close_opened(&s->o);
}

static inline void refused(source *s, clv_status want, const char *word)
{
    memory to = { 0 };
    clv_sink sink = memory_sink(&to);
    clv_error err = { CLV_OK, "" };
    cr_assert_eq(clv_onnx_write(s->m, &sink, s->o.arena, &err), want, "said: %s", err.message);
    cr_assert(strstr(err.message, word), "said: %s", err.message);
    cr_assert_eq(to.calls, 0, "nothing goes out before");
    free(to.bytes);
}

static inline clv_str text(const char *z) { return clv_str_of(z); }

static inline void is_list(char **names, size_t n, const char *want)
{
    char all[256] = "";
    for (size_t i = 0; i < n; i++) {
        strncat(all, i ? "," : "", sizeof all - strlen(all) - 1);
        strncat(all, names[i], sizeof all - strlen(all) - 1);
    }
    cr_assert_str_eq(all, want);
}

static inline const Onnx__AttributeProto *attr(const Onnx__NodeProto *node, const char *name)
{
    const Onnx__AttributeProto *found = NULL;
    for (size_t i = 0; i < node->n_attribute; i++)
        if (!strcmp(node->attribute[i]->name, name)) {
            cr_assert_null(found, "attribute %s is there twice", name);
            found = node->attribute[i];
        }
    cr_assert_not_null(found, "no attribute %s", name);
    return found;
}

/*  x -> Gemm(w) = h -> Relu = y  */
static inline test_onnx *small_model(void)
{
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "batch,4");
    onnx_output(g, "y", 1, "batch,3");
    onnx_value(g, "h", 1, "batch,3");
    onnx_weight(g, "w", 1, "4,3");
    onnx_weight_ints(g, "ints", "2", (const int64_t[]){ -1, 300 });
    test_node *gemm = onnx_node(g, "Gemm", "gemm", "x,w", "h");
    onnx_attr_int(g, gemm, "transB", 0);
    onnx_attr_float(g, gemm, "alpha", 0.5f);
    onnx_node(g, "Relu", "relu", "h", "y");
    return m;
}

#endif
