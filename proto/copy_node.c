#include "proto/copy_node.h"

#include "proto/onnx.pb-c.h"
#include "proto/read.h"

/* A field without a graph in it is kept as a range of the file. What has a graph is entered, since
 * its nodes may name captured tensors, and carry device_configurations.
 */
enum { M_FUNCTION = 25, F_NODE = 7 };
enum {
    G_NODE = 1,
    G_WEIGHT = 5,
    G_INPUT = 11,
    G_OUTPUT = 12,
    G_VALUE = 13,
    G_QUANTIZATION = 14,
    G_SPARSE = 15
};
enum {
    N_INPUT = 1,
    N_OUTPUT = 2,
    N_NAME = 3,
    N_TYPE = 4,
    N_ATTRIBUTE = 5,
    N_DOMAIN = 7,
    N_OVERLOAD = 8,
    N_DEVICES = 10
};
enum { A_NAME = 1, A_GRAPH = 6, A_GRAPHS = 11 };
enum { V_NAME = 1, T_NAME = 8, S_VALUES = 1 };
enum { Q_NAME = 1, Q_PARAMETER = 2, P_NAME = 2 }; /* TensorAnnotation, and its pairs */

/* -- names -- */

static clv_status start_captured(clv_copying *c, const clv_new_node *node, clv_error *err)
{
    clv_captured *k = &c->captured;
    *k = (clv_captured){ .list = node->captured, .n = node->n_captured };
    if (!k->n)
        return CLV_OK;
    k->to_of = CLV_NEW_ARRAY(c->scratch, int32_t, k->n);
    k->hidden = CLV_NEW_ARRAY(c->scratch, int32_t, k->n);
    k->taken = CLV_NEW_ARRAY(c->scratch, int32_t, k->n);
    if (!k->to_of || !k->hidden || !k->taken)
        return clv_fail_nomem(err, "the captured names of a node");
    CLV_TRY(clv_map_init(&k->from, c->scratch, k->n, err));
    CLV_TRY(clv_map_init(&k->to, c->scratch, k->n, err));
    for (int32_t i = 0; i < k->n; i++) {
        CLV_TRY(clv_map_put(&k->from, k->list[i].from, i, NULL, err));
        CLV_TRY(clv_map_put(&k->to, k->list[i].to, i, &k->to_of[i], err));
    }
    return CLV_OK;
}

/* A body makes a tensor of this name (by 1), or is left (by -1). */
static void count_made(clv_captured *k, clv_str name, int32_t by)
{
    int32_t from = clv_map_get(&k->from, name), to = clv_map_get(&k->to, name);
    if (from >= 0)
        k->hidden[from] += by;
    if (to >= 0)
        k->taken[to] += by;
}

/* The names in one field of a message. */
static clv_status count_field(clv_captured *k, clv_message m, uint32_t field, int32_t by,
                              clv_error *err)
{
    clv_field f;
    for (;;) {
        clv_str name;
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        if (f.number != field || !f.n)
            continue;
        CLV_TRY(clv_message_str(&m, &f, &name, err));
        count_made(k, name, by);
    }
}

static clv_status count_sparse(clv_captured *k, clv_message sparse, int32_t by, clv_error *err)
{
    clv_field f;
    for (;;) {
        CLV_TRY(clv_message_next(&sparse, &f, err));
        if (!f.number)
            return CLV_OK;
        if (f.number == S_VALUES)
            CLV_TRY(count_field(k, clv_message_sub(&sparse, &f, &onnx__tensor_proto__descriptor),
                                T_NAME, by, err));
    }
}

static clv_status count_graph_field(clv_captured *k, const clv_message *m, const clv_field *f,
                                    int32_t by, clv_error *err)
{
    switch (f->number) {
    case G_NODE:
        return count_field(k, clv_message_sub(m, f, &onnx__node_proto__descriptor), N_OUTPUT, by,
                           err);
    case G_INPUT:
        return count_field(k, clv_message_sub(m, f, &onnx__value_info_proto__descriptor), V_NAME,
                           by, err);
    case G_WEIGHT:
        return count_field(k, clv_message_sub(m, f, &onnx__tensor_proto__descriptor), T_NAME, by,
                           err);
    case G_SPARSE:
        return count_sparse(k, clv_message_sub(m, f, &onnx__sparse_tensor_proto__descriptor), by,
                            err);
    default: /* a number from the file */
        return CLV_OK;
    }
}

/* All that a body makes itself, wherever in it: a body is one scope. */
static clv_status count_graph(clv_captured *k, clv_message m, int32_t by, clv_error *err)
{
    clv_field f;
    while (k->n) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        CLV_TRY(count_graph_field(k, &m, &f, by, err));
    }
    return CLV_OK;
}

/* What a name in a body is to be. */
static clv_status rename_to(const clv_copying *c, clv_str name, clv_str *ret, clv_error *err)
{
    const clv_captured *k = &c->captured;
    int32_t i = k->n && name.n ? clv_map_get(&k->from, name) : -1;
    *ret = name;
    if (i < 0 || k->hidden[i])
        return CLV_OK;
    *ret = k->list[i].to;
    if (!k->taken[k->to_of[i]])
        return CLV_OK;
    return clv_fail(err, CLV_EUSAGE,
                    "tensor '%.*s' cannot be named '%.*s' for node '%.*s': a body of the node has "
                    "a tensor of that name itself",
                    CLV_STR_ARG(name), CLV_STR_ARG(*ret), CLV_STR_ARG(c->node));
}

/* A field that is a name. */
static clv_status put_name(clv_copying *c, const clv_message *m, const clv_field *f, clv_error *err)
{
    clv_str name, to;
    CLV_TRY(clv_message_str(m, f, &name, err));
    CLV_TRY(rename_to(c, name, &to, err));
    if (to.at == name.at)
        return clv_put_field(c->put, m, f, err);
    return clv_put_str(c->put, f->number, to, err);
}

/* Where a message has a name, and messages that have one more. */
typedef struct named {
    const ProtobufCMessageDescriptor *type;
    uint32_t name, part; /* fields; part 0: none */
    const struct named *parts;
} named;

static const named value_names = { &onnx__value_info_proto__descriptor, V_NAME, 0, NULL };
static const named parameter_names = { &onnx__string_string_entry_proto__descriptor, P_NAME, 0,
                                       NULL };
static const named annotation_names = { &onnx__tensor_annotation__descriptor, Q_NAME, Q_PARAMETER,
                                        &parameter_names };

static clv_status put_named(clv_copying *c, const clv_message *m, const clv_field *f,
                            const named *names, clv_error *err)
{
    clv_put_message to = { 0 };
    clv_message sub = clv_message_sub(m, f, names->type);
    clv_field inner;
    CLV_TRY(clv_put_open(c->put, f->number, &to, err));
    for (;;) {
        CLV_TRY(clv_message_next(&sub, &inner, err));
        if (!inner.number)
            return clv_put_close(c->put, &to, err);
        if (inner.number == names->name)
            CLV_TRY(put_name(c, &sub, &inner, err));
        else if (inner.number == names->part)
            CLV_TRY(put_named(c, &sub, &inner, names->parts, err));
        else
            CLV_TRY(clv_put_field(c->put, &sub, &inner, err));
    }
}

/* -- bodies -- */

typedef struct {
    clv_str name;
    bool has_graph;
} attr_look;

static clv_status look_at_attr(clv_message m, attr_look *ret, clv_error *err)
{
    clv_field f;
    *ret = (attr_look){ { NULL, 0 }, false };
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        if (f.number == A_NAME)
            CLV_TRY(clv_message_str(&m, &f, &ret->name, err));
        ret->has_graph = ret->has_graph || f.number == A_GRAPH || f.number == A_GRAPHS;
    }
}

static clv_status copy_graph(clv_copying *c, const clv_message *m, const clv_field *f,
                             clv_error *err);

static clv_status copy_attr(clv_copying *c, const clv_message *m, const clv_field *f,
                            const attr_look *look, clv_error *err)
{
    clv_put_message to = { 0 };
    clv_message attr = clv_message_sub(m, f, &onnx__attribute_proto__descriptor);
    clv_field inner;
    if (!look->has_graph)
        return clv_put_field(c->put, m, f, err);
    CLV_TRY(clv_put_open(c->put, f->number, &to, err));
    for (;;) {
        CLV_TRY(clv_message_next(&attr, &inner, err));
        if (!inner.number)
            return clv_put_close(c->put, &to, err);
        if (inner.number == A_GRAPH || inner.number == A_GRAPHS)
            CLV_TRY(copy_graph(c, &attr, &inner, err));
        else
            CLV_TRY(clv_put_field(c->put, &attr, &inner, err));
    }
}

static clv_status inner_node_field(clv_copying *c, const clv_message *m, const clv_field *f,
                                   clv_error *err)
{
    attr_look look;
    switch (f->number) {
    case N_INPUT:
        return put_name(c, m, f, err);
    case N_ATTRIBUTE:
        CLV_TRY(
            look_at_attr(clv_message_sub(m, f, &onnx__attribute_proto__descriptor), &look, err));
        return copy_attr(c, m, f, &look, err);
    case N_DEVICES:
        return CLV_OK;
    default: /* a number from the file */
        return clv_put_field(c->put, m, f, err);
    }
}

/* A node in a body or function. */
static clv_status copy_inner_node(clv_copying *c, const clv_message *m, const clv_field *f,
                                  clv_error *err)
{
    clv_put_message to = { 0 };
    clv_message node = clv_message_sub(m, f, &onnx__node_proto__descriptor);
    clv_field inner;
    CLV_TRY(clv_put_open(c->put, f->number, &to, err));
    for (;;) {
        CLV_TRY(clv_message_next(&node, &inner, err));
        if (!inner.number)
            return clv_put_close(c->put, &to, err);
        CLV_TRY(inner_node_field(c, &node, &inner, err));
    }
}

static clv_status graph_field(clv_copying *c, const clv_message *m, const clv_field *f,
                              clv_error *err)
{
    const named *names = NULL;
    if (f->number == G_NODE)
        return copy_inner_node(c, m, f, err);
    if (f->number == G_OUTPUT || f->number == G_VALUE)
        names = &value_names;
    else if (f->number == G_QUANTIZATION)
        names = &annotation_names;
    return names && c->captured.n ? put_named(c, m, f, names, err)
                                  : clv_put_field(c->put, m, f, err);
}

static clv_status graph_fields(clv_copying *c, clv_message graph, clv_error *err)
{
    clv_field f;
    for (;;) {
        CLV_TRY(clv_message_next(&graph, &f, err));
        if (!f.number)
            return CLV_OK;
        CLV_TRY(graph_field(c, &graph, &f, err));
    }
}

static clv_status copy_graph(clv_copying *c, const clv_message *m, const clv_field *f,
                             clv_error *err)
{
    clv_put_message to = { 0 };
    clv_message graph = clv_message_sub(m, f, &onnx__graph_proto__descriptor);
    CLV_TRY(clv_graph_enter(c->places->file, &graph, &c->depth, err));
    CLV_TRY(clv_put_open(c->put, f->number, &to, err));
    CLV_TRY(count_graph(&c->captured, graph, 1, err));
    CLV_TRY(graph_fields(c, graph, err));
    CLV_TRY(count_graph(&c->captured, graph, -1, err));
    c->depth--;
    return clv_put_close(c->put, &to, err);
}

/* -- nodes of the main graph -- */

static bool is_given(const clv_new_node *node, clv_str attr)
{
    for (int32_t i = 0; i < node->n_attrs; i++)
        if (clv_str_eq(node->attrs[i].name, attr))
            return true;
    return false;
}

static clv_status outer_attr(clv_copying *c, const clv_message *m, const clv_field *f,
                             const clv_new_node *node, clv_error *err)
{
    attr_look look;
    CLV_TRY(look_at_attr(clv_message_sub(m, f, &onnx__attribute_proto__descriptor), &look, err));
    return is_given(node, look.name) ? CLV_OK : copy_attr(c, m, f, &look, err);
}

static clv_status outer_node_field(clv_copying *c, const clv_message *m, const clv_field *f,
                                   const clv_new_node *node, clv_error *err)
{
    bool drop = false;
    switch (f->number) {
    case N_INPUT:
    case N_OUTPUT:
    case N_DEVICES:
        return CLV_OK;
    case N_NAME:
        drop = node->name.n > 0;
        break;
    case N_TYPE:
        drop = node->type.n > 0;
        break;
    case N_DOMAIN:
        drop = node->domain.n > 0;
        break;
    case N_OVERLOAD: /* of the function that it was of */
        drop = node->type.n > 0 || node->domain.n > 0;
        break;
    case N_ATTRIBUTE:
        return outer_attr(c, m, f, node, err);
    default: /* a number from the file */
        break;
    }
    return drop ? CLV_OK : clv_put_field(c->put, m, f, err);
}

static clv_status node_fields(clv_copying *c, clv_message m, const clv_new_node *node,
                              clv_error *err)
{
    clv_field f;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        CLV_TRY(outer_node_field(c, &m, &f, node, err));
    }
}

clv_status clv_copy_node(clv_copying *c, const clv_new_node *node, int32_t file_index,
                         clv_error *err)
{
    clv_message source;
    clv_mark mark = clv_arena_mark(c->scratch);
    CLV_TRY(clv_places_node(c->places, file_index, &source, err));
    CLV_TRY(start_captured(c, node, err));
    c->depth = 1; /* the main graph */
    CLV_TRY(node_fields(c, source, node, err));
    clv_arena_rewind(c->scratch, mark);
    return CLV_OK;
}

/* -- functions -- */

clv_status clv_copy_function(clv_copying *c, int32_t i, clv_error *err)
{
    clv_put_message to = { 0 };
    clv_message m;
    clv_field f;
    CLV_TRY(clv_places_function(c->places, i, &m, err));
    c->captured = (clv_captured){ .n = 0 };
    c->depth = 0;
    CLV_TRY(clv_put_open(c->put, M_FUNCTION, &to, err));
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return clv_put_close(c->put, &to, err);
        if (f.number == F_NODE)
            CLV_TRY(copy_inner_node(c, &m, &f, err));
        else
            CLV_TRY(clv_put_field(c->put, &m, &f, err));
    }
}
