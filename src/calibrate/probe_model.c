#include "calibrate/probe_model.h"

#include <string.h>

#include "cost/op_cost.h"
#include "proto/onnx_write.h"
#include "proto/out_file.h"

#define OPSET  20 /* the first that has all of the probes' operators */
#define FLOATS 4  /* bytes of an element */

/* An empty model of that operator set to write from: ir_version 8, a graph "g", opset_import. */
static const unsigned char empty_model[] = { 0x08, 0x08, 0x3a, 0x03, 0x12, 0x01,
                                             'g',  0x42, 0x02, 0x10, OPSET };

typedef struct {
    clv_arena *arena;
    clv_new_value *inputs;
    clv_new_tensor *tensors;
    clv_new_node *nodes;
    int32_t n_inputs, n_tensors, n_nodes, tensors_cap, nodes_cap;
} builder;

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "a probe"); }

static clv_status make_name(const builder *b, clv_str *ret, const char *fmt, int i, int k,
                            clv_error *err)
{
    const char *text = clv_arena_printf(b->arena, fmt, i, k);
    *ret = clv_str_of(text);
    return text ? CLV_OK : nomem(err);
}

/* -- tensors -- */

static clv_status set_elements(const builder *b, clv_new_tensor *t, const clv_probe_in *in,
                               clv_error *err)
{
    int64_t n = 1, size = t->dtype == CLV_DT_FLOAT ? FLOATS : t->dtype == CLV_DT_BOOL ? 1 : 8;
    for (int32_t i = 0; i < t->rank; i++)
        n *= t->dims[i];
    unsigned char *bytes = clv_arena_take(b->arena, (size_t)(n * size));
    float *floats = (float *)(void *)bytes;
    if (!bytes)
        return nomem(err);
    /* Small numbers of both signs: products neither vanish nor overflow, and none is denormal. */
    for (int64_t i = 0; in->kind == CLV_PROBE_WEIGHT && i < n; i++)
        floats[i] = (float)(i % 7 + 1) * (i % 2 ? 0.01F : -0.01F);
    for (int64_t i = 0; in->kind == CLV_PROBE_TWOS && i < n; i++)
        floats[i] = 2;
    for (int64_t i = 0; in->kind == CLV_PROBE_BOOLS && i < n; i += 3)
        bytes[i] = 1;
    if (in->kind == CLV_PROBE_INTS)
        memcpy(bytes, in->at, (size_t)(n * size));
    t->bytes = bytes;
    t->n_bytes = n * size;
    return CLV_OK;
}

static clv_status add_tensor(builder *b, clv_str name, const clv_probe_in *in, const int64_t *dims,
                             clv_error *err)
{
    clv_new_tensor t = { .name = name, .rank = in->n, .dims = dims, .weight = -1 };
    t.dtype = in->kind == CLV_PROBE_BOOLS                                  ? CLV_DT_BOOL
              : in->kind == CLV_PROBE_WEIGHT || in->kind == CLV_PROBE_TWOS ? CLV_DT_FLOAT
                                                                           : CLV_DT_INT64;
    if (in->kind == CLV_PROBE_INTS) {
        int64_t *length = CLV_NEW(b->arena, int64_t);
        if (!length)
            return nomem(err);
        *length = in->n;
        t.rank = 1;
        t.dims = length;
    }
    CLV_TRY(set_elements(b, &t, in, err));
    if (!CLV_PUSH_ROOM(b->arena, b->tensors, b->n_tensors, b->tensors_cap))
        return nomem(err);
    b->tensors[b->n_tensors++] = t;
    return CLV_OK;
}

/* Its dimensions, the first one as the probe says where it is what grows. */
static clv_status dims_of(const builder *b, const clv_probe *p, const clv_probe_in *in,
                          const int64_t **ret, clv_error *err)
{
    int64_t *dims = CLV_NEW_ARRAY(b->arena, int64_t, CLV_PROBE_RANK);
    if (!dims)
        return nomem(err);
    memcpy(dims, in->at, sizeof in->at);
    if (p->rows > 0 && in->kind != CLV_PROBE_WEIGHT && in->kind != CLV_PROBE_TWOS)
        dims[0] = p->rows;
    *ret = dims;
    return CLV_OK;
}

/* The input of node k: the model's, or a tensor; what all nodes may share is made for the first. */
static clv_status add_in(builder *b, const clv_probe *p, int32_t i, int32_t k, clv_str *ret,
                         clv_error *err)
{
    const clv_probe_in *in = &p->op->in[i];
    const int64_t *dims = NULL;
    if (in->kind == CLV_PROBE_X) {
        *ret = clv_str_of("x");
        return CLV_OK;
    }
    bool own = in->kind == CLV_PROBE_WEIGHT;
    CLV_TRY(make_name(b, ret, "w%d_%d", i, own ? k : 0, err));
    if (!own && k > 0)
        return CLV_OK;
    CLV_TRY(dims_of(b, p, in, &dims, err));
    return add_tensor(b, *ret, in, dims, err);
}

static clv_status add_input(builder *b, const clv_probe *p, clv_error *err)
{
    for (int32_t i = 0; i < CLV_PROBE_INS && b->n_inputs == 0; i++) {
        const clv_probe_in *in = &p->op->in[i];
        if (in->kind != CLV_PROBE_X)
            continue;
        clv_type *type = CLV_NEW(b->arena, clv_type);
        b->inputs = CLV_NEW(b->arena, clv_new_value);
        if (!type || !b->inputs)
            return nomem(err);
        *type = (clv_type){ .kind = CLV_TYPE_TENSOR, .dtype = CLV_DT_FLOAT, .rank = in->n };
        CLV_TRY(dims_of(b, p, in, &type->dims, err));
        b->inputs[b->n_inputs++] = (clv_new_value){ clv_str_of("x"), type };
    }
    return CLV_OK;
}

/* -- nodes -- */

static clv_status add_attrs(const builder *b, const clv_probe_op *op, clv_new_node *node,
                            clv_error *err)
{
    clv_new_attr *attrs = CLV_NEW_ARRAY(b->arena, clv_new_attr, CLV_PROBE_INS);
    if (!attrs)
        return nomem(err);
    for (int32_t i = 0; i < CLV_PROBE_INS && op->attrs[i].name; i++) {
        const clv_probe_attr *a = &op->attrs[i];
        attrs[node->n_attrs++] =
            a->n == 0
                ? (clv_new_attr){ .name = clv_str_of(a->name), .kind = CLV_NEW_INT, .i = a->at[0] }
                : (clv_new_attr){
                      .name = clv_str_of(a->name), .kind = CLV_NEW_INTS, .ints = a->at, .n = a->n
                  };
    }
    node->attrs = attrs;
    return CLV_OK;
}

static clv_status push_node(builder *b, const clv_new_node *node, clv_error *err)
{
    if (!CLV_PUSH_ROOM(b->arena, b->nodes, b->n_nodes, b->nodes_cap))
        return nomem(err);
    b->nodes[b->n_nodes++] = *node;
    return CLV_OK;
}

static clv_status add_node(builder *b, const clv_probe *p, int32_t k, clv_error *err)
{
    const char *dot = strrchr(p->op->type, '.');
    clv_new_node node = { .source = CLV_NO_OP,
                          .type = clv_str_of(dot ? dot + 1 : p->op->type),
                          .domain = { p->op->type, dot ? (int32_t)(dot - p->op->type) : 0 },
                          .n_out = p->op->n_out ? p->op->n_out : 1 };
    clv_str *in = CLV_NEW_ARRAY(b->arena, clv_str, CLV_PROBE_INS);
    clv_str *out = CLV_NEW_ARRAY(b->arena, clv_str, node.n_out);
    if (!in || !out)
        return nomem(err);
    for (; node.n_in < CLV_PROBE_INS && p->op->in[node.n_in].kind; node.n_in++)
        CLV_TRY(add_in(b, p, node.n_in, k, &in[node.n_in], err));
    for (int32_t i = 0; i < node.n_out; i++)
        CLV_TRY(make_name(b, &out[i], "y%d_%d", i, k, err));
    CLV_TRY(make_name(b, &node.name, "n%d", k, 0, err));
    node.in = in;
    node.out = out;
    CLV_TRY(add_attrs(b, p->op, &node, err));
    return push_node(b, &node, err);
}

/* What every probe has behind its nodes, the empty one too: an output that costs nothing. */
static clv_status add_end(builder *b, clv_error *err)
{
    static const clv_probe_in one = { CLV_PROBE_WEIGHT, 1, { 1 } };
    static const clv_str from = { "one", 3 }, to = { CLV_PROBE_END, sizeof CLV_PROBE_END - 1 };
    CLV_TRY(add_tensor(b, from, &one, one.at, err));
    return push_node(b,
                     &(clv_new_node){ .source = CLV_NO_OP,
                                      .name = to,
                                      .type = clv_str_of("Identity"),
                                      .in = &from,
                                      .n_in = 1,
                                      .out = &to,
                                      .n_out = 1 },
                     err);
}

/* -- files -- */

static clv_status write_to(const builder *b, const clv_new_model *model, const char *path,
                           clv_error *err)
{
    clv_out_file *out;
    CLV_TRY(clv_out_open(path, clv_arena_alloc(b->arena), &out, err));
    clv_sink sink = clv_out_sink(out);
    clv_status status = clv_onnx_write(model, &sink, b->arena, err);
    if (status != CLV_OK) {
        clv_out_abort(out);
        return status;
    }
    return clv_out_commit(out, err);
}

static clv_status write_file(builder *b, const clv_new_value *output, const char *path,
                             clv_error *err)
{
    clv_onnx_file *source;
    clv_new_model new = { .graph_name = clv_str_of("probe"),
                          .inputs = b->inputs,
                          .n_inputs = b->n_inputs,
                          .outputs = output,
                          .n_outputs = 1,
                          .tensors = b->tensors,
                          .n_tensors = b->n_tensors,
                          .nodes = b->nodes,
                          .n_nodes = b->n_nodes };
    static const clv_new_opset microsoft = { { "com.microsoft", 13 }, 1 };
    clv_model *model;
    CLV_TRY(clv_onnx_open_bytes(empty_model, sizeof empty_model, NULL, clv_arena_alloc(b->arena),
                                &source, err));
    clv_status status = clv_onnx_read(source, b->arena, &model, err);
    new.source = source;
    new.model = model;
    new.opsets = &microsoft;
    new.n_opsets = 1;
    if (status == CLV_OK)
        status = write_to(b, &new, path, err);
    clv_onnx_close(source);
    return status;
}

clv_status clv_probe_write(const clv_probe *p, const char *path, clv_arena *arena, clv_error *err)
{
    static const int64_t one[] = { 1 };
    static const clv_type scalar = { CLV_TYPE_TENSOR, CLV_DT_FLOAT, 1, one, NULL };
    const clv_new_value end = { clv_str_of(CLV_PROBE_END), &scalar };
    builder b = { .arena = arena };
    CLV_TRY(add_input(&b, p, err));
    for (int32_t k = 0; k < p->nodes; k++)
        CLV_TRY(add_node(&b, p, k, err));
    CLV_TRY(add_end(&b, err));
    return write_file(&b, &end, path, err);
}

clv_status clv_probe_write_sums(const char *path, int64_t n, int32_t sums, clv_arena *arena,
                                clv_error *err)
{
    const clv_type type = { CLV_TYPE_TENSOR, CLV_DT_FLOAT, 1, &n, NULL };
    clv_new_value ends[] = { { clv_str_of("x"), &type }, { clv_str_of("x"), &type } };
    builder b = { .arena = arena, .inputs = ends, .n_inputs = 1 };
    for (int32_t k = 0; k < sums; k++) {
        clv_str *io = CLV_NEW_ARRAY(arena, clv_str, 2);
        clv_new_node node = { .source = CLV_NO_OP,
                              .type = clv_str_of("AllReduce"),
                              .domain = clv_str_of("com.microsoft"),
                              .in = io,
                              .n_in = 1,
                              .n_out = 1 };
        if (!io)
            return nomem(err);
        io[0] = ends[1].name;
        CLV_TRY(make_name(&b, &node.name, "sum%d", k, 0, err));
        io[1] = node.name;
        node.out = &io[1];
        ends[1].name = node.name;
        CLV_TRY(push_node(&b, &node, err));
    }
    return write_file(&b, &ends[1], path, err);
}

/* -- what the cost model says -- */

static clv_status work_in(const clv_onnx_file *file, clv_arena *arena, clv_probe_work *ret,
                          clv_error *err)
{
    clv_model *model;
    clv_inference *inference;
    clv_costs *costs;
    CLV_TRY(clv_onnx_read(file, arena, &model, err));
    CLV_TRY(clv_infer(model, NULL, 0, arena, &inference, err));
    CLV_TRY(clv_costs_build(model, inference->main, arena, &costs, err));
    for (int32_t i = 0; i < model->main->n_ops; i++) {
        const clv_op_cost *c = &costs->of[i];
        if (clv_str_is(model->main->ops[i].name, "n0"))
            *ret = (clv_probe_work){ c->speed - 1, (double)c->matmul_flops,
                                     (double)(c->flops - c->matmul_flops),
                                     (double)c->read_bytes + (double)c->write_bytes };
    }
    return CLV_OK;
}

clv_status clv_probe_work_of(const char *path, clv_arena *arena, clv_probe_work *ret,
                             clv_error *err)
{
    clv_onnx_file *file;
    *ret = (clv_probe_work){ .speed = -1 };
    CLV_TRY(clv_onnx_open(path, clv_arena_alloc(arena), &file, err));
    clv_status status = work_in(file, arena, ret, err);
    clv_onnx_close(file);
    return status;
}
