#include <math.h>
#include <stdio.h>

#include "proto/onnx.pb-c.h"
#include "proto/onnx_read.h"

#include <criterion/criterion.h>

#include "proto/everything.h"
#include "proto/fingerprint.h"

typedef struct {
    uint8_t *bytes;
    clv_onnx_file *file;
    clv_arena *arena;
    clv_model *model;
    clv_status status;
    clv_error err;
} reading;

static reading read_bytes(uint8_t *bytes, size_t n)
{
    reading r = { .bytes = bytes, .arena = clv_arena_new(NULL, 0) };
    r.status = clv_onnx_open_bytes(bytes, n, NULL, NULL, &r.file, &r.err);
    if (r.status == CLV_OK)
        r.status = clv_onnx_read(r.file, r.arena, &r.model, &r.err);
    return r;
}

static reading read_model(test_onnx *m)
{
    size_t n;
    uint8_t *bytes = onnx_pack(m, &n);
    onnx_free(m);
    return read_bytes(bytes, n);
}

static void done(reading *r)
{
    clv_onnx_close(r->file);
    clv_arena_free(r->arena);
    free(r->bytes);
}

static const clv_graph *main_of(const reading *r)
{
    cr_assert_eq(r->status, CLV_OK, "said: %s", r->err.message);
    return r->model->main;
}

static const clv_tensor_info *named(const clv_graph *g, const char *name)
{
    for (int32_t i = 0; i < g->n_tensors; i++)
        if (clv_str_is(g->tensors[i].name, name))
            return &g->tensors[i];
    cr_assert_fail("no tensor %s", name);
    return NULL;
}

static const clv_const *weight(const clv_graph *g, const char *name)
{
    return &g->weights[named(g, name)->weight];
}

static test_onnx *one_node(int ir)
{
    test_onnx *m = onnx_new(ir, ir < 3 ? 0 : 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "N,?,3");
    onnx_output(g, "y", 1, "N,?,3");
    onnx_node(g, "Relu", "relu", "x", "y");
    return m;
}

Test(read, gives_operators_tensors_and_symbols)
{
    reading r = read_model(one_node(8));
    const clv_graph *g = main_of(&r);
    cr_assert_eq(g->n_ops, 1);
    cr_assert(clv_str_is(g->ops[0].type, "Relu") && clv_str_is(g->ops[0].name, "relu"));
    cr_assert_eq(r.model->ir_version, 8);
    cr_assert_eq(clv_graph_opset(g, (clv_str){ NULL, 0 }), 17);
    const clv_type *x = named(g, "x")->declared;
    cr_assert(x->kind == CLV_TYPE_TENSOR && x->dtype == CLV_DT_FLOAT && x->rank == 3);
    /* N is the first symbol; the open second dimension of an input gets its own */
    cr_assert_eq(r.model->n_symbols, 2);
    cr_assert(clv_str_is(r.model->symbols[0], "N") && clv_str_is(r.model->symbols[1], "x[1]"));
    cr_assert(x->dims[0] == clv_dim_symbol(0) && x->dims[1] == clv_dim_symbol(1));
    cr_assert_eq(x->dims[2], 3);
    cr_assert_eq(named(g, "y")->declared->dims[1], CLV_DIM_UNKNOWN, "only inputs get symbols");
    done(&r);
}

/* The type of x is only declared as a value's, that of z as an output's. */
Test(read, gives_symbols_to_inputs_whose_type_is_declared_elsewhere)
{
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 0, NULL);
    onnx_input(g, "z", 0, NULL);
    onnx_node(g, "Relu", "relu", "x", "y");
    onnx_node(g, "Relu", "relu2", "y", "w");
    onnx_value(g, "x", 1, "N,?,3");
    onnx_value(g, "y", 1, "N,?,3");
    onnx_output(g, "z", 1, "?");
    onnx_output(g, "w", 1, "?,?,3");
    reading r = read_model(m);
    const clv_graph *main = main_of(&r);
    const clv_type *x = named(main, "x")->declared, *z = named(main, "z")->declared;
    cr_assert(clv_dim_is_symbol(x->dims[1]) && clv_dim_is_symbol(z->dims[0]));
    cr_assert(clv_str_is(r.model->symbols[clv_dim_symbol_id(x->dims[1])], "x[1]"));
    cr_assert(clv_str_is(r.model->symbols[clv_dim_symbol_id(z->dims[0])], "z[0]"));
    cr_assert_eq(named(main, "y")->declared->dims[1], CLV_DIM_UNKNOWN, "only inputs get symbols");
    cr_assert_eq(named(main, "w")->declared->dims[0], CLV_DIM_UNKNOWN, "only inputs get symbols");
    done(&r);
}

Test(read, keeps_strings_where_the_file_has_them)
{
    reading r = read_model(one_node(8));
    size_t n = r.file->n;
    const char *bytes = (const char *)r.file->bytes;
    const char *at = main_of(&r)->ops[0].name.at;
    cr_assert(at > bytes && at < bytes + n);
    done(&r);
}

/* covers: A.038 */
Test(read, takes_every_ir_version)
{
    for (int ir = 1; ir <= 20; ir++) {
        reading r = read_model(one_node(ir));
        const clv_graph *g = main_of(&r);
        cr_assert_eq(r.model->ir_version, ir);
        cr_assert_eq(clv_graph_opset(g, (clv_str){ NULL, 0 }), ir < 3 ? 1 : 17);
        done(&r);
    }
}

Test(read, takes_a_dim_param_of_digits_as_the_number)
{
    test_onnx *m = one_node(8);
    Onnx__TypeProto *t = onnx_message(m)->graph->input[0]->type;
    t->tensor_type->shape->dim[0]->dim_param = (char[]){ "128" };
    reading r = read_model(m);
    cr_assert_eq(named(main_of(&r), "x")->declared->dims[0], 128);
    done(&r);
}

Test(read, refuses_a_negative_dimension_of_an_input_and_forgives_it_elsewhere)
{
    test_onnx *m = one_node(8);
    onnx_value(onnx_main(m), "z", 1, "-1,2");
    onnx_node(onnx_main(m), "Relu", "", "y", "z");
    reading r = read_model(m);
    cr_assert_eq(named(main_of(&r), "z")->declared->dims[0], CLV_DIM_UNKNOWN);
    done(&r);
    m = one_node(8);
    onnx_input(onnx_main(m), "bad", 1, "2,-1");
    r = read_model(m);
    cr_assert_eq(r.status, CLV_EFORMAT);
    cr_assert(strstr(r.err.message, "'bad'") && strstr(r.err.message, "dimension 1 is -1"),
              "said: %s", r.err.message);
    done(&r);
}

Test(read, decodes_small_weights_from_typed_fields)
{
    reading r = read_model(everything());
    const clv_graph *g = main_of(&r);
    const clv_value *ints = weight(g, "ints")->value, *floats = weight(g, "floats")->value;
    cr_assert(ints && ints->n == 3 && ints->i && !ints->f);
    cr_assert(ints->i[0] == -1 && ints->i[1] == 0 && ints->i[2] == 300);
    cr_assert(floats && floats->n == 2 && floats->f && !floats->i);
    cr_assert(floats->f[0] == 0.5 && floats->f[1] == -2);
    cr_assert_eq(weight(g, "w")->bytes, 16);
    done(&r);
}

typedef struct {
    int dtype;
    const char *raw;
    size_t n;
    double want;
} raw_case;

/* Bits by hand: half 0x3e00 is 1.5 (exponent 15-15, fraction .5), 0x0001 is 2^-24; bfloat16 0xc020
 * is the upper half of float 0xc0200000 = -2.5. */
Test(read, decodes_small_weights_from_raw_data)
{
    static const raw_case cases[] = {
        { CLV_DT_INT8, "\xff", 1, -1 },
        { CLV_DT_UINT8, "\xff", 1, 255 },
        { CLV_DT_BOOL, "\x01", 1, 1 },
        { CLV_DT_INT16, "\xfe\xff", 2, -2 },
        { CLV_DT_UINT16, "\xfe\xff", 2, 65534 },
        { CLV_DT_INT32, "\x00\x00\x00\x80", 4, -2147483648.0 },
        { CLV_DT_UINT32, "\x00\x00\x00\x80", 4, 2147483648.0 },
        { CLV_DT_INT64, "\x00\x00\x00\x00\x01\x00\x00\x00", 8, 4294967296.0 },
        { CLV_DT_FLOAT, "\x00\x00\x80\x3f", 4, 1 },
        { CLV_DT_DOUBLE, "\x00\x00\x00\x00\x00\x00\xf0\x3f", 8, 1 },
        { CLV_DT_FLOAT16, "\x00\x3e", 2, 1.5 },
        { CLV_DT_FLOAT16, "\x01\x00", 2, 0x1p-24 },
        { CLV_DT_FLOAT16, "\x00\xfc", 2, -INFINITY },
        { CLV_DT_BFLOAT16, "\x20\xc0", 2, -2.5 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const raw_case *c = &cases[i];
        test_onnx *m = one_node(8);
        test_tensor *t = onnx_weight(onnx_main(m), "w", c->dtype, "1");
        memcpy(t->raw_data.data, c->raw, c->n);
        reading r = read_model(m);
        const clv_value *v = weight(main_of(&r), "w")->value;
        cr_assert(v && v->n == 1, "case %zu", i);
        cr_assert_eq(v->f ? v->f[0] : (double)v->i[0], c->want, "case %zu", i);
        done(&r);
    }
}

Test(read, keeps_the_smallest_integer_clear_of_the_symbols)
{
    test_onnx *m = one_node(8);
    onnx_weight_ints(onnx_main(m), "w", "2", (const int64_t[]){ INT64_MIN, INT64_MAX });
    reading r = read_model(m);
    const clv_value *v = weight(main_of(&r), "w")->value;
    cr_assert(clv_dim_is_number(v->i[0]) && v->i[0] < -(INT64_C(1) << 62));
    cr_assert_eq(v->i[1], INT64_MAX);
    done(&r);
}

Test(read, does_not_decode_big_weights)
{
    test_onnx *m = one_node(8);
    onnx_weight(onnx_main(m), "at", CLV_DT_INT64, "4096");
    onnx_weight(onnx_main(m), "over", CLV_DT_INT64, "4097");
    onnx_weight(onnx_main(m), "none", CLV_DT_INT64, "0,5");
    reading r = read_model(m);
    const clv_graph *g = main_of(&r);
    cr_assert_not_null(weight(g, "at")->value);
    cr_assert_null(weight(g, "over")->value);
    cr_assert(weight(g, "none")->value && weight(g, "none")->value->n == 0);
    cr_assert(weight(g, "none")->elems == 0 && weight(g, "none")->bytes == 0);
    done(&r);
}

Test(read, reads_unpacked_numbers_too)
{
    /* dims 2 and 3 as fields of their own are 08 02 08 03; int64_data packed is 3a .., unpacked
     * 38 vv each. Tensor: dims [2], INT64, 38 05 38 06, name "w". */
    static const uint8_t tensor[] = { 0x08, 2, 0x10, 7, 0x38, 5, 0x38, 6, 0x42, 1, 'w' };
    uint8_t model[64] = {
        0x08, 8, 0x42, 2, 0x10, 17, 0x3a, 2 + sizeof tensor, 0x2a, sizeof tensor
    };
    memcpy(model + 10, tensor, sizeof tensor);
    uint8_t *bytes = malloc(10 + sizeof tensor);
    memcpy(bytes, model, 10 + sizeof tensor);
    reading r = read_bytes(bytes, 10 + sizeof tensor);
    const clv_value *v = weight(main_of(&r), "w")->value;
    cr_assert(v && v->n == 2 && v->i[0] == 5 && v->i[1] == 6);
    done(&r);
}

Test(read, reads_sparse_initialisers)
{
    reading r = read_model(everything());
    const clv_const *s = weight(main_of(&r), "s");
    /* three floats and three int64 are stored: 12 + 24 bytes */
    cr_assert(s->sparse && s->rank == 2 && s->dims[0] == 10 && s->elems == 3 && s->bytes == 36);
    cr_assert_null(s->value);
    done(&r);
}

Test(read, treats_an_initialiser_that_is_an_input_as_a_weight)
{
    test_onnx *m = one_node(3);
    onnx_input(onnx_main(m), "w", 1, "3");
    onnx_weight(onnx_main(m), "w", 1, "3");
    reading r = read_model(m);
    const clv_graph *g = main_of(&r);
    cr_assert_eq(g->n_inputs, 1);
    cr_assert_eq(named(g, "w")->role, CLV_TENSOR_WEIGHT);
    done(&r);
}

static const clv_attr *last_attr(const clv_graph *g, const char *name)
{
    const clv_op_info *op = &g->ops[g->n_ops - 1];
    const clv_attr *a = clv_op_attr(g, op, name);
    cr_assert_not_null(a, "%s", name);
    return a;
}

Test(read, reads_every_kind_of_attribute)
{
    reading r = read_model(everything());
    const clv_graph *g = main_of(&r);
    cr_assert_eq(last_attr(g, "axis")->i, -1);
    cr_assert_eq(last_attr(g, "f")->f, 1.5f);
    cr_assert(clv_str_is(last_attr(g, "s")->s, "text"));
    const clv_attr *ints = last_attr(g, "ints"), *floats = last_attr(g, "floats");
    cr_assert(ints->kind == CLV_ATTR_INTS && ints->n == 3 && ints->ints[2] == 1000000);
    cr_assert(floats->n == 2 && floats->floats[0] == 0.25f && floats->floats[1] == 8);
    cr_assert(last_attr(g, "strings")->n == 2 &&
              clv_str_is(last_attr(g, "strings")->strings[1], "two"));
    const clv_const *t = last_attr(g, "t")->tensor;
    cr_assert(t->dtype == CLV_DT_FLOAT16 && t->elems == 4 && t->value && t->value->n == 4);
    const clv_type *tp = last_attr(g, "tp")->type;
    cr_assert(tp->rank == 2 && tp->dims[1] == 2 && clv_dim_is_symbol(tp->dims[0]));
    done(&r);
}

Test(read, reads_attributes_without_a_type)
{
    test_onnx *m = one_node(1);
    test_node *node = onnx_message(m)->graph->node[0];
    onnx_attr_int(onnx_main(m), node, "i", 7);
    onnx_attr_floats(onnx_main(m), node, "fs", 1, (const float[]){ 2 });
    node->attribute[0]->has_type = node->attribute[1]->has_type = 0;
    reading r = read_model(m);
    const clv_graph *g = main_of(&r);
    cr_assert(last_attr(g, "i")->kind == CLV_ATTR_INT && last_attr(g, "i")->i == 7);
    cr_assert(last_attr(g, "fs")->kind == CLV_ATTR_FLOATS && last_attr(g, "fs")->n == 1);
    done(&r);
}

Test(read, reads_bodies_and_functions)
{
    reading r = read_model(everything());
    const clv_graph *g = main_of(&r);
    cr_assert_eq(g->n_ops, 4);
    const clv_graph *else_body = clv_op_attr(g, &g->ops[1], "else_branch")->graph[0];
    cr_assert(clv_str_is(else_body->name, "else") && else_body->n_ops == 1);
    const clv_graph *loop = clv_op_attr(else_body, &else_body->ops[0], "body")->graph[0];
    cr_assert_eq(loop->n_ops, 2);
    cr_assert_eq(r.model->n_functions, 2);
    const clv_graph *twice = r.model->functions[0];
    cr_assert_eq(g->ops[2].function, twice);
    cr_assert(twice->n_default_attrs == 1 && twice->default_attrs[0].f == 0.5f);
    const clv_attr *alpha = clv_op_attr(twice, &twice->ops[1], "alpha");
    cr_assert(clv_str_is(alpha->ref, "alpha") && alpha->kind == CLV_ATTR_FLOAT && alpha->n == 0);
    done(&r);
}

Test(read, reads_ai_onnx_as_the_standard_domain)
{
    test_onnx *m = onnx_new(8, 0);
    onnx_opset(m, "ai.onnx", 13);
    onnx_output(onnx_main(m), "x", 1, "1");
    onnx_input(onnx_main(m), "i", 1, "1");
    test_node *node = onnx_node(onnx_main(m), "Relu", "", "i", "x");
    onnx_node_domain(onnx_main(m), node, "ai.onnx", NULL);
    reading r = read_model(m);
    const clv_graph *g = main_of(&r);
    cr_assert_eq(g->ops[0].domain.n, 0);
    cr_assert_eq(clv_graph_opset(g, (clv_str){ NULL, 0 }), 13);
    done(&r);
}

static void *counting_resize(void *ctx, void *p, size_t size)
{
    size_t *left = ctx;
    if (size && (*left)-- == 0) {
        *left = 0;
        return NULL;
    }
    if (size)
        return realloc(p, size);
    free(p);
    return NULL;
}

Test(read, survives_running_out_of_memory_anywhere)
{
    test_onnx *m = everything();
    size_t n;
    uint8_t *bytes = onnx_pack(m, &n);
    onnx_free(m);
    clv_onnx_file *file = NULL;
    cr_assert_eq(clv_onnx_open_bytes(bytes, n, NULL, NULL, &file, NULL), CLV_OK);
    clv_status s = CLV_ENOMEM;
    for (size_t limit = 512; s != CLV_OK; limit += 64) {
        clv_arena *arena = clv_arena_new(NULL, limit);
        clv_model *model = NULL;
        s = clv_onnx_read(file, arena, &model, NULL);
        cr_assert(s == CLV_OK ? model != NULL : s == CLV_ENOMEM && !model);
        clv_arena_free(arena);
    }
    clv_onnx_close(file);
    for (size_t k = 0;; k++) {
        size_t left = k;
        clv_alloc alloc = { counting_resize, &left };
        file = NULL;
        s = clv_onnx_open_bytes(bytes, n, "/tmp", &alloc, &file, NULL);
        if (s == CLV_OK)
            break;
        cr_assert(s == CLV_ENOMEM && !file);
    }
    clv_onnx_close(file);
    free(bytes);
}

Test(read, fingerprint_follows_names_and_sizes)
{
    reading a = read_model(one_node(8)), b = read_model(one_node(11));
    test_onnx *m = one_node(8);
    onnx_weight(onnx_main(m), "w", 1, "3");
    reading c = read_model(m);
    m = one_node(8);
    onnx_weight(onnx_main(m), "w", 1, "4");
    reading d = read_model(m);
    main_of(&a), main_of(&b), main_of(&c), main_of(&d);
    cr_assert_eq(clv_onnx_fingerprint(a.model), clv_onnx_fingerprint(b.model));
    cr_assert_neq(clv_onnx_fingerprint(a.model), clv_onnx_fingerprint(c.model));
    cr_assert_neq(clv_onnx_fingerprint(c.model), clv_onnx_fingerprint(d.model));
    done(&a), done(&b), done(&c), done(&d);
}
