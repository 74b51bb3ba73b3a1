#include "support/copied.h"

#include <stdlib.h>

static clv_str with_suffix(clv_arena *arena, clv_str name, const char *suffix)
{
    if (!name.n)
        return name;
    char *text = clv_arena_take(arena, (size_t)name.n + strlen(suffix) + 1);
    if (!text)
        abort();
    memcpy(text, name.at, (size_t)name.n);
    memcpy(text + name.n, suffix, strlen(suffix));
    return (clv_str){ text, name.n + (int32_t)strlen(suffix) };
}

static clv_str tensor_name(const clv_graph *g, clv_tensor t, const char *suffix, clv_arena *arena)
{
    if (t.i < 0)
        return (clv_str){ NULL, 0 };
    return with_suffix(arena, clv_tensor_at(g, t)->name, suffix);
}

static clv_new_node copied_node(const clv_graph *g, int32_t i, const char *suffix, clv_arena *arena)
{
    const clv_op_info *op = &g->ops[i];
    clv_new_node node = { .source = { i }, .n_in = clv_op_n_explicit(op), .n_out = op->n_out };
    node.name = with_suffix(arena, op->name, suffix);
    clv_str *names = CLV_NEW_ARRAY(arena, clv_str, node.n_in + node.n_out);
    clv_rename *captured = CLV_NEW_ARRAY(arena, clv_rename, op->n_implicit);
    for (int32_t k = 0; k < node.n_in; k++)
        names[k] = tensor_name(g, clv_op_input(g, op, k), suffix, arena);
    for (int32_t k = 0; k < node.n_out; k++)
        names[node.n_in + k] = tensor_name(g, clv_op_output(g, op, k), suffix, arena);
    for (int32_t k = 0; k < op->n_implicit; k++) {
        clv_tensor t = clv_op_input(g, op, node.n_in + k);
        captured[k].from = clv_tensor_at(g, t)->name;
        captured[k].to = tensor_name(g, t, suffix, arena);
    }
    node.in = names;
    node.out = names + node.n_in;
    node.captured = captured;
    node.n_captured = op->n_implicit;
    return node;
}

static clv_new_value *copied_values(const clv_graph *g, const clv_tensor *tensors, int32_t n,
                                    const char *suffix, clv_arena *arena)
{
    clv_new_value *values = CLV_NEW_ARRAY(arena, clv_new_value, n);
    for (int32_t i = 0; i < n; i++) {
        values[i].name = tensor_name(g, tensors[i], suffix, arena);
        values[i].type = clv_tensor_at(g, tensors[i])->declared;
    }
    return values;
}

/* Declared types of tensors in between. */
static void copy_between(clv_new_model *m, const clv_graph *g, const char *suffix, clv_arena *arena)
{
    clv_tensor *between = CLV_NEW_ARRAY(arena, clv_tensor, g->n_tensors);
    for (int32_t t = 0; t < g->n_tensors; t++) {
        const clv_tensor_info *info = &g->tensors[t];
        if (info->role == CLV_TENSOR_RESULT && !info->is_output && info->declared)
            between[m->n_values++] = (clv_tensor){ t };
    }
    m->values = copied_values(g, between, m->n_values, suffix, arena);
}

clv_new_model *test_copied(const clv_onnx_file *file, const clv_model *model, const char *suffix,
                           clv_arena *arena)
{
    const clv_graph *g = model->main;
    clv_new_model *m = CLV_NEW(arena, clv_new_model);
    clv_new_node *nodes = CLV_NEW_ARRAY(arena, clv_new_node, g->n_ops);
    clv_new_tensor *tensors = CLV_NEW_ARRAY(arena, clv_new_tensor, g->n_weights);
    if (!m || !nodes || !tensors)
        return NULL;
    m->source = file;
    m->model = model;
    for (int32_t i = 0; i < g->n_ops; i++)
        nodes[g->ops[i].file_index] = copied_node(g, i, suffix, arena);
    for (int32_t i = 0; i < g->n_weights; i++) {
        tensors[i].weight = i;
        tensors[i].name = with_suffix(arena, g->weights[i].name, suffix);
    }
    m->nodes = nodes;
    m->n_nodes = g->n_ops;
    m->tensors = tensors;
    m->n_tensors = g->n_weights;
    m->inputs = copied_values(g, g->inputs, g->n_inputs, suffix, arena);
    m->n_inputs = g->n_inputs;
    m->outputs = copied_values(g, g->outputs, g->n_outputs, suffix, arena);
    m->n_outputs = g->n_outputs;
    copy_between(m, g, suffix, arena);
    return m;
}
