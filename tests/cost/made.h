/* made.h - small models for the tests of cost/, made in a few lines and inferred.
 *
 *     made *m = made_new(arena);
 *     made_input(m, "x", CLV_DT_FLOAT, "2,3");
 *     made_weight(m, "w", CLV_DT_FLOAT, "3,4");
 *     made_op(m, "MatMul", "x,w", "y");
 *     made_build(m);             // m->types, m->costs; fails the test on any error
 *
 * Lists are separated by commas; an empty name is left out; "?" is an open dimension. made_attr_*
 * go to the last operator. Names must be literals. At most MADE_MAX of anything.
 */
#ifndef CLV_TESTS_COST_MADE_H
#define CLV_TESTS_COST_MADE_H

#include <criterion/criterion.h>
#include <stdlib.h>

#include "cost/subgraph.h"
#include "graph/graph_build.h"

#define MADE_MAX 64

typedef struct {
    clv_arena *arena;
    clv_draft draft;
    int32_t room; /* of each list of the draft */
    clv_model *model;
    clv_types *types;
    clv_costs *costs;
    clv_error err;
} made;

static inline made *made_new_of(clv_arena *arena, int32_t room)
{
    static const clv_opset opsets[] = { { { "", 0 }, 23 }, { { "com.microsoft", 13 }, 1 } };
    made *m = CLV_NEW(arena, made);
    m->arena = arena;
    m->room = room;
    m->draft.name = clv_str_of("made");
    m->draft.opsets = opsets;
    m->draft.n_opsets = 2;
    m->draft.ops = CLV_NEW_ARRAY(arena, clv_draft_op, room);
    m->draft.inputs = CLV_NEW_ARRAY(arena, clv_draft_value, room);
    m->draft.outputs = CLV_NEW_ARRAY(arena, clv_draft_value, room);
    m->draft.weights = CLV_NEW_ARRAY(arena, clv_const, room);
    return m;
}

static inline made *made_new(clv_arena *arena) { return made_new_of(arena, MADE_MAX); }

static inline clv_dim *made_dims(clv_arena *arena, const char *text, int32_t *ret_n)
{
    clv_dim *dims = CLV_NEW_ARRAY(arena, clv_dim, 16);
    *ret_n = 0;
    while (*text) {
        char *end = NULL;
        dims[(*ret_n)++] = *text == '?' ? CLV_DIM_UNKNOWN : strtoll(text, &end, 10);
        text = *text == '?' ? text + 1 : end;
        text += *text == ',';
    }
    return dims;
}

static inline clv_str *made_names(clv_arena *arena, const char *text, int32_t *ret_n)
{
    size_t n = strlen(text);
    clv_str *names = CLV_NEW_ARRAY(arena, clv_str, n + 1);
    *ret_n = 0;
    for (const char *at = text; n && at <= text + n;) {
        size_t length = strcspn(at, ",");
        names[(*ret_n)++] = (clv_str){ at, (int32_t)length };
        at += length + 1;
    }
    return names;
}

static inline void made_input(made *m, const char *name, clv_dtype dtype, const char *dims)
{
    clv_type *type = CLV_NEW(m->arena, clv_type);
    type->kind = CLV_TYPE_TENSOR;
    type->dtype = dtype;
    type->dims = made_dims(m->arena, dims, &type->rank);
    m->draft.inputs[m->draft.n_inputs++] = (clv_draft_value){ clv_str_of(name), type };
}

static inline clv_const *made_weight(made *m, const char *name, clv_dtype dtype, const char *dims)
{
    clv_const *w = &m->draft.weights[m->draft.n_weights++];
    w->name = clv_str_of(name);
    w->dtype = dtype;
    w->dims = made_dims(m->arena, dims, &w->rank);
    w->elems = 1;
    for (int32_t i = 0; i < w->rank; i++)
        w->elems *= w->dims[i];
    cr_assert(clv_dtype_bytes(dtype, w->elems, &w->bytes));
    return w;
}

/* A 1-D INT64 initialiser whose elements are known. */
static inline void made_ints(made *m, const char *name, const char *elements)
{
    clv_value *value = CLV_NEW(m->arena, clv_value);
    clv_const *w = made_weight(m, name, CLV_DT_INT64, "1");
    value->i = made_dims(m->arena, elements, &value->n);
    ((int64_t *)w->dims)[0] = w->elems = value->n;
    w->bytes = 8 * w->elems;
    w->value = value;
}

static inline clv_draft_op *made_op(made *m, const char *type, const char *in, const char *out)
{
    cr_assert_lt(m->draft.n_ops, m->room);
    clv_draft_op *op = &m->draft.ops[m->draft.n_ops++];
    const char *colon = strchr(type, ':'); /* "com.microsoft:MoE" */
    op->type = clv_str_of(colon ? colon + 1 : type);
    op->domain = colon ? (clv_str){ type, (int32_t)(colon - type) } : clv_str_of("");
    op->inputs = made_names(m->arena, in, &op->n_inputs);
    op->outputs = made_names(m->arena, out, &op->n_outputs);
    if (op->n_outputs)
        op->name = op->outputs[0];
    op->attrs = CLV_NEW_ARRAY(m->arena, clv_attr, 8);
    return op;
}

static inline clv_attr *made_attr(made *m, const char *name, clv_attr_kind kind, int32_t n)
{
    clv_draft_op *op = &m->draft.ops[m->draft.n_ops - 1];
    clv_attr *attr = &op->attrs[op->n_attrs++];
    attr->name = clv_str_of(name);
    attr->kind = kind;
    attr->n = n;
    return attr;
}

static inline void made_attr_int(made *m, const char *name, int64_t value)
{
    made_attr(m, name, CLV_ATTR_INT, 1)->i = value;
}

static inline void made_attr_ints(made *m, const char *name, const char *values)
{
    int32_t n;
    const clv_dim *ints = made_dims(m->arena, values, &n);
    made_attr(m, name, CLV_ATTR_INTS, n)->ints = ints;
}

static inline void made_attr_str(made *m, const char *name, const char *value)
{
    made_attr(m, name, CLV_ATTR_STRING, 1)->s = clv_str_of(value);
}

static inline void made_attr_body(made *m, const char *name, made *body)
{
    clv_draft_op *op = &m->draft.ops[m->draft.n_ops - 1];
    made_attr(m, name, CLV_ATTR_GRAPH, 1);
    if (!op->bodies)
        op->bodies = CLV_NEW_ARRAY(m->arena, clv_draft *, 2);
    op->bodies[op->n_bodies++] = &body->draft;
}

static inline void made_output(made *m, const char *name)
{
    m->draft.outputs[m->draft.n_outputs++] = (clv_draft_value){ clv_str_of(name), NULL };
}

/* Up to the costs; the status of the costs is the caller's to look at. */
static inline clv_status made_try(made *m)
{
    clv_draft_model model = { .ir_version = 10, .main = &m->draft };
    clv_inference *found = NULL;
    clv_status status = clv_model_build(&model, m->arena, &m->model, &m->err);
    cr_assert_eq(status, CLV_OK, "%s", m->err.message);
    status = clv_infer(m->model, NULL, 0, m->arena, &found, &m->err);
    cr_assert_eq(status, CLV_OK, "%s", m->err.message);
    m->types = found->main;
    return clv_costs_build(m->model, m->types, m->arena, &m->costs, &m->err);
}

static inline void made_build(made *m)
{
    clv_status status = made_try(m);
    cr_assert_eq(status, CLV_OK, "%s", m->err.message);
}

/* The operator that writes that tensor. */
static inline clv_op made_writer(const made *m, const char *tensor)
{
    const clv_graph *g = m->model->main;
    for (int32_t t = 0; t < g->n_tensors; t++)
        if (clv_str_is(g->tensors[t].name, tensor))
            return g->tensors[t].producer;
    cr_assert_fail("no tensor '%s'", tensor);
    return CLV_NO_OP;
}

static inline const clv_op_cost *made_cost(const made *m, const char *tensor)
{
    return &m->costs->of[made_writer(m, tensor).i];
}

#endif
