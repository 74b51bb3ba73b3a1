#include "graph/graph_build.h"

#include <stdio.h>

#include "base/map.h"
#include "graph/freeze.h"
#include "graph/labels.h"
#include "graph/ops.h"

/* A graph is built in passes over its draft: names to ids, inputs to ids, bodies (which may add
 * OUTER tensors to the graphs around them), then order and tables (freeze.h). While a graph is
 * being built its operators are in file order.
 */

#define MAX_DEPTH   64
#define MAX_TENSORS (1 << 28) /* far below what the 32-bit tables could hold */

/* A graph that is being built, and what its bodies need to see of it. */
typedef struct scope {
    struct scope *around; /* NULL: main graph or function */
    clv_graph *g;
    const clv_draft *draft;
    clv_map names;
    int32_t cap_tensors;
    clv_tensor *in; /* explicit inputs in file order, then grown by implicit ones an operator */
    int32_t n_in, cap_in;
    int32_t *stamp; /* a tensor: 1 + the operator that took it in last; grows with bodies only */
    int32_t cap_stamp;
    int32_t depth;
} scope;

typedef struct {
    clv_arena *arena, *scratch; /* scratch: what the graphs do not keep */
    const clv_draft_model *draft;
    clv_model *model;
    clv_graph **functions;
    clv_map function_names; /* name to the first function of that name */
    int32_t *next_same_name;
    int32_t cap_warnings;
} builder;

/* -- names to tensors -- */

static clv_status add_tensor(builder *b, scope *s, clv_str name, clv_tensor_role role,
                             clv_tensor *ret, clv_error *err)
{
    clv_graph *g = s->g;
    if (!CLV_PUSH_ROOM(b->arena, g->tensors, g->n_tensors, s->cap_tensors))
        return clv_fail_nomem(err, "tensors");
    int32_t id = g->n_tensors;
    CLV_TRY(clv_map_put(&s->names, name, id, &ret->i, err));
    if (ret->i != id)
        return CLV_OK; /* there already: the caller sees it by the id */
    g->tensors[g->n_tensors++] = (clv_tensor_info){
        .name = name, .role = role, .producer = CLV_NO_OP, .weight = -1, .outer = CLV_NO_TENSOR
    };
    return CLV_OK;
}

static clv_status add_weights(builder *b, scope *s, clv_error *err)
{
    const clv_draft *d = s->draft;
    s->g->weights = d->weights;
    s->g->n_weights = d->n_weights;
    for (int32_t i = 0; i < d->n_weights; i++) {
        clv_tensor t;
        int32_t before = s->g->n_tensors;
        CLV_TRY(add_tensor(b, s, d->weights[i].name, CLV_TENSOR_WEIGHT, &t, err));
        if (t.i < before)
            return clv_fail(err, CLV_EFORMAT,
                            "initializer '%.*s' is given twice: each name may be used once",
                            CLV_STR_ARG(d->weights[i].name));
        s->g->tensors[t.i].weight = i;
    }
    return CLV_OK;
}

static clv_status add_inputs(builder *b, scope *s, clv_error *err)
{
    const clv_draft *d = s->draft;
    clv_graph *g = s->g;
    g->inputs = CLV_NEW_ARRAY(b->arena, clv_tensor, d->n_inputs);
    if (!g->inputs)
        return clv_fail_nomem(err, "graph inputs");
    for (int32_t i = 0; i < d->n_inputs; i++) {
        clv_tensor t;
        int32_t before = g->n_tensors;
        if (d->inputs[i].name.n == 0)
            return clv_fail(err, CLV_EFORMAT,
                            "input %d of graph '%.*s' has no name: every graph input needs one", i,
                            CLV_STR_ARG(g->name));
        CLV_TRY(add_tensor(b, s, d->inputs[i].name, CLV_TENSOR_INPUT, &t, err));
        if (t.i < before && (g->tensors[t.i].role == CLV_TENSOR_INPUT || g->tensors[t.i].declared))
            return clv_fail(err, CLV_EFORMAT,
                            "graph input '%.*s' is listed twice: each name may be used once",
                            CLV_STR_ARG(d->inputs[i].name));
        g->tensors[t.i].declared = d->inputs[i].type;
        if (t.i >= before)
            g->inputs[g->n_inputs++] = t;
    }
    return CLV_OK;
}

static const char *role_words(clv_tensor_role role)
{
    switch (role) {
    case CLV_TENSOR_INPUT:
        return "a graph input";
    case CLV_TENSOR_WEIGHT:
        return "an initializer";
    case CLV_TENSOR_RESULT:
        return "another operator's output";
    case CLV_TENSOR_OUTER:
        break;
    }
    return "a tensor of the graph around";
}

/* Those of an operator that comes soon after the i-th. */
static void prefetch_names(const scope *s, int32_t i, bool inputs)
{
    if (i >= s->draft->n_ops - CLV_MAP_AHEAD)
        return;
    const clv_draft_op *op = &s->draft->ops[i + CLV_MAP_AHEAD];
    for (int32_t k = 0; k < (inputs ? op->n_inputs : op->n_outputs); k++)
        clv_map_prefetch(&s->names, inputs ? op->inputs[k] : op->outputs[k]);
}

static clv_status add_results(builder *b, scope *s, int64_t n_out, clv_error *err)
{
    const clv_draft *d = s->draft;
    clv_graph *g = s->g;
    g->outputs_of = CLV_NEW_ARRAY(b->arena, clv_tensor, n_out);
    if (!g->outputs_of)
        return clv_fail_nomem(err, "outputs of operators");
    int32_t at = 0;
    for (int32_t i = 0; i < d->n_ops; i++) {
        const clv_draft_op *op = &d->ops[i];
        prefetch_names(s, i, false);
        for (int32_t k = 0; k < op->n_outputs; k++, at++) {
            clv_tensor t = CLV_NO_TENSOR;
            int32_t before = g->n_tensors;
            if (op->outputs[k].n) {
                CLV_TRY(add_tensor(b, s, op->outputs[k], CLV_TENSOR_RESULT, &t, err));
                if (t.i < before)
                    return clv_fail(err, CLV_EFORMAT,
                                    "operator '%.*s' (%.*s) writes '%.*s', which is %s already",
                                    CLV_STR_ARG(op->name), CLV_STR_ARG(op->type),
                                    CLV_STR_ARG(op->outputs[k]), role_words(g->tensors[t.i].role));
                g->tensors[t.i].producer = (clv_op){ i };
            }
            g->outputs_of[at] = t;
        }
    }
    return CLV_OK;
}

/* The tensor of that name as s sees it: its own, or one of a graph around it, for which OUTER
 * tensors are added on the way in. Recursion is at most MAX_DEPTH deep. */
static clv_status find_tensor(builder *b, scope *s, clv_str name, clv_tensor *ret, clv_error *err)
{
    int32_t id = clv_map_get(&s->names, name);
    *ret = (clv_tensor){ id };
    if (id >= 0 || !s->around)
        return CLV_OK;
    clv_tensor outer;
    CLV_TRY(find_tensor(b, s->around, name, &outer, err));
    if (outer.i < 0)
        return CLV_OK;
    CLV_TRY(add_tensor(b, s, name, CLV_TENSOR_OUTER, ret, err));
    s->g->tensors[ret->i].outer = outer;
    return CLV_OK;
}

/* -- functions -- */

/* Index of the function that an operator of this type would call, or -1. */
static int32_t find_function(const builder *b, clv_str domain, clv_str type, clv_str overload)
{
    if (!b->draft->n_functions)
        return -1;
    int32_t i = clv_map_get(&b->function_names, type);
    for (; i >= 0; i = b->next_same_name[i])
        if (clv_str_eq(b->draft->functions[i]->function_domain, domain) &&
            clv_str_eq(b->draft->functions[i]->function_overload, overload))
            return i;
    return -1;
}

/* -- operators, in file order -- */

static clv_status build_graph(builder *b, scope *around, const clv_draft *draft, int32_t depth,
                              clv_graph *g, clv_error *err);

static clv_status add_implicit(builder *b, scope *s, int32_t i, clv_tensor t, clv_error *err)
{
    if (s->cap_stamp < s->g->n_tensors) {
        s->stamp = clv_arena_grow(b->scratch, s->stamp, (size_t)s->cap_stamp,
                                  (size_t)s->cap_tensors, sizeof *s->stamp);
        if (!s->stamp)
            return clv_fail_nomem(err, "inputs of bodies");
        s->cap_stamp = s->cap_tensors;
    }
    if (s->stamp[t.i] == i + 1)
        return CLV_OK;
    s->stamp[t.i] = i + 1;
    if (!CLV_PUSH_ROOM(b->arena, s->in, s->n_in, s->cap_in))
        return clv_fail_nomem(err, "inputs of operators");
    s->in[s->n_in++] = t;
    return CLV_OK;
}

/* Builds the bodies of an operator, hangs them on its attributes and adds what they take from here
 * to its inputs. */
static clv_status add_bodies(builder *b, scope *s, int32_t i, clv_op_info *info, clv_error *err)
{
    const clv_draft_op *op = &s->draft->ops[i];
    clv_graph **body = CLV_NEW_ARRAY(b->arena, clv_graph *, op->n_bodies);
    if (!body)
        return clv_fail_nomem(err, "bodies");
    for (int32_t k = 0; k < op->n_bodies; k++) {
        body[k] = CLV_NEW(b->arena, clv_graph);
        if (!body[k])
            return clv_fail_nomem(err, "a body");
        body[k]->parent = s->g;
        CLV_TRY(build_graph(b, s, op->bodies[k], s->depth + 1, body[k], err));
    }
    int32_t next = 0;
    for (int32_t a = 0; a < op->n_attrs; a++)
        if (op->attrs[a].kind == CLV_ATTR_GRAPH || op->attrs[a].kind == CLV_ATTR_GRAPHS) {
            op->attrs[a].graph = body + next;
            next += op->attrs[a].n;
        }
    int32_t first = s->n_in - info->n_in;
    for (int32_t k = 0; k < op->n_bodies; k++)
        for (int32_t t = 0; t < body[k]->n_tensors; t++)
            if (body[k]->tensors[t].role == CLV_TENSOR_OUTER)
                CLV_TRY(add_implicit(b, s, i, body[k]->tensors[t].outer, err));
    info->n_implicit = s->n_in - first - info->n_in;
    info->n_in += info->n_implicit;
    return CLV_OK;
}

static clv_status add_explicit(builder *b, scope *s, const clv_draft_op *op, clv_error *err)
{
    for (int32_t k = 0; k < op->n_inputs; k++) {
        clv_tensor t = CLV_NO_TENSOR;
        if (op->inputs[k].n) {
            CLV_TRY(find_tensor(b, s, op->inputs[k], &t, err));
            if (t.i < 0)
                return clv_fail(
                    err, CLV_EFORMAT,
                    "operator '%.*s' (%.*s) reads '%.*s', which nothing writes: expected "
                    "a graph input, an initializer or an operator's output",
                    CLV_STR_ARG(op->name), CLV_STR_ARG(op->type), CLV_STR_ARG(op->inputs[k]));
        }
        if (!CLV_PUSH_ROOM(b->arena, s->in, s->n_in, s->cap_in))
            return clv_fail_nomem(err, "inputs of operators");
        s->in[s->n_in++] = t;
    }
    return CLV_OK;
}

static clv_status add_ops(builder *b, scope *s, clv_error *err)
{
    const clv_draft *d = s->draft;
    clv_graph *g = s->g;
    int64_t n_attrs = 0, n_in = 0;
    for (int32_t i = 0; i < d->n_ops; i++) {
        n_attrs += d->ops[i].n_attrs;
        n_in += d->ops[i].n_inputs;
    }
    if (n_attrs > INT32_MAX || n_in > INT32_MAX)
        return clv_fail_nomem(err, "operators");
    g->n_ops = d->n_ops;
    g->ops = CLV_NEW_ROOM(b->arena, clv_op_info, d->n_ops);
    g->attrs = CLV_NEW_ARRAY(b->arena, clv_attr, n_attrs);
    s->in = CLV_NEW_ARRAY(b->arena, clv_tensor, n_in);
    s->cap_in = (int32_t)n_in;
    if (!g->ops || !g->attrs || !s->in)
        return clv_fail_nomem(err, "operators");
    int32_t out = 0, attr = 0;
    for (int32_t i = 0; i < d->n_ops; i++) {
        const clv_draft_op *op = &d->ops[i];
        clv_op_info *info = &g->ops[i];
        prefetch_names(s, i, true);
        *info = (clv_op_info){
            .name = op->name,
            .type = op->type,
            .domain = op->domain,
            .first_in = s->n_in,
            .n_in = op->n_inputs,
            .first_out = out,
            .n_out = op->n_outputs,
            .first_attr = attr,
            .n_attr = op->n_attrs,
            .file_index = i,
        };
        int32_t f = find_function(b, op->domain, op->type, op->overload);
        info->function = f >= 0 ? b->functions[f] : NULL;
        info->kind = f >= 0 ? CLV_OPKIND_FUNCTION : clv_op_def_find(op->domain, op->type);
        CLV_TRY(add_explicit(b, s, op, err));
        if (op->n_bodies)
            CLV_TRY(add_bodies(b, s, i, info, err));
        for (int32_t a = 0; a < op->n_attrs; a++)
            g->attrs[attr + a] = op->attrs[a];
        out += op->n_outputs;
        attr += op->n_attrs;
    }
    return CLV_OK;
}

/* -- labels -- */

static clv_status add_labels(builder *b, scope *s, clv_error *err)
{
    clv_model *m = b->model;
    int32_t first, n;
    CLV_TRY(clv_label_ops(s->g, b->arena, &first, &n, err));
    if (n == 0)
        return CLV_OK;
    char *text = clv_arena_printf(b->arena,
                                  "%d operators have a name that an earlier one has, first '%.*s': "
                                  "reports use names made unique",
                                  n, CLV_STR_ARG(s->g->ops[first].name));
    if (!text || !CLV_PUSH_ROOM(b->arena, m->warnings, m->n_warnings, b->cap_warnings))
        return clv_fail_nomem(err, "warnings");
    m->warnings[m->n_warnings++] = clv_str_of(text);
    return CLV_OK;
}

/* -- outputs and declared types -- */

static clv_status add_outputs(builder *b, scope *s, clv_error *err)
{
    const clv_draft *d = s->draft;
    clv_graph *g = s->g;
    g->outputs = CLV_NEW_ARRAY(b->arena, clv_tensor, d->n_outputs);
    if (!g->outputs)
        return clv_fail_nomem(err, "graph outputs");
    for (int32_t i = 0; i < d->n_outputs; i++) {
        clv_tensor t;
        CLV_TRY(find_tensor(b, s, d->outputs[i].name, &t, err));
        if (t.i < 0)
            return clv_fail(err, CLV_EFORMAT, "output '%.*s' of graph '%.*s' is written by nothing",
                            CLV_STR_ARG(d->outputs[i].name), CLV_STR_ARG(g->name));
        g->tensors[t.i].is_output = true;
        if (!g->tensors[t.i].declared)
            g->tensors[t.i].declared = d->outputs[i].type;
        g->outputs[g->n_outputs++] = t;
    }
    for (int32_t i = 0; i < d->n_values; i++) {
        int32_t t = clv_map_get(&s->names, d->values[i].name);
        if (t >= 0 && !g->tensors[t].declared)
            g->tensors[t].declared = d->values[i].type;
    }
    return CLV_OK;
}

/* -- the whole graph -- */

static clv_status freeze(builder *b, scope *s, clv_error *err)
{
    s->g->inputs_of = s->in;
    CLV_TRY(clv_graph_put_in_order(s->g, b->scratch, err));
    return clv_graph_list_readers(s->g, b->arena, err);
}

static clv_status build_graph(builder *b, scope *around, const clv_draft *draft, int32_t depth,
                              clv_graph *g, clv_error *err)
{
    if (depth > MAX_DEPTH)
        return clv_fail(err, CLV_ELIMIT, "graph '%.*s' is a body inside %d others: at most %d",
                        CLV_STR_ARG(draft->name), depth, MAX_DEPTH);
    scope s = { .around = around, .g = g, .draft = draft, .depth = depth };
    g->name = draft->name;
    g->model = b->model;
    g->opsets = draft->n_opsets || !around ? draft->opsets : around->g->opsets;
    g->n_opsets = draft->n_opsets || !around ? draft->n_opsets : around->g->n_opsets;
    g->function_domain = draft->function_domain;
    g->function_overload = draft->function_overload;
    g->default_attrs = draft->default_attrs;
    g->n_default_attrs = draft->n_default_attrs;
    int64_t n_out = 0;
    for (int32_t i = 0; i < draft->n_ops; i++)
        n_out += draft->ops[i].n_outputs;
    int64_t n_names = n_out + draft->n_weights + draft->n_inputs;
    if (n_names > MAX_TENSORS)
        return clv_fail(err, CLV_ELIMIT, "graph '%.*s' has %lld tensors: at most %d",
                        CLV_STR_ARG(g->name), (long long)n_names, MAX_TENSORS);
    CLV_TRY(clv_map_init(&s.names, b->scratch, (int32_t)n_names, err));
    s.cap_tensors = (int32_t)n_names;
    if (!(g->tensors = CLV_NEW_ROOM(b->arena, clv_tensor_info, n_names)))
        return clv_fail_nomem(err, "tensors");
    CLV_TRY(add_weights(b, &s, err));
    CLV_TRY(add_inputs(b, &s, err));
    CLV_TRY(add_results(b, &s, n_out, err));
    CLV_TRY(add_ops(b, &s, err));
    CLV_TRY(add_labels(b, &s, err));
    CLV_TRY(add_outputs(b, &s, err));
    return freeze(b, &s, err);
}

/* -- functions may not call each other in a circle, nor too deep -- */

#define UNSEEN 0
#define OPEN   (-1) /* being looked at: meeting it again is a circle */

/* height[f]: calls below function f, itself included. *ret: the largest under g. */
static clv_status call_height(builder *b, const clv_graph *g, int32_t depth, int32_t *height,
                              int32_t *ret, clv_error *err)
{
    *ret = 0;
    if (depth > MAX_DEPTH)
        return clv_fail(err, CLV_ELIMIT, "function '%.*s' is called more than %d calls deep",
                        CLV_STR_ARG(g->name), MAX_DEPTH);
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_op_info *op = &g->ops[i];
        int32_t below = 0;
        for (int32_t a = 0; a < op->n_attr; a++) {
            const clv_attr *attr = &g->attrs[op->first_attr + a];
            bool bodies = attr->kind == CLV_ATTR_GRAPH || attr->kind == CLV_ATTR_GRAPHS;
            for (int32_t k = 0; bodies && k < attr->n; k++) {
                CLV_TRY(call_height(b, attr->graph[k], depth, height, &below, err));
                *ret = below > *ret ? below : *ret;
            }
        }
        if (!op->function)
            continue;
        const clv_graph *callee = op->function;
        int32_t f =
            find_function(b, callee->function_domain, callee->name, callee->function_overload);
        if (height[f] == OPEN)
            return clv_fail(err, CLV_EFORMAT, "function '%.*s' calls itself: expected no recursion",
                            CLV_STR_ARG(callee->name));
        if (height[f] == UNSEEN) {
            height[f] = OPEN;
            CLV_TRY(call_height(b, callee, depth + 1, height, &below, err));
            height[f] = below + 1;
        }
        *ret = height[f] > *ret ? height[f] : *ret;
    }
    return CLV_OK;
}

static clv_status check_calls(builder *b, clv_error *err)
{
    int32_t n = b->draft->n_functions, below;
    int32_t *height = CLV_NEW_ARRAY(b->scratch, int32_t, n);
    if (!height)
        return clv_fail_nomem(err, "functions");
    for (int32_t f = 0; f < n; f++) {
        if (height[f] == UNSEEN) {
            height[f] = OPEN;
            CLV_TRY(call_height(b, b->functions[f], 1, height, &below, err));
            height[f] = below + 1;
        }
        if (height[f] > MAX_DEPTH)
            return clv_fail(err, CLV_ELIMIT, "function '%.*s' calls %d functions deep: at most %d",
                            CLV_STR_ARG(b->functions[f]->name), height[f], MAX_DEPTH);
    }
    return CLV_OK;
}

static clv_status name_functions(builder *b, clv_error *err)
{
    int32_t n = b->draft->n_functions;
    b->functions = CLV_NEW_ARRAY(b->arena, clv_graph *, n);
    b->next_same_name = CLV_NEW_ARRAY(b->scratch, int32_t, n);
    if (!b->functions || !b->next_same_name)
        return clv_fail_nomem(err, "functions");
    CLV_TRY(clv_map_init(&b->function_names, b->scratch, n, err));
    for (int32_t i = 0; i < n; i++) {
        const clv_draft *d = b->draft->functions[i];
        if (find_function(b, d->function_domain, d->name, d->function_overload) >= 0)
            return clv_fail(err, CLV_EFORMAT, "function '%.*s' of domain '%.*s' is given twice",
                            CLV_STR_ARG(d->name), CLV_STR_ARG(d->function_domain));
        int32_t first;
        CLV_TRY(clv_map_put(&b->function_names, d->name, i, &first, err));
        b->next_same_name[i] = -1;
        if (first != i) { /* behind the first of its name */
            b->next_same_name[i] = b->next_same_name[first];
            b->next_same_name[first] = i;
        }
        if (!(b->functions[i] = CLV_NEW(b->arena, clv_graph)))
            return clv_fail_nomem(err, "functions");
    }
    return CLV_OK;
}

static clv_status build_model(builder *b, clv_error *err)
{
    const clv_draft_model *draft = b->draft;
    b->model = CLV_NEW(b->arena, clv_model);
    clv_graph *main_graph = CLV_NEW(b->arena, clv_graph);
    if (!b->model || !main_graph)
        return clv_fail_nomem(err, "a model");
    *b->model = (clv_model){ .producer = draft->producer,
                             .ir_version = draft->ir_version,
                             .main = main_graph,
                             .symbols = draft->symbols,
                             .n_symbols = draft->n_symbols };
    CLV_TRY(name_functions(b, err));
    for (int32_t i = 0; i < draft->n_functions; i++)
        CLV_TRY(build_graph(b, NULL, draft->functions[i], 0, b->functions[i], err));
    b->model->functions = b->functions;
    b->model->n_functions = draft->n_functions;
    CLV_TRY(check_calls(b, err));
    return build_graph(b, NULL, draft->main, 0, main_graph, err);
}

clv_status clv_model_build(const clv_draft_model *draft, clv_arena *arena, clv_model **ret,
                           clv_error *err)
{
    builder b = { .arena = arena,
                  .scratch = clv_arena_new(clv_arena_alloc(arena), 0),
                  .draft = draft };
    if (!b.scratch)
        return clv_fail_nomem(err, "a model");
    clv_status status = build_model(&b, err);
    clv_arena_free(b.scratch);
    *ret = status == CLV_OK ? b.model : NULL;
    return status;
}
