#include "proto/read_graph.h"

#include "proto/onnx.pb-c.h"
#include "proto/read_attr.h"
#include "proto/read_tensor.h"
#include "proto/read_type.h"

/* Each message is walked once to count and once to fill, so arrays have their exact size and a
 * million nodes are a handful of allocations each. The walk over a graph looks at the first bytes
 * of a field only, not at what is in it.
 */
enum {
    G_NODE = 1,
    G_NAME = 2,
    G_WEIGHT = 5,
    G_INPUT = 11,
    G_OUTPUT = 12,
    G_VALUE = 13,
    G_SPARSE = 15
};
enum {
    N_INPUT = 1,
    N_OUTPUT = 2,
    N_NAME = 3,
    N_TYPE = 4,
    N_ATTRIBUTE = 5,
    N_DOMAIN = 7,
    N_OVERLOAD = 8
};
enum {
    F_NAME = 1,
    F_INPUT = 4,
    F_OUTPUT = 5,
    F_NODE = 7,
    F_OPSET = 9,
    F_DOMAIN = 10,
    F_DEFAULT = 11,
    F_VALUE = 12,
    F_OVERLOAD = 13
};

/* -- nodes -- */

typedef struct {
    clv_draft_op op;
    clv_str *inputs, *outputs;
    clv_bodies bodies;
} node_parts;

static clv_status read_node_field(clv_reading *r, const clv_message *m, const clv_field *f,
                                  node_parts *p, clv_error *err)
{
    clv_message sub;
    clv_draft_op *op = &p->op;
    switch (f->number) {
    case N_INPUT:
        return clv_message_str(m, f, &p->inputs[op->n_inputs++], err);
    case N_OUTPUT:
        return clv_message_str(m, f, &p->outputs[op->n_outputs++], err);
    case N_NAME:
        return clv_message_str(m, f, &op->name, err);
    case N_TYPE:
        return clv_message_str(m, f, &op->type, err);
    case N_ATTRIBUTE:
        sub = clv_message_sub(m, f, &onnx__attribute_proto__descriptor);
        return clv_read_attr(r, &sub, &op->attrs[op->n_attrs++], &p->bodies, err);
    case N_DOMAIN:
        return clv_message_str(m, f, &op->domain, err);
    case N_OVERLOAD:
        return clv_message_str(m, f, &op->overload, err);
    default: /* a number from the file */
        return CLV_OK;
    }
}

static clv_status read_node(clv_reading *r, clv_message m, clv_draft_op *ret, clv_error *err)
{
    const clv_message node = m;
    clv_field_counts counts;
    clv_field f;
    node_parts p = { .op = { .n_inputs = 0 } };
    clv_draft_op *op = &p.op;
    CLV_TRY(clv_count_fields(r, m, &counts, err));
    p.inputs = CLV_NEW_ARRAY(r->scratch, clv_str, counts.of[N_INPUT] + counts.of[N_OUTPUT]);
    op->attrs = CLV_NEW_ARRAY(r->scratch, clv_attr, counts.of[N_ATTRIBUTE]);
    if (!p.inputs || !op->attrs)
        return clv_fail_nomem(err, "a node");
    p.outputs = p.inputs + counts.of[N_INPUT];
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        CLV_TRY(read_node_field(r, &m, &f, &p, err));
    }
    if (op->type.n == 0)
        return clv_fail(err, CLV_EFORMAT, "%s: node '%.*s' at byte %zu has no operator type",
                        r->file->name, CLV_STR_ARG(op->name), clv_message_offset(&node));
    op->inputs = p.inputs;
    op->outputs = p.outputs;
    op->domain = clv_onnx_domain(op->domain);
    op->bodies = p.bodies.at;
    op->n_bodies = p.bodies.n;
    *ret = *op;
    return CLV_OK;
}

/* -- graphs -- */

/* is_open: dimensions without a value become symbols of their own, as in the inputs of the model;
 * also_open: names for which they do too, or NULL. */
static clv_status read_value_info(clv_reading *r, clv_message m, bool is_open,
                                  const clv_map *also_open, clv_draft_value *ret, clv_error *err)
{
    clv_field f, type = { 0 };
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        if (f.number == 1)
            CLV_TRY(clv_message_str(&m, &f, &ret->name, err));
        if (f.number == 2)
            CLV_TRY(clv_message_once(&m, &f, &type, err));
    }
    if (!type.number)
        return CLV_OK;
    clv_type *t = CLV_NEW(r->arena, clv_type);
    if (!t)
        return clv_fail_nomem(err, "a type");
    clv_message sub = clv_message_sub(&m, &type, &onnx__type_proto__descriptor);
    is_open = is_open || (also_open && clv_map_get(also_open, ret->name) >= 0);
    CLV_TRY(clv_read_type(r, &sub, is_open ? ret->name : (clv_str){ NULL, 0 }, t, err));
    ret->type = t;
    return CLV_OK;
}

/* The inputs, before all else, so that the model's symbols start with theirs. untyped: NULL for a
 * body; of the main graph it becomes the inputs without a type, which an output or value declares.
 */
static clv_status read_inputs(clv_reading *r, clv_message m, clv_map *untyped, clv_draft *d,
                              clv_error *err)
{
    clv_field f;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        if (f.number != G_INPUT)
            continue;
        int32_t i = d->n_inputs++;
        clv_message sub = clv_message_sub(&m, &f, &onnx__value_info_proto__descriptor);
        CLV_TRY(read_value_info(r, sub, untyped != NULL, NULL, &d->inputs[i], err));
        if (untyped && !d->inputs[i].type)
            CLV_TRY(clv_map_put(untyped, d->inputs[i].name, i, &(int32_t){ 0 }, err));
    }
}

static clv_status read_graph_field(clv_reading *r, const clv_message *m, const clv_field *f,
                                   const clv_map *untyped, clv_draft *d, clv_error *err)
{
    clv_message sub;
    switch (f->number) {
    case G_NODE:
        sub = clv_message_sub(m, f, &onnx__node_proto__descriptor);
        return read_node(r, sub, &d->ops[d->n_ops++], err);
    case G_NAME:
        return clv_message_str(m, f, &d->name, err);
    case G_WEIGHT:
        sub = clv_message_sub(m, f, &onnx__tensor_proto__descriptor);
        return clv_read_tensor(r, &sub, &d->weights[d->n_weights++], err);
    case G_SPARSE:
        sub = clv_message_sub(m, f, &onnx__sparse_tensor_proto__descriptor);
        return clv_read_sparse(r, &sub, &d->weights[d->n_weights++], err);
    case G_OUTPUT:
        sub = clv_message_sub(m, f, &onnx__value_info_proto__descriptor);
        return read_value_info(r, sub, false, untyped, &d->outputs[d->n_outputs++], err);
    case G_VALUE:
        sub = clv_message_sub(m, f, &onnx__value_info_proto__descriptor);
        return read_value_info(r, sub, false, untyped, &d->values[d->n_values++], err);
    default: /* a number from the file */
        return CLV_OK;
    }
}

typedef struct {
    int32_t ops, inputs, outputs, values, weights;
} draft_size;

static clv_status new_draft(clv_reading *r, draft_size n, clv_draft **ret, clv_error *err)
{
    clv_draft *d = CLV_NEW(r->scratch, clv_draft);
    if (!d)
        return clv_fail_nomem(err, "a graph");
    d->ops = CLV_NEW_ROOM(r->scratch, clv_draft_op, n.ops);
    d->inputs = CLV_NEW_ARRAY(r->scratch, clv_draft_value, n.inputs);
    d->outputs = CLV_NEW_ARRAY(r->scratch, clv_draft_value, n.outputs);
    d->values = CLV_NEW_ARRAY(r->scratch, clv_draft_value, n.values);
    d->weights = CLV_NEW_ARRAY(r->arena, clv_const, n.weights);
    if (!d->ops || !d->inputs || !d->outputs || !d->values || !d->weights)
        return clv_fail_nomem(err, "a graph");
    d->opsets = r->opsets;
    d->n_opsets = r->n_opsets;
    *ret = d;
    return CLV_OK;
}

static clv_status read_entered(clv_reading *r, clv_message m, bool is_main, clv_draft **ret,
                               clv_error *err)
{
    clv_field_counts n;
    clv_draft *d;
    clv_map names, *untyped = is_main ? &names : NULL;
    clv_field f;
    CLV_TRY(clv_count_fields(r, m, &n, err));
    draft_size size = { n.of[G_NODE], n.of[G_INPUT], n.of[G_OUTPUT], n.of[G_VALUE],
                        n.of[G_WEIGHT] + n.of[G_SPARSE] };
    CLV_TRY(new_draft(r, size, &d, err));
    if (is_main)
        CLV_TRY(clv_map_init(&names, r->scratch, 0, err));
    CLV_TRY(read_inputs(r, m, untyped, d, err));
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        CLV_TRY(read_graph_field(r, &m, &f, untyped, d, err));
    }
    *ret = d;
    return CLV_OK;
}

clv_status clv_read_graph(clv_reading *r, const clv_message *graph, bool is_main, clv_draft **ret,
                          clv_error *err)
{
    CLV_TRY(clv_message_enter_graph(graph, &r->depth, err));
    clv_status status = read_entered(r, *graph, is_main, ret, err);
    r->depth--;
    return status;
}

/* -- functions -- */

clv_status clv_read_opset(const clv_message *opset, clv_opset *ret, clv_error *err)
{
    clv_message m = *opset;
    clv_field f;
    clv_opset set = { { NULL, 0 }, 0 };
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        if (f.number == 1)
            CLV_TRY(clv_message_str(&m, &f, &set.domain, err));
        if (f.number == 2)
            set.version = (int64_t)f.value;
    }
    set.domain = clv_onnx_domain(set.domain);
    *ret = set;
    return CLV_OK;
}

typedef struct {
    clv_draft *d;
    clv_opset *opsets;
    clv_attr *defaults;
    int32_t n_opsets, n_defaults;
} function_parts;

/* What the nodes of a function need before they are read, and its names. */
static clv_status read_function_head(clv_reading *r, const clv_message *m, const clv_field *f,
                                     function_parts *p, clv_error *err)
{
    clv_message sub;
    clv_draft *d = p->d;
    switch (f->number) {
    case F_NAME:
        return clv_message_str(m, f, &d->name, err);
    case F_DOMAIN:
        return clv_message_str(m, f, &d->function_domain, err);
    case F_OVERLOAD:
        return clv_message_str(m, f, &d->function_overload, err);
    case F_INPUT:
        return clv_message_str(m, f, &d->inputs[d->n_inputs++].name, err);
    case F_OUTPUT:
        return clv_message_str(m, f, &d->outputs[d->n_outputs++].name, err);
    case F_OPSET:
        sub = clv_message_sub(m, f, &onnx__operator_set_id_proto__descriptor);
        return clv_read_opset(&sub, &p->opsets[p->n_opsets++], err);
    case F_VALUE:
        sub = clv_message_sub(m, f, &onnx__value_info_proto__descriptor);
        return read_value_info(r, sub, false, NULL, &d->values[d->n_values++], err);
    case F_DEFAULT:
        sub = clv_message_sub(m, f, &onnx__attribute_proto__descriptor);
        return clv_read_attr(r, &sub, &p->defaults[p->n_defaults++], NULL, err);
    default: /* a number from the file */
        return CLV_OK;
    }
}

static clv_status read_function_nodes(clv_reading *r, clv_message m, clv_draft *d, clv_error *err)
{
    clv_field f;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        if (f.number != F_NODE)
            continue;
        clv_message node = clv_message_sub(&m, &f, &onnx__node_proto__descriptor);
        CLV_TRY(read_node(r, node, &d->ops[d->n_ops++], err));
    }
}

static clv_status read_function_parts(clv_reading *r, clv_message m, function_parts *p,
                                      clv_error *err)
{
    clv_message head = m;
    clv_field f;
    for (;;) {
        CLV_TRY(clv_message_next(&head, &f, err));
        if (!f.number)
            break;
        CLV_TRY(read_function_head(r, &head, &f, p, err));
    }
    if (p->d->name.n == 0)
        return clv_fail(err, CLV_EFORMAT, "%s: the function at byte %zu has no name", r->file->name,
                        clv_message_offset(&m));
    p->d->function_domain = clv_onnx_domain(p->d->function_domain);
    p->d->opsets = p->opsets;
    p->d->n_opsets = p->n_opsets;
    p->d->default_attrs = p->defaults;
    p->d->n_default_attrs = p->n_defaults;
    clv_reading inner = *r; /* the nodes and their bodies see the function's operator sets */
    r->opsets = p->opsets;
    r->n_opsets = p->n_opsets;
    clv_status status = read_function_nodes(r, m, p->d, err);
    r->opsets = inner.opsets;
    r->n_opsets = inner.n_opsets;
    return status;
}

clv_status clv_read_function(clv_reading *r, const clv_message *function, clv_draft **ret,
                             clv_error *err)
{
    clv_field_counts n;
    function_parts p = { 0 };
    CLV_TRY(clv_count_fields(r, *function, &n, err));
    draft_size size = { n.of[F_NODE], n.of[F_INPUT], n.of[F_OUTPUT], n.of[F_VALUE], 0 };
    CLV_TRY(new_draft(r, size, &p.d, err));
    p.opsets = CLV_NEW_ARRAY(r->arena, clv_opset, n.of[F_OPSET]);
    p.defaults = CLV_NEW_ARRAY(r->arena, clv_attr, n.of[F_DEFAULT]);
    if (!p.opsets || !p.defaults)
        return clv_fail_nomem(err, "a function");
    CLV_TRY(read_function_parts(r, *function, &p, err));
    *ret = p.d;
    return CLV_OK;
}
