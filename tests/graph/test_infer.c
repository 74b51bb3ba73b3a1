/* Whole models: bindings, declared types, calls and bodies, limits. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "graph/graph_build.h"
#include "graph/infer.h"
#include "graph/ops.h"

#define NET_MAX 256

/* A graph in the making; names are split at commas. */
typedef struct {
    clv_arena *arena;
    clv_draft draft;
    clv_draft_op ops[NET_MAX];
    clv_draft_value inputs[8], outputs[8], values[8];
    clv_const weights[8];
} net;

typedef struct {
    clv_arena *arena;
    clv_str symbols[8];
    clv_draft *functions[NET_MAX];
    clv_draft_model model;
    clv_error err;
} world;

static const clv_opset opsets[] = { { { "", 0 }, 17 }, { { "my", 2 }, 1 } };

static void names(clv_arena *arena, const char *text, const clv_str **ret, int32_t *ret_n)
{
    clv_str *list = CLV_NEW_ARRAY(arena, clv_str, 16);
    int32_t n = 0;
    while (*text) {
        size_t length = strcspn(text, ",");
        list[n++] = (clv_str){ text, (int32_t)length };
        text += length + (text[length] == ',');
    }
    *ret = list;
    *ret_n = n;
}

static net *net_new(clv_arena *arena)
{
    net *n = CLV_NEW(arena, net);
    n->arena = arena;
    n->draft = (clv_draft){ .ops = n->ops,
                            .inputs = n->inputs,
                            .outputs = n->outputs,
                            .values = n->values,
                            .weights = n->weights,
                            .opsets = opsets,
                            .n_opsets = 2 };
    return n;
}

static clv_draft_op *node(net *n, const char *type, const char *in, const char *out)
{
    clv_draft_op *op = &n->ops[n->draft.n_ops++];
    *op = (clv_draft_op){ .type = clv_str_of(type) };
    names(n->arena, in, &op->inputs, &op->n_inputs);
    names(n->arena, out, &op->outputs, &op->n_outputs);
    return op;
}

static clv_type *type_of(net *n, clv_dtype dtype, int32_t rank, const clv_dim *dims)
{
    clv_type *t = CLV_NEW(n->arena, clv_type);
    *t = (clv_type){ .kind = CLV_TYPE_TENSOR, .dtype = dtype, .rank = rank, .dims = dims };
    return t;
}

#define DIMS(...)                                                                                  \
    (int32_t)(sizeof((clv_dim[]){ __VA_ARGS__ }) / sizeof(clv_dim)),                               \
        memcpy(clv_arena_take(w.arena, sizeof((clv_dim[]){ __VA_ARGS__ })),                        \
               (clv_dim[]){ __VA_ARGS__ }, sizeof((clv_dim[]){ __VA_ARGS__ }))
#define SYMBOL(i) clv_dim_symbol(i)

static void input(net *n, const char *name, clv_type *type)
{
    n->inputs[n->draft.n_inputs++] = (clv_draft_value){ clv_str_of(name), type };
}
static void output(net *n, const char *name, clv_type *type)
{
    n->outputs[n->draft.n_outputs++] = (clv_draft_value){ clv_str_of(name), type };
}
static void declare(net *n, const char *name, clv_type *type)
{
    n->values[n->draft.n_values++] = (clv_draft_value){ clv_str_of(name), type };
}

static clv_attr *attrs(clv_draft_op *op, clv_arena *arena, int32_t n)
{
    op->attrs = CLV_NEW_ARRAY(arena, clv_attr, n);
    op->n_attrs = n;
    return op->attrs;
}

static world world_new(void)
{
    world w = { .arena = clv_arena_new(NULL, 0) };
    w.symbols[0] = clv_str_of("batch");
    w.symbols[1] = clv_str_of("seq");
    w.model = (clv_draft_model){ .ir_version = 8, .n_symbols = 2 };
    return w;
}

static clv_status run(world *w, net *main, const clv_binding *bindings, int32_t n,
                      clv_inference **ret)
{
    clv_model *model = NULL;
    w->model.main = &main->draft;
    w->model.symbols = w->symbols;
    w->model.functions = w->functions;
    clv_status status = clv_model_build(&w->model, w->arena, &model, &w->err);
    cr_assert_eq(status, CLV_OK, "%s", w->err.message);
    return clv_infer(model, bindings, n, w->arena, ret, &w->err);
}

static const char *shown(const clv_inference *found, const char *name)
{
    static char buf[512];
    const clv_graph *g = found->main->graph;
    for (int32_t t = 0; t < g->n_tensors; t++)
        if (clv_str_is(g->tensors[t].name, name))
            return clv_type_show(g->model, &found->main->of[t], buf, sizeof buf);
    return "no such tensor";
}

static int64_t bytes_of(const clv_inference *found, const char *name)
{
    const clv_graph *g = found->main->graph;
    for (int32_t t = 0; t < g->n_tensors; t++)
        if (clv_str_is(g->tensors[t].name, name))
            return found->main->bytes[t];
    return -2;
}

#define SHOWN(name, text) cr_assert_str_eq(shown(found, name), text)
#define INFER(...)                                                                                 \
    clv_inference *found = NULL;                                                                   \
    cr_assert_eq(run(&w, m, __VA_ARGS__, &found), CLV_OK, "%s", w.err.message)
#define REFUSED(status, words, ...)                                                                \
    do {                                                                                           \
        clv_inference *none = NULL;                                                                \
        cr_assert_eq(run(&w, m, __VA_ARGS__, &none), status);                                      \
        cr_assert(strstr(w.err.message, words), "%s", w.err.message);                              \
        cr_assert_null(none);                                                                      \
    } while (0)

/* x [batch,64] * w [64,10] in FLOAT, 64 * 10 * 4 bytes of weight */
static net *perceptron(world *wp)
{
    world w = *wp;
    net *m = net_new(w.arena);
    input(m, "x", type_of(m, CLV_DT_FLOAT, DIMS(SYMBOL(0), 64)));
    static const int64_t dims[] = { 64, 10 };
    m->weights[m->draft.n_weights++] = (clv_const){ .name = clv_str_of("w"),
                                                    .dtype = CLV_DT_FLOAT,
                                                    .rank = 2,
                                                    .dims = dims,
                                                    .elems = 640,
                                                    .bytes = 2560 };
    node(m, "MatMul", "x,w", "y");
    node(m, "Relu", "y", "z");
    output(m, "z", NULL);
    return m;
}

Test(infer, types_flow_through_the_graph)
{
    world w = world_new();
    net *m = perceptron(&w);
    INFER(NULL, 0);
    SHOWN("x", "float[batch,64]");
    SHOWN("w", "float[64,10]");
    SHOWN("z", "float[batch,10]");
    cr_assert_eq(bytes_of(found, "w"), 2560);
    cr_assert_eq(bytes_of(found, "z"), -1);
    cr_assert_eq(found->n_open, 3);
    cr_assert_eq(found->n_conflicts, 0);
    cr_assert_null(found->main->first_body);
    clv_arena_free(w.arena);
}

Test(infer, an_empty_graph_has_no_types)
{
    world w = world_new();
    net *m = net_new(w.arena);
    INFER(NULL, 0);
    cr_assert_eq(found->n_open, 0);
    clv_arena_free(w.arena);
}

/* 8 * 10 floats are 320 bytes */
Test(infer, a_bound_symbol_is_a_number_everywhere)
{
    world w = world_new();
    net *m = perceptron(&w);
    clv_binding b[] = { { clv_str_of("batch"), 8 }, { clv_str_of("batch"), 8 } };
    INFER(b, 2);
    SHOWN("z", "float[8,10]");
    cr_assert_eq(bytes_of(found, "z"), 320);
    cr_assert_eq(found->n_open, 0);
    clv_arena_free(w.arena);
}

Test(infer, a_binding_that_means_nothing_is_refused)
{
    world w = world_new();
    net *m = perceptron(&w);
    clv_binding unknown = { clv_str_of("bach"), 8 }, zero = { clv_str_of("batch"), 0 };
    clv_binding two[] = { { clv_str_of("seq"), 8 }, { clv_str_of("seq"), 9 } };
    REFUSED(CLV_EFORMAT, "no symbol 'bach'; its symbols are: batch, seq", &unknown, 1);
    REFUSED(CLV_EFORMAT, "must be at least 1", &zero, 1);
    REFUSED(CLV_EFORMAT, "'seq' is bound to 8 and to 9", two, 2);
    clv_arena_free(w.arena);
}

Test(infer, what_is_open_is_taken_from_the_file)
{
    world w = world_new();
    net *m = net_new(w.arena);
    input(m, "x", type_of(m, CLV_DT_FLOAT, DIMS(SYMBOL(0), CLV_DIM_UNKNOWN)));
    node(m, "Relu", "x", "y");
    node(m, "SomethingElse", "y", "z");
    node(m, "Relu", "z", "out");
    declare(m, "y", type_of(m, CLV_DT_FLOAT, DIMS(SYMBOL(1), 7)));
    declare(m, "z", type_of(m, CLV_DT_INT8, DIMS(SYMBOL(1), 3)));
    output(m, "out", type_of(m, CLV_DT_INT8, DIMS(SYMBOL(0), 3)));
    clv_binding b = { clv_str_of("seq"), 5 };
    INFER(&b, 1);
    SHOWN("y", "float[5,7]"); /* a number is more than the symbol that was found */
    SHOWN("out", "int8[5,3]");
    cr_assert_eq(found->n_conflicts, 0);
    clv_arena_free(w.arena);
}

Test(infer, what_the_file_declares_wrongly_is_said_and_not_believed)
{
    world w = world_new();
    net *m = net_new(w.arena);
    input(m, "x", type_of(m, CLV_DT_FLOAT, DIMS(2, 3)));
    node(m, "Relu", "x", "y");
    node(m, "Relu", "y", "z");
    declare(m, "y", type_of(m, CLV_DT_FLOAT, DIMS(2, 4)));
    output(m, "z", type_of(m, CLV_DT_INT8, DIMS(2, 3)));
    INFER(NULL, 0);
    SHOWN("z", "float[2,3]");
    cr_assert_eq(found->n_conflicts, 2);
    cr_assert(clv_str_is(found->conflicts[0],
                         "tensor 'y' is declared as float[2,4] but comes out as float[2,3]"));
    cr_assert(clv_str_is(found->conflicts[1],
                         "tensor 'z' is declared as int8[2,3] but comes out as float[2,3]"));
    clv_arena_free(w.arena);
}

/* 2^62 * 2 elements; 2^61 elements of 4 bytes; both are more than 2^63 - 1 */
Test(infer, a_size_that_64_bits_cannot_hold_names_its_tensor)
{
    world w = world_new();
    net *m = net_new(w.arena);
    input(m, "big", type_of(m, CLV_DT_INT8, DIMS(INT64_C(1) << 62, 2)));
    REFUSED(CLV_EFORMAT, "tensor 'big'", NULL, 0);
    m->draft.n_inputs = 0;
    input(m, "wide", type_of(m, CLV_DT_FLOAT, DIMS(INT64_C(1) << 61)));
    REFUSED(CLV_EFORMAT, "tensor 'wide'", NULL, 0);
    m->draft.n_inputs = 0;
    input(m, "less", type_of(m, CLV_DT_FLOAT, DIMS(-2)));
    REFUSED(CLV_EFORMAT, "tensor 'less': dimension 0 is -2", NULL, 0);
    m->draft.n_inputs = 0;
    input(m, "empty", type_of(m, CLV_DT_FLOAT, DIMS(INT64_C(1) << 62, 0, 8)));
    INFER(NULL, 0);
    cr_assert_eq(bytes_of(found, "empty"), 0);
    clv_arena_free(w.arena);
}

Test(infer, a_contradiction_names_the_operator_and_both_shapes)
{
    world w = world_new();
    net *m = net_new(w.arena);
    input(m, "x", type_of(m, CLV_DT_FLOAT, DIMS(2, 3)));
    input(m, "y", type_of(m, CLV_DT_FLOAT, DIMS(4, 3)));
    node(m, "Add", "x,y", "z")->name = clv_str_of("blocks/add");
    REFUSED(CLV_EFORMAT, "operator 'blocks/add' (Add): shapes [2,3] and [4,3] do not broadcast",
            NULL, 0);
    clv_arena_free(w.arena);
}

/* my.Sum(a; axes, keepdims = 0) = ReduceSum with the caller's attributes, at version 11 */
static void add_function(world *w)
{
    static const clv_opset old[] = { { { "", 0 }, 11 } };
    static clv_attr defaults[1];
    net *f = net_new(w->arena);
    f->draft.name = clv_str_of("Sum");
    f->draft.function_domain = clv_str_of("my");
    f->draft.opsets = old;
    f->draft.n_opsets = 1;
    input(f, "a", NULL);
    clv_attr *a = attrs(node(f, "ReduceSum", "a", "b"), w->arena, 2);
    a[0] =
        (clv_attr){ .name = clv_str_of("axes"), .ref = clv_str_of("over"), .kind = CLV_ATTR_INTS };
    a[1] = (clv_attr){ .name = clv_str_of("keepdims"),
                       .ref = clv_str_of("keep"),
                       .kind = CLV_ATTR_INT };
    output(f, "b", NULL);
    defaults[0] = (clv_attr){ .name = clv_str_of("keep"), .kind = CLV_ATTR_INT, .n = 1, .i = 0 };
    f->draft.default_attrs = defaults;
    f->draft.n_default_attrs = 1;
    w->functions[w->model.n_functions++] = &f->draft;
}

Test(infer, a_call_is_inferred_with_its_own_types_and_attributes)
{
    static const int64_t first[] = { 0 };
    world w = world_new();
    net *m = net_new(w.arena);
    add_function(&w);
    input(m, "x", type_of(m, CLV_DT_FLOAT, DIMS(2, 3)));
    clv_draft_op *one = node(m, "Sum", "x", "y"), *other = node(m, "Sum", "x", "z");
    one->domain = other->domain = clv_str_of("my");
    attrs(one, w.arena, 1)[0] =
        (clv_attr){ .name = clv_str_of("over"), .kind = CLV_ATTR_INTS, .n = 1, .ints = first };
    clv_attr *a = attrs(other, w.arena, 1);
    a[0] = (clv_attr){ .name = clv_str_of("keep"), .kind = CLV_ATTR_INT, .n = 1, .i = 1 };
    INFER(NULL, 0);
    SHOWN("y", "float[3]");
    SHOWN("z", "float[1,1]");
    cr_assert_eq(found->main->first_body[2], 2);
    cr_assert_eq(found->main->body[1]->graph, found->main->graph->ops[1].function);
    cr_assert_eq(found->n_open_in_bodies, 0);
    clv_arena_free(w.arena);
}

/* f0 calls f1 twice, f1 calls f2 twice, ...: 2^60 bodies */
Test(infer, calls_that_double_at_each_level_are_refused_in_time)
{
    static char name[61][16];
    world w = world_new();
    net *m = net_new(w.arena);
    for (int i = 60; i >= 0; i--) {
        snprintf(name[i], sizeof name[i], "f%d", i);
        net *f = net_new(w.arena);
        f->draft.name = clv_str_of(name[i]);
        f->draft.function_domain = clv_str_of("my");
        input(f, "a", NULL);
        clv_draft_op *one = node(f, i < 60 ? name[i + 1] : "Relu", "a", "b");
        clv_draft_op *other = node(f, i < 60 ? name[i + 1] : "Relu", "b", "c");
        one->domain = other->domain = clv_str_of(i < 60 ? "my" : "");
        output(f, "c", NULL);
        w.functions[w.model.n_functions++] = &f->draft;
    }
    input(m, "x", type_of(m, CLV_DT_FLOAT, DIMS(2, 3)));
    node(m, "f0", "x", "y")->domain = clv_str_of("my");
    REFUSED(CLV_ELIMIT, "expand to more than", NULL, 0);
    clv_arena_free(w.arena);
}

static clv_status infer_within(const clv_model *model, size_t limit)
{
    clv_arena *arena = clv_arena_new(NULL, limit);
    clv_inference *found = NULL;
    clv_error err;
    if (!arena)
        return CLV_ENOMEM;
    clv_binding b = { clv_str_of("batch"), 8 };
    clv_status status = clv_infer(model, &b, 1, arena, &found, &err);
    cr_assert_eq(status == CLV_OK, found != NULL);
    clv_arena_free(arena);
    return status;
}

Test(infer, running_out_of_memory_anywhere_is_reported)
{
    world w = world_new();
    net *m = perceptron(&w);
    add_function(&w);
    node(m, "Sum", "z", "s")->domain = clv_str_of("my");
    node(m, "Shape", "z", "t");
    INFER(NULL, 0);
    const clv_model *model = found->main->graph->model;
    size_t limit = 1;
    clv_status status;
    while ((status = infer_within(model, limit)) == CLV_ENOMEM)
        limit += 64;
    cr_assert_eq(status, CLV_OK);
    cr_assert_gt(limit, 500);
    clv_arena_free(w.arena);
}

/* A chain keeps one array of dims: 48 bytes of tables a tensor and nothing else. */
Test(infer, a_million_operators_share_their_shapes)
{
    enum { N = 1000000 };
    world w = world_new();
    net *m = net_new(w.arena);
    clv_str *tensors = CLV_NEW_ARRAY(w.arena, clv_str, N + 1);
    m->draft.ops = CLV_NEW_ARRAY(w.arena, clv_draft_op, N);
    m->draft.n_ops = N;
    for (int i = 0; i <= N; i++)
        tensors[i] = clv_str_of(clv_arena_printf(w.arena, "t%d", i));
    for (int i = 0; i < N; i++)
        m->draft.ops[i] = (clv_draft_op){ .type = clv_str_of(i % 2 ? "Add" : "Relu"),
                                          .inputs = &tensors[i],
                                          .n_inputs = 1,
                                          .outputs = &tensors[i + 1],
                                          .n_outputs = 1 };
    m->inputs[m->draft.n_inputs++] =
        (clv_draft_value){ tensors[0], type_of(m, CLV_DT_FLOAT, DIMS(2, SYMBOL(1), 64)) };
    clv_model *model = NULL;
    w.model.main = &m->draft;
    w.model.symbols = w.symbols;
    cr_assert_eq(clv_model_build(&w.model, w.arena, &model, &w.err), CLV_OK, "%s", w.err.message);
    clv_arena *arena = clv_arena_new(NULL, (size_t)200 << 20);
    clv_inference *found = NULL;
    clv_status status = clv_infer(model, NULL, 0, arena, &found, &w.err);
    cr_assert_eq(status, CLV_OK, "%s", w.err.message);
    SHOWN("t1000000", "float[2,seq,64]");
    clv_arena_free(arena);
    clv_arena_free(w.arena);
}

Test(infer, each_run_of_operators_is_sorted_so_that_all_are_found)
{
    for (int32_t i = 0; i < clv_n_op_defs(); i++) {
        const clv_op_def *def = clv_op_def_at(i);
        int32_t found = clv_op_def_find(clv_str_of(def->domain), clv_str_of(def->name));
        cr_assert_eq(found, i, "%s %s is line %d, found %d", def->domain, def->name, i, found);
    }
    cr_assert_eq(clv_op_def_find(clv_str_of(""), clv_str_of("NoSuch")), CLV_OPKIND_UNKNOWN);
    cr_assert_eq(clv_op_def_find(clv_str_of("no.such"), clv_str_of("Add")), CLV_OPKIND_UNKNOWN);
    cr_assert_eq(clv_op_def_find(clv_str_of(""), clv_str_of("")), CLV_OPKIND_UNKNOWN);
}

Test(infer, types_are_shown_in_words)
{
    char buf[64];
    clv_dim dims[] = { 8, CLV_DIM_UNKNOWN };
    clv_type tensor = { .kind = CLV_TYPE_TENSOR, .dtype = CLV_DT_FLOAT16, .rank = 2, .dims = dims };
    clv_type list = { .kind = CLV_TYPE_SEQUENCE, .elem = &tensor };
    clv_type maybe = { .kind = CLV_TYPE_OPTIONAL, .elem = &list };
    cr_assert_str_eq(clv_type_show(NULL, &tensor, buf, sizeof buf), "float16[8,?]");
    cr_assert_str_eq(clv_type_show(NULL, &maybe, buf, sizeof buf),
                     "optional sequence of float16[8,?]");
    cr_assert_str_eq(clv_type_show(NULL, &tensor, buf, 8), "float16");
    cr_assert_not(clv_type_is_static(&tensor));
    cr_assert_eq(clv_type_elems(&tensor), -1);
}
